/* The GLPK solver against brute force, and its behaviour at limits and failures. */
#include "support/small_problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

extern const struct lx_solver lx_solver_ilp;

static struct lx_answer run_on(const struct lx_problem *p, const struct lx_run *run, int64_t *address)
{
    struct lx_answer answer = {.address = address};
    lx_status st;
    if (!lx_problem_solve(p, &lx_solver_ilp, run, &answer, &st)) fail_msg("%s", st.text);
    return answer;
}

static void test_spill_is_brute_force(void **state)
{
    (void)state;
    struct rng rng = rng_seed(11);
    int proved = 0;
    for (int round = 0; round < 400; round++) {
        struct small s;
        int64_t address[SMALL_MAX];
        small_dense(&s, &rng, (int32_t)rng_between(&rng, 1, 7), LX_SPILL, 6, 6, rng_between(&rng, 3, 11));
        struct lx_run run = {.seed = (uint64_t)round};
        struct lx_answer a = run_on(&s.problem, &run, address);
        assert_int_equal(a.objective, brute_force(&s.problem, s.problem.capacity));
        assert_int_not_equal(a.status, LX_ERROR);
        proved += a.status == LX_OPTIMAL;
    }
    assert_int_equal(proved, 400);
}

/* From the worst legal answer, so that the model and not the first heuristic has to find everything. */
static void test_spill_from_nothing(void **state)
{
    (void)state;
    struct rng rng = rng_seed(12);
    for (int round = 0; round < 200; round++) {
        struct small s;
        int64_t address[SMALL_MAX], nothing[SMALL_MAX];
        for (int i = 0; i < SMALL_MAX; i++) nothing[i] = LX_OFF_CHIP;
        small_dense(&s, &rng, (int32_t)rng_between(&rng, 2, 7), LX_SPILL, 5, 6, rng_between(&rng, 3, 10));
        struct lx_run run = {.incumbent = nothing};
        struct lx_answer a = run_on(&s.problem, &run, address);
        assert_int_equal(a.status, LX_OPTIMAL);
        assert_int_equal(a.objective, brute_force(&s.problem, s.problem.capacity));
    }
}

static void test_fit_is_brute_force(void **state)
{
    (void)state;
    struct rng rng = rng_seed(13);
    int both[2] = {0, 0};
    for (int round = 0; round < 400; round++) {
        struct small s;
        int64_t address[SMALL_MAX];
        small_dense(&s, &rng, (int32_t)rng_between(&rng, 2, 7), LX_FIT, 6, 4, rng_between(&rng, 6, 11));
        struct lx_run run = {.seed = (uint64_t)round};
        struct lx_answer a = run_on(&s.problem, &run, address);
        bool fits = brute_force(&s.problem, s.problem.capacity) == 0;
        both[fits]++;
        assert_int_equal(a.status, fits ? LX_OPTIMAL : LX_INFEASIBLE);
    }
    assert_true(both[0] > 20 && both[1] > 20);
}

static void test_height_is_brute_force(void **state)
{
    (void)state;
    struct rng rng = rng_seed(14);
    for (int round = 0; round < 300; round++) {
        struct small s;
        int64_t address[SMALL_MAX];
        small_dense(&s, &rng, (int32_t)rng_between(&rng, 1, 6), LX_HEIGHT, 5, 4, 8);
        struct lx_run run = {.seed = (uint64_t)round};
        struct lx_answer a = run_on(&s.problem, &run, address);
        int64_t best = brute_force(&s.problem, 40);
        if (best == INT64_MAX) continue; /* two fixed addresses in conflict */
        assert_int_equal(a.objective, best);
        assert_int_equal(a.status, LX_OPTIMAL);
    }
}

static void test_claims_hold_at_25(void **state)
{
    (void)state;
    struct rng rng = rng_seed(15);
    for (int round = 0; round < 25; round++) {
        struct small s;
        int64_t address[SMALL_MAX], again[SMALL_MAX];
        small_dense(&s, &rng, 25, LX_SPILL, 20, 40, 80);
        struct lx_run run = {.seed = 1, .work_limit = 500};
        struct lx_answer a = run_on(&s.problem, &run, address), b = run_on(&s.problem, &run, again);
        assert_int_not_equal(a.status, LX_ERROR);
        assert_true(a.bound <= a.objective);
        assert_memory_equal(address, again, 25 * sizeof *address);
        assert_int_equal(a.bound, b.bound);
    }
}

static void test_too_large_keeps_the_first_answer(void **state)
{
    (void)state;
    struct rng rng = rng_seed(16);
    struct small s;
    int64_t address[SMALL_MAX];
    small_dense(&s, &rng, 30, LX_SPILL, 10, 40, 50);
    int64_t options[16];
    for (int i = 0; i < lx_solver_ilp.option_count; i++) {
        options[i] = lx_solver_ilp.options[i].def;
        if (strcmp(lx_solver_ilp.options[i].name, "max-buffers") == 0) options[i] = 10;
    }
    struct lx_run run = {.options = options};
    struct lx_answer a = run_on(&s.problem, &run, address);
    assert_int_equal(a.status, LX_LIMIT);
    assert_true(a.message[0] != 0);
}

/* GLPK gives up when its memory is out; the first answer must survive, and so must the program. */
static void test_glpk_failure_is_an_error(void **state)
{
    (void)state;
    struct rng rng = rng_seed(18);
    struct small s;
    int64_t address[SMALL_MAX], nothing[SMALL_MAX], options[16];
    for (int i = 0; i < SMALL_MAX; i++) nothing[i] = LX_OFF_CHIP;
    small_dense(&s, &rng, 32, LX_SPILL, 6, 37, 150);
    for (int i = 0; i < lx_solver_ilp.option_count; i++) {
        options[i] = lx_solver_ilp.options[i].def;
        if (strcmp(lx_solver_ilp.options[i].name, "memory") == 0) options[i] = 1;
    }
    struct lx_run run = {.options = options, .incumbent = nothing}, normal = {.work_limit = 10};
    struct lx_answer a = run_on(&s.problem, &run, address);
    assert_int_equal(a.status, LX_ERROR);
    assert_non_null(strstr(a.message, "GLPK failed"));
    assert_int_not_equal(run_on(&s.problem, &normal, address).status, LX_ERROR);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void test_stops(void **state)
{
    (void)state;
    struct rng rng = rng_seed(17);
    struct small s;
    int64_t address[SMALL_MAX];
    small_dense(&s, &rng, 30, LX_SPILL, 10, 40, 50);
    struct lx_run run = {.stop = stop_at_once};
    struct lx_answer a = run_on(&s.problem, &run, address);
    assert_int_equal(a.status, LX_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spill_is_brute_force),
        cmocka_unit_test(test_spill_from_nothing),
        cmocka_unit_test(test_fit_is_brute_force),
        cmocka_unit_test(test_height_is_brute_force),
        cmocka_unit_test(test_claims_hold_at_25),
        cmocka_unit_test(test_too_large_keeps_the_first_answer),
        cmocka_unit_test(test_glpk_failure_is_an_error),
        cmocka_unit_test(test_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
