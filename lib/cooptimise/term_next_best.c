/* The answers of a sweep in the order of their costs: walked back from its last node, where the cheapest beginning of every
 * node is known, so that the first that comes to the start is the cheapest, and so on. */
#include "cooptimise/term_answers.h"
#include "base/checked.h"
#include "base/fail.h"

enum { MOST_ENDS = 1 << 20 };

/* The end of an answer: what is decided from variable `layer` on. */
struct ending {
    int64_t total, behind;            /* with the cheapest beginning; of itself */
    int32_t layer, node, value, next; /* value: of that variable; next: the ending one shorter, or -1 */
};

struct endings {
    VEC(struct ending) all;
    VEC(int32_t) heap;
};

/* Cheap ones first, then those that are nearly whole. */
static bool term_next_best_goes_before(const struct endings *e, int32_t a, int32_t b)
{
    const struct ending *x = &e->all.at[a], *y = &e->all.at[b];
    if (x->total != y->total) return x->total < y->total;
    if (x->layer != y->layer) return x->layer < y->layer;
    return a < b;
}

static void term_next_best_swap(struct endings *e, size_t i, size_t k)
{
    int32_t t = e->heap.at[i];
    e->heap.at[i] = e->heap.at[k];
    e->heap.at[k] = t;
}

static bool term_next_best_push(struct endings *e, struct ending one)
{
    if (!VEC_PUSH(&e->all, one) || !VEC_PUSH(&e->heap, (int32_t)(e->all.count - 1))) return false;
    for (size_t i = e->heap.count - 1;
         i > 0 && term_next_best_goes_before(e, e->heap.at[i], e->heap.at[(i - 1) / 2]); i = (i - 1) / 2)
        term_next_best_swap(e, i, (i - 1) / 2);
    return true;
}

static int32_t term_next_best_pop(struct endings *e)
{
    int32_t top = e->heap.at[0];
    e->heap.at[0] = e->heap.at[--e->heap.count];
    for (size_t i = 0, child; (child = 2 * i + 1) < e->heap.count; i = child) {
        if (child + 1 < e->heap.count &&
            term_next_best_goes_before(e, e->heap.at[child + 1], e->heap.at[child]))
            child++;
        if (!term_next_best_goes_before(e, e->heap.at[child], e->heap.at[i])) break;
        term_next_best_swap(e, i, child);
    }
    return top;
}

/* All endings that are one variable longer. */
static bool prolong(struct endings *e, const struct term_sweep *s, int32_t at, int64_t below)
{
    struct ending end = e->all.at[at];
    for (int32_t k = s->layers[end.layer].first[end.node]; k >= 0; k = s->arcs.at[k].next) {
        const struct term_arc *arc = &s->arcs.at[k];
        int64_t behind = end.behind + arc->cost, total = s->layers[end.layer - 1].cost[arc->from] + behind;
        if (total < below &&
            !term_next_best_push(e, (struct ending){total, behind, end.layer - 1, arc->from, arc->value, at}))
            return false;
    }
    return true;
}

static void read_values(const struct endings *e, int32_t at, int32_t *values)
{
    for (; e->all.at[at].next >= 0; at = e->all.at[at].next)
        values[e->all.at[at].layer] = e->all.at[at].value;
}

/* One step; `*open`: the least of what could not be decided. */
static bool term_next_best_step(struct term_answers *a, const struct term_sweep *s, struct endings *e,
                                int32_t *values, int64_t *open, lx_status *st)
{
    int32_t at = term_next_best_pop(e);
    bool proved;
    if (e->all.at[at].layer > 0) return prolong(e, s, at, a->cost) || status_no_memory(st);
    int64_t total = e->all.at[at].total;
    read_values(e, at, values);
    if (!term_answers_try(a, values, &proved, st)) return false;
    if (!proved) *open = min_i64(*open, total);
    return true;
}

bool term_answers_of(struct term_answers *a, const struct term_sweep *s, int64_t most_solves, int64_t *least,
                     lx_status *st)
{
    int32_t count = a->n->count, *values = arena_array(&a->memory, (size_t)count, sizeof *values);
    const struct term_nodes *last = &s->layers[count];
    struct endings e = {0};
    int64_t until = a->solves + most_solves;
    *least = TERM_NEVER;
    bool ok = values || status_no_memory(st);
    if (ok && last->count && !term_next_best_push(&e, (struct ending){last->cost[0], 0, count, 0, 0, -1}))
        ok = status_no_memory(st);
    if (s->arcs_lost && last->count) *least = last->cost[0];
    while (ok && e.heap.count && e.all.at[e.heap.at[0]].total < a->cost && a->solves < until &&
           e.all.count < MOST_ENDS && !lx_run_stopped(&a->run))
        ok = term_next_best_step(a, s, &e, values, least, st);
    if (e.heap.count) *least = min_i64(*least, e.all.at[e.heap.at[0]].total);
    VEC_FREE(&e.all);
    VEC_FREE(&e.heap);
    return ok;
}
