/* Two provers that share nothing but the checker: what the integer programme claims, exact search must
 * confirm, on 500 random problems of up to 25 buffers and all three questions. */
#include "exact/exact.h"
#include "solvers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/small_problem.h"
#include "support/sampled.h"

static struct lx_answer answer_of(const struct lx_solver *solver, const struct lx_problem *p,
                                  int64_t *address, int64_t work)
{
    struct lx_answer a = {.address = address};
    struct lx_run run = {.seed = 1, .work_limit = work};
    lx_status st;
    if (!lx_problem_solve(p, solver, &run, &a, &st)) fail_msg("%s: %s", solver->name, st.text);
    if (a.status == LX_ERROR) fail_msg("%s: %s", solver->name, a.message);
    return a;
}

static void the_provers_agree(void **state)
{
    (void)state;
    struct rng rng = rng_seed(2026);
    int settled = 0, both = 0;
    for (int round = 0; round < OFTEN(500); round++) {
        struct small s;
        int64_t by_exact[SMALL_MAX], by_ilp[SMALL_MAX];
        enum lx_objective objective = (enum lx_objective)(round % 3);
        int32_t n = (int32_t)rng_between(&rng, 2, 25);
        small_dense(&s, &rng, n, objective, 12, 20, rng_between(&rng, 20, 60));
        struct lx_answer e = answer_of(&lx_solver_exact, &s.problem, by_exact, 0);
        struct lx_answer i = answer_of(&lx_solver_ilp, &s.problem, by_ilp, 300);
        bool e_proved = e.status == LX_OPTIMAL || e.status == LX_INFEASIBLE;
        bool i_proved = i.status == LX_OPTIMAL || i.status == LX_INFEASIBLE;
        if (e_proved && i_proved &&
            (e.status != i.status || (objective != LX_FIT && e.objective != i.objective)))
            fail_msg("round %d (%s): exact says %s %lld, ilp says %s %lld", round,
                     lx_objective_word(objective), lx_verdict_word(e.status), (long long)e.objective,
                     lx_verdict_word(i.status), (long long)i.objective);
        /* Neither may claim a bound that the other's legal answer refutes. */
        if (objective != LX_FIT && (e.bound > i.objective || i.bound > e.objective))
            fail_msg("round %d: a bound above a legal answer", round);
        /* Fixed addresses may collide: then no height exists, and both must have looked in vain. */
        bool none = objective == LX_HEIGHT && e.objective == INT64_MAX && i.objective == INT64_MAX;
        settled += e_proved || none;
        both += e_proved && i_proved;
    }
    assert_true(settled >= OFTEN(500) / 100 *
                               99); /* exact search settles problems of this size, but for odd alignments */
    assert_true(both > OFTEN(500) / 5 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_provers_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
