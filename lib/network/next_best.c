/* The answers of a sweep in the order of their costs: walked back from its last state, where the cheapest
 * beginning of every state is known, so that the first that comes to the start is the cheapest, and so on. */
#include "base/checked.h"
#include "network/network.h"

enum { MOST_ENDS = 1 << 20 };

/* The end of an answer: what is decided from variable `layer` on. */
struct ending {
    int64_t total, behind;            /* with the cheapest beginning; of itself */
    int32_t layer, node, value, next; /* value: of that variable; next: the ending one shorter, or -1 */
};

struct net_answers {
    const struct net_sweep *s;
    VEC(struct ending) all;
    VEC(int32_t) heap;
};

/* Cheap ones first, then those that are nearly whole. */
static bool ending_before(const struct net_answers *e, int32_t a, int32_t b)
{
    const struct ending *x = &e->all.at[a], *y = &e->all.at[b];
    if (x->total != y->total) return x->total < y->total;
    if (x->layer != y->layer) return x->layer < y->layer;
    return a < b;
}

static void ending_swap(struct net_answers *e, size_t i, size_t k)
{
    int32_t t = e->heap.at[i];
    e->heap.at[i] = e->heap.at[k];
    e->heap.at[k] = t;
}

static void ending_push(struct net_answers *e, struct ending one)
{
    (void)VEC_PUSH(&e->all, one);
    (void)VEC_PUSH(&e->heap, (int32_t)(e->all.count - 1));
    for (size_t i = e->heap.count - 1; i > 0 && ending_before(e, e->heap.at[i], e->heap.at[(i - 1) / 2]);
         i = (i - 1) / 2)
        ending_swap(e, i, (i - 1) / 2);
}

/* The ending one variable longer, by a way into its state that costs so much up to there. */
static void ending_prolong(struct net_answers *e, int32_t at, int64_t cost, int32_t from, int32_t value,
                           int64_t below)
{
    struct ending end = e->all.at[at];
    int64_t begins = e->s->cost[end.layer - 1][from], behind = end.behind + cost - begins;
    if (begins + behind < below)
        ending_push(e, (struct ending){begins + behind, behind, end.layer - 1, from, value, at});
}

struct net_answers *net_answers_make(const struct net_sweep *s)
{
    struct net_answers *a = mem_zeroed(1, sizeof *a);
    int32_t count = (int32_t)s->beam.layers.count;
    a->s = s;
    if (s->beam.count) ending_push(a, (struct ending){s->cost[count][0], 0, count, 0, 0, -1});
    return a;
}

void net_answers_free(struct net_answers *a)
{
    VEC_FREE(&a->all);
    VEC_FREE(&a->heap);
    mem_free(a);
}

bool net_answers_next(struct net_answers *a, int64_t below, int32_t *values, int64_t *cost)
{
    const struct beam *b = &a->s->beam;
    while (a->heap.count && a->all.at[a->heap.at[0]].total < below && a->all.count < MOST_ENDS) {
        struct net_answers *e = a;
        int32_t at = e->heap.at[0];
        e->heap.at[0] = e->heap.at[--e->heap.count];
        for (size_t i = 0, child; (child = 2 * i + 1) < e->heap.count; i = child) {
            if (child + 1 < e->heap.count && ending_before(e, e->heap.at[child + 1], e->heap.at[child]))
                child++;
            if (!ending_before(e, e->heap.at[child], e->heap.at[i])) break;
            ending_swap(e, i, child);
        }
        struct ending end = a->all.at[at];
        if (end.layer == 0) {
            *cost = end.total;
            for (; a->all.at[at].next >= 0; at = a->all.at[at].next)
                values[a->all.at[at].layer] = a->all.at[at].value;
            return true;
        }
        struct beam_origin o = beam_origin_of(b, (size_t)end.layer - 1, end.node);
        int64_t here = a->s->cost[end.layer][end.node], rank = a->s->rank[end.layer][end.node];
        ending_prolong(a, at, here, o.from, o.choice, below);
        for (int32_t k = o.ways; k >= 0; k = b->ways.at[k].next)
            ending_prolong(a, at, here + b->ways.at[k].rank - rank, b->ways.at[k].from, b->ways.at[k].choice,
                           below);
    }
    return false;
}

int64_t net_answers_least(const struct net_answers *a)
{
    const struct beam *b = &a->s->beam;
    int64_t least = a->heap.count ? a->all.at[a->heap.at[0]].total : NETWORK_NEVER;
    return b->ways_lost && b->count ? min_i64(least, a->s->cost[b->layers.count][0]) : least;
}
