/* Large-neighbourhood search: a window of time and a band of addresses are cleared and filled anew. Free
 * items are those entirely in the region, and the spilled ones whose life lies in the window. Other items
 * that reach into the region are obstacles: fixed items, clipped to the region, with a cost so high that they
 * are always kept. The region is then a problem of the same kind, small enough for branch and pack. Results
 * of equal cost are accepted too, so that the search drifts over plateaus. Linked costs stay in the region,
 * with the literals of items that are not free decided. A group that goes together is free only as a whole.
 * Regions grow around a spilled item drawn by cost (or in a paid linked cost); their size follows success:
 * from a dozen free items to about a hundred. Handovers between a free item and an obstacle are not
 * offered. */
#include "exact/search.h"
#include "base/rng.h"

enum { LEAST_FREE = 12, MOST_FREE = 120, MOST_STALLS = 400 };

/* --- Linked costs of a region: literals of items that are not free are decided. A linked cost whose literals
 * are all decided is left out, so the region's value differs from the whole's by a constant. --- */

struct region_bonds {
    struct lx_bonds bonds; /* points into the arrays below */
    struct lx_linked_cost *linked_costs;
    struct lx_group *groups;
    int32_t *numbers;
};

struct filler {
    struct region_bonds *r;
    const struct model *m;
    const bool *free_item;
    const int32_t *index;
    const int64_t *address;
    int32_t used;
};

/* Collects the free literals of one kind; *holds counts the decided ones that hold. */
static struct lx_group region_bonds_take(struct filler *f, const int32_t *literals, int32_t count, bool off,
                                         int32_t *holds)
{
    struct lx_group g = {f->r->numbers + f->used, 0};
    for (int32_t k = 0; k < count; k++) {
        int32_t i = literals[k] / 2;
        if ((literals[k] & 1) != off) continue;
        if (f->free_item[i]) {
            f->r->numbers[f->used++] = f->index[i];
            g.count++;
        } else
            *holds += (f->address[i] < 0) == off;
    }
    return g;
}

static void fill_linked(struct filler *f, const struct model_linked *c)
{
    const int32_t *all = f->m->literals + c->first, *any = all + c->all;
    int32_t before = f->used, certain = 0, some = 0;
    struct lx_linked_cost to = {.cost = c->cost};
    to.all_on = region_bonds_take(f, all, c->all, false, &certain);
    to.all_off = region_bonds_take(f, all, c->all, true, &certain);
    bool possible = certain + to.all_on.count + to.all_off.count == c->all;
    int32_t needed = f->used;
    to.any_on = region_bonds_take(f, any, c->any, false, &some);
    to.any_off = region_bonds_take(f, any, c->any, true, &some);
    if (some > 0) {
        to.any_on.count = to.any_off.count = 0;
        f->used = needed;
    } else if (c->any > 0)
        possible &= to.any_on.count + to.any_off.count > 0;
    if (possible && f->used > before)
        f->r->linked_costs[f->r->bonds.linked_cost_count++] = to;
    else
        f->used = before;
}

/* Fills in the linked costs and groups of the free items, which are buffers index[i] of the region; other
 * items stay as in `address`. A group is free as a whole or not at all. */
static void region_bonds_fill(struct region_bonds *r, const struct model *m, const bool *free_item,
                              const int32_t *index, const int64_t *address)
{
    struct filler f = {r, m, free_item, index, address, 0};
    r->bonds = (struct lx_bonds){.linked_costs = r->linked_costs, .together = r->groups};
    for (int32_t c = 0; c < m->linked_cost_count; c++) fill_linked(&f, &m->linked_costs[c]);
    for (int32_t i = 0; m->linked && i < m->item_count; i++) {
        int32_t least = i;
        for (int32_t k = m->items[i].ring; k != i; k = m->items[k].ring) least = k < least ? k : least;
        if (m->items[i].ring == i || !free_item[i] || least < i) continue; /* each ring once */
        struct lx_group *g = &r->groups[r->bonds.together_count++];
        *g = (struct lx_group){r->numbers + f.used, 0};
        int32_t k = i;
        do {
            r->numbers[f.used++] = index[k];
            g->count++;
        } while ((k = m->items[k].ring) != i);
    }
}

/* --- Regions. --- */

struct region {
    int64_t from, to, low, high;
};

struct lns {
    const struct model *m;
    struct budget *budget;
    struct rng rng;
    int64_t *address, *trial;
    int32_t *merged_parent; /* per item: the parent whose slot it has now, or -1 */
    bool *free_item;
    struct lx_buffer *buffers;
    int32_t *origin, *members; /* per buffer of the region: its item, or -1 for an obstacle */
    int32_t *index, *parents;
    int64_t *on_cost;
    struct region_bonds bonds;
    int64_t step;     /* addresses at which a band may begin */
    int32_t wanted;   /* free items to aim at */
    int32_t free_off; /* free items off chip, at the last marking */
};

/* Makes both items free if one is; true: that changed something. */
static bool free_alike(struct lns *s, int32_t a, int32_t b)
{
    if (s->free_item[a] == s->free_item[b]) return false;
    s->free_item[a] = s->free_item[b] = false;
    return true;
}

/* Makes chains and groups free as a whole or not at all. */
static void spread_freedom(struct lns *s)
{
    int32_t n = s->m->item_count;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < n; i++) {
            int32_t parent = s->merged_parent[i];
            if (parent >= 0) changed |= free_alike(s, i, parent);
            changed |= free_alike(s, i, s->m->items[i].ring);
        }
    }
}

/* Marks the free items; returns how many are on chip, and sets `free_off` to the number off chip. */
static int32_t mark_free(struct lns *s, const struct region *r)
{
    int32_t n = s->m->item_count, count = 0;
    for (int32_t i = 0; i < n; i++) {
        const struct model_item *it = &s->m->items[i];
        int64_t size = model_buffer(s->m, i)->size, at = s->address[i];
        /* Empty and fixed items stay in place. */
        bool may_move = it->size > 0 && s->m->p->buffers[it->buffer].fixed < 0;
        s->free_item[i] = may_move && it->start >= r->from && it->end <= r->to &&
                          (at < 0 ? size <= r->high - r->low : at >= r->low && at + size <= r->high);
    }
    spread_freedom(s);
    s->free_off = 0;
    for (int32_t i = 0; i < n; i++) {
        count += s->free_item[i] && s->address[i] >= 0;
        s->free_off += s->free_item[i] && s->address[i] < 0;
    }
    return count;
}

/* The cost currently paid because of an item. */
static int64_t blame(const struct lns *s, int32_t i)
{
    const struct model *m = s->m;
    int64_t cost = s->address[i] < 0 ? max_i64(m->items[i].cost, 0) : max_i64(-m->items[i].cost, 0);
    for (int32_t k = m->linked ? m->linked_first[i] : 0; m->linked && k < m->linked_first[i + 1]; k++) {
        const struct model_linked *c = &m->linked_costs[m->linked_of[k]];
        if (c->cost > 0 && model_triggered(m, c, s->address)) cost += c->cost / (c->all + c->any) + 1;
    }
    return cost;
}

/* Draws an item by its share of the paid cost; -1: nothing is paid. */
static int32_t draw_spilled(struct lns *s)
{
    int64_t all = 0;
    for (int32_t i = 0; i < s->m->item_count; i++) all += blame(s, i);
    if (all <= 0) return -1;
    int64_t at = (int64_t)rng_below(&s->rng, (uint64_t)all);
    for (int32_t i = 0; i < s->m->item_count; i++)
        if ((at -= blame(s, i)) < 0) return i;
    return -1;
}

/* Limits the free items: of long windows only a band, and only some items off chip, but always `around`. */
static void lns_thin_out(struct lns *s, struct region *r, int32_t around)
{
    while (s->step > 0 && mark_free(s, r) > MOST_FREE + LEAST_FREE && r->high - r->low > 2 * s->step) {
        int64_t half = (r->high - r->low) / 2 / s->step * s->step;
        if (half == 0) break;
        if (rng_below(&s->rng, 2))
            r->low += half;
        else
            r->high = r->low + half;
    }
    mark_free(s, r);
    int32_t n = s->m->item_count, excess = s->free_off - MOST_FREE;
    if (excess <= 0) return;
    for (int32_t i = 0; i < n; i++)
        if (s->free_item[i] && s->address[i] < 0 && i != around &&
            rng_below(&s->rng, (uint64_t)s->free_off) < (uint64_t)excess)
            s->free_item[i] = false;
    spread_freedom(s);
}

/* Grows a region around an item until `wanted` items are free. */
static struct region choose_region(struct lns *s, int32_t around)
{
    const struct model *m = s->m;
    int64_t begin = m->items[0].start, end = 0, capacity = m->p->capacity;
    for (int32_t i = 0; i < m->item_count; i++) end = max_i64(end, m->items[i].end);
    const struct model_item *seed = &m->items[around];
    int64_t life = seed->end - seed->start;
    struct region r = {seed->start, seed->end, 0, capacity};
    bool banded = s->step > 0 && rng_below(&s->rng, 2) == 0;
    if (banded) {
        int64_t height = min_i64(capacity, max_i64(2 * m->p->buffers[seed->buffer].size, capacity / 8));
        r.low = (int64_t)rng_below(&s->rng, (uint64_t)(capacity - height + 1)) / s->step * s->step;
        r.high = r.low + height;
    }
    /* Until enough items are free, or too many off chip. */
    for (int tries = 0; tries < 40 && mark_free(s, &r) < s->wanted && s->free_off < 2 * MOST_FREE; tries++) {
        if (banded && (rng_below(&s->rng, 2) || (r.from == begin && r.to == end))) {
            r.low = s->step > 0 ? max_i64(0, r.low - capacity / 16) / s->step * s->step : 0;
            r.high = min_i64(capacity, r.high + capacity / 16);
            if (r.low == 0 && r.high == capacity) banded = false;
        } else {
            int64_t more = max_i64(1, life / 4);
            r.from = max_i64(begin, r.from - rng_between(&s->rng, 0, more));
            r.to = min_i64(end, r.to + rng_between(&s->rng, 0, more));
            life += more;
            if (r.from == begin && r.to == end && !banded) break;
        }
    }
    return r;
}

/* Clips an item that reaches into the region to a buffer; false: it does not. A child that sits on its parent
 * begins one tick later; sizes are rounded up to the alignment, as no buffer could use the rest. */
static bool clip_obstacle(const struct lns *s, int32_t i, const struct region *r, struct lx_buffer *b)
{
    const struct model_item *it = &s->m->items[i];
    int64_t unit = s->m->p->alignment, top = s->address[i] + round_up_i64(model_buffer(s->m, i)->size, unit);
    int64_t start = max_i64(it->start + (s->merged_parent[i] >= 0), r->from), end = min_i64(it->end, r->to);
    int64_t low = max_i64(s->address[i], r->low), high = min_i64(top, r->high);
    if (start >= end || low >= high) return false;
    *b = (struct lx_buffer){
        .name = "obstacle", .start = start, .end = end, .size = high - low, .fixed = low - r->low};
    return true;
}

/* Makes the region a problem; returns the number of its buffers. */
static int32_t lns_build(struct lns *s, const struct region *r, struct lx_problem *q)
{
    const struct model *m = s->m;
    int32_t n = 0;
    int64_t cost = 0;
    for (int32_t i = 0; i < m->item_count; i++) {
        if (!s->free_item[i]) continue;
        s->buffers[n] = m->p->buffers[m->items[i].buffer];
        s->buffers[n].parent_count = 0;
        s->buffers[n].parents = &s->parents[n];
        s->buffers[n].spill_cost = max_i64(m->items[i].cost, 0);
        s->on_cost[n] = max_i64(-m->items[i].cost, 0);
        s->buffers[n].on_costs = s->on_cost[n] ? &s->on_cost[n] : NULL;
        s->buffers[n].pool_count = s->on_cost[n] != 0;
        s->buffers[n].must = m->items[i].must;
        s->buffers[n].reason = m->items[i].never ? "decided" : NULL;
        s->origin[n] = i;
        s->index[i] = n++;
        cost += m->items[i].cost < 0 ? -m->items[i].cost : m->items[i].cost;
    }
    for (int32_t k = 0; k < m->priced_count; k++) cost += m->linked_costs[k].cost;
    for (int32_t e = m->edge_count - 1; e >= 0; e--) { /* one parent each: the current one, or the first */
        int32_t parent = m->edges[e].parent, child = m->edges[e].child;
        if (!s->free_item[parent] || !s->free_item[child]) continue;
        if (s->merged_parent[child] >= 0 && s->merged_parent[child] != parent) continue;
        s->parents[s->index[child]] = s->index[parent];
        s->buffers[s->index[child]].parent_count = 1;
    }
    for (int32_t i = 0; i < m->item_count; i++) {
        if (s->free_item[i] || s->address[i] < 0 || !clip_obstacle(s, i, r, &s->buffers[n])) continue;
        s->buffers[n].spill_cost = cost + 1;
        s->origin[n++] = -1;
    }
    for (int32_t k = 0; k < n; k++) s->members[k] = k;
    region_bonds_fill(&s->bonds, m, s->free_item, s->index, s->address);
    *q = (struct lx_problem){.objective = LX_SPILL,
                             .capacity = r->high - r->low,
                             .alignment = m->p->alignment,
                             .count = n,
                             .buffers = s->buffers,
                             .bonds = s->bonds.bonds};
    return n;
}

/* Solves the region again. True: the plan changed and is no worse. */
static bool lns_resolve(struct lns *s, const struct region *r, struct search_stats *stats)
{
    struct lx_problem q;
    int32_t n = lns_build(s, r, &q);
    int64_t total = 0;
    for (int32_t k = 0; k < n; k++) total += q.buffers[k].spill_cost;
    if (total > INT64_MAX / 4) return false;
    struct model *m = model_new(&q, s->members, n);
    for (int32_t i = 0; i < m->item_count; i++) {
        int32_t item = s->origin[m->items[i].buffer];
        s->trial[i] = item < 0 ? 0 : s->address[item];
    }
    int64_t now = model_value(m, s->trial), best = now + m->cost_step;
    struct search_tuning tuning = {.fit_nodes = 2000, .core_nodes = 100, .light = true};
    for (int32_t i = 0; i < m->item_count; i++) s->trial[i] = LX_OFF_CHIP;
    struct search search;
    search_open(&search, m, s->budget, &tuning, s->trial, best);
    search_continue(&search, 3000, 4);
    best = search.best;
    search_close(&search, stats);
    s->budget->steps++;
    bool found = best <= now;
    if (found) {
        for (int32_t i = 0; i < s->m->item_count; i++)
            if (s->free_item[i]) s->address[i] = LX_OFF_CHIP;
        for (int32_t i = 0; i < m->item_count; i++) {
            int32_t item = s->origin[m->items[i].buffer];
            if (item >= 0 && s->trial[i] >= 0) s->address[item] = s->trial[i] + r->low;
        }
    }
    model_free(m);
    return found;
}

void lns_improve(const struct model *m, struct budget *budget, int64_t steps, int64_t *address, int64_t *best,
                 int64_t bound, struct search_stats *stats)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)m->item_count + 1;
    struct lns s = {.m = m,
                    .budget = budget,
                    .rng = rng_seed(budget->run->seed + 77),
                    .address = address,
                    .step = m->p->alignment,
                    .wanted = LEAST_FREE};
    /* The least common multiple of all alignments; 0 if it exceeds the capacity: bands then begin at 0. */
    for (int32_t i = 0; i < m->item_count && s.step > 0; i++) {
        int64_t own = lx_alignment_of(m->p, model_buffer(m, i));
        if (!mul_i64(s.step / gcd_i64(s.step, own), own, &s.step) || s.step > m->p->capacity) s.step = 0;
    }
    s.trial = arena_array(&memory, n, sizeof *s.trial);
    s.merged_parent = arena_array(&memory, n, sizeof *s.merged_parent);
    s.free_item = arena_array(&memory, n, sizeof *s.free_item);
    s.buffers = arena_array(&memory, n, sizeof *s.buffers);
    s.origin = arena_array(&memory, n, sizeof *s.origin);
    s.members = arena_array(&memory, n, sizeof *s.members);
    s.index = arena_array(&memory, n, sizeof *s.index);
    s.parents = arena_array(&memory, n, sizeof *s.parents);
    s.on_cost = arena_array(&memory, n, sizeof *s.on_cost);
    size_t literals = n;
    for (int32_t c = 0; c < m->linked_cost_count; c++)
        literals += (size_t)(m->linked_costs[c].all + m->linked_costs[c].any);
    s.bonds.linked_costs =
        arena_array(&memory, (size_t)m->linked_cost_count + 1, sizeof *s.bonds.linked_costs);
    s.bonds.groups = arena_array(&memory, n, sizeof *s.bonds.groups);
    s.bonds.numbers = arena_array(&memory, literals, sizeof *s.bonds.numbers);
    int64_t until = budget->steps + min_i64(steps, budget->limit);
    int32_t most = MOST_STALLS + m->item_count;
    for (int32_t stalls = 0; *best > bound && stalls < most; stalls++) {
        if (budget_spent(budget) || budget->steps >= until) break;
        for (int32_t i = 0; i < m->item_count; i++) s.merged_parent[i] = -1;
        for (int32_t e = 0; e < m->edge_count; e++) {
            int32_t parent = m->edges[e].parent, child = m->edges[e].child;
            if (address[parent] >= 0 && address[parent] == address[child]) s.merged_parent[child] = parent;
        }
        int32_t around = draw_spilled(&s);
        if (around < 0) break;
        struct region r = choose_region(&s, around);
        lns_thin_out(&s, &r, around);
        if (lns_resolve(&s, &r, stats) && model_value(m, address) < *best) {
            *best = model_value(m, address);
            budget_better(budget, m, address, *best);
            stalls = 0;
        }
        s.wanted = LEAST_FREE + (int32_t)rng_below(&s.rng, MOST_FREE - LEAST_FREE);
    }
}
