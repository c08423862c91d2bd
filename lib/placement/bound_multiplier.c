/* A price per byte and section: the Lagrangian bound over all sections at once. For any prices u >= 0:
 *
 *   spill >= sum u_t need_t - sum over items of max(0, units * (sum of its prices) - cost)
 *
 * Prices are raised one section at a time: the best price with the others held is where the items that would
 * leave just cover its need (a weighted median of their densities). A few sweeps in both directions come
 * close to the best; on long lists all prices move at once. Prices are found in floating point and certified
 * in integers of 128 bits. */
#include "placement/bound.h"

/* The most pairs of item and section; sweeps; rounds of the ascent, and how fast its steps shrink. */
enum { MOST_MEMBERS = 400000, SWEEPS = 6, ROUNDS = 300, SHRINK = 10 };

struct offer {
    double density, units;
};

struct prices {
    const struct bound_sections *s;
    double *price, *over; /* over[i]: the sum of the prices of an item's sections */
    int32_t *begin, *members;
    struct offer *offers;
};

/* The density at which the offers, cheapest first, cover the need: quickselect by weight. */
static double covering_density(struct offer *offers, int32_t n, double need)
{
    int32_t low = 0, high = n;
    while (high - low > 1) {
        double pivot = offers[low + (high - low) / 2].density, below = 0, equal = 0;
        int32_t a = low, b = low, c = high;
        while (b < c) {
            if (offers[b].density < pivot) {
                struct offer swap = offers[a];
                below += offers[b].units;
                offers[a++] = offers[b];
                offers[b++] = swap;
            } else if (offers[b].density > pivot) {
                struct offer swap = offers[--c];
                offers[c] = offers[b];
                offers[b] = swap;
            } else
                equal += offers[b++].units;
        }
        if (below >= need)
            high = a;
        else if (below + equal >= need)
            return pivot;
        else {
            need -= below + equal;
            low = b;
            if (low >= high) return pivot;
        }
    }
    return offers[low < n ? low : n - 1].density;
}

static void best_price(struct prices *p, int32_t t)
{
    const struct bound_sections *s = p->s;
    int32_t n = 0;
    double old = p->price[t];
    for (int32_t k = p->begin[t]; k < p->begin[t + 1]; k++) {
        const struct bound_item *b = &s->items[p->members[k]];
        p->offers[n++] = (struct offer){(double)b->cost / (double)b->units - (p->over[p->members[k]] - old),
                                        (double)b->units};
    }
    double price = fmax(0, covering_density(p->offers, n, (double)s->sections[t].need));
    if (price == old) return;
    p->price[t] = price;
    for (int32_t k = p->begin[t]; k < p->begin[t + 1]; k++) p->over[p->members[k]] += price - old;
}

/* The bound that the prices prove, in integers: scaled so that all sums stay below 2^120. */
static int64_t certified_value(const struct prices *p, int128 *prefix)
{
    const struct bound_sections *s = p->s;
    double units = 1, sum = 1, cost = 1, largest = 1;
    for (int32_t i = 0; i < s->item_count; i++) {
        units += (double)s->items[i].units;
        cost += (double)s->items[i].cost;
    }
    for (int32_t t = 0; t < s->section_count; t++) {
        sum += p->price[t];
        largest = fmax(largest, p->price[t]);
    }
    int sum_bits, price_bits;
    frexp(4 * (units * sum + cost), &sum_bits);
    frexp(largest, &price_bits);
    int shift = 118 - sum_bits < 60 - price_bits ? 118 - sum_bits : 60 - price_bits;
    shift = shift < 0 ? 0 : shift > 40 ? 40 : shift;
    int128 scale = (int128)1 << shift, value = 0;
    prefix[0] = 0;
    for (int32_t t = 0; t < s->section_count; t++) {
        int64_t price = (int64_t)ldexp(p->price[t] < 0x1p60 ? p->price[t] : 0, shift);
        prefix[t + 1] = prefix[t] + price;
        value += (int128)price * s->sections[t].need;
    }
    for (int32_t i = 0; i < s->item_count; i++) {
        const struct bound_item *b = &s->items[i];
        if (b->first > b->last) continue;
        int128 profit = (prefix[b->last + 1] - prefix[b->first]) * b->units - b->cost * scale;
        if (profit > 0) value -= profit;
    }
    if (value <= 0) return 0;
    int128 step = scale * s->cost_step;
    return (int64_t)((value + step - 1) / step * s->cost_step);
}

static void sweep_prices(struct prices *p, int64_t members, int128 *prefix, int64_t *forced)
{
    const struct bound_sections *s = p->s;
    size_t sections = (size_t)s->section_count, items = (size_t)s->item_count;
    p->over = mem_zeroed(items + 1, sizeof *p->over);
    p->begin = mem_zeroed(sections + 2, sizeof *p->begin);
    p->members = mem_alloc(((size_t)members + 1) * sizeof *p->members);
    p->offers = mem_alloc((items + 1) * sizeof *p->offers);
    /* begin[t + 1] advances through section t while its members are listed. */
    for (size_t i = 0; i < items; i++)
        for (int32_t t = s->items[i].first; t <= s->items[i].last; t++)
            if ((size_t)t + 2 <= sections) p->begin[t + 2]++;
    for (size_t t = 1; t <= sections; t++) p->begin[t] += p->begin[t - 1];
    for (int32_t i = 0; i < s->item_count; i++)
        for (int32_t t = s->items[i].first; t <= s->items[i].last; t++) p->members[p->begin[t + 1]++] = i;
    for (int32_t round = 0; round < SWEEPS && !cancel_requested(); round++) {
        for (int32_t t = 0; t < s->section_count; t++)
            best_price(p, round % 2 ? s->section_count - 1 - t : t);
        *forced = max_i64(*forced, certified_value(p, prefix));
    }
    mem_free(p->over);
    mem_free(p->begin);
    mem_free(p->members);
    mem_free(p->offers);
}

/* --- Prices of all sections moved at once. An item leaves where its prices exceed its cost. A section
 * becomes dearer if the leaving items do not cover its need, cheaper if more leave than must. The steps
 * shrink and follow the trend of the last rounds. A round is linear; some hundred end within a few
 * thousandths of the best prices. --- */

struct ascent {
    const struct bound_sections *s;
    double *price, *sum, *leaving, *trend;
    double step;
};

/* The bound at these prices; sets `leaving` to the change, per section, of the units that leave. */
static double bound_ascent_value_of(struct ascent *a)
{
    const struct bound_sections *s = a->s;
    double value = 0;
    memset(a->leaving, 0, ((size_t)s->section_count + 1) * sizeof *a->leaving);
    for (int32_t t = 0; t < s->section_count; t++) {
        a->sum[t + 1] = a->sum[t] + a->price[t];
        value += a->price[t] * (double)s->sections[t].need;
    }
    for (int32_t i = 0; i < s->item_count; i++) {
        const struct bound_item *b = &s->items[i];
        if (b->first > b->last) continue;
        double units = (double)b->units;
        double profit = units * (a->sum[b->last + 1] - a->sum[b->first]) - (double)b->cost;
        if (profit <= 0) continue;
        value -= profit;
        a->leaving[b->first] += units;
        a->leaving[b->last + 1] -= units;
    }
    return value;
}

static void bound_ascend(const struct bound_sections *s, double *price)
{
    size_t n = (size_t)s->section_count + 1;
    /* The measure of steps: all costs spread over all bytes and sections. */
    double cost = 0, area = 1;
    for (int32_t i = 0; i < s->item_count; i++) {
        const struct bound_item *b = &s->items[i];
        if (b->first > b->last) continue;
        cost += (double)b->cost;
        area += (double)b->units * (double)(b->last - b->first + 1);
    }
    struct ascent a = {.s = s, .step = 2 * (cost / area)};
    a.price = mem_zeroed(n, sizeof *a.price);
    a.sum = mem_zeroed(n, sizeof *a.sum);
    a.leaving = mem_zeroed(n, sizeof *a.leaving);
    a.trend = mem_zeroed(n, sizeof *a.trend);
    double best = -1;
    for (int round = 0; round < ROUNDS && !cancel_requested(); round++) {
        double value = bound_ascent_value_of(&a);
        if (value > best) memcpy(price, a.price, (n - 1) * sizeof *price);
        best = value > best ? value : best;
        double leaving = 0, capacity = (double)(a.s->capacity > 0 ? a.s->capacity : 1);
        double step = a.step * ROUNDS / (double)(ROUNDS + SHRINK * round);
        for (int32_t t = 0; t < a.s->section_count; t++) {
            leaving += a.leaving[t];
            a.trend[t] += (((double)a.s->sections[t].need - leaving) / capacity - a.trend[t]) / 5;
            a.price[t] += step * a.trend[t];
            if (a.price[t] < 0) a.price[t] = 0;
        }
    }
    mem_free(a.price);
    mem_free(a.sum);
    mem_free(a.leaving);
    mem_free(a.trend);
}

int64_t bound_multipliers(const struct bound_sections *s, double *price)
{
    size_t sections = (size_t)s->section_count;
    int64_t members = 0, forced = 0;
    for (int32_t i = 0; i < s->item_count; i++)
        if (s->items[i].first <= s->items[i].last) members += s->items[i].last - s->items[i].first + 1;
    struct prices p = {.s = s, .price = mem_zeroed(sections + 1, sizeof *p.price)};
    OWNED int128 *prefix = mem_alloc((sections + 1) * sizeof *prefix);
    if (members <= MOST_MEMBERS) sweep_prices(&p, members, prefix, &forced);
    if (price) memcpy(price, p.price, sections * sizeof *price);
    if (s->section_count > 1) {
        bound_ascend(s, p.price);
        int64_t ascended = certified_value(&p, prefix);
        if (price && ascended > forced) memcpy(price, p.price, sections * sizeof *price);
        forced = max_i64(forced, ascended);
    }
    mem_free(p.price);
    return forced;
}
