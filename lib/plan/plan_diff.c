/* Buffers of both plans by name: a table of the names of one, a walk over the other, then sorted by what
 * changed and how much it matters. O(n log n). */
#include "plan/plan_diff.h"
#include "base/fail.h"
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

static int64_t address_in(const struct lx_plan *p, int32_t i)
{
    return i < 0 ? LX_OFF_CHIP : p->answer.address[i];
}

static int64_t cost_in(const struct lx_plan *p, int32_t i)
{
    return i < 0 || p->answer.address[i] >= 0 ? 0 : p->problem.buffers[i].spill_cost;
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
    if (from != to) return LX_MOVED;
    if (strcmp(slot_in(p, i), slot_in(q, k)) != 0) return LX_IN_PLACE_CHANGED;
    bool same =
        a->size == b->size && a->start == b->start && a->end == b->end && a->spill_cost == b->spill_cost;
    return same ? LX_CHANGE_COUNT : LX_CHANGED;
}

static const char *reason_of(const struct lx_plan *p, int32_t i, const struct lx_plan *q, int32_t k,
                             enum lx_change change)
{
    const char *before = i >= 0 ? p->reason[i] : NULL, *after = k >= 0 ? q->reason[k] : NULL;
    const char *reason = change == LX_CAME_ON_CHIP ? before : after ? after : before;
    return reason ? reason : "";
}

static void add(struct lx_diff *d, const struct lx_plan *p, int32_t i, const struct lx_plan *q, int32_t k,
                enum lx_change change)
{
    if (change == LX_CHANGE_COUNT) return;
    d->of_change[change]++;
    d->all[d->count++] =
        (struct lx_difference){.change = change,
                               .before = i,
                               .after = k,
                               .name = k >= 0 ? q->problem.buffers[k].name : p->problem.buffers[i].name,
                               .in_place_of = slot_in(q, k),
                               .reason = reason_of(p, i, q, k, change),
                               .address_before = address_in(p, i),
                               .address_after = address_in(q, k),
                               .gain = cost_in(p, i) - cost_in(q, k)};
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

bool lx_plan_diff(const struct lx_plan *before, const struct lx_plan *after, struct lx_diff *out,
                  lx_status *st)
{
    const struct lx_problem *p = &before->problem, *q = &after->problem;
    struct names names = {0};
    bool *seen = calloc((size_t)p->count + 1, sizeof *seen);
    *out = (struct lx_diff){.same_pattern = before->graph->hash == after->graph->hash,
                            .gain = before->figures.hbm_bytes - after->figures.hbm_bytes,
                            .all = malloc(((size_t)p->count + (size_t)q->count + 1) * sizeof *out->all)};
    bool ok = seen && out->all;
    for (int32_t i = 0; ok && i < p->count; i++)
        ok = names_add(&names, p->buffers[i].name, i) != NAMES_NO_MEMORY;
    for (int32_t k = 0; ok && k < q->count; k++) {
        int32_t i = names_find(&names, q->buffers[k].name);
        if (i >= 0) seen[i] = true;
        add(out, before, i, after, k, i >= 0 ? change_of(before, i, after, k) : LX_ONLY_AFTER);
    }
    for (int32_t i = 0; ok && i < p->count; i++)
        if (!seen[i]) add(out, before, i, after, -1, LX_ONLY_BEFORE);
    names_free(&names);
    free(seen);
    if (ok && out->count) qsort(out->all, (size_t)out->count, sizeof *out->all, by_change_and_gain);
    if (ok) return true;
    lx_diff_free(out);
    return status_no_memory(st);
}

void lx_diff_free(struct lx_diff *d)
{
    free(d->all);
    *d = (struct lx_diff){0};
}
