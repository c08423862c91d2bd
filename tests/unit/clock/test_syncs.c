/* The least set of syncs against all sets: tiny programs at random, their loops unrolled, each edge looked
 * for in the line of ticks and syncs that comes of it. */
#include "base/arena.h"
#include "base/rng.h"
#include "clock/syncs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_OPS = 7, MOST_NESTS = 2, MOST_EDGES = 10, TURNS = 3, MOST_POINTS = 2 * MOST_OPS };

struct tiny {
    int32_t ops;
    struct lx_nest nests[MOST_NESTS];
    int32_t nest_count;
    struct sync_edge edges[MOST_EDGES];
    int32_t edge_count;
    struct lx_sync points[MOST_POINTS];
    int32_t point_count;
};

static int32_t tiny_nest_of(const struct tiny *t, int32_t op)
{
    for (int32_t n = 0; n < t->nest_count; n++)
        if (t->nests[n].first <= op && op <= t->nests[n].last) return n;
    return -1;
}

static struct tiny draw_tiny(struct rng *rng)
{
    struct tiny t = {.ops = (int32_t)rng_between(rng, 2, MOST_OPS)};
    for (int32_t o = 0; o < t.ops && t.nest_count < MOST_NESTS; o++) {
        if (rng_below(rng, 3) == 0) continue;
        int32_t last = (int32_t)rng_between(rng, o, t.ops - 1);
        t.nests[t.nest_count++] =
            (struct lx_nest){.first = o, .last = last, .level_count = 1, .tiles = {rng_between(rng, 2, 4)}};
        o = last;
    }
    int32_t wanted = (int32_t)rng_between(rng, 1, MOST_EDGES);
    for (int32_t n = -1; n < t.nest_count; n++)
        for (int32_t i = 0; i < wanted; i++) {
            int32_t a = (int32_t)rng_between(rng, 0, t.ops - 1), b = (int32_t)rng_between(rng, 0, t.ops - 1);
            if (t.edge_count == MOST_EDGES || rng_below(rng, 2)) continue;
            if (n < 0 ? a >= b : tiny_nest_of(&t, a) != n || tiny_nest_of(&t, b) != n) continue;
            t.edges[t.edge_count++] = (struct sync_edge){a, b, n};
        }
    for (int32_t o = 0; o < t.ops; o++) {
        int32_t n = tiny_nest_of(&t, o);
        if (n < 0 || t.nests[n].first == o) t.points[t.point_count++] = (struct lx_sync){o, false};
        if (n >= 0) t.points[t.point_count++] = (struct lx_sync){o, true};
    }
    return t;
}

/* The unrolled program: per step its tick, turn and how many syncs are before it. */
struct steps {
    int32_t tick[TURNS * MOST_OPS], turn[TURNS * MOST_OPS], syncs[TURNS * MOST_OPS], count;
};

static bool tiny_has(const struct tiny *t, unsigned set, int32_t before, bool in_loop)
{
    for (int32_t i = 0; i < t->point_count; i++)
        if (set >> i & 1 && t->points[i].before == before && t->points[i].in_loop == in_loop) return true;
    return false;
}

static void unroll(const struct tiny *t, unsigned set, struct steps *s)
{
    int32_t syncs = 0;
    s->count = 0;
    for (int32_t o = 0; o < t->ops; o++) {
        int32_t n = tiny_nest_of(t, o), last = n < 0 ? o : t->nests[n].last;
        syncs += tiny_has(t, set, o, false);
        for (int32_t turn = 0; turn < (n < 0 ? 1 : TURNS); turn++)
            for (int32_t k = o; k <= last; k++, s->count++) {
                syncs += tiny_has(t, set, k, true);
                s->tick[s->count] = k;
                s->turn[s->count] = turn;
                s->syncs[s->count] = syncs;
            }
        o = last;
    }
}

static bool stabs(const struct tiny *t, unsigned set)
{
    struct steps s;
    unroll(t, set, &s);
    for (int32_t i = 0; i < t->edge_count; i++) {
        const struct sync_edge *e = &t->edges[i];
        bool one = e->around < 0 && tiny_nest_of(t, e->from) >= 0 &&
                   tiny_nest_of(t, e->from) == tiny_nest_of(t, e->to);
        for (int32_t a = 0; a < s.count; a++)
            for (int32_t b = a + 1; b < s.count; b++) {
                bool due = s.tick[a] == e->from && s.tick[b] == e->to;
                if (e->around >= 0) due = due && s.turn[b] == s.turn[a] + 1;
                if (one) due = due && s.turn[b] == s.turn[a];
                if (due && s.syncs[a] == s.syncs[b]) return false;
            }
    }
    return true;
}

static int64_t weight_of(const struct tiny *t, unsigned set)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < t->point_count; i++)
        if (set >> i & 1)
            sum +=
                t->points[i].in_loop ? nest_iterations(&t->nests[tiny_nest_of(t, t->points[i].before)]) : 1;
    return sum;
}

static void test_least_of_all_sets(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rng rng = rng_seed(seed);
        struct tiny t = draw_tiny(&rng);
        struct arena memory = {0};
        struct lx_syncs found;
        struct sync_edges edges = {t.edges, t.edge_count};
        int64_t least = INT64_MAX;
        unsigned ours = 0;
        for (unsigned set = 0; set < 1u << t.point_count; set++) {
            int64_t weight = weight_of(&t, set);
            if (weight < least && stabs(&t, set)) least = weight;
        }
        syncs_stab(t.ops, t.nests, t.nest_count, &edges, &memory, &found);
        for (int32_t i = 0; i < found.count; i++)
            for (int32_t k = 0; k < t.point_count; k++)
                if (found.at[i].before == t.points[k].before && found.at[i].in_loop == t.points[k].in_loop)
                    ours |= 1u << k;
        if (!stabs(&t, ours) || found.times != least || weight_of(&t, ours) != least)
            fail_msg("seed %llu: %lld times, but %lld are enough", (unsigned long long)seed,
                     (long long)found.times, (long long)least);
        arena_free(&memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_least_of_all_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
