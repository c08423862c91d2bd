/* Lower bounds that every legal answer respects.
 *
 * Sizes are counted in units: the greatest common divisor of all alignments, times the sizes' common divisor.
 * Buffers that can never be placed are paid in full. For the rest addresses are ignored: on each tick the
 * kept live buffers must fit. One tick alone forces out the cheapest bytes, and ticks that share no buffer
 * add up; prices per byte bound all ticks at once (bound_multiplier.c). Height: on each tick the live buffers
 * stand on top of each other.
 *
 * A child may sit on its dying parent on its first tick and is left out of that tick. Tens of microseconds
 * for a captured graph, 0.1 s for 100,000 buffers. If cancelled the bound is weaker. */
#include "placement/bound.h"

/* Limits of bound_whole_buffers: units that must go, and table cells in all. */
enum { MOST_NEED = 4096, MOST_CELLS = 60000 };

/* --- One overfull tick. A Fenwick tree over the items in order of cost per unit gives each tick's fractional
 * knapsack value in O(log n). Where the units are few, a dynamic programme gives the value of whole buffers.
 * --- */

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

/* The least cost of removing at least `excess` units, rounded up; a part of a buffer costs its share. */
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

static int compare_density(const void *a, const void *b)
{
    const struct bound_item *x = a, *y = b;
    int128 l = (int128)x->cost * y->units, r = (int128)y->cost * x->units;
    return l != r ? (l > r) - (l < r) : (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

struct event {
    int64_t tick;
    int32_t item;
};

ORDER(bound_section_compare_events, struct event, ORDER_UP(tick) ORDER_UP(item));

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

/* Sets the forced cost of each section alone, as if parts of a buffer could leave; O(n log n). */
static void bound_find_sections(struct bound_sections *s)
{
    size_t n = (size_t)s->item_count;
    OWNED struct event *starts = mem_alloc((n + 1) * sizeof *starts),
                       *ends = mem_alloc((n + 1) * sizeof *ends);
    struct tree tree = {mem_zeroed(n + 2, sizeof(int64_t)), mem_zeroed(n + 2, sizeof(int64_t)), s->item_count,
                        1};
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
    mem_free(tree.units);
    mem_free(tree.cost);
}

/* Raises forced costs to the least cost of whole buffers, where that is cheap. */
static void bound_whole_buffers(struct bound_sections *s)
{
    int64_t most = 0, cells = 0;
    for (int32_t t = 0; t < s->section_count; t++)
        if (s->sections[t].need <= MOST_NEED) most = max_i64(most, s->sections[t].need);
    /* least[u]: the least cost of removing at least u units. */
    OWNED int64_t *least = mem_alloc((size_t)(most + 1) * sizeof *least);
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
}

/* --- Plain lists. --- */

/* A fixed address must leave room below the capacity. */
static bool has_a_place(const struct lx_problem *p, const struct lx_buffer *b)
{
    return lx_may_be_placed(p, b) &&
           (p->objective == LX_HEIGHT || b->fixed < 0 || b->fixed <= p->capacity - b->size);
}

static bool may_take_over(const struct lx_problem *p, const struct lx_buffer *child)
{
    for (int32_t k = 0; k < child->parent_count; k++) {
        const struct lx_buffer *parent = &p->buffers[child->parents[k]];
        if (has_a_place(p, parent) &&
            (parent->fixed < 0 || child->fixed < 0 || parent->fixed == child->fixed))
            return true;
    }
    return false;
}

/* The greatest unit that divides every address. */
static int64_t common_alignment(const struct lx_problem *p)
{
    int64_t unit = 0;
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].size > 0 && has_a_place(p, &p->buffers[i]))
            unit = gcd_i64(lx_alignment_of(p, &p->buffers[i]), unit);
    return unit ? unit : 1;
}

/* Fills the items and returns the cost of buffers that can never be placed. The tail beyond the last whole
 * unit counts only if some buffer's odd end fits into it. */
static int64_t bound_collect(const struct lx_problem *p, int64_t unit, struct bound_sections *s)
{
    int64_t paid = 0, tail = p->capacity % unit, sizes = 0;
    bool tail_usable = false;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!has_a_place(p, b)) {
            paid += b->spill_cost;
            continue;
        }
        int64_t odd = b->size % unit;
        tail_usable |= odd > 0 && odd <= tail;
        struct bound_item item = {
            b->start + may_take_over(p, b), b->end, ceil_div_i64(b->size, unit), b->spill_cost, i, 0, -1};
        if (item.start >= item.end || item.units == 0) continue;
        sizes = gcd_i64(sizes, item.units);
        s->cost_step = gcd_i64(s->cost_step, item.cost);
        s->items[s->item_count++] = item;
    }
    s->capacity = p->capacity / unit + tail_usable;
    s->unit = sizes > 1 ? unit * sizes : unit;
    if (sizes > 1) {
        for (int32_t i = 0; i < s->item_count; i++) s->items[i].units /= sizes;
        s->capacity /= sizes;
    }
    if (s->cost_step == 0) s->cost_step = 1;
    return paid;
}

static int64_t spill_bound(const struct lx_problem *p, struct bound_sections *s)
{
    int64_t paid = bound_collect(p, common_alignment(p), s), chain = 0, priced = 0;
    bound_find_sections(s);
    if (s->section_count > 0) {
        bound_whole_buffers(s);
        /* Sections that share no buffer add up: the dearest such choice. */
        OWNED int64_t *total = mem_zeroed((size_t)s->section_count + 1, sizeof *total);
        for (int32_t t = 0; t < s->section_count; t++)
            total[t + 1] =
                max_i64(total[t], s->sections[t].forced + total[bound_section_at(s, s->sections[t].oldest)]);
        chain = total[s->section_count];
        priced = bound_multipliers(s, NULL);
    }
    int64_t bound = paid + max_i64(chain, priced);
    LOG(bound,
        "%" PRId64 ": %" PRId64 " for what has no place, and of %d sections alone %" PRId64
        ", all with prices %" PRId64,
        bound, paid, (int)s->section_count, chain, priced);
    return bound;
}

/* All buffers live on a tick stand on top of each other; only the topmost may end between units. */
static int64_t height_bound(const struct lx_problem *p, struct bound_sections *s)
{
    int64_t unit = common_alignment(p), padding = 0, alone = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (b->reason) continue;
        alone = max_i64(alone, max_i64(b->fixed, 0) + b->size);
        struct bound_item item = {
            b->start + may_take_over(p, b), b->end, ceil_div_i64(b->size, unit), 0, i, 0, -1};
        padding = max_i64(padding, item.units * unit - b->size);
        if (item.start < item.end && item.units > 0) s->items[s->item_count++] = item;
    }
    s->cost_step = 1;
    bound_find_sections(s);
    for (int32_t t = 0; t < s->section_count; t++)
        alone = max_i64(alone, s->sections[t].need * unit - padding);
    return alone;
}

int64_t bound_plain(const struct lx_problem *p)
{
    struct bound_sections s = {0};
    s.items = mem_zeroed((size_t)p->count + 1, sizeof *s.items);
    s.sections = mem_zeroed((size_t)p->count + 1, sizeof *s.sections);
    int64_t bound = p->objective == LX_HEIGHT ? height_bound(p, &s) : spill_bound(p, &s);
    mem_free(s.items);
    mem_free(s.sections);
    return bound;
}

int64_t lx_bound(const struct lx_problem *p)
{
    return p->pool_count || lx_problem_needs(p) ? bound_parts(p) : bound_plain(p);
}

int32_t lx_bound_prices(const struct lx_problem *p, struct lx_price **out)
{
    struct bound_sections s = {0};
    *out = NULL;
    if (p->pool_count > 1 || p->objective != LX_SPILL) return 0;
    s.items = mem_zeroed((size_t)p->count + 1, sizeof *s.items);
    s.sections = mem_zeroed((size_t)p->count + 1, sizeof *s.sections);
    bound_collect(p, common_alignment(p), &s);
    bound_find_sections(&s);
    OWNED double *price = mem_zeroed((size_t)s.section_count + 1, sizeof *price);
    if (s.section_count > 0) bound_multipliers(&s, price);
    *out = mem_alloc(((size_t)s.section_count + 1) * sizeof **out);
    for (int32_t t = 0; t < s.section_count; t++)
        (*out)[t] = (struct lx_price){s.sections[t].tick, s.sections[t].need * s.unit, s.sections[t].forced,
                                      price[t] / (double)s.unit};
    mem_free(s.items);
    mem_free(s.sections);
    return s.section_count;
}
