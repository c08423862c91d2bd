/* The engine of exact for structured problems: what its parts promise, on problems with known answers. */
#include "unstable.h"
#include "support/problem_builder.h"
#include "support/random_v2.h"
#include "exact/general/clique.h"
#include "exact/general/programme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Small problems are decided, whatever they ask for. */
static void test_small_problems_are_decided(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct rng r = rng_seed(seed);
        struct v2_problem v;
        int64_t address[V2_MOST];
        int32_t pool[V2_MOST];
        struct lx_answer a = {.address = address, .pool = pool};
        lx_status st;
        random_v2(&v, &r, V2_MOST < 10 ? V2_MOST : 10);
        if (!lx_problem_validate(&v.p, &st)) continue;
        assert_true(lx_problem_solve(&v.p, lx_solver_find("exact"), &(struct lx_run){.seed = seed}, &a, &st));
        if (a.status != LX_OPTIMAL && a.status != LX_INFEASIBLE)
            fail_msg("seed %d: %s %s", (int)seed, lx_verdict_word(a.status), a.message);
    }
}

/* Six buffers of 4 bytes in a pool of 16, one after the other, each two at a price: three pairs share. */
static void test_reuse(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_SPILL, 16, 1);
    struct lx_reuse reuse[15];
    int n = 0;
    for (int i = 0; i < 6; i++) {
        problem_add(&list, 4, i, i + 1, 0)->must = true;
        for (int k = 0; k < i; k++) reuse[n++] = (struct lx_reuse){i, k, 1 + (i + k) % 2};
    }
    list.problem.bonds = (struct lx_bonds){.reuse = reuse, .reuse_count = n};
    int64_t address[6];
    int32_t pool[6];
    struct lx_answer a = {.address = address, .pool = pool};
    lx_status st;
    assert_true(lx_problem_solve(&list.problem, lx_solver_find("exact"), &(struct lx_run){0}, &a, &st));
    assert_int_equal(a.status, LX_OPTIMAL);
    assert_int_equal(a.objective, 2); /* two pairs of equal parity */
    problem_end(&list);
}

/* A heaviest clique against all subsets. */
static void test_cliques(void **state)
{
    (void)state;
    struct rng r = rng_seed(3);
    for (int round = 0; round < 200; round++) {
        struct clique_graph g;
        int32_t n = 1 + (int32_t)rng_below(&r, 9), members[16];
        int64_t best = 0, sum = 0;
        clique_graph_open(&g, n);
        for (int32_t i = 0; i < n; i++) {
            g.weight[i] = 1 + (int64_t)rng_below(&r, 9);
            for (int32_t k = 0; k < i; k++)
                if (rng_below(&r, 3)) clique_graph_join(&g, i, k);
        }
        for (unsigned set = 1; set < 1u << n; set += 2) {
            int64_t weight = 0;
            for (int32_t i = 0; i < n && weight >= 0; i++) {
                if (!(set >> i & 1)) continue;
                weight += g.weight[i];
                for (int32_t k = 0; k < i && weight >= 0; k++)
                    if ((set >> k & 1) && !clique_graph_has(&g, i, k)) weight = -1;
            }
            best = max_i64(best, weight);
        }
        int32_t count = clique_through(&g, 0, 1000000, members);
        for (int32_t k = 0; k < count; k++) sum += g.weight[members[k]];
        assert_true(sum == best && count >= 1 && count <= n);
        clique_graph_close(&g);
    }
}

struct taken {
    int64_t cost;
    struct programme *m;
};

static enum visit take(void *context, const bool *point)
{
    struct taken *t = context;
    t->cost = 0;
    for (int32_t j = 0; j < t->m->columns; j++) t->cost += point[j] ? t->m->cost[j] : 0;
    return POINT_TAKEN;
}

/* Random 0/1 programmes against all points. Rows may need nothing, or ask for more than there is. */
static void test_programmes(void **state)
{
    (void)state;
    struct rng r = rng_seed(5);
    for (int round = 0; round < 500; round++) {
        struct lx_run run = {0};
        struct budget budget = budget_new(&run, 1000000);
        struct programme m;
        struct term terms[6][8];
        int64_t need[6], best = INT64_MAX;
        int32_t n = 1 + (int32_t)rng_below(&r, 8), rows = (int32_t)rng_below(&r, 7);
        struct taken t = {.m = &m};
        programme_open(&m, n, &budget);
        for (int32_t j = 0; j < n; j++) m.cost[j] = (int64_t)rng_below(&r, 20);
        for (int32_t k = 0; k < rows; k++) {
            for (int32_t j = 0; j < n; j++) terms[k][j] = (struct term){j, rng_between(&r, -3, 9)};
            need[k] = rng_between(&r, -6, 14);
            programme_add_row(&m, terms[k], n, need[k]);
        }
        for (unsigned set = 0; set < 1u << n; set++) {
            int64_t cost = 0;
            bool legal = true;
            for (int32_t j = 0; j < n; j++) cost += set >> j & 1 ? m.cost[j] : 0;
            for (int32_t k = 0; k < rows; k++) {
                int64_t sum = 0;
                for (int32_t j = 0; j < n; j++) sum += set >> j & 1 ? terms[k][j].coefficient : 0;
                legal &= sum >= need[k];
            }
            if (legal) best = min_i64(best, cost);
        }
        m.visit = take;
        m.accepts = true;
        m.context = &t;
        m.best = INT64_MAX;
        programme_solve(&m);
        if (best == INT64_MAX)
            assert_true(m.proved > m.total_cost);
        else
            assert_true(m.proved == best && m.best == best);
        programme_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_problems_are_decided),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_cliques),
        cmocka_unit_test(test_programmes),
    };
    return cmocka_run_group_tests_name("general", tests, NULL, NULL);
}
