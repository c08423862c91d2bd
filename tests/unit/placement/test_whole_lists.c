/* Lists of which every buffer must have a place, and fixed addresses that leave none: every solver says that there is no answer,
 * and never that it found none. */
#include "solvers.h"
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/problem_builder.h"

static void everybody(struct lx_problem p, bool possible)
{
    int64_t address[4];
    static const enum lx_objective questions[] = {LX_HEIGHT, LX_FIT};
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
        for (int k = 0; k < 2; k++) {
            struct lx_answer answer = {.address = address};
            struct lx_run run = {0};
            lx_status st = {0};
            p.objective = questions[k];
            if (!lx_can(*s, p.objective)) continue;
            assert_true(lx_problem_solve(&p, *s, &run, &answer, &st));
            if ((answer.status == LX_INFEASIBLE) == possible || answer.status == LX_ERROR)
                fail_msg("%s, %s: %s %s", (*s)->name, lx_objective_word(p.objective),
                         lx_verdict_word(answer.status), answer.message);
        }
}

static void fixed_addresses_that_exclude_each_other(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_HEIGHT, 100, 1);
    problem_add(&list, 8, 0, 4, 0)->fixed = 0;
    problem_add(&list, 8, 2, 6, 0)->fixed = 7;
    problem_add(&list, 8, 0, 6, 0);
    everybody(list.problem, false);
    list.buffers[1].fixed = 8; /* beside it */
    everybody(list.problem, true);
    list.buffers[1].fixed = 7, list.buffers[1].start = 4; /* after it */
    everybody(list.problem, true);
    problem_end(&list);
}

/* Two at one address are no clash where one takes the other's place. */
static void a_handover_is_no_clash(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_HEIGHT, 100, 1);
    problem_add(&list, 8, 0, 4, 0)->fixed = 16;
    problem_add(&list, 8, 3, 6, 0)->fixed = 16;
    problem_uses(&list, 0, 0, 3);
    problem_uses(&list, 1, 3, 5);
    problem_parent(&list, 1, 0);
    everybody(list.problem, true);
    list.buffers[1].parent_count = 0;
    everybody(list.problem, false);
    problem_end(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_addresses_that_exclude_each_other),
                                       cmocka_unit_test(a_handover_is_no_clash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
