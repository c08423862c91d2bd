/* The least set of syncs: weighted points on a line that stab intervals, and in nests also arcs.
 *
 * dp(p) is the least weight of points up to p that has p itself and stabs every interval which ends before p.
 * The point before p is then at or behind the latest begin of these; begins only grow, so a sliding minimum
 * finds it. An arc around a nest needs the last point of the body behind its `from` or the first at or before
 * its `to`: the first is enumerated, and as points of one body weigh the same, the fewest up to each point
 * follow step by step. Linear in points and edges, and quadratic in the ops of one nest with arcs. */
#include "clock/syncs.h"
#include "base/base.h"

struct sync_point {
    struct lx_sync sync;
    int64_t weight;
    int32_t reach;  /* the point before must not lie before this one */
    int32_t from;   /* the point before, of the least; of a body: before its first one, `first` */
    int32_t first;  /* of a nest with arcs, the first one in its body; else -1 */
    int64_t least;  /* dp; INT64_MAX: none */
    int32_t behind; /* of a body that begins here: its last point is not before this one */
    bool arcs;      /* of the first point of a body: edges go around it */
};

struct sync_line {
    struct sync_point *at; /* 0: before all, and free; count - 1: behind all */
    int32_t count;
    int32_t *outer, *inner; /* per op, and one more: first and last point before it */
    int32_t *queue, head, tail;
    const struct lx_nest *nests;
    const struct sync_edges *edges;
    struct arena *memory;
};

static void line_point(struct sync_line *l, int32_t before, bool in_loop, int64_t weight)
{
    l->at[l->count++] = (struct sync_point){.sync = {before, in_loop}, .weight = weight, .first = -1};
}

static void line_make(struct sync_line *l, int32_t ops, int32_t nest_count)
{
    size_t most = (size_t)ops + (size_t)nest_count + 2;
    l->at = arena_array(l->memory, most, sizeof *l->at);
    l->outer = arena_array(l->memory, (size_t)ops + 1, sizeof *l->outer);
    l->inner = arena_array(l->memory, (size_t)ops + 1, sizeof *l->inner);
    l->queue = arena_array(l->memory, most, sizeof *l->queue);
    line_point(l, -1, false, 0);
    for (int32_t o = 0, n = 0; o < ops; o++) {
        n += n < nest_count && l->nests[n].last < o;
        bool inside = n < nest_count && l->nests[n].first <= o;
        l->outer[o] = l->count;
        if (!inside || l->nests[n].first == o) line_point(l, o, false, 1);
        if (inside) line_point(l, o, true, nest_iterations(&l->nests[n]));
        l->inner[o] = l->count - 1;
    }
    l->outer[ops] = l->inner[ops] = l->count;
    line_point(l, ops, false, 0);
}

/* Turns edges into reaches: an edge binds all points after it. An edge around a nest needs a point in the
 * body. */
static void line_reaches(struct sync_line *l)
{
    for (int32_t i = 0; i < l->edges->count; i++) {
        const struct sync_edge *e = &l->edges->at[i];
        const struct lx_nest *n = e->around >= 0 ? &l->nests[e->around] : NULL;
        int32_t from = n ? l->inner[n->first] : l->outer[e->from + 1];
        struct sync_point *bound = &l->at[(n ? l->inner[n->last] : l->inner[e->to]) + 1];
        if (bound->reach < from) bound->reach = from;
        if (!n) continue;
        l->at[from].arcs = true;
        bound = &l->at[l->inner[e->to] + 1];
        if (e->to < n->last && bound->behind <= l->inner[e->from]) bound->behind = l->inner[e->from] + 1;
    }
    for (int32_t p = 1; p < l->count; p++)
        if (l->at[p].reach < l->at[p - 1].reach) l->at[p].reach = l->at[p - 1].reach;
}

static void line_push(struct sync_line *l, int32_t p)
{
    if (l->at[p].least == INT64_MAX) return;
    while (l->tail > l->head && l->at[l->queue[l->tail - 1]].least >= l->at[p].least) l->tail--;
    l->queue[l->tail++] = p;
}

/* The best point before p so far; there always is one, as a point may stand anywhere. */
static int32_t line_before(struct sync_line *l, int32_t p)
{
    while (l->queue[l->head] < l->at[p].reach) l->head++;
    return l->queue[l->head];
}

/* The body of a nest with arcs. */
static void line_body(struct sync_line *l, int32_t first, int32_t last)
{
    int32_t behind = 0;
    OWNED int64_t *least = mem_alloc(((size_t)(last - first) + 1) * sizeof *least);
    for (int32_t p = first; p <= last; p++) l->at[p].least = INT64_MAX;
    for (int32_t a = first; a <= last; a++) {
        struct sync_point *x = &l->at[a];
        if (x->reach >= first) break; /* an interval inside the body ends before it */
        x->from = line_before(l, a);
        if (behind < x->behind) behind = x->behind;
        for (int32_t b = a; b <= last; b++) {
            int32_t before = l->at[b].reach > a ? l->at[b].reach : a;
            least[b - first] = x->weight + (b == a ? l->at[x->from].least : least[before - first]);
            if (b < behind || least[b - first] > l->at[b].least) continue;
            l->at[b].least = least[b - first];
            l->at[b].first = a;
        }
    }
    for (int32_t p = first; p <= last; p++) line_push(l, p);
}

/* From the end to the begin; the points that the least has. */
static void line_take(const struct sync_line *l, struct arena *memory, struct lx_syncs *out)
{
    int32_t p = l->count - 1;
    OWNED bool *taken = mem_zeroed((size_t)l->count, sizeof *taken);
    while (p = l->at[p].from, p > 0) {
        int32_t first = l->at[p].first;
        for (; first >= 0 && p > first; p = l->at[p].reach > first ? l->at[p].reach : first) taken[p] = true;
        taken[p] = true;
    }
    *out = (struct lx_syncs){.at = arena_array(memory, (size_t)l->count, sizeof *out->at)};
    for (p = 1; p < l->count - 1; p++) {
        if (!taken[p]) continue;
        out->at[out->count++] = l->at[p].sync;
        out->times += l->at[p].weight;
    }
}

void syncs_stab(int32_t ops, const struct lx_nest *nests, int32_t nest_count, const struct sync_edges *edges,
                struct arena *memory, struct lx_syncs *out)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct sync_line l = {.nests = nests, .edges = edges, .memory = &scratch};
    int32_t nest = 0;
    line_make(&l, ops, nest_count);
    line_reaches(&l);
    line_push(&l, 0);
    for (int32_t p = 1; p < l.count; p++) {
        if (l.at[p].arcs) {
            while (l.inner[nests[nest].first] != p) nest++;
            line_body(&l, p, l.inner[nests[nest].last]);
            p = l.inner[nests[nest].last];
            continue;
        }
        l.at[p].from = line_before(&l, p);
        l.at[p].least = l.at[p].weight + l.at[l.at[p].from].least;
        line_push(&l, p);
    }
    line_take(&l, memory, out);
}
