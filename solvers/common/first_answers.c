/* First answers: each order of the items, placed one by one at the lowest address that is free.
 *
 * The first order is the score of the established first-fit planner, so that on easy problems people see the
 * addresses they know; the others favour cost per byte and tick, cost per byte, size, area, time. One lowest
 * fit costs O(d log d) for d conflicts. Problems too dense for lists of conflicts are swept over time with
 * the sorted list of live ranges instead: O(n * live), in practice far less than a search step per buffer. */
#include "common/first_answers.h"

static bool clear_of_others(const struct items *it, int32_t i, int32_t partner, int64_t at,
                            const int64_t *base)
{
    int64_t top = at + it->item[i].size;
    for (size_t k = it->first[i]; k < it->first[i + 1]; k++) {
        int32_t other = it->near[k];
        if (other != partner && base[other] >= 0 && base[other] < top &&
            at < base[other] + it->item[other].size)
            return false;
    }
    return true;
}

/* A partner's slot, if one can be shared: the child no larger than its parent, each slot handed over once. */
static int64_t shared_fit(const struct items *it, int32_t i, const int64_t *base, struct sharing *share)
{
    const struct item *b = &it->item[i];
    for (int32_t k = it->edge_first[i]; k < it->edge_first[i + 1]; k++) {
        struct edge e = it->edge[it->edge_of[k]];
        int32_t other = e.parent == i ? e.child : e.parent;
        int64_t at = base[other];
        if (at < 0 || share[e.parent].child != NO_ITEM || share[e.child].parent != NO_ITEM) continue;
        if (at % b->align != 0 || at > b->last || (b->fixed >= 0 && b->fixed != at)) continue;
        if (!clear_of_others(it, i, other, at, base)) continue;
        share[e.parent].child = e.child;
        share[e.child].parent = e.parent;
        return at;
    }
    return NOT_PLACED;
}

int64_t lowest_fit(const struct items *it, int32_t i, const int64_t *base, struct sharing *share,
                   struct byte_range *scratch, struct taken_bits *map)
{
    const struct item *b = &it->item[i];
    int64_t at = shared_fit(it, i, base, share);
    if (at >= 0) return at;
    if (b->fixed >= 0) return clear_of_others(it, i, NO_ITEM, b->fixed, base) ? b->fixed : NOT_PLACED;
    size_t taken = 0;
    for (size_t k = it->first[i]; k < it->first[i + 1]; k++) {
        int32_t other = it->near[k];
        if (base[other] >= 0)
            scratch[taken++] = (struct byte_range){base[other], base[other] + it->item[other].size};
    }
    taken = taken_join(map, scratch, taken);
    at = 0;
    for (size_t k = 0; k < taken && scratch[k].from < at + b->size; k++)
        if (scratch[k].to > at) at = align_up(b->align, scratch[k].to);
    return at <= b->last ? at : NOT_PLACED;
}

void lowest_fit_map(const struct items *it, struct taken_bits *map)
{
    const struct lx_problem *p = it->problem;
    bool limited = p->objective != LX_HEIGHT && p->capacity < INT64_MAX / 4;
    taken_bits_of_units(map, limited ? ceil_div_i64(p->capacity, p->alignment) : 0);
}

struct ranked {
    double major, minor; /* smaller comes first; ties by input order */
    int32_t buffer, item;
};

ORDER(first_answers_compare_ranked, struct ranked, ORDER_UP(major) ORDER_UP(minor) ORDER_UP(buffer));

enum start_order {
    BY_WORTH, /* items with a worth above one by size, then the others by worth */
    BY_SCORE,
    BY_DENSITY,
    BY_COST_PER_BYTE,
    BY_SIZE,
    BY_AREA,
    BY_COST,
    BY_START,
    START_ORDERS
};

static struct ranked rank_item(const struct items *it, const int64_t *worth, int32_t i,
                               enum start_order order)
{
    const struct item *b = &it->item[i];
    const struct lx_buffer *buffer = &it->problem->buffers[b->buffer];
    double span = (double)(b->end - b->start), size = (double)b->size, cost = (double)b->cost;
    double uses = buffer->use_count + (buffer->first_use_is_read ? 0.0 : 0.5);
    bool is_parent = false, is_child = false;
    for (int32_t k = it->edge_first[i]; order == BY_SCORE && k < it->edge_first[i + 1]; k++) {
        bool as_child = it->edge[it->edge_of[k]].child == i;
        is_child |= as_child;
        is_parent |= !as_child;
    }
    const double keys[START_ORDERS] = {
        [BY_WORTH] = !worth                  ? 0
                     : worth[i] >= WORTH_ONE ? -size
                                             : 2 - (double)worth[i] / (double)WORTH_ONE,
        [BY_SCORE] = (span - 0.25 * is_child - 0.25 * is_parent) / (uses > 0 ? uses : 0.5),
        [BY_DENSITY] = -cost / (size * span),
        [BY_COST_PER_BYTE] = -cost / size,
        [BY_SIZE] = -size,
        [BY_AREA] = -size * span,
        [BY_COST] = -cost,
        [BY_START] = (double)b->start,
    };
    /* Fixed addresses go first: nothing else may stand in their way. */
    return (struct ranked){b->fixed >= 0 ? -1e300 : keys[order], span, b->buffer, i};
}

struct placing {
    const struct items *it;
    const bool *keep;
    int64_t *base;
    bool *done;
    bool by_rank; /* place parents in their turn, not before their child */
    struct sharing *share;
    struct byte_range *scratch;
    struct taken_bits map;
    struct poll *poll;
};

/* Parents before children, so that their slots can be offered (fixed items still go first); edges strictly go
 * forward in time, and a chain of them is followed with an explicit stack of one path. */
static void place_one(struct placing *p, int32_t i, int32_t *stack)
{
    const struct items *it = p->it;
    int32_t depth = 0;
    stack[depth++] = i;
    while (depth > 0) {
        int32_t now = stack[depth - 1], waits = NO_ITEM;
        if (poll_stopped(p->poll, 64 + 16 * (int64_t)(it->first[now + 1] - it->first[now]))) return;
        for (int32_t k = it->edge_first[now]; k < it->edge_first[now + 1] && waits == NO_ITEM; k++) {
            struct edge e = it->edge[it->edge_of[k]];
            if (e.child == now && !p->by_rank && it->item[now].fixed < 0 && !p->done[e.parent] &&
                (!p->keep || p->keep[e.parent]))
                waits = e.parent;
        }
        if (waits != NO_ITEM) {
            stack[depth++] = waits;
            continue;
        }
        p->done[now] = true;
        p->base[now] = lowest_fit(it, now, p->base, p->share, p->scratch, &p->map);
        depth--;
    }
}

static void place_in_order(const struct items *it, const int64_t *worth, enum start_order order,
                           const bool *keep, struct poll *poll, int64_t *base)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)it->count;
    struct ranked *ranked = arena_array(&memory, n + 1, sizeof *ranked);
    int32_t *stack = arena_array(&memory, n + 1, sizeof *stack);
    struct placing p = {.it = it, .keep = keep, .base = base, .by_rank = order == BY_WORTH, .poll = poll};
    p.done = arena_array(&memory, n + 1, sizeof *p.done);
    p.share = arena_array(&memory, n + 1, sizeof *p.share);
    p.scratch = arena_array(&memory, n + 1, sizeof *p.scratch);
    lowest_fit_map(it, &p.map);
    for (size_t i = 0; i < n; i++) {
        base[i] = NOT_PLACED;
        p.share[i] = (struct sharing){NO_ITEM, NO_ITEM};
    }
    for (int32_t i = 0; i < it->count; i++) ranked[i] = rank_item(it, worth, i, order);
    qsort(ranked, (size_t)it->count, sizeof *ranked, first_answers_compare_ranked);
    for (size_t i = 0; i < n && !poll->stopped; i++)
        if (!p.done[ranked[i].item] && (!keep || keep[ranked[i].item])) place_one(&p, ranked[i].item, stack);
    mem_free(p.map.bits);
}

/* An order costs about a microsecond for ten pairs: with many pairs only a few orders are tried. */
enum { MANY_PAIRS = 2000000, FEW_ORDERS = 4 };

struct live_range {
    int64_t from, to, end;
};

enum { SWEEP_FIXED_MAX = 4096 }; /* fixed items beyond that are placed, but nothing is placed around them */

static bool hits_fixed(const struct items *it, const int32_t *fixed, int32_t count, const struct item *b,
                       int64_t at, int64_t *beyond)
{
    for (int32_t k = 0; k < count; k++) {
        const struct item *f = &it->item[fixed[k]];
        if (f->start >= b->end || b->start >= f->end || f->fixed >= at + b->size || at >= f->fixed + f->size)
            continue;
        *beyond = f->fixed + f->size;
        return true;
    }
    return false;
}

/* Sweeps time forwards; puts each item into the lowest gap between the sorted live ranges. */
static void sweep_time(const struct items *it, struct poll *poll, int64_t *base)
{
    size_t n = (size_t)it->count;
    OWNED struct live_range *live = mem_alloc((n + 1) * sizeof *live);
    int32_t *fixed = mem_alloc((n + 1) * sizeof *fixed), fixed_count = 0;
    for (int32_t i = 0; i < it->count; i++)
        if (it->item[i].fixed >= 0) fixed[fixed_count++] = i;
    size_t alive = 0;
    for (int32_t i = 0; i < it->count; i++) {
        const struct item *b = &it->item[i];
        size_t kept = 0;
        base[i] = NOT_PLACED;
        if (poll_stopped(poll, 64 + 2 * (int64_t)alive + fixed_count)) continue;
        for (size_t k = 0; k < alive; k++)
            if (live[k].end > b->start) live[kept++] = live[k];
        alive = kept;
        int64_t at = b->fixed >= 0 ? b->fixed : 0, beyond = 0;
        if (b->fixed < 0 && fixed_count > SWEEP_FIXED_MAX) continue;
        size_t slot = 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (; slot < alive && live[slot].from < at + b->size; slot++)
                if (live[slot].to > at) {
                    if (b->fixed >= 0)
                        at = ITEM_NO_LIMIT;
                    else
                        at = align_up(b->align, live[slot].to);
                }
            if (b->fixed < 0 && at <= b->last && hits_fixed(it, fixed, fixed_count, b, at, &beyond)) {
                moved = !poll_stopped(poll, fixed_count);
                at = moved ? align_up(b->align, beyond) : ITEM_NO_LIMIT;
            }
        }
        if (at > b->last || at == ITEM_NO_LIMIT) continue;
        memmove(&live[slot + 1], &live[slot], (alive - slot) * sizeof *live);
        live[slot] = (struct live_range){at, at + b->size, b->end};
        alive++;
        base[i] = at;
    }
    mem_free(fixed);
}

bool start_better(struct links *links, const int64_t *a, const int64_t *b)
{
    const struct items *it = links->it;
    if (links->any) {
        int32_t broken_a, broken_b;
        int64_t cost_b = links_cost(links, b, &broken_b), cost_a = links_cost(links, a, &broken_a);
        return broken_a != broken_b ? broken_a < broken_b : cost_a < cost_b;
    }
    if (it->problem->objective == LX_SPILL) return items_spill(it, a) < items_spill(it, b);
    if (it->problem->objective == LX_HEIGHT) {
        bool all_a = items_all_placed(it, a), all_b = items_all_placed(it, b);
        if (!all_a || !all_b) return all_a;
        return items_height(it, a) < items_height(it, b);
    }
    int64_t left_a = 0, left_b = 0;
    for (int32_t i = 0; i < it->count; i++) {
        left_a += a[i] < 0;
        left_b += b[i] < 0;
    }
    return left_a < left_b;
}

void start_by_score(const struct items *it, const bool *keep, const struct lx_run *run, int64_t *base)
{
    struct poll poll = {.run = run};
    place_in_order(it, NULL, BY_SCORE, keep, &poll, base);
}

void start_best(struct links *links, const int64_t *worth, const struct lx_run *run, bool have, int64_t *base)
{
    const struct items *it = links->it;
    OWNED int64_t *trial = mem_alloc(((size_t)it->count + 1) * sizeof *trial);
    struct poll poll = {.run = run};
    int orders = !it->near ? 1 : it->pairs > MANY_PAIRS ? FEW_ORDERS : START_ORDERS;
    for (int order = worth || !it->near ? 0 : 1; order < orders; order++) {
        if (have && lx_run_stopped(run)) break;
        if (have && !links->any) { /* it meets the bound */
            bool all = items_all_placed(it, base), height = it->problem->objective == LX_HEIGHT;
            if (height ? all && items_height(it, base) <= run->known_bound : all) break;
            if (it->problem->objective == LX_SPILL && it->lost + items_spill(it, base) <= run->known_bound)
                break;
        }
        if (it->near)
            place_in_order(it, worth, (enum start_order)order, NULL, &poll, trial);
        else
            sweep_time(it, &poll, trial);
        links_trim(links, trial);
        if (have && !start_better(links, trial, base)) continue;
        memcpy(base, trial, (size_t)it->count * sizeof *base);
        have = true;
    }
}

/* Prices by subgradients: an overfull section gets dearer, one with room cheaper.
 *
 * Addresses are ignored: at each start of an item (a section) the kept items that live there must fit. An
 * item is kept if its cost is above the price of its bytes; prices follow the load of the kept items,
 * smoothed over the last rounds, with steps that shrink. One round is linear in items and sections; some
 * hundred come within a few thousandths of the best prices. All in integers, so that every machine finds the
 * same. An in-place child is left out of its first section, which it may share with its parent. */

enum { ROUNDS = 300, SHRINK = 10, SMOOTH = 5, STEP_BITS = 20 };

struct market {
    const struct items *it;
    struct arena memory;
    int32_t sections;
    int32_t *first, *beyond; /* per item: the sections [first, beyond) that it lives in */
    int64_t *price;          /* per section and unit */
    int128 *sum;             /* of the prices before a section */
    int64_t *load, *trend;
    int64_t room, unit_price; /* average price of a unit and section: scales the steps */
    int shift;                /* prices and costs are scaled by 2^shift */
};

static int32_t prices_section_at(const int64_t *tick, int32_t count, int64_t at)
{
    int32_t i;
    BISECT(i, 0, count, tick[i] < at);
    return i;
}

static int128 price_of(const struct market *m, int32_t i)
{
    if (m->first[i] >= m->beyond[i]) return 0;
    return (m->sum[m->beyond[i]] - m->sum[m->first[i]]) * m->it->item[i].size;
}

static int128 scaled_cost(const struct market *m, int32_t i)
{
    return (int128)max_i64(m->it->item[i].cost, 0) << m->shift;
}

static void prices_open(struct market *m)
{
    const struct items *it = m->it;
    size_t n = (size_t)it->count + 2;
    m->first = arena_array(&m->memory, n, sizeof *m->first);
    m->beyond = arena_array(&m->memory, n, sizeof *m->beyond);
    m->price = arena_array(&m->memory, n, sizeof *m->price);
    m->sum = arena_array(&m->memory, n, sizeof *m->sum);
    m->load = arena_array(&m->memory, n, sizeof *m->load);
    m->trend = arena_array(&m->memory, n, sizeof *m->trend);
    int64_t *tick = arena_array(&m->memory, n, sizeof *tick);
    for (int32_t i = 0; i < it->count; i++)
        if (i == 0 || it->item[i].start != it->item[i - 1].start) tick[m->sections++] = it->item[i].start;
    for (int32_t e = 0; e < it->edge_count; e++) m->first[it->edge[e].child] = 1;

    /* Scaled costs stay below 2^52; the average price spreads all costs over all bytes and sections. */
    int128 cost = 1, area = 1;
    for (int32_t i = 0; i < it->count; i++) {
        m->first[i] += prices_section_at(tick, m->sections, it->item[i].start);
        m->beyond[i] = prices_section_at(tick, m->sections, it->item[i].end);
        cost += max_i64(it->item[i].cost, 0);
        area += (int128)it->item[i].size * max_i64(m->beyond[i] - m->first[i], 0);
    }
    while (cost << m->shift < (int128)1 << 51 && m->shift < 40) m->shift++;
    m->unit_price = max_i64((int64_t)((cost << m->shift) / area), 1);
}

void prices_find(const struct items *it, int64_t percent, const struct lx_run *run, int64_t *worth)
{
    struct market m = {.it = it};
    struct poll poll = {.run = run};
    int64_t work = 8 * ((int64_t)it->count + 2);
    m.room = it->problem->capacity / it->problem->alignment * percent / 100;
    prices_open(&m);
    for (int round = 0; round < ROUNDS && !poll_stopped(&poll, work); round++) {
        for (int32_t t = 0; t <= m.sections; t++) m.load[t] = 0;
        for (int32_t i = 0; i < it->count; i++) {
            if (m.first[i] >= m.beyond[i] || price_of(&m, i) > scaled_cost(&m, i)) continue;
            m.load[m.first[i]] += it->item[i].size;
            m.load[m.beyond[i]] -= it->item[i].size;
        }
        /* Prices follow the smoothed excess of the load. */
        int64_t load = 0, step = 2 * m.unit_price * ROUNDS / (ROUNDS + SHRINK * round);
        for (int32_t t = 0; t < m.sections; t++) {
            load += m.load[t];
            int64_t excess =
                (int64_t)(((int128)(load - m.room) * (INT64_C(1) << STEP_BITS)) / max_i64(m.room, 1));
            m.trend[t] += (min_i64(excess, INT64_C(1) << 30) - m.trend[t]) / SMOOTH;
            m.price[t] = max_i64(m.price[t] + (int64_t)(((int128)step * m.trend[t]) >> STEP_BITS), 0);
            m.sum[t + 1] = m.sum[t] + m.price[t];
        }
    }
    for (int32_t i = 0; i < it->count; i++) {
        int128 price = price_of(&m, i), cost = scaled_cost(&m, i) * WORTH_ONE, most = (int128)1 << 50;
        int128 ratio = price > 0 ? cost / price : most;
        worth[i] = (int64_t)(ratio < most ? ratio : most);
    }
    arena_free(&m.memory);
}
