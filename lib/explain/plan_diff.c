/* Buffers of both plans by name: a table of the names of one, a walk over the other, then sorted by what
 * changed and how much it matters. O(n log n). */
#include "explain/plan_diff.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word, *words;
} changes[] = {
#define LX_CHANGE_ROW(id, word, words) {word, words},
    LX_CHANGES(LX_CHANGE_ROW)
#undef LX_CHANGE_ROW
};

const char *lx_change_word(enum lx_change c)
{
    return (unsigned)c < LX_CHANGE_COUNT ? changes[c].word : "?";
}

const char *lx_change_words(enum lx_change c)
{
    return (unsigned)c < LX_CHANGE_COUNT ? changes[c].words : "?";
}

static const struct {
    const char *word, *words;
} shares[] = {
#define LX_PART_ROW(id, word, words) {word, words},
    LX_PARTS(LX_PART_ROW)
#undef LX_PART_ROW
};

const char *lx_part_word(enum lx_part s)
{
    return (unsigned)s < LX_PART_COUNT ? shares[s].word : "?";
}

const char *lx_part_words(enum lx_part s)
{
    return (unsigned)s < LX_PART_COUNT ? shares[s].words : "?";
}

/* The shares of a plan, and what each of its buffers costs off chip; NULL: no memory. */
static int64_t *plan_diff_measure(const struct lx_plan *p, int64_t *share)
{
    static const enum lx_part of_kind[] = {[LX_LOAD] = LX_PART_LOADS,
                                           [LX_STORE] = LX_PART_STORES,
                                           [LX_RING] = LX_PART_RING,
                                           [LX_MOVE] = LX_PART_MOVES};
    _Static_assert(sizeof of_kind / sizeof *of_kind == LX_TRANSFER_KINDS, "a part for each kind of transfer");
    int64_t *per_buffer = mem_zeroed((size_t)p->problem.count + 1, sizeof *per_buffer);
    if (!per_buffer) return NULL;
    if (p->accesses) {
        /* What ops move of each buffer while it is off chip, and of what no buffer serves. */
        int32_t count = p->access_at[p->layouts->graph->op_count];
        for (int32_t a = 0; a < count; a++) {
            int32_t stay = p->accesses[a].stay;
            if (stay < 0)
                share[LX_PART_UNSERVED] += p->accesses[a].bytes;
            else if (p->answer.address[stay] < 0)
                per_buffer[stay] += p->accesses[a].bytes;
        }
    } else
        for (int32_t i = 0; i < p->problem.count; i++)
            if (p->answer.address[i] < 0) per_buffer[i] = p->problem.buffers[i].spill_cost;
    for (int32_t i = 0; i < p->problem.count; i++) share[LX_PART_BUFFERS] += per_buffer[i];
    if (!p->accesses && p->problem.objective == LX_SPILL)
        share[LX_PART_COSTS] = p->figures.spill_bytes - share[LX_PART_BUFFERS];
    for (int32_t i = 0; i < p->transfer_count; i++)
        share[of_kind[p->transfers[i].kind]] += p->transfers[i].bytes;
    return per_buffer;
}

static int64_t address_in(const struct lx_plan *p, int32_t i)
{
    return i < 0 ? LX_OFF_CHIP : p->answer.address[i];
}

static int32_t pool_in(const struct lx_plan *p, int32_t i)
{
    return p->answer.pool ? p->answer.pool[i] : 0;
}

static const char *pool_name(const struct lx_plan *p, int32_t i)
{
    bool several = p->problem.pool_count > 1 && i >= 0 && p->answer.address[i] >= 0;
    return several ? p->problem.pools[pool_in(p, i)].name : "";
}

static const char *slot_in(const struct lx_plan *p, int32_t i)
{
    return i < 0 || p->took_slot_of[i] < 0 ? "" : p->problem.buffers[p->took_slot_of[i]].name;
}

/* LX_CHANGE_COUNT: nothing has changed. */
static enum lx_change change_of(const struct lx_plan *p, int32_t i, const struct lx_plan *q, int32_t k)
{
    const struct lx_buffer *a = &p->problem.buffers[i], *b = &q->problem.buffers[k];
    int64_t from = address_in(p, i), to = address_in(q, k);
    if ((from >= 0) != (to >= 0)) return to >= 0 ? LX_CAME_ON_CHIP : LX_WENT_OFF_CHIP;
    if (from != to || (from >= 0 && pool_in(p, i) != pool_in(q, k))) return LX_MOVED;
    if (strcmp(slot_in(p, i), slot_in(q, k)) != 0) return LX_IN_PLACE_CHANGED;
    bool same =
        a->size == b->size && a->start == b->start && a->end == b->end && a->spill_cost == b->spill_cost;
    return same ? LX_CHANGE_COUNT : LX_CHANGED;
}

static const char *plan_diff_reason_of(const struct lx_plan *p, int32_t i, const struct lx_plan *q, int32_t k,
                                       enum lx_change change)
{
    const char *before = i >= 0 ? p->reason[i] : NULL, *after = k >= 0 ? q->reason[k] : NULL;
    const char *reason = change == LX_CAME_ON_CHIP ? before : after ? after : before;
    return reason ? reason : "";
}

static void plan_diff_add(struct lx_diff *d, const struct lx_plan *p, int32_t i, const struct lx_plan *q,
                          int32_t k, enum lx_change change, int64_t gain)
{
    if (change == LX_CHANGE_COUNT && gain == 0) return;
    if (change == LX_CHANGE_COUNT) change = LX_CHANGED; /* ops access it in another way */
    d->of_change[change]++;
    d->all[d->count++] =
        (struct lx_difference){.change = change,
                               .before = i,
                               .after = k,
                               .name = k >= 0 ? q->problem.buffers[k].name : p->problem.buffers[i].name,
                               .in_place_of = slot_in(q, k),
                               .reason = plan_diff_reason_of(p, i, q, k, change),
                               .address_before = address_in(p, i),
                               .address_after = address_in(q, k),
                               .pool_before = pool_name(p, i),
                               .pool_after = pool_name(q, k),
                               .gain = gain};
}

static int by_change_and_gain(const void *a, const void *b)
{
    const struct lx_difference *x = a, *y = b;
    int64_t gx = x->gain < 0 ? -x->gain : x->gain, gy = y->gain < 0 ? -y->gain : y->gain;
    if (x->change != y->change) return x->change < y->change ? -1 : 1;
    if (gx != gy) return gx > gy ? -1 : 1;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

/* Buffers of one name, then those that only one plan has; costs per buffer of each plan. */
static bool plan_diff_compare(const struct lx_plan *before, const struct lx_plan *after, const int64_t *old,
                              const int64_t *new, struct lx_diff *out)
{
    const struct lx_problem *p = &before->problem, *q = &after->problem;
    struct names names = {0};
    bool *seen = mem_zeroed((size_t)p->count + 1, sizeof *seen), ok = seen && out->all;
    for (int32_t i = 0; ok && i < p->count; i++)
        ok = names_add(&names, p->buffers[i].name, i) != NAMES_NO_MEMORY;
    for (int32_t k = 0; ok && k < q->count; k++) {
        int32_t i = names_find(&names, q->buffers[k].name);
        if (i >= 0) seen[i] = true;
        plan_diff_add(out, before, i, after, k, i >= 0 ? change_of(before, i, after, k) : LX_ONLY_AFTER,
                      (i >= 0 ? old[i] : 0) - new[k]);
    }
    for (int32_t i = 0; ok && i < p->count; i++)
        if (!seen[i]) plan_diff_add(out, before, i, after, -1, LX_ONLY_BEFORE, old[i]);
    names_free(&names);
    mem_free(seen);
    return ok;
}

bool lx_plan_diff(const struct lx_plan *before, const struct lx_plan *after, struct lx_diff *out,
                  lx_status *st)
{
    size_t most = (size_t)before->problem.count + (size_t)after->problem.count;
    *out = (struct lx_diff){.same_pattern = before->graph->hash == after->graph->hash,
                            .gain = before->figures.hbm_bytes - after->figures.hbm_bytes,
                            .all = mem_alloc((most + 1) * sizeof *out->all)};
    int64_t *old = plan_diff_measure(before, out->share_before),
            *new = plan_diff_measure(after, out->share_after);
    bool ok = old && new &&plan_diff_compare(before, after, old, new, out);
    mem_free(old);
    mem_free(new);
    if (ok && out->count) qsort(out->all, (size_t)out->count, sizeof *out->all, by_change_and_gain);
    if (ok) return true;
    lx_diff_free(out);
    return status_no_memory(st);
}

void lx_diff_free(struct lx_diff *d)
{
    mem_free(d->all);
    *d = (struct lx_diff){0};
}
