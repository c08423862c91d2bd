/* What who watches a solver gets: legal answers, each better than the last, bounds that only rise, and at the end what
 * the solver answers. */
#include "solvers.h"
#include "support/linked_problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

struct watched {
    const struct lx_problem *p;
    int64_t objective, bound, steps;
    int answers, reports;
    bool stop_soon;
};

static void watch(void *context, const struct lx_progress *so_far)
{
    struct watched *w = context;
    int64_t objective;
    lx_status st;
    w->reports++;
    assert_true(so_far->objective <= w->objective);
    assert_true(so_far->bound >= w->bound);
    assert_true(so_far->bound <= so_far->objective);
    assert_true(so_far->steps >= w->steps);
    assert_true((so_far->address != NULL) == (so_far->objective < w->objective));
    if (so_far->address) {
        if (!lx_problem_check(w->p, so_far->address, &objective, &st)) fail_msg("%s", st.text);
        assert_int_equal(objective, so_far->objective);
        w->answers++;
    }
    w->objective = so_far->objective;
    w->bound = so_far->bound;
    w->steps = so_far->steps;
}

static bool stop_after_first(void *context)
{
    const struct watched *w = context;
    return w->stop_soon && w->answers > 0;
}

static void run_watched(const struct lx_problem *p, const struct lx_solver *solver, bool stop_soon)
{
    struct watched w = {.p = p, .objective = INT64_MAX, .stop_soon = stop_soon};
    int64_t address[SMALL_MAX];
    struct lx_answer a = {.address = address};
    struct lx_run run = {.seed = 3,
                         .work_limit = strcmp(solver->name, "auto") == 0 ? 0 : 3000,
                         .progress = watch,
                         .stop = stop_after_first,
                         .context = &w};
    lx_status st;
    if (!lx_problem_solve(p, solver, &run, &a, &st)) fail_msg("%s: %s", solver->name, st.text);
    assert_true(w.bound <= a.objective);
    bool complete = a.status == LX_FEASIBLE || a.status == LX_OPTIMAL;
    if (!complete) return;
    assert_true(w.reports > 0 && w.answers > 0);
    assert_int_equal(w.objective, a.objective);
    assert_int_equal(w.bound, a.bound);
}

static void test_lists(void **state)
{
    (void)state;
    struct rng rng = rng_seed(61);
    for (int round = 0; round < 90; round++)
        for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
            struct small small;
            struct rng own = rng;
            small_dense(&small, &own, (int32_t)rng_between(&own, 1, 20), (enum lx_objective)(round % 3), 12,
                        9, rng_between(&own, 5, 30));
            run_watched(&small.problem, *s, round % 7 == 0);
            if (!s[1]) rng = own;
        }
}

static void test_linked(void **state)
{
    (void)state;
    struct rng rng = rng_seed(62);
    for (int round = 0; round < 60; round++) {
        struct linked l;
        linked_random(&l, &rng, (int32_t)rng_between(&rng, 2, 12));
        for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
            if (!(lx_problem_needs(&l.small.problem) & ~(*s)->caps)) run_watched(&l.small.problem, *s, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_linked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
