/* Matches buffers of two plans by name; sorts them by change and gain. O(n log n). */
#include "explain/plan_diff.h"
#include "plan/occupancy.h"
#include "base/base.h"
#include "base/words/words.h"

/* Defines the functions for the word of a row and for its words. */
#define DIFF_WORDS(of_one, of_many, type, ROWS, COUNT)                                                       \
    const char *of_one(type row)                                                                             \
    {                                                                                                        \
        static const char *const words[] = {ROWS(DIFF_WORD)};                                                \
        return (unsigned)row < COUNT ? words[row] : "?";                                                     \
    }                                                                                                        \
    const char *of_many(type row)                                                                            \
    {                                                                                                        \
        static const char *const words[] = {ROWS(DIFF_PLURAL)};                                              \
        return (unsigned)row < COUNT ? words[row] : "?";                                                     \
    }
#define DIFF_WORD(id, word, words)   word,
#define DIFF_PLURAL(id, word, words) words,
DIFF_WORDS(lx_change_word, lx_change_words, enum lx_change, LX_CHANGES, LX_CHANGE_COUNT)
DIFF_WORDS(lx_part_word, lx_part_words, enum lx_part, LX_PARTS, LX_PART_COUNT)

/* Adds the plan's parts of traffic to `share`; returns the cost of each buffer off chip. */
static int64_t *plan_diff_measure(const struct lx_plan *p, int64_t *share)
{
    static const enum lx_part of_kind[] = {[LX_LOAD] = LX_PART_LOADS,
                                           [LX_STORE] = LX_PART_STORES,
                                           [LX_RING] = LX_PART_RING,
                                           [LX_MOVE] = LX_PART_MOVES};
    _Static_assert(sizeof of_kind / sizeof *of_kind == LX_TRANSFER_KINDS, "a part for each kind of transfer");
    int64_t *per_buffer = mem_zeroed((size_t)p->problem.count + 1, sizeof *per_buffer);
    if (p->accesses) {
        /* Bytes that ops move for each buffer off chip, and for tensors without a buffer. */
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

static const char *pool_name(const struct lx_plan *p, int32_t i)
{
    bool several = p->problem.pool_count > 1 && i >= 0 && p->answer.address[i] >= 0;
    return several ? p->problem.pools[lx_pool_of(p, i)].name : "";
}

static const char *slot_in(const struct lx_plan *p, int32_t i)
{
    return i < 0 || p->took_slot_of[i] < 0 ? "" : p->problem.buffers[p->took_slot_of[i]].name;
}

/* LX_CHANGE_COUNT: unchanged. */
static enum lx_change change_of(const struct lx_plan *p, int32_t i, const struct lx_plan *q, int32_t k)
{
    const struct lx_buffer *a = &p->problem.buffers[i], *b = &q->problem.buffers[k];
    int64_t from = address_in(p, i), to = address_in(q, k);
    if ((from >= 0) != (to >= 0)) return to >= 0 ? LX_CAME_ON_CHIP : LX_WENT_OFF_CHIP;
    if (from != to || (from >= 0 && lx_pool_of(p, i) != lx_pool_of(q, k))) return LX_MOVED;
    if (strcmp(slot_in(p, i), slot_in(q, k)) != 0) return LX_IN_PLACE_CHANGED;
    bool same =
        a->size == b->size && a->start == b->start && a->end == b->end && a->spill_cost == b->spill_cost;
    return same ? LX_CHANGE_COUNT : LX_CHANGED;
}

static void plan_diff_add(struct lx_diff *d, const struct lx_plan *p, int32_t i, const struct lx_plan *q,
                          int32_t k, enum lx_change change, int64_t gain)
{
    if (change == LX_CHANGE_COUNT && gain == 0) return;
    if (change == LX_CHANGE_COUNT) change = LX_CHANGED; /* the accesses differ */
    const char *before = i >= 0 ? p->reason[i] : NULL, *after = k >= 0 ? q->reason[k] : NULL;
    const char *reason = change == LX_CAME_ON_CHIP || !after ? before : after;
    if (change == LX_CAME_ON_CHIP && p->problem.buffers[i].reason) reason = NULL; /* no longer true */
    d->of_change[change]++;
    d->all[d->count++] =
        (struct lx_difference){.change = change,
                               .before = i,
                               .after = k,
                               .name = k >= 0 ? q->problem.buffers[k].name : p->problem.buffers[i].name,
                               .in_place_of = slot_in(q, k),
                               .reason = reason ? reason : "",
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

void lx_plan_diff(const struct lx_plan *before, const struct lx_plan *after, struct lx_diff *out)
{
    size_t most = (size_t)before->problem.count + (size_t)after->problem.count;
    *out = (struct lx_diff){.same_pattern = before->graph->hash == after->graph->hash,
                            .gain = before->figures.hbm_bytes - after->figures.hbm_bytes,
                            .all = mem_alloc((most + 1) * sizeof *out->all)};
    OWNED int64_t *old = plan_diff_measure(before, out->share_before),
                  *new = plan_diff_measure(after, out->share_after);
    /* Matches buffers by name; `old` and `new` are costs per buffer. */
    const struct lx_problem *p = &before->problem, *q = &after->problem;
    SCOPED(names_free) struct names names = {0};
    OWNED bool *seen = mem_zeroed((size_t)p->count + 1, sizeof *seen);
    for (int32_t i = 0; i < p->count; i++) names_add(&names, p->buffers[i].name, i);
    for (int32_t k = 0; k < q->count; k++) {
        int32_t i = names_find(&names, q->buffers[k].name);
        if (i >= 0) seen[i] = true;
        plan_diff_add(out, before, i, after, k, i >= 0 ? change_of(before, i, after, k) : LX_ONLY_AFTER,
                      (i >= 0 ? old[i] : 0) - new[k]);
    }
    for (int32_t i = 0; i < p->count; i++)
        if (!seen[i]) plan_diff_add(out, before, i, after, -1, LX_ONLY_BEFORE, old[i]);
    qsort(out->all, (size_t)out->count, sizeof *out->all, by_change_and_gain);
}

void lx_diff_free(struct lx_diff *d)
{
    mem_free(d->all);
    *d = (struct lx_diff){0};
}

/* Nests by the position of their ops in the first plan. Overlapping nests make a run; an op that only the
 * second plan has takes the position of the op before it. */

struct span {
    int32_t from, to; /* inclusive */
};

static struct span nest_diff_span_of(const struct lx_nest *n, const int32_t *place)
{
    struct span s = {place ? place[n->first] : n->first, place ? place[n->first] : n->first};
    for (int32_t o = n->first; o <= n->last; o++) {
        int32_t at = place ? place[o] : o;
        if (at < s.from) s.from = at;
        if (at > s.to) s.to = at;
    }
    return s;
}

/* Counts the nests of one plan that begin within the run, and extends the run by them. */
static bool nest_diff_take(const struct lx_plan *p, const int32_t *place, int32_t *next, struct span *run,
                           int32_t *count)
{
    bool any = false;
    while (*next < p->nest_count) {
        struct span s = nest_diff_span_of(&p->nests[*next], place);
        if (s.from > run->to) break;
        if (s.to > run->to) run->to = s.to;
        ++*next;
        ++*count;
        any = true;
    }
    return any;
}

static int64_t nest_diff_moved(const struct lx_plan *p, const int32_t *place, struct span run)
{
    int64_t bytes = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        int32_t at = place ? place[o] : o;
        if (at >= run.from && at <= run.to) bytes += p->traffic[o].hbm_read + p->traffic[o].hbm_written;
    }
    return bytes;
}

static void nest_diff_compare(const struct lx_plan *before, const struct lx_plan *after, const int32_t *place,
                              struct lx_nest_diff *out)
{
    const struct lx_op *a = before->layouts->graph->ops, *b = after->layouts->graph->ops;
    int32_t i = 0, k = 0;
    while (i < before->nest_count || k < after->nest_count) {
        struct lx_nest_change c = {.first_before = i, .first_after = k};
        struct span run = {INT32_MAX, 0};
        if (i < before->nest_count) run = nest_diff_span_of(&before->nests[i], NULL);
        if (k < after->nest_count && nest_diff_span_of(&after->nests[k], place).from < run.from)
            run = nest_diff_span_of(&after->nests[k], place);
        for (bool more = true; more;) {
            more = nest_diff_take(before, NULL, &i, &run, &c.count_before);
            more |= nest_diff_take(after, place, &k, &run, &c.count_after);
        }
        bool same = c.count_before == c.count_after;
        for (int32_t n = 0; same && n < c.count_before; n++) {
            const struct lx_nest *x = &before->nests[c.first_before + n],
                                 *y = &after->nests[c.first_after + n];
            same = x->level_count == y->level_count && strcmp(a[x->first].name, b[y->first].name) == 0 &&
                   strcmp(a[x->last].name, b[y->last].name) == 0;
            for (int l = 0; same && l < x->level_count; l++)
                same = x->tiles[l] == y->tiles[l] && nest_letter(before->layouts, x, x->first, l) ==
                                                         nest_letter(after->layouts, y, y->first, l);
        }
        if (same) continue;
        c.bytes_before = nest_diff_moved(before, NULL, run);
        c.bytes_after = nest_diff_moved(after, place, run);
        out->others.bytes_before -= c.bytes_before;
        out->others.bytes_after -= c.bytes_after;
        out->all[out->count++] = c;
    }
}

void lx_nest_diff(const struct lx_plan *before, const struct lx_plan *after, struct lx_nest_diff *out)
{
    size_t most = (size_t)before->nest_count + (size_t)after->nest_count;
    const struct lx_graph *g = before->layouts->graph, *h = after->layouts->graph;
    /* per op of the second plan: its position in the first */
    OWNED int32_t *place = mem_zeroed((size_t)h->op_count + 1, sizeof *place);
    SCOPED(names_free) struct names names = {0};
    for (int32_t o = 0; o < g->op_count; o++) names_add(&names, g->ops[o].name, o);
    for (int32_t o = 0; o < h->op_count; o++) {
        int32_t at = names_find(&names, h->ops[o].name);
        place[o] = at >= 0 ? at : o > 0 ? place[o - 1] : 0;
    }
    *out = (struct lx_nest_diff){
        .all = mem_zeroed(most + 1, sizeof *out->all),
        .others = {.bytes_before = before->figures.hbm_bytes, .bytes_after = after->figures.hbm_bytes}};
    nest_diff_compare(before, after, place, out);
}

void lx_nest_diff_free(struct lx_nest_diff *d)
{
    mem_free(d->all);
    *d = (struct lx_nest_diff){0};
}
