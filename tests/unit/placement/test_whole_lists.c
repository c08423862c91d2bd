/* Lists of which every buffer must have a place, and fixed addresses that leave none: every solver says that there is no answer,
 * and never that it found none. */
#include "solvers.h"
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/small_problem.h"

static enum lx_verdict ask(const struct lx_buffer *buffers, int32_t count, enum lx_objective question,
                           const struct lx_solver *s, struct lx_answer *answer)
{
    struct lx_problem p = {
        .objective = question, .alignment = 1, .capacity = 100, .buffers = buffers, .count = count};
    struct lx_run run = {0};
    lx_status st = {0};
    assert_true(lx_problem_solve(&p, s, &run, answer, &st));
    return answer->status;
}

static void everybody(const struct lx_buffer *buffers, int32_t count, bool possible)
{
    int64_t address[4];
    static const enum lx_objective questions[] = {LX_HEIGHT, LX_FIT};
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
        for (int k = 0; k < 2; k++) {
            struct lx_answer answer = {.address = address};
            if (!lx_can(*s, questions[k])) continue;
            enum lx_verdict v = ask(buffers, count, questions[k], *s, &answer);
            if ((v == LX_INFEASIBLE) == possible || v == LX_ERROR)
                fail_msg("%s, %s: %s %s", (*s)->name, lx_objective_word(questions[k]), lx_verdict_word(v),
                         answer.message);
        }
}

static void fixed_addresses_that_exclude_each_other(void **state)
{
    (void)state;
    struct small s;
    small_begin(&s, LX_HEIGHT, 100, 1);
    small_add(&s, 8, 0, 4, 0)->fixed = 0;
    small_add(&s, 8, 2, 6, 0)->fixed = 7;
    small_add(&s, 8, 0, 6, 0);
    everybody(s.buffer, 3, false);
    s.buffer[1].fixed = 8; /* beside it */
    everybody(s.buffer, 3, true);
    s.buffer[1].fixed = 7, s.buffer[1].start = 4; /* after it */
    everybody(s.buffer, 3, true);
}

/* Two at one address are no clash where one takes the other's place. */
static void a_handover_is_no_clash(void **state)
{
    (void)state;
    struct small s;
    small_begin(&s, LX_HEIGHT, 100, 1);
    small_add(&s, 8, 0, 4, 0)->fixed = 16;
    small_add(&s, 8, 3, 6, 0)->fixed = 16;
    small_uses(&s, 0, 0, 3);
    small_uses(&s, 1, 3, 5);
    small_parent(&s, 1, 0);
    everybody(s.buffer, 2, true);
    s.buffer[1].parent_count = 0;
    everybody(s.buffer, 2, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_addresses_that_exclude_each_other),
                                       cmocka_unit_test(a_handover_is_no_clash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
