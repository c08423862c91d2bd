/* Auto against every solver by itself, on lists and on graphs; and its levels against each other. */
#include "unstable.h"
#include "support/linked_problem.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What an answer is worth; for fit how many are left out. */
static int64_t worth(const struct lx_problem *p, const struct lx_solver *solver, const int64_t *options)
{
    int64_t address[SMALL_MAX], left = 0;
    struct lx_answer a = {.address = address};
    struct lx_run run = {.seed = 2, .options = options};
    lx_status st;
    if (!lx_problem_solve(p, solver, &run, &a, &st)) fail_msg("%s: %s", solver->name, st.text);
    if (a.status == LX_INFEASIBLE || a.status == LX_ERROR) return INT64_MAX;
    for (int32_t i = 0; i < p->count; i++) left += address[i] < 0 && !p->buffers[i].reason;
    return p->objective == LX_FIT ? left : a.objective;
}

static void never_worse(const struct lx_problem *p)
{
    const struct lx_solver *of_auto = lx_solver_find("auto");
    int64_t best = worth(p, of_auto, NULL);
    if (p->objective == LX_FIT && best == INT64_MAX)
        best = 1; /* none has all: proved, which is more than some left out */
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        if (*s == of_auto || (lx_problem_needs(p) & ~(*s)->caps)) continue;
        int64_t theirs = worth(p, *s, NULL);
        if (best > theirs) fail_msg("auto %lld, %s %lld", (long long)best, (*s)->name, (long long)theirs);
    }
}

static void test_lists(void **state)
{
    (void)state;
    struct rng rng = rng_seed(71);
    for (int round = 0; round < 24; round++) {
        struct small s;
        small_dense(&s, &rng, (int32_t)rng_between(&rng, 2, 22), (enum lx_objective)(round % 3), 14, 9,
                    rng_between(&rng, 8, 24));
        never_worse(&s.problem);
    }
}

static enum lx_verdict verdict(const struct lx_problem *p, const char *solver)
{
    int64_t address[SMALL_MAX];
    struct lx_answer a = {.address = address};
    struct lx_run run = {0};
    lx_status st;
    if (!lx_problem_solve(p, lx_solver_find(solver), &run, &a, &st)) fail_msg("%s: %s", solver, st.text);
    return a.status;
}

/* What exact proves impossible, auto does not leave open. */
static void test_proofs_of_fit(void **state)
{
    (void)state;
    struct rng rng = rng_seed(74);
    int impossible = 0;
    for (int round = 0; round < 400; round++) {
        struct small s;
        small_dense(&s, &rng, (int32_t)rng_between(&rng, 4, 14), LX_FIT, 10, 9, rng_between(&rng, 14, 24));
        if (verdict(&s.problem, "exact") != LX_INFEASIBLE) continue;
        impossible++;
        if (verdict(&s.problem, "auto") != LX_INFEASIBLE) fail_msg("round %d: auto does not prove it", round);
    }
    assert_true(impossible > 50);
}

static void test_linked(void **state)
{
    (void)state;
    struct rng rng = rng_seed(72);
    for (int round = 0; round < 30; round++) {
        struct linked l;
        linked_random(&l, &rng, (int32_t)rng_between(&rng, 2, 14));
        never_worse(&l.small.problem);
    }
}

static void test_levels(void **state)
{
    (void)state;
    const struct lx_solver *of_auto = lx_solver_find("auto");
    struct rng rng = rng_seed(73);
    for (int round = 0; round < 9; round++) {
        struct small s;
        int64_t last = INT64_MAX;
        small_dense(&s, &rng, 30, (enum lx_objective)(round % 3), 14, 30, 40);
        for (int64_t level = 0; level <= 6; level++) {
            int64_t now = worth(&s.problem, of_auto, &level);
            assert_true(now <= last);
            last = now;
        }
    }
}

static int64_t traffic(const struct lx_graph *g, const struct lx_solver *solver, int tile)
{
    struct lx_plan_options how = {.solver = solver, .run = {.seed = 1}, .passes = {.tile = tile}};
    lx_status st;
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s: %s", solver->name, st.text);
    int64_t bytes = p->figures.hbm_bytes;
    lx_plan_free(p);
    return bytes;
}

/* Graphs under pressure, by what really moves. */
static void test_graphs(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int64_t lx;
    } points[] = {
        {"moe_mlp", 102400},           {"moe_mlp", 24576}, {"gq_attention", 102400}, {"swiglu", 204800},
        {"transformer_block", 409600},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i += SAMPLED ? 3 : 1) {
        char path[300];
        lx_status st;
        snprintf(path, sizeof path, "%s/patterns/graphs/%s.json", SOURCE_DIR, points[i].file);
        const struct lx_graph *whole = lx_graph_read(path, &st);
        if (!whole) fail_msg("%s", st.text);
        const struct lx_graph *g = lx_graph_with_capacity(whole, points[i].lx, &st);
        if (!g) fail_msg("%s", st.text);
        int64_t best = traffic(g, lx_solver_find("auto"), LX_TILE_AUTO);
        for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
            int64_t theirs = traffic(g, *s, LX_TILE_AUTO);
            if (best > theirs)
                fail_msg("%s at %lld: auto %lld, %s %lld", points[i].file, (long long)points[i].lx,
                         (long long)best, (*s)->name, (long long)theirs);
        }
        lx_graph_free(g);
        lx_graph_free(whole);
    }
}

/* Who says what is enough gets at least that, and no bound that a legal answer goes below. */
static void test_enough(void **state)
{
    (void)state;
    struct rng rng = rng_seed(74);
    for (int round = 0; round < 40; round++) {
        struct linked l;
        linked_random(&l, &rng, (int32_t)rng_between(&rng, 2, 14));
        int64_t address[SMALL_MAX], best = worth(&l.small.problem, lx_solver_find("auto"), NULL);
        if (best == INT64_MAX) continue;
        struct lx_answer a = {.address = address};
        struct lx_run run = {.seed = 2, .stop_at = best + rng_between(&rng, 0, best + 1)};
        lx_status st;
        assert_true(lx_problem_solve(&l.small.problem, lx_solver_find("auto"), &run, &a, &st));
        assert_int_not_equal(a.status, LX_ERROR);
        assert_true(a.objective <= run.stop_at && a.objective >= best && a.bound <= best);
    }
}

static const struct lx_graph *layers_of_block(int64_t layers, int64_t lx)
{
    const struct lx_generator *block = lx_generator_find("block");
    int64_t values[32];
    lx_status st;
    lx_values_default(block->options, block->option_count, values);
    for (int i = 0; i < block->option_count; i++)
        if (strcmp(block->options[i].name, "layers") == 0) values[i] = layers;
    const struct lx_graph *whole = block->build(values, &st);
    const struct lx_graph *g = whole ? lx_graph_with_capacity(whole, lx, &st) : NULL;
    if (!g) fail_msg("%s", st.text);
    lx_graph_free(whole);
    return g;
}

/* What ends the search early on larger graphs is a bound: the whole search finds nothing below it. */
/* A plain list that is too long for exact search to begin with: its proof is auto's, too. */
static void test_long_lists(void **state)
{
    const struct lx_generator *random = lx_generator_find("random");
    int64_t values[32];
    lx_status st;
    (void)state;
    for (int i = 0; i < random->option_count; i++) {
        const char *name = random->options[i].name;
        values[i] = strcmp(name, "buffers") == 0     ? 1210
                    : strcmp(name, "seed") == 0      ? 3
                    : strcmp(name, "in_place") == 0  ? 0
                    : strcmp(name, "capacity") == 0  ? 680000
                    : strcmp(name, "max_size") == 0  ? 65536
                    : strcmp(name, "mean_life") == 0 ? 20
                                                     : random->options[i].def;
    }
    const struct lx_graph *g = random->build(values, &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    assert_int_equal(p->answer.status, LX_OPTIMAL);
    lx_plan_free(p);
    lx_graph_free(g);
}

static void test_ended_early(void **state)
{
    (void)state;
    static const int64_t sizes[] = {61440, 102400, 204800, 307200};
    const struct lx_solver *of_auto = lx_solver_find("auto"), *quick = lx_solver_find("bestfit");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct lx_graph *g = layers_of_block(3, sizes[i]);
        struct lx_plan_options how = {
            .solver = of_auto, .quick_solver = quick, .run = {.seed = 1}, .passes = {.tile = LX_TILE_NONE}};
        lx_status st;
        struct lx_plan *early = lx_plan_make(g, &how, &st);
        assert_non_null(early);
        int64_t whole = traffic(g, of_auto, LX_TILE_NONE);
        assert_true(early->figures.hbm_bytes <= whole);
        assert_true(lx_plan_least(early) <= whole);
        assert_int_equal(early->answer.status, LX_OPTIMAL);
        lx_plan_free(early);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_proofs_of_fit),
        cmocka_unit_test(test_linked),      cmocka_unit_test(test_levels),
        cmocka_unit_test(test_graphs),      cmocka_unit_test(test_enough),
        cmocka_unit_test(test_ended_early), cmocka_unit_test(test_long_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
