/* The cost that one overfull tick forces, and how such costs add up over time.
 *
 * Time is swept once over the sorted starts and ends. A Fenwick tree over the items in order of cost per
 * unit gives the fractional knapsack value of each tick in O(log n): the cheapest bytes leave first. Where
 * items and capacity are few a dynamic programme over the units gives the value for whole buffers. Two
 * ticks between which no buffer survives force their costs independently, so the best chain of such
 * ticks adds up. */
#include "placement/bound.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

/* Limits of the dynamic programme: units that must go, and table cells in all. */
enum { MOST_NEED = 4096, MOST_CELLS = 60000 };

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
static int64_t cheapest_removal(const struct tree *t, const struct bound_item *by_rank, int64_t excess)
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
    const struct bound_item *cut = &by_rank[i];
    return cost + (int64_t)(((int128)cut->cost * excess + cut->units - 1) / cut->units);
}

/* Equal densities keep the order of the items: `first` holds their index until sections are known. */
static int compare_density(const void *a, const void *b)
{
    const struct bound_item *x = a, *y = b;
    int128 l = (int128)x->cost * y->units, r = (int128)y->cost * x->units;
    if (l != r) return l < r ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

struct event {
    int64_t tick;
    int32_t item;
};

ORDER(bound_section_compare_events, struct event, ORDER_UP(tick) ORDER_UP(item));

/* The first section at or after a tick. */
static int32_t bound_section_at(const struct bound_sections *s, int64_t tick)
{
    int32_t t;
    BISECT(t, 0, s->section_count, s->sections[t].tick < tick);
    return t;
}

static void bound_section_sweep(struct bound_sections *s, const struct event *starts,
                                const struct event *ends, struct tree *tree)
{
    int64_t load = 0;
    int32_t n = s->item_count, oldest = 0, gone = 0;
    for (int32_t i = 0; i < n;) {
        int64_t tick = starts[i].tick;
        for (; gone < n && ends[gone].tick <= tick; gone++) {
            const struct bound_item *b = &s->items[ends[gone].item];
            tree_add(tree, ends[gone].item, -b->units, -b->cost);
            load -= b->units;
        }
        for (; i < n && starts[i].tick == tick; i++) {
            const struct bound_item *b = &s->items[starts[i].item];
            tree_add(tree, starts[i].item, b->units, b->cost);
            load += b->units;
        }
        bool contained = i < n && (gone == n || ends[gone].tick > starts[i].tick);
        if (load <= s->capacity || contained) continue;
        while (s->items[starts[oldest].item].end <= tick) oldest++;
        int64_t forced = cheapest_removal(tree, s->items, load - s->capacity);
        forced = ceil_div_i64(forced, s->cost_step) * s->cost_step;
        s->sections[s->section_count++] =
            (struct bound_section){tick, starts[oldest].tick, load - s->capacity, forced};
    }
}

void bound_find_sections(struct bound_sections *s)
{
    size_t n = (size_t)s->item_count;
    struct event *starts = mem_alloc((n + 1) * sizeof *starts), *ends = mem_alloc((n + 1) * sizeof *ends);
    struct tree tree = {mem_zeroed(n + 2, sizeof(int64_t)), mem_zeroed(n + 2, sizeof(int64_t)), s->item_count,
                        1};
    for (int32_t i = 0; i < s->item_count; i++) s->items[i].first = i;
    qsort(s->items, n, sizeof *s->items, compare_density);
    for (int32_t i = 0; i < s->item_count; i++) {
        starts[i] = (struct event){s->items[i].start, i};
        ends[i] = (struct event){s->items[i].end, i};
    }
    while (tree.top <= s->item_count / 2) tree.top *= 2;
    qsort(starts, n, sizeof *starts, bound_section_compare_events);
    qsort(ends, n, sizeof *ends, bound_section_compare_events);
    bound_section_sweep(s, starts, ends, &tree);
    for (int32_t i = 0; i < s->item_count; i++) {
        s->items[i].first = bound_section_at(s, s->items[i].start);
        s->items[i].last = bound_section_at(s, s->items[i].end) - 1;
    }
    mem_free(starts);
    mem_free(ends);
    mem_free(tree.units);
    mem_free(tree.cost);
}

void bound_whole_buffers(struct bound_sections *s)
{
    int64_t most = 0, cells = 0;
    for (int32_t t = 0; t < s->section_count; t++)
        if (s->sections[t].need <= MOST_NEED) most = max_i64(most, s->sections[t].need);
    /* least[u]: the least cost of removing at least u units. */
    int64_t *least = mem_alloc((size_t)(most + 1) * sizeof *least);
    for (int32_t t = 0; t < s->section_count; t++) {
        struct bound_section *section = &s->sections[t];
        if (section->need > MOST_NEED || cells > MOST_CELLS) continue;
        least[0] = 0;
        for (int64_t u = 1; u <= section->need; u++) least[u] = INT64_MAX / 2;
        cells += s->item_count;
        for (int32_t i = 0; i < s->item_count; i++) {
            const struct bound_item *b = &s->items[i];
            if (b->first > t || b->last < t) continue;
            cells += section->need;
            for (int64_t u = section->need; u > 0; u--)
                least[u] = min_i64(least[u], least[max_i64(u - b->units, 0)] + b->cost);
        }
        section->forced = max_i64(section->forced, least[section->need]);
    }
    mem_free(least);
}

int64_t bound_chain(const struct bound_sections *s)
{
    int64_t *total = mem_alloc(((size_t)s->section_count + 1) * sizeof *total);
    total[0] = 0;
    for (int32_t t = 0; t < s->section_count; t++)
        total[t + 1] =
            max_i64(total[t], s->sections[t].forced + total[bound_section_at(s, s->sections[t].oldest)]);
    int64_t forced = total[s->section_count];
    mem_free(total);
    return forced;
}
