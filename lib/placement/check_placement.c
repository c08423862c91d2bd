/* The independent checker: is an answer legal, and what is it worth? First what each buffer breaks by
 * itself, then groups and pairs (judge_bonds.c), then who shares bytes with whom (judge_overlaps.c), then
 * the linked costs. A same_place group is one block: as large as its largest member, at a multiple of all
 * their alignments, alive whenever one of them is. O(n log n) for what a plain list has; pairs, groups
 * and linked costs cost their own length. It looks at the stop of its thread, but never ends before all is
 * judged. */
#include "placement/judge.h"
#include "placement/solve.h"
#include "placement/valid.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/words/words.h"

#include <stdarg.h>
#include <stdlib.h>

LX_WORDS(lx_rule_word, enum lx_rule, LX_RULES)

bool broken(struct judge *j, enum lx_rule rule, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status_vset_at(j->st, LX_E_NO, NULL, 0, 0, format, args);
    va_end(args);
    j->rule = rule;
    return false;
}

/* Of a buffer that is off: may it be? */
static bool may_be_off(struct judge *j, const struct lx_buffer *b, bool is_staging, bool complete)
{
    if (b->reason || is_staging) return true;
    if (b->must) return broken(j, LX_RULE_OFF, "buffer %s is off chip, but must be placed", b->name);
    if (!complete) return true;
    if (j->p->objective == LX_HEIGHT)
        return broken(j, LX_RULE_OFF, "buffer %s is not placed, but the height counts only when all are",
                      b->name);
    return broken(j, LX_RULE_OFF, "buffer %s is off chip, but all are to be placed", b->name);
}

/* Of a buffer that is placed: may it be there? */
static bool may_be_there(struct judge *j, int32_t i)
{
    const struct lx_buffer *b = &j->p->buffers[i];
    int64_t at = j->address[i];
    int32_t pool = judge_pool(j, i);
    if (b->reason)
        return broken(j, LX_RULE_BARRED, "buffer %s is placed at %lld, but it may not be: %s", b->name,
                      (long long)at, b->reason);
    if (pool < 0 || pool >= lx_pool_count(j->p) || !lx_allows_pool(b, pool))
        return broken(j, LX_RULE_POOL, "buffer %s is in pool %d, which is none of its own", b->name,
                      (int)pool);
    if (at % lx_alignment_of(j->p, b) != 0)
        return broken(j, LX_RULE_ALIGNMENT, "buffer %s: the address %lld is not a multiple of %lld", b->name,
                      (long long)at, (long long)lx_alignment_of(j->p, b));
    if (b->fixed >= 0 && (at != b->fixed || pool != b->fixed_pool))
        return broken(j, LX_RULE_PIN, "buffer %s is at %lld, but its address is fixed at %lld%s", b->name,
                      (long long)at, (long long)b->fixed, pool != b->fixed_pool ? " of another pool" : "");
    int64_t bytes = judge_bytes(j, i);
    int64_t end, capacity = lx_pool_capacity(j->p, pool);
    if (add_i64(at, bytes, &end) && (capacity == LX_NO_LIMIT || end <= capacity)) return true;
    if (j->p->pool_count > 1)
        return broken(j, LX_RULE_CAPACITY,
                      "buffer %s: its %lld bytes at %lld end beyond the capacity of %s, %lld", b->name,
                      (long long)bytes, (long long)at, j->p->pools[pool].name, (long long)capacity);
    return broken(j, LX_RULE_CAPACITY, "buffer %s: its %lld bytes at %lld end beyond the capacity of %lld",
                  b->name, (long long)bytes, (long long)at, (long long)capacity);
}

/* The sum over the pools of the highest end of a placed block or a reserved range. */
static void check_placement_height_of(const struct judge *j, int64_t *height)
{
    int32_t pools = lx_pool_count(j->p);
    int64_t one = 0, *top = pools == 1 ? &one : mem_zeroed((size_t)pools, sizeof *top);
    for (int32_t i = 0; i < j->p->count; i++)
        if (judge_is_placed(j, i))
            top[judge_pool(j, i)] = max_i64(top[judge_pool(j, i)], j->address[i] + judge_bytes(j, i));
    *height = 0;
    for (int32_t k = 0; k < pools; k++) {
        for (int32_t i = 0; j->p->pool_count && i < j->p->pools[k].reserved_count; i++)
            top[k] = max_i64(top[k], j->p->pools[k].reserved[i].to);
        *height += top[k];
    }
    if (top != &one) mem_free(top);
}

static int64_t check_placement_cost_of(const struct judge *j)
{
    int64_t cost = 0;
    for (int32_t i = 0; i < j->p->count; i++)
        cost += judge_is_placed(j, i) ? lx_on_cost(&j->p->buffers[i], judge_pool(j, i))
                                      : j->p->buffers[i].spill_cost;
    return cost;
}

static bool judge_all(struct judge *j, const bool *is_staging, bool complete, int64_t *value)
{
    int64_t linked = 0, height = 0;
    /* Block sizes, by their largest member. */
    const struct lx_problem *p = j->p;
    if (p->bonds.same_place_count != 0) {
        j->block = blocks_of(p);
        j->bytes = mem_zeroed((size_t)p->count + 1, sizeof *j->bytes);
        for (int32_t i = 0; i < p->count; i++)
            j->bytes[j->block[i]] = max_i64(j->bytes[j->block[i]], p->buffers[i].size);
        for (int32_t i = 0; i < p->count; i++) j->bytes[i] = j->bytes[j->block[i]];
    }
    for (int32_t i = 0; i < j->p->count; i++) {
        const struct lx_buffer *b = &j->p->buffers[i];
        int64_t at = j->address[i];
        if (at < 0 && at != LX_OFF_CHIP)
            return broken(j, LX_RULE_ALIGNMENT, "buffer %s: the address %lld is negative", b->name,
                          (long long)at);
        if (!(at < 0 ? may_be_off(j, b, is_staging && is_staging[i], complete) : may_be_there(j, i)))
            return false;
    }
    if (!judge_same_place(j) || !judge_bonds(j) || !judge_overlaps(j) || !judge_linked(j, &linked))
        return false;
    check_placement_height_of(j, &height);
    *value = j->p->objective == LX_HEIGHT ? height : check_placement_cost_of(j) + linked;
    return true;
}

static bool check_placement_judge(struct judge *j, bool complete, int64_t *value)
{
    const struct lx_bonds *b = &j->p->bonds;
    bool *is_staging = NULL;
    bool ok = true;
    if (b->staging_count) {
        is_staging = mem_zeroed((size_t)j->p->count + 1, sizeof *is_staging);
        for (int32_t i = 0; i < b->staging_count; i++) is_staging[b->staging[i].a] = true;
    }
    ok = ok && judge_all(j, is_staging, complete, value);
    mem_free(is_staging);
    mem_free(j->block);
    mem_free(j->bytes);
    return ok;
}

bool lx_check_places(const struct lx_problem *p, const int32_t *pool, const int64_t *address, int64_t *value,
                     enum lx_rule *rule, lx_status *st)
{
    struct judge j = {.p = p, .pool = pool, .address = address, .st = st};
    bool ok = check_placement_judge(&j, p->objective != LX_SPILL, value);
    if (ok && p->objective == LX_FIT) *value = 0;
    *rule = j.rule;
    return ok;
}

bool check_so_far(const struct lx_problem *p, const int32_t *pool, const int64_t *address, int64_t *value,
                  lx_status *st)
{
    struct judge j = {.p = p, .pool = pool, .address = address, .st = st};
    return check_placement_judge(&j, p->objective == LX_HEIGHT, value);
}

bool lx_problem_check(const struct lx_problem *p, const int64_t *address, int64_t *objective, lx_status *st)
{
    return check_so_far(p, NULL, address, objective, st);
}
