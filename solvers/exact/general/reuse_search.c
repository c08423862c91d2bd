/* Ruin and recreate: a few neighbouring blocks are taken out and put back one by one, each at its cheapest
 * spot; worse states are accepted as in annealing. The cost of every address of a block is a sum of steps: a
 * hard partner forbids the addresses from which the two would touch, a soft one adds its price there.
 * Addresses are counted in units (the gcd of all sizes, alignments and reserved ends); with up to MOST_UNITS
 * of them one pass over an array of differences prices all. Otherwise only addresses next to a partner are
 * priced, each over all partners. */
#include "exact/general/master.h"
#include "exact/general/pile.h"
#include "base/rng.h"

enum { MOST_UNITS = 8192, MOST_OUT = 12, STEPS_PER_INSERTION = 10 };

/* A partner: hard, or soft with a price. */
struct partner {
    int32_t block;
    int64_t cost; /* INT64_MAX: hard */
};

struct step {
    int64_t from, to, cost; /* addresses from < a < to */
};

struct spot {
    int32_t pool;
    int64_t address, cost;
};

struct reuse {
    const struct blocks *b;
    struct budget *budget;
    struct rng rng;
    int32_t *first; /* per block: into partners; count + 1 */
    struct partner *partners;
    int32_t *movable, movable_count;
    struct layout now, *best;
    int64_t unit;
    int64_t *price; /* per address in units: differences, then sums */
    int32_t *blocked;
    struct step *steps;
    int32_t step_count;
    struct byte_range *spans;
    int32_t out[MOST_OUT], out_count;
    struct spot saved[MOST_OUT];
    double mean;
    struct arena memory;
};

/* --- Where a block may go. --- */

/* Chooses among equally good spots with equal chances. */
static void reuse_search_offer(struct reuse *r, struct spot s, struct spot *best, uint64_t *equals)
{
    if (best->pool >= 0 && s.cost > best->cost) return;
    if (best->pool < 0 || s.cost < best->cost) *equals = 0;
    if (rng_below(&r->rng, ++*equals) == 0) *best = s;
}

/* Only addresses next to a change of the price can be best. */
static void search_units(struct reuse *r, int32_t i, struct option option, int64_t last, struct spot *best,
                         uint64_t *equals)
{
    int64_t price = 0, step = r->b->at[i].align / r->unit;
    int32_t blocked = 0;
    memset(r->price, 0, (size_t)(last + 2) * sizeof *r->price);
    memset(r->blocked, 0, (size_t)(last + 2) * sizeof *r->blocked);
    for (int32_t k = 0; k < r->step_count; k++) {
        const struct step *s = &r->steps[k];
        int64_t from = max_i64(s->from < 0 ? 0 : s->from / r->unit + 1, 0), to = s->to / r->unit;
        if (from > last) continue;
        to = min_i64(to, last + 1);
        if (s->cost == INT64_MAX) {
            r->blocked[from]++;
            r->blocked[to]--;
        } else {
            r->price[from] += s->cost;
            r->price[to] -= s->cost;
        }
    }
    for (int64_t u = 0; u <= last; u++) {
        price += r->price[u];
        blocked += r->blocked[u];
        bool edge =
            u == 0 || u == last || r->price[u] || r->blocked[u] || r->price[u + 1] || r->blocked[u + 1];
        if (blocked || (step > 1 ? u % step != 0 : !edge)) continue;
        reuse_search_offer(r, (struct spot){option.pool, u * r->unit, price + option.cost}, best, equals);
    }
}

static void price_one(struct reuse *r, struct option option, int64_t at, int64_t last, struct spot *best,
                      uint64_t *equals)
{
    int64_t price = option.cost;
    if (at < 0 || at > last) return;
    for (int32_t k = 0; k < r->step_count; k++) {
        if (at <= r->steps[k].from || at >= r->steps[k].to) continue;
        if (r->steps[k].cost == INT64_MAX) return;
        price += r->steps[k].cost;
    }
    reuse_search_offer(r, (struct spot){option.pool, at, price}, best, equals);
}

/* The cheapest spot for an unplaced block; pool -1: none. */
static struct spot find_spot(struct reuse *r, int32_t i)
{
    const struct block *k = &r->b->at[i];
    struct spot best = {.pool = -1};
    uint64_t equals = 0;
    for (int32_t o = 0; o < k->option_count; o++) {
        struct option option = r->b->options[k->first_option + o];
        int64_t last = r->b->rooms[option.pool].capacity - k->size;
        int32_t pool = option.pool;
        int64_t size = r->b->at[i].size;
        r->step_count = 0;
        for (int32_t e = r->first[i]; e < r->first[i + 1]; e++) {
            int32_t other = r->partners[e].block;
            if (r->now.pool[other] != pool) continue;
            int64_t at = r->now.address[other];
            r->steps[r->step_count++] =
                (struct step){at - size, at + r->b->at[other].size, r->partners[e].cost};
        }
        int32_t n = r->b->rooms[pool].reserved_count ? blocks_reserved(r->b, i, pool, r->spans) : 0;
        for (int32_t e = 0; e < n; e++)
            r->steps[r->step_count++] = (struct step){r->spans[e].from - size, r->spans[e].to, INT64_MAX};
        if (k->pin >= 0)
            price_one(r, option, k->pin, last, &best, &equals);
        else if (last / r->unit < MOST_UNITS)
            search_units(r, i, option, last / r->unit, &best, &equals);
        else {
            int64_t align = r->b->at[i].align;
            price_one(r, option, 0, last, &best, &equals);
            for (int32_t j = 0; j < r->step_count; j++) {
                price_one(r, option, (r->steps[j].to + align - 1) / align * align, last, &best, &equals);
                if (r->steps[j].from > 0)
                    price_one(r, option, r->steps[j].from / align * align, last, &best, &equals);
            }
        }
    }
    return best;
}

static int64_t cost_here(const struct reuse *r, int32_t i)
{
    int32_t option = blocks_option(r->b, i, r->now.pool[i]);
    int64_t cost = option < 0 ? 0 : r->b->options[option].cost;
    for (int32_t k = r->first[i]; k < r->first[i + 1]; k++) {
        int32_t other = r->partners[k].block;
        if (r->partners[k].cost != INT64_MAX && r->now.pool[other] >= 0 &&
            r->now.pool[i] == r->now.pool[other] && blocks_touch(r->b, i, other, r->now.address))
            cost += r->partners[k].cost;
    }
    return cost;
}

/* --- Ruin and recreate. --- */

static void reuse_search_take_out(struct reuse *r, int32_t i)
{
    if (r->out_count == MOST_OUT || r->now.pool[i] < 0) return;
    r->saved[r->out_count] = (struct spot){r->now.pool[i], r->now.address[i], 0};
    r->out[r->out_count++] = i;
    r->now.cost -= cost_here(r, i);
    r->now.pool[i] = -1;
}

static bool recreate(struct reuse *r)
{
    for (int32_t k = 0; k < r->out_count; k++) {
        struct spot s = find_spot(r, r->out[k]);
        if (s.pool < 0) return false;
        r->now.pool[r->out[k]] = s.pool;
        r->now.address[r->out[k]] = s.address;
        r->now.cost += s.cost;
    }
    return true;
}

/* Largest first, or in the drawn order. */
static void reuse_search_sort_out(struct reuse *r)
{
    bool by_size = rng_below(&r->rng, 2) == 0;
    for (int32_t a = 1; a < r->out_count; a++)
        for (int32_t c = a; c > 0; c--) {
            bool swap = by_size ? r->b->at[r->out[c]].size > r->b->at[r->out[c - 1]].size
                                : rng_below(&r->rng, 2) == 0;
            if (!swap) break;
            int32_t block = r->out[c];
            struct spot spot = r->saved[c];
            r->out[c] = r->out[c - 1];
            r->saved[c] = r->saved[c - 1];
            r->out[c - 1] = block;
            r->saved[c - 1] = spot;
        }
}

static void reuse_search_anneal(struct reuse *r, int64_t steps, int64_t enough)
{
    int64_t from = r->budget->steps, spent = 0;
    steps /= STEPS_PER_INSERTION;
    for (int64_t round = 0; spent < steps && r->best->cost > enough; round++) {
        double heat = r->mean * 1.5 * pow(0.05, (double)spent / (double)steps);
        int64_t before = r->now.cost;
        /* Draws a block, preferably one that pays, and some partners. */
        int32_t i = r->movable[rng_below(&r->rng, (uint64_t)r->movable_count)];
        for (int tries = 0; tries < 8 && cost_here(r, i) == 0; tries++)
            i = r->movable[rng_below(&r->rng, (uint64_t)r->movable_count)];
        int32_t wanted = 2 + (int32_t)rng_below(&r->rng, MOST_OUT - 2),
                degree = r->first[i + 1] - r->first[i];
        r->out_count = 0;
        reuse_search_take_out(r, i);
        for (int tries = 0; degree && r->out_count < wanted && tries < 3 * wanted; tries++) {
            int32_t k = r->partners[r->first[i] + (int32_t)rng_below(&r->rng, (uint64_t)degree)].block;
            if (r->now.pool[k] >= 0 && r->b->at[k].option_count && r->b->at[k].pin < 0)
                reuse_search_take_out(r, k);
        }
        reuse_search_sort_out(r);
        spent += r->out_count;
        bool kept = recreate(r) && (double)(r->now.cost - before) <= -heat * log(1 - rng_unit(&r->rng));
        if (!kept) {
            for (int32_t k = 0; k < r->out_count; k++) {
                r->now.pool[r->out[k]] = r->saved[k].pool;
                r->now.address[r->out[k]] = r->saved[k].address;
            }
            r->now.cost = before;
        }
        if (r->now.cost < r->best->cost) layout_take(r->b, r->budget, &r->now, r->best, enough);
        r->budget->steps = from + STEPS_PER_INSERTION * spent;
        if (round % 64 == 0 && budget_spent(r->budget)) return;
    }
}

/* --- Memory. --- */

static void gather_partners(struct reuse *r)
{
    const struct blocks *b = r->b;
    size_t n = (size_t)b->count, pairs = 2 * (size_t)b->soft_count;
    for (size_t k = 0; k < n * n; k++) pairs += b->kind[k] != PAIR_FREE;
    r->first = arena_array(&r->memory, n + 2, sizeof *r->first);
    r->partners = arena_array(&r->memory, pairs + 1, sizeof *r->partners);
    int32_t used = 0;
    for (int32_t i = 0; i < b->count; i++) {
        r->first[i] = used;
        for (int32_t k = 0; k < b->count; k++)
            if (pair_of(b, i, k) != PAIR_FREE) r->partners[used++] = (struct partner){k, INT64_MAX};
        for (int32_t k = 0; k < b->soft_count; k++) {
            const struct soft_pair *s = &b->softs[k];
            if (s->a == i || s->b == i)
                r->partners[used++] = (struct partner){s->a == i ? s->b : s->a, s->cost};
        }
    }
    r->first[b->count] = used;
}

static bool has_handover(const struct blocks *b, const struct layout *l)
{
    for (int32_t i = 0; i < b->count; i++)
        for (int32_t k = 0; k < i; k++)
            if (pair_of(b, i, k) == PAIR_IN_PLACE && l->pool[i] >= 0 && l->pool[i] == l->pool[k] &&
                l->address[i] == l->address[k])
                return true;
    return false;
}

static void reuse_open(struct reuse *r)
{
    const struct blocks *b = r->b;
    size_t n = (size_t)b->count, reserved = 1;
    for (int32_t k = 0; k < b->pool_count; k++) reserved += (size_t)b->rooms[k].reserved_count;
    r->movable = arena_array(&r->memory, n + 1, sizeof *r->movable);
    r->price = arena_array(&r->memory, MOST_UNITS + 4, sizeof *r->price);
    r->blocked = arena_array(&r->memory, MOST_UNITS + 4, sizeof *r->blocked);
    r->steps = arena_array(&r->memory, 2 * n + reserved, sizeof *r->steps);
    r->spans = arena_array(&r->memory, reserved, sizeof *r->spans);
    layout_open(&r->now, b->count);
    gather_partners(r);
    layout_copy(&r->now, r->best, b->count);
    int64_t unit = 0;
    for (int32_t k = 0; k < b->pool_count; k++)
        for (int32_t e = 0; e < b->rooms[k].reserved_count; e++)
            unit = gcd_i64(gcd_i64(unit, b->rooms[k].reserved[e].from), b->rooms[k].reserved[e].to);
    for (int32_t i = 0; i < b->count; i++) {
        unit = gcd_i64(unit, b->at[i].size);
        if (b->at[i].align > 1) unit = gcd_i64(unit, b->at[i].align);
        if (b->at[i].pin > 0) unit = gcd_i64(unit, b->at[i].pin);
    }
    r->unit = max_i64(unit, 1);
    /* Pinned blocks cannot move. */
    for (int32_t i = 0; i < b->count; i++) {
        bool placed = r->best->pool[i] >= 0 && b->at[i].pin < 0 && b->at[i].size > 0;
        if (placed && (r->first[i + 1] > r->first[i] || b->at[i].option_count > 1))
            r->movable[r->movable_count++] = i;
    }
    for (int32_t k = 0; k < b->soft_count; k++) r->mean += (double)b->softs[k].cost / (double)b->soft_count;
}

void reuse_improve(const struct blocks *b, struct budget *budget, uint64_t seed, int64_t steps,
                   int64_t enough, struct layout *best)
{
    struct reuse r = {.b = b, .budget = budget, .best = best, .rng = rng_seed(seed + 17)};
    reuse_open(&r);
    if (r.movable_count && !has_handover(b, best)) reuse_search_anneal(&r, steps, enough);
    layout_close(&r.now);
    arena_free(&r.memory);
}
