/* Prices by subgradients: a time at which too much is wanted becomes dearer, one at which room is left
 * cheaper. Forget addresses: at each start of an item (the sections) the kept items that live there must
 * fit. For given prices an item is kept where its cost is above the price of its bytes; the prices follow
 * the load that results, smoothed over the last rounds, with steps that shrink. One round is linear in
 * items and sections, some hundred come within a few thousandths of the best prices. All in integers, so
 * that every machine finds the same. An in-place child is left out of its first section, which it may
 * share with its parent. */
#include "common/first_answers.h"
#include "common/poll.h"
#include "base/arena.h"
#include "base/bisect.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

enum { ROUNDS = 300, SHRINK = 10, SMOOTH = 5, STEP_BITS = 20 };

struct market {
    const struct items *it;
    int32_t sections;
    int32_t *first, *beyond; /* per item: the sections [first, beyond) that it lives in */
    int64_t *price;          /* per section, for one unit */
    int128 *sum;             /* of the prices before a section */
    int64_t *load, *trend;
    int64_t room, unit_price; /* what a unit and section costs on average: the measure of steps */
    int shift;                /* prices and costs are scaled by 2^shift */
};

static int32_t prices_section_at(const int64_t *tick, int32_t count, int64_t at)
{
    int32_t i;
    BISECT(i, 0, count, tick[i] < at);
    return i;
}

static void prices_find_sections(struct market *m)
{
    const struct items *it = m->it;
    int64_t *tick = mem_alloc(((size_t)it->count + 1) * sizeof *tick);
    for (int32_t i = 0; i < it->count; i++)
        if (i == 0 || it->item[i].start != it->item[i - 1].start) tick[m->sections++] = it->item[i].start;
    for (int32_t e = 0; e < it->edge_count; e++) m->first[it->edge[e].child] = 1;
    for (int32_t i = 0; i < it->count; i++) {
        m->first[i] += prices_section_at(tick, m->sections, it->item[i].start);
        m->beyond[i] = prices_section_at(tick, m->sections, it->item[i].end);
    }
    mem_free(tick);
}

/* All costs, scaled, stay below 2^52; the average price is that of all costs spread over all bytes and
 * sections. */
static void find_scale(struct market *m)
{
    int128 cost = 1, area = 1;
    for (int32_t i = 0; i < m->it->count; i++) {
        cost += max_i64(m->it->item[i].cost, 0);
        area += (int128)m->it->item[i].size * max_i64(m->beyond[i] - m->first[i], 0);
    }
    while (cost << m->shift < (int128)1 << 51 && m->shift < 40) m->shift++;
    m->unit_price = max_i64((int64_t)((cost << m->shift) / area), 1);
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

static void prices_add_prices(struct market *m)
{
    m->sum[0] = 0;
    for (int32_t t = 0; t < m->sections; t++) m->sum[t + 1] = m->sum[t] + m->price[t];
}

void prices_find(const struct items *it, int64_t percent, const struct lx_run *run, int64_t *worth)
{
    struct arena memory = {0};
    size_t n = (size_t)it->count + 2;
    struct market m = {.it = it};
    struct poll poll = {.run = run};
    m.room = it->problem->capacity / it->problem->alignment * percent / 100;
    m.first = arena_array(&memory, n, sizeof *m.first);
    m.beyond = arena_array(&memory, n, sizeof *m.beyond);
    m.price = arena_array(&memory, n, sizeof *m.price);
    m.sum = arena_array(&memory, n, sizeof *m.sum);
    m.load = arena_array(&memory, n, sizeof *m.load);
    m.trend = arena_array(&memory, n, sizeof *m.trend);
    prices_find_sections(&m);
    find_scale(&m);
    prices_add_prices(&m);
    for (int round = 0; round < ROUNDS && !poll_stopped(&poll, 8 * (int64_t)n); round++) {
        for (int32_t t = 0; t <= m.sections; t++) m.load[t] = 0;
        for (int32_t i = 0; i < m.it->count; i++) {
            if (m.first[i] >= m.beyond[i] || price_of(&m, i) > scaled_cost(&m, i)) continue;
            m.load[m.first[i]] += m.it->item[i].size;
            m.load[m.beyond[i]] -= m.it->item[i].size;
        }
        int64_t load = 0, step = 2 * m.unit_price * ROUNDS / (ROUNDS + SHRINK * round);
        for (int32_t t = 0; t < m.sections; t++) {
            load += m.load[t];
            int64_t excess =
                (int64_t)(((int128)(load - m.room) * (INT64_C(1) << STEP_BITS)) / max_i64(m.room, 1));
            m.trend[t] += (min_i64(excess, INT64_C(1) << 30) - m.trend[t]) / SMOOTH;
            m.price[t] = max_i64(m.price[t] + (int64_t)(((int128)step * m.trend[t]) >> STEP_BITS), 0);
        }
        prices_add_prices(&m);
    }
    for (int32_t i = 0; i < m.it->count; i++) {
        int128 price = price_of(&m, i), cost = scaled_cost(&m, i) * WORTH_ONE, most = (int128)1 << 50;
        int128 ratio = price > 0 ? cost / price : most;
        worth[i] = (int64_t)(ratio < most ? ratio : most);
    }
    arena_free(&memory);
}
