/* The independent checker: judges whether an answer is legal and computes its value. Judges each buffer, then
 * groups and pairs, shared bytes (judge_overlaps.c), and linked costs. A same_place group is one block: as
 * large as its largest member, at a multiple of all alignments, alive whenever one of them is. O(n log n) and
 * the lengths of the lists. */
#include "placement/judge.h"
#include "base/base.h"
#include "base/words/words.h"

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

/* Judged first: the other rules rely on blocks. */
static bool judge_same_place(struct judge *j)
{
    const struct lx_bonds *b = &j->p->bonds;
    const struct lx_buffer *all = j->p->buffers;
    for (int32_t g = 0; g < b->same_place_count; g++)
        for (int32_t k = 1; k < b->same_place[g].count; k++) {
            int32_t one = b->same_place[g].at[0], two = b->same_place[g].at[k];
            bool placed = judge_is_placed(j, one);
            if (placed != judge_is_placed(j, two))
                return broken(j, LX_RULE_SAME_PLACE,
                              "buffers %s and %s are to have the same place, but %s is off chip",
                              all[one].name, all[two].name, all[placed ? two : one].name);
            if (placed && (judge_pool(j, one) != judge_pool(j, two) || j->address[one] != j->address[two]))
                return broken(
                    j, LX_RULE_SAME_PLACE,
                    "buffers %s at %lld and %s at %lld are to have the same place, pool and address",
                    all[one].name, (long long)j->address[one], all[two].name, (long long)j->address[two]);
        }
    return true;
}

static bool judge_bonds(struct judge *j)
{
    const struct lx_bonds *b = &j->p->bonds;
    const struct lx_buffer *all = j->p->buffers;
    for (int32_t i = 0; i < b->together_count; i++)
        for (int32_t k = 1; k < b->together[i].count; k++) {
            int32_t one = b->together[i].at[0], two = b->together[i].at[k];
            if (judge_is_placed(j, one) != judge_is_placed(j, two))
                return broken(j, LX_RULE_TOGETHER, "buffers %s and %s go together, but only %s is placed",
                              all[one].name, all[two].name, all[judge_is_placed(j, one) ? one : two].name);
        }
    for (int32_t i = 0; i < b->staging_count; i++) {
        int32_t one = b->staging[i].a, two = b->staging[i].b;
        if (judge_is_placed(j, one) == judge_is_placed(j, two))
            return broken(j, LX_RULE_STAGING,
                          "staging buffer %s is %s, and so is %s, in place of which it stands", all[one].name,
                          judge_is_placed(j, one) ? "placed" : "off chip", all[two].name);
    }
    for (int32_t i = 0; i < b->apart_count; i++)
        if (share_a_byte(j, b->apart[i].a, b->apart[i].b))
            return broken(j, LX_RULE_APART, "buffers %s and %s share bytes, but are to be kept apart",
                          all[b->apart[i].a].name, all[b->apart[i].b].name);
    return true;
}

static bool all_are(const struct judge *j, const struct lx_group *g, bool placed)
{
    for (int32_t k = 0; k < g->count; k++)
        if (judge_is_placed(j, g->at[k]) != placed) return false;
    return true;
}

/* Adds linked costs and reuse that are due; false: a forbidden one is due. */
static bool judge_linked(struct judge *j, int64_t *cost)
{
    const struct lx_bonds *b = &j->p->bonds;
    for (int32_t i = 0; i < b->linked_cost_count; i++) {
        const struct lx_linked_cost *c = &b->linked_costs[i];
        if (!all_are(j, &c->all_on, true) || !all_are(j, &c->all_off, false)) continue;
        if (c->any_on.count + c->any_off.count > 0 && all_are(j, &c->any_on, false) &&
            all_are(j, &c->any_off, true))
            continue;
        if (c->cost == LX_FORBIDDEN) {
            const struct lx_group *g = c->all_on.count    ? &c->all_on
                                       : c->all_off.count ? &c->all_off
                                       : c->any_on.count  ? &c->any_on
                                                          : &c->any_off;
            return broken(j, LX_RULE_FORBIDDEN,
                          "charge %d (of buffer %s and others) is forbidden, but comes about", (int)i,
                          j->p->buffers[g->at[0]].name);
        }
        *cost += c->cost;
    }
    if (b->reuse_count == 0) return true;
    struct exclusive_pairs exclusive;
    OWNED int32_t *block = blocks_of(j->p), *next = mem_alloc(((size_t)j->p->count + 1) * sizeof *next);
    block_chains(block, j->p->count, next);
    exclusive_sorted(j->p, &exclusive);
    for (int32_t i = 0; i < b->reuse_count; i++) {
        const struct lx_reuse *r = &b->reuse[i];
        if (block[r->a] != block[r->b] && share_a_byte(j, r->a, r->b) &&
            !blocks_alive_together(j->p, next, &exclusive, block[r->a], block[r->b]))
            *cost += r->cost;
    }
    mem_free(exclusive.at);
    return true;
}

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

static bool judge_all(struct judge *j, const bool *is_staging, bool complete, int64_t *value)
{
    int64_t linked = 0;
    /* The size of a block is its largest member's. */
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
        if (at >= 0 && !may_be_there(j, i)) return false;
        if (at >= 0 || b->reason || (is_staging && is_staging[i])) continue;
        if (b->must || complete)
            return broken(j, LX_RULE_OFF,
                          b->must ? "buffer %s is off chip, but must be placed"
                          : j->p->objective == LX_HEIGHT
                              ? "buffer %s is not placed, but the height counts only "
                                "when all are"
                              : "buffer %s is off chip, but all are to be placed",
                          b->name);
    }
    if (!judge_same_place(j) || !judge_bonds(j) || !judge_overlaps(j) || !judge_linked(j, &linked))
        return false;
    *value = p->objective == LX_HEIGHT ? 0 : linked;
    for (int32_t i = 0; p->objective != LX_HEIGHT && i < p->count; i++)
        *value +=
            judge_is_placed(j, i) ? lx_on_cost(&p->buffers[i], judge_pool(j, i)) : p->buffers[i].spill_cost;
    /* The sum over the pools of the highest end of a placed block or a reserved range. */
    for (int32_t k = 0; p->objective == LX_HEIGHT && k < lx_pool_count(p); k++) {
        int64_t top = 0;
        for (int32_t i = 0; i < p->count; i++)
            if (judge_is_placed(j, i) && judge_pool(j, i) == k)
                top = max_i64(top, j->address[i] + judge_bytes(j, i));
        for (int32_t i = 0; p->pool_count && i < p->pools[k].reserved_count; i++)
            top = max_i64(top, p->pools[k].reserved[i].to);
        *value += top;
    }
    return true;
}

static bool check_placement_judge(struct judge *j, bool complete, int64_t *value)
{
    const struct lx_bonds *b = &j->p->bonds;
    OWNED bool *is_staging = NULL;
    if (b->staging_count) {
        is_staging = mem_zeroed((size_t)j->p->count + 1, sizeof *is_staging);
        for (int32_t i = 0; i < b->staging_count; i++) is_staging[b->staging[i].a] = true;
    }
    bool ok = judge_all(j, is_staging, complete, value);
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
