/* Lower bounds that every legal answer respects, whatever solver found it.
 *
 * Sizes are counted in alignment units. On each tick the live buffers that are kept must fit, so some
 * spill cost is forced: at least the fractional knapsack value, the cheapest bytes leaving first. A
 * Fenwick tree over the buffers in order of cost per unit gives that value for each tick in O(log n).
 * Ticks between which no buffer survives force their spills independently, so the best chain of such
 * ticks adds up (a small dynamic programme). Buffers that can never be placed are paid in full.
 *
 * A child may sit on its dying parent on its first tick; it is left out of that tick, which can only
 * weaken the bound. Height: on each tick everything live stands on top of each other. */
#include "scratchpad/problem.h"
#include "base/fail.h"
#include "base/checked.h"

#include <stdlib.h>

struct live {
    int64_t start, end, units, cost;
    int32_t rank; /* by cost per unit, cheapest first */
};

struct tree {
    int64_t *units, *cost; /* Fenwick sums over ranks */
    int32_t n, top;        /* top: largest power of two <= n */
};

static void tree_add(struct tree *t, int32_t rank, int64_t units, int64_t cost)
{
    for (int32_t i = rank + 1; i <= t->n; i += i & -i) {
        t->units[i] += units;
        t->cost[i] += cost;
    }
}

/* The least cost of removing at least `excess` units, when parts of a buffer may be removed: rounded up,
 * because costs are integers. */
static int64_t cheapest_removal(const struct tree *t, const struct live *by_rank, int64_t excess)
{
    int32_t i = 0;
    int64_t cost = 0;
    for (int32_t step = t->top; step > 0; step /= 2)
        if (i + step <= t->n && t->units[i + step] <= excess) {
            i += step;
            excess -= t->units[i];
            cost += t->cost[i];
        }
    if (excess == 0 || i >= t->n) return cost;
    const struct live *cut = &by_rank[i];
    return cost + (int64_t)(((int128)cut->cost * excess + cut->units - 1) / cut->units);
}

static int compare_density(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    int128 l = (int128)x->cost * y->units, r = (int128)y->cost * x->units;
    return (l > r) - (l < r);
}

struct event {
    int64_t tick;
    int32_t rank;
};

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* A chain entry: up to and including `tick`, the independent ticks found so far force `total`. */
struct link {
    int64_t tick, total;
};

static int64_t total_before(const struct link *links, int32_t n, int64_t tick)
{
    int32_t low = 0, high = n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (links[middle].tick < tick)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? links[low - 1].total : 0;
}

struct scratch {
    struct live *live;
    struct event *starts, *ends;
    struct link *links;
    struct tree tree;
};

static int64_t forced_spill(struct scratch *s, int32_t n, int64_t capacity)
{
    int64_t load = 0;
    int32_t links = 0, oldest = 0, gone = 0;
    for (int32_t i = 0; i < n;) {
        int64_t tick = s->starts[i].tick;
        for (; gone < n && s->ends[gone].tick <= tick; gone++) {
            struct live *b = &s->live[s->ends[gone].rank];
            tree_add(&s->tree, b->rank, -b->units, -b->cost);
            load -= b->units;
        }
        for (; i < n && s->starts[i].tick == tick; i++) {
            struct live *b = &s->live[s->starts[i].rank];
            tree_add(&s->tree, b->rank, b->units, b->cost);
            load += b->units;
        }
        if (load <= capacity) continue;
        int64_t here = cheapest_removal(&s->tree, s->live, load - capacity);
        while (s->live[s->starts[oldest].rank].end <= tick) oldest++;
        int64_t total = here + total_before(s->links, links, s->starts[oldest].tick);
        if (links && s->links[links - 1].total > total) total = s->links[links - 1].total;
        s->links[links++] = (struct link){tick, total};
    }
    return links ? s->links[links - 1].total : 0;
}

static int64_t peak_load(struct scratch *s, int32_t n)
{
    int64_t load = 0, peak = 0;
    for (int32_t i = 0, gone = 0; i < n; i++) {
        for (; gone < n && s->ends[gone].tick <= s->starts[i].tick; gone++)
            load -= s->live[s->ends[gone].rank].units;
        load += s->live[s->starts[i].rank].units;
        peak = max_i64(peak, load);
    }
    return peak;
}

static bool allocate(struct scratch *s, size_t n)
{
    s->live = calloc(n + 1, sizeof *s->live);
    s->starts = calloc(n + 1, sizeof *s->starts);
    s->ends = calloc(n + 1, sizeof *s->ends);
    s->links = calloc(n + 1, sizeof *s->links);
    s->tree.units = calloc(n + 2, sizeof(int64_t));
    s->tree.cost = calloc(n + 2, sizeof(int64_t));
    return s->live && s->starts && s->ends && s->links && s->tree.units && s->tree.cost;
}

static void release(struct scratch *s)
{
    free(s->live);
    free(s->starts);
    free(s->ends);
    free(s->links);
    free(s->tree.units);
    free(s->tree.cost);
}

bool lx_bound(const struct lx_problem *p, int64_t *bound, lx_status *st)
{
    struct scratch s = {0};
    if (!allocate(&s, (size_t)p->count)) {
        release(&s);
        return status_no_memory(st);
    }
    int64_t unit = p->alignment, forced = 0, padding = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!lx_may_be_placed(p, b)) {
            forced += b->spill_cost;
            continue;
        }
        struct live l = {b->start + (b->parent_count > 0), b->end, ceil_div_i64(b->size, unit), b->spill_cost,
                         0};
        padding = max_i64(padding, l.units * unit - b->size);
        if (l.start < l.end && l.units > 0) s.live[n++] = l;
    }
    qsort(s.live, (size_t)n, sizeof *s.live, compare_density);
    for (int32_t i = 0; i < n; i++) {
        s.live[i].rank = i;
        s.starts[i] = (struct event){s.live[i].start, i};
        s.ends[i] = (struct event){s.live[i].end, i};
    }
    qsort(s.starts, (size_t)n, sizeof *s.starts, compare_events);
    qsort(s.ends, (size_t)n, sizeof *s.ends, compare_events);
    s.tree.n = n;
    for (s.tree.top = 1; s.tree.top <= n / 2;) s.tree.top *= 2;
    if (p->objective == LX_HEIGHT)
        *bound = max_i64(peak_load(&s, n) * unit - padding, 0);
    else
        *bound = forced + forced_spill(&s, n, ceil_div_i64(p->capacity, unit));
    release(&s);
    return true;
}
