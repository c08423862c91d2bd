/* The search engine against brute force: beams that lose nothing find the least, narrow ones prove no more
 * than is true, and bounds by prices stay below what fits. */
#include "base/memory.h"
#include "base/rng.h"
#include "network/network.h"
#include "network/room_prices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- A random problem: each step has some choices, which cost by what is in two slots, and write two slots.
 * --- */

enum { STEPS = 7, CHOICES = 4, SLOTS = 3, NUMBERS = 3 };

struct trial {
    int32_t read[STEPS], write[STEPS][2];
    int32_t number[STEPS][CHOICES][2];
    int64_t cost[STEPS][CHOICES][NUMBERS]
                [NUMBERS]; /* by the slot that is read, and the first that is written */
};

static void draw_trial(struct rng *rng, struct trial *t)
{
    for (int o = 0; o < STEPS; o++) {
        t->read[o] = (int32_t)rng_below(rng, SLOTS);
        t->write[o][0] = (int32_t)rng_below(rng, SLOTS);
        t->write[o][1] = (t->write[o][0] + 1) % SLOTS;
        for (int c = 0; c < CHOICES; c++) {
            for (int k = 0; k < 2; k++) t->number[o][c][k] = (int32_t)rng_below(rng, NUMBERS);
            for (int x = 0; x < NUMBERS; x++)
                for (int y = 0; y < NUMBERS; y++) t->cost[o][c][x][y] = rng_between(rng, 0, 20);
        }
    }
}

static int64_t step_cost(const struct trial *t, int o, int32_t choice, const int32_t *row)
{
    return t->cost[o][choice][row[t->read[o]]][row[t->write[o][0]]];
}

static int64_t cost_of(const struct trial *t, const int32_t *choices)
{
    int32_t row[SLOTS] = {0};
    int64_t cost = 0;
    for (int o = 0; o < STEPS; o++) {
        cost += step_cost(t, o, choices[o], row);
        for (int k = 0; k < 2; k++) row[t->write[o][k]] = t->number[o][choices[o]][k];
    }
    return cost;
}

static int64_t least_cost(const struct trial *t)
{
    int64_t least = INT64_MAX;
    int32_t choices[STEPS];
    for (int n = 0; n < 1 << 2 * STEPS; n++) {
        for (int o = 0; o < STEPS; o++) choices[o] = n >> 2 * o & 3;
        int64_t cost = cost_of(t, choices);
        least = cost < least ? cost : least;
    }
    return least;
}

static bool same_numbers_cost_less(const void *context, const void *a, const int32_t *row_a, const void *b,
                                   const int32_t *row_b)
{
    const struct beam_node *x = a, *y = b;
    (void)context;
    return memcmp(row_a, row_b, SLOTS * sizeof *row_a) == 0 && x->rank <= y->rank;
}

static void walk(const struct trial *t, struct beam *b)
{
    for (int o = 0; o < STEPS; o++) {
        beam_step(b, t->write[o], 2);
        for (int32_t i = 0; i < b->count; i++)
            for (int32_t c = 0; c < CHOICES; c++) {
                struct beam_node then = *(const struct beam_node *)beam_node_of(b, i);
                then.rank += step_cost(t, o, c, beam_row_of(b, i));
                then.kind = (uint64_t)c;
                beam_offer(b, i, c, &then, t->number[o][c]);
            }
        beam_settle(b);
    }
}

static void test_beams(void **state)
{
    (void)state;
    struct rng rng = rng_seed(5);
    struct trial t;
    for (int round = 0; round < 60; round++) {
        draw_trial(&rng, &t);
        int64_t least = least_cost(&t);
        static const int32_t widths[] = {1, 3, 8, 100};
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            const struct beam_rules rules = {.width = widths[w],
                                             .slots = SLOTS,
                                             .room = round % 3 ? 0 : widths[w] + 2,
                                             .of_a_kind = round % 4 == 1 ? 2 : 0,
                                             .dominates = round % 2 ? same_numbers_cost_less : NULL,
                                             .node_size = sizeof(struct beam_node),
                                             .cut = round % 5 ? INT64_MAX : least + 1};
            struct beam b;
            int32_t choices[STEPS];
            beam_begin(&b, &rules, &(struct beam_node){0}, NULL);
            walk(&t, &b);
            int64_t found = INT64_MAX;
            if (b.count > 0) {
                found = ((const struct beam_node *)beam_node_of(&b, 0))->rank;
                beam_trace(&b, 0, choices);
                assert_int_equal(cost_of(&t, choices), found);
            }
            assert_true(found >= least);
            assert_true(found == least || b.dropped <= least); /* what is proved is true */
            if (b.exact) assert_int_equal(found, least);
            if (widths[w] == 100 && rules.room == 0) assert_true(b.exact);
            beam_end(&b);
        }
    }
}

/* --- Sorting. --- */

enum { MOST_KEYS = 3000 };

static bool by_position(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a < b;
}

static int compare_keys(const void *a, const void *b)
{
    const struct beam_key *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->tie != y->tie) return x->tie < y->tie ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Few values of each figure, so that all of them decide somewhere; in part in order, as the beam has them. */
static void test_sorted(void **state)
{
    (void)state;
    struct rng rng = rng_seed(11);
    struct beam_key *keys = mem_alloc(2 * MOST_KEYS * sizeof *keys),
                    *same = mem_alloc(MOST_KEYS * sizeof *same);
    for (int round = 0; round < 200; round++) {
        size_t count = rng_below(&rng, round % 2 ? MOST_KEYS : 40);
        int64_t ranks = rng_between(&rng, 1, 4000);
        for (size_t i = 0; i < count; i++)
            keys[i] =
                (struct beam_key){rng_between(&rng, -ranks, ranks) * (INT64_C(1) << rng_below(&rng, 3) * 9),
                                  rng_between(&rng, 0, 3), (uint32_t)i};
        qsort(keys, count / 3, sizeof *keys, compare_keys);
        memcpy(same, keys, count * sizeof *same);
        qsort(same, count, sizeof *same, compare_keys);
        beam_sort(keys, count, &keys[count], by_position, NULL);
        for (size_t i = 0; i < count; i++) assert_int_equal(keys[i].at, same[i].at);
    }
    mem_free(keys);
    mem_free(same);
}

/* --- Prices: things on chip for some steps save something each; what fits beside each other is chosen. ---
 */

enum { THINGS = 9, TICKS = 6 };

struct shelf {
    struct prices room;
    int32_t from[THINGS], to[THINGS];
    int64_t size[THINGS], saves[THINGS];
};

static int64_t shelf_cost(const struct shelf *s, int thing, bool *on)
{
    int64_t price = prices_between(&s->room, s->size[thing], s->from[thing], s->to[thing]);
    *on = price < s->saves[thing];
    return *on ? price : s->saves[thing];
}

static int64_t shelf_bound(void *model, int64_t *steps)
{
    struct shelf *s = model;
    ++*steps;
    int64_t sum = 0;
    bool on;
    prices_sum(&s->room);
    for (int i = 0; i < THINGS; i++) sum += shelf_cost(s, i, &on);
    return sum + prices_ahead(&s->room, 0, 0, 0, 0);
}

static void shelf_loads(void *model, int64_t *load, int64_t *steps)
{
    struct shelf *s = model;
    ++*steps;
    memset(load, 0, (TICKS + 1) * sizeof *load);
    for (int i = 0; i < THINGS; i++) {
        bool on;
        shelf_cost(s, i, &on);
        for (int32_t o = s->from[i]; on && o < s->to[i]; o++) load[o] += s->size[i];
    }
}

static int64_t shelf_least(const struct shelf *s)
{
    int64_t least = INT64_MAX;
    for (unsigned on = 0; on < 1u << THINGS; on++) {
        int64_t load[TICKS] = {0}, cost = 0;
        bool fits = true;
        for (int i = 0; i < THINGS; i++) {
            if (!(on >> i & 1)) cost += s->saves[i];
            for (int32_t o = s->from[i]; (on >> i & 1) && o < s->to[i]; o++)
                fits &= (load[o] += s->size[i]) <= s->room.capacity;
        }
        if (fits && cost < least) least = cost;
    }
    return least;
}

static void test_prices(void **state)
{
    (void)state;
    struct rng rng = rng_seed(3);
    int raised = 0;
    for (int round = 0; round < 100; round++) {
        struct arena memory = {0};
        struct shelf s = {0};
        const struct priced of = {&s, shelf_bound, shelf_loads};
        prices_make(&s.room, TICKS, round % 2 ? 16 : 0, rng_between(&rng, 50, 200), &memory);
        for (int i = 0; i < THINGS; i++) {
            s.from[i] = (int32_t)rng_below(&rng, TICKS);
            s.to[i] = s.from[i] + 1 + (int32_t)rng_below(&rng, (uint32_t)(TICKS - s.from[i]));
            s.size[i] = rng_between(&rng, 1, 100);
            s.saves[i] = rng_between(&rng, 1, 1000);
        }
        int64_t steps = 0, least = shelf_least(&s), plain = shelf_bound(&s, &steps);
        int64_t bound = prices_improve(&s.room, &of, least, 40, INT64_MAX, &steps);
        assert_true(bound >= plain && bound <= least);
        assert_int_equal(bound, shelf_bound(&s, &steps)); /* its prices are those that stay */
        raised += bound > plain;
        arena_free(&memory);
    }
    assert_true(raised > 50);
}

/* --- Networks: tables over up to three variables, some values with bytes in a room. --- */

enum { VARS = 6, VALUES = 4 };

static void draw_network(struct rng *rng, struct network *n, bool roomy)
{
    *n = (struct network){.count = VARS, .room = roomy ? 1000 : 100, .base = 7};
    n->vars = arena_array(&n->memory, VARS, sizeof *n->vars);
    for (int v = 0; v < VARS; v++) {
        n->vars[v] = (struct net_var){.size = VALUES, .start = v, .end = v + rng_between(rng, 1, 3)};
        n->vars[v].bytes = arena_array(&n->memory, VALUES, sizeof *n->vars[v].bytes);
        for (int x = 0; x < VALUES; x++) n->vars[v].bytes[x] = x < 2 ? -1 : rng_between(rng, 10, 90);
        n->vars[v].may_be_on = true;
    }
    for (int t = 0; t < 9; t++) {
        struct net_axis axes[3];
        int32_t count = 1 + (int32_t)rng_below(rng, 3), first = (int32_t)rng_below(rng, VARS);
        for (int32_t k = 0; k < count; k++) {
            int32_t *class_of = arena_array(&n->memory, VALUES, sizeof *class_of);
            for (int x = 0; x < VALUES; x++) class_of[x] = x % (2 + k);
            axes[k] = (struct net_axis){(first + k * (1 + t % 2)) % VARS, 2 + k, class_of};
        }
        struct net_table table = net_table_make(&n->memory, axes, count);
        for (int64_t e = 0; e < table.count; e++)
            table.values[e] = rng_below(rng, 12) == 0 ? NETWORK_NEVER : rng_between(rng, -20, 50);
        VEC_PUSH(&n->tables, table);
    }
}

static bool network_fits(const struct network *n, const int32_t *values)
{
    for (int64_t tick = 0; tick < VARS + 3; tick++) {
        int64_t sum = 0;
        for (int v = 0; v < VARS; v++)
            if (n->vars[v].start <= tick && tick < n->vars[v].end && n->vars[v].bytes[values[v]] > 0)
                sum += n->vars[v].bytes[values[v]];
        if (sum > n->room) return false;
    }
    return true;
}

static int64_t network_least(const struct network *n, int *best)
{
    int64_t least = NETWORK_NEVER;
    int32_t values[VARS];
    *best = 0;
    for (int i = 0; i < 1 << 2 * VARS; i++) {
        for (int v = 0; v < VARS; v++) values[v] = i >> 2 * v & 3;
        int64_t cost = net_cost(n, values);
        if (cost >= NETWORK_HOPELESS || !network_fits(n, values) || cost > least) continue;
        *best = cost < least ? 1 : *best + 1;
        least = cost;
    }
    return least;
}

static bool never_cancelled(const void *context)
{
    (void)context;
    return false;
}

/* All answers of the least cost, then none cheaper than the one before. */
static void check_answers(const struct network *n, const struct net_sweep *s, int64_t least, int best)
{
    struct net_answers *a = net_answers_make(s);
    int32_t values[VARS];
    int64_t cost, before = least;
    for (int i = 0; i < best + 20 && net_answers_next(a, NETWORK_HOPELESS, values, &cost); i++) {
        assert_true(network_fits(n, values));
        assert_int_equal(net_cost(n, values), cost);
        assert_true(i < best ? cost == least : cost > least);
        assert_true(cost >= before);
        before = cost;
    }
    net_answers_free(a);
}

static void test_networks(void **state)
{
    (void)state;
    struct rng rng = rng_seed(17);
    int solved = 0;
    for (int round = 0; round < 60; round++) {
        struct network n;
        struct net_frontier f;
        int best;
        draw_network(&rng, &n, round % 3 == 0);
        int64_t least = network_least(&n, &best), steps = 0;
        net_frontier_make(&f, &n);
        for (int64_t limit = 4; limit <= 1 << 12; limit <<= 10) {
            struct net_bound b;
            net_bound_make(&b, &n, limit, &steps);
            assert_true(b.least <= least || least >= NETWORK_HOPELESS);
            if (b.exact && round % 3 == 0 && least < NETWORK_HOPELESS) assert_int_equal(b.least, least);
            solved += least < NETWORK_HOPELESS;
            for (int32_t width = 2; width <= 2000; width *= 1000) {
                const struct net_sweep_options how = {width, NETWORK_HOPELESS, INT64_MAX, never_cancelled,
                                                      NULL};
                struct net_sweep s;
                net_sweep_make(&s, &f, &b, &how);
                int64_t found = s.beam.count ? s.cost[VARS][0] : NETWORK_NEVER;
                assert_true(found >= least && (found == least || s.beam.dropped <= least));
                if (width == 2000) {
                    assert_true(s.beam.exact);
                    check_answers(&n, &s, least, best);
                }
                net_sweep_free(&s);
            }
            net_bound_free(&b);
        }
        net_frontier_free(&f);
        network_free(&n);
    }
    assert_true(solved > 60); /* of twice as many */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_beams), cmocka_unit_test(test_sorted),
                                       cmocka_unit_test(test_prices), cmocka_unit_test(test_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
