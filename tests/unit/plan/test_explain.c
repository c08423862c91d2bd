/* Why a buffer is off chip, and who is in its way. */
#include "unstable.h"
#include "support/problem_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static int32_t off_chip(const struct lx_plan *p, const char *name)
{
    struct lx_explanation e;
    lx_plan_explain(p, name, &e);
    int32_t off = e.count ? e.off_chip : -1;
    lx_explanation_free(&e);
    return off;
}

static void test_obstacles(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_SPILL, 10, 1);
    problem_add(&list, 6, 0, 4, 9)->name = "on";
    problem_add(&list, 1, 1, 3, 2)->name = "cheap";
    problem_add(&list, 1, 0, 1, 1)->name = "before";
    problem_add(&list, 11, 0, 4, 0)->name = "large";
    problem_add(&list, 1, 0, 4, 0)->reason = "no";
    problem_add(&list, 5, 1, 4, 5)->name = "homeless";
    int64_t address[] = {0, 6, 7, LX_OFF_CHIP, LX_OFF_CHIP, LX_OFF_CHIP};
    static const enum lx_obstacle expected[] = {LX_NO_OBSTACLE, LX_NO_OBSTACLE, LX_NO_OBSTACLE,
                                                LX_TOO_LARGE,   LX_BARRED,      LX_NO_ROOM};
    struct lx_plan p = {.problem = list.problem, .answer = {.address = address}};
    for (int32_t i = 0; i < p.problem.count; i++) {
        struct lx_explanation e;
        lx_plan_explain(&p, list.buffers[i].name, &e);
        assert_int_equal(e.count, 1);
        assert_int_equal(e.all[0].buffer, i);
        assert_int_equal(e.all[0].obstacle, expected[i]);
        assert_int_equal(e.off_chip, expected[i] != LX_NO_OBSTACLE);
        assert_int_equal(e.all[0].other_count, expected[i] == LX_NO_ROOM ? 2 : 0);
        if (e.all[0].other_count) { /* the cheapest first; who has gone before it is not in its way */
            assert_int_equal(e.all[0].others[0], 1);
            assert_int_equal(e.all[0].others[1], 0);
        }
        lx_explanation_free(&e);
    }
    assert_int_equal(off_chip(&p, "nobody"), -1);
    problem_end(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_obstacles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
