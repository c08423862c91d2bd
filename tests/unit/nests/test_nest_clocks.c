/* Both clocks of plans with nests: a nest is a loop inside one launch, the waits of ops add up, and with time
 * asked for nests are never slower than none. */
#include "unstable.h"
#include "cost/op.h"
#include "support/sampled.h"
#include "support/nest_files.h"
#include "support/nest_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

/* A bundle is launched once, however many iterations its nests have. */
static void pays_one_launch(const struct lx_plan *p)
{
    const struct lx_device *d = &p->layouts->graph->device;
    for (int32_t i = 0; i < p->bundle_count; i++) {
        const struct lx_bundle *b = &p->bundles[i];
        double launch = b->is_extern ? 0 : cost_launch(d, b->operands, b->cores);
        assert_true(b->end_to_end_us >= fmax(launch, b->device_us) * (1 - 1e-9));
        assert_true(b->end_to_end_us <= (launch + b->device_us) * (1 + 1e-9));
    }
}

static void every_iteration_counts(void **state)
{
    (void)state;
    cJSON *all = tiling_cases();
    const cJSON *c;
    lx_status st = {0};
    cJSON_ArrayForEach(c, case_array(all))
    {
        struct lx_plan *p = plan_of_case(c, LX_ASK_OWN, &st);
        if (!p) fail_msg("%s", st.text);
        adds_up(p);
        pays_one_launch(p);
        lx_plan_free(p);
    }
    cJSON_Delete(all);
    struct lx_plan *p = plan_of_block(512, 65536, LX_ASK_OWN, &st);
    assert_non_null(p);
    assert_true(p->nest_count > 0);
    adds_up(p);
    pays_one_launch(p);
    lx_plan_free(p);
}

static double flops_of(const struct lx_plan *p, int32_t op)
{
    struct lx_op_work w;
    lx_division_work(p->divisions, op, &w);
    return w.flops * (double)nest_runs(p->nests, p->nest_count, op);
}

/* The work of an op does not depend on how it is tiled: its flops are those of all tiles. */
static void tiles_do_all_the_work(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_plan *p = plan_of_block(512, 65536, LX_ASK_OWN, &st);
    struct lx_plan_options plain = {.solver = lx_solver_find("auto"), .passes = {.tile = LX_TILE_NONE}};
    struct lx_plan *q = lx_plan_make(p->graph, &plain, &st);
    assert_non_null(q);
    assert_int_equal(q->nest_count, 0);
    assert_int_equal(q->divisions->count, p->divisions->count);
    for (int32_t o = 0; o < p->divisions->count; o++) nest_file_near(flops_of(p, o), flops_of(q, o));
    lx_plan_free(q);
    lx_plan_free(p);
}

static void never_slower(void **state)
{
    (void)state;
    static const int64_t sizes[] = {32768, 131072};
    for (size_t i = 0; i < (SAMPLED ? 1 : sizeof sizes / sizeof *sizes); i++) {
        lx_status st = {0};
        struct lx_plan *p = plan_of_block(256, sizes[i], LX_ASK_TIME, &st);
        if (!p) fail_msg("%s", st.text);
        struct lx_plan_options plain = {
            .solver = lx_solver_find("auto"), .objective = LX_ASK_TIME, .passes = {.tile = LX_TILE_NONE}};
        struct lx_plan *q = lx_plan_make(p->graph, &plain, &st);
        assert_non_null(q);
        assert_true(p->figures.end_to_end_us <= q->figures.end_to_end_us * (1 + 1e-9));
        assert_true(p->figures.bound_us <= p->figures.end_to_end_us * (1 + 1e-9));
        adds_up(p);
        lx_plan_free(q);
        lx_plan_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_iteration_counts),
                                       cmocka_unit_test(tiles_do_all_the_work),
                                       cmocka_unit_test(never_slower)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
