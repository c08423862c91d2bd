/* Why a buffer is off chip, and who is in its way. */
#include "unstable.h"

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
    struct lx_buffer buffers[] = {{.name = "on", .size = 6, .end = 4, .spill_cost = 9},
                                  {.name = "cheap", .size = 1, .start = 1, .end = 3, .spill_cost = 2},
                                  {.name = "before", .size = 1, .end = 1, .spill_cost = 1},
                                  {.name = "large", .size = 11, .end = 4},
                                  {.name = "barred", .size = 1, .end = 4, .reason = "no"},
                                  {.name = "homeless", .size = 5, .start = 1, .end = 4, .spill_cost = 5}};
    int64_t address[] = {0, 6, 7, LX_OFF_CHIP, LX_OFF_CHIP, LX_OFF_CHIP};
    static const enum lx_obstacle expected[] = {LX_NO_OBSTACLE, LX_NO_OBSTACLE, LX_NO_OBSTACLE,
                                                LX_TOO_LARGE,   LX_BARRED,      LX_NO_ROOM};
    struct lx_plan p = {.problem = {.capacity = 10, .alignment = 1, .count = 6, .buffers = buffers},
                        .answer = {.address = address}};
    for (int32_t i = 0; i < p.problem.count; i++) {
        struct lx_explanation e;
        lx_plan_explain(&p, buffers[i].name, &e);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_obstacles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
