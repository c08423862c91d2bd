/* Lists of which every buffer must have a place, and fixed addresses that leave none: every solver says that there is no answer,
 * and never that it found none. */
#include "solvers.h"
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const int64_t uses[2][2] = {{0, 3}, {3, 5}};
static const int32_t first[] = {0};

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
    struct lx_buffer list[] = {{.name = "a", .size = 8, .start = 0, .end = 4, .fixed = 0},
                               {.name = "b", .size = 8, .start = 2, .end = 6, .fixed = 7},
                               {.name = "c", .size = 8, .start = 0, .end = 6, .fixed = -1}};
    (void)state;
    everybody(list, 3, false);
    list[1].fixed = 8; /* beside it */
    everybody(list, 3, true);
    list[1].fixed = 7, list[1].start = 4; /* after it */
    everybody(list, 3, true);
}

/* Two at one address are no clash where one takes the other's place. */
static void a_handover_is_no_clash(void **state)
{
    struct lx_buffer list[] = {
        {.name = "a", .size = 8, .start = 0, .end = 4, .fixed = 16, .uses = uses[0], .use_count = 2},
        {.name = "b",
         .size = 8,
         .start = 3,
         .end = 6,
         .fixed = 16,
         .uses = uses[1],
         .use_count = 2,
         .parents = first,
         .parent_count = 1}};
    (void)state;
    everybody(list, 2, true);
    list[1].parent_count = 0;
    everybody(list, 2, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_addresses_that_exclude_each_other),
                                       cmocka_unit_test(a_handover_is_no_clash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
