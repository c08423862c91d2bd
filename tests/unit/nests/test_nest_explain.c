/* What is told of a nest, and of the nests of two plans: bytes add up to what the ops move. */
#include "unstable.h"
#include "support/nest_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static int64_t moved(const struct lx_plan *p, int32_t first, int32_t last)
{
    int64_t bytes = 0;
    for (int32_t o = first; o <= last; o++) bytes += p->traffic[o].hbm_read + p->traffic[o].hbm_written;
    return bytes;
}

/* Returns how many tensors are used so. */
static int explains(const struct lx_plan *p, int uses[LX_NEST_USE_COUNT])
{
    int parts = 0;
    for (int32_t i = 0; i < p->nest_count; i++) {
        struct lx_nest_explained e;
        lx_plan_explain_nest(p, i, &e);
        assert_int_equal(e.hbm_bytes, moved(p, p->nests[i].first, p->nests[i].last));
        assert_true(e.free_bytes >= 0 && e.free_bytes <= p->problem.capacity);
        for (int32_t k = 0; k < e.count; k++) {
            const struct lx_nest_part *x = &e.parts[k];
            bool leaves = x->use != LX_NEST_INSIDE && x->use != LX_NEST_KEPT;
            uses[x->use]++;
            assert_true(leaves || x->hbm_bytes == 0);
            assert_true(x->use != LX_NEST_HBM || x->hbm_bytes > 0);
        }
        parts += e.count;
        lx_nest_explained_free(&e);
    }
    return parts;
}

static void bytes_of_a_nest_add_up(void **state)
{
    (void)state;
    cJSON *all = tiling_cases();
    const cJSON *c;
    int uses[LX_NEST_USE_COUNT] = {0}, parts = 0;
    lx_status st = {0};
    cJSON_ArrayForEach(c, case_array(all))
    {
        struct lx_plan *p = plan_of_case(c, LX_ASK_OWN, &st);
        assert_non_null(p);
        parts += explains(p, uses);
        lx_plan_free(p);
    }
    cJSON_Delete(all);
    struct lx_plan *p = plan_of_block(512, 65536, LX_ASK_OWN, &st);
    parts += explains(p, uses);
    lx_plan_free(p);
    assert_true(parts > 100);
    assert_true(uses[LX_NEST_INSIDE] && uses[LX_NEST_SUM] && uses[LX_NEST_HELD] && uses[LX_NEST_HBM]);
}

static void differs(const struct lx_plan *p, const struct lx_plan *q, bool any)
{
    struct lx_nest_diff d;
    lx_nest_diff(p, q, &d);
    int64_t before = d.others.bytes_before, after = d.others.bytes_after;
    int32_t nests_before = 0, nests_after = 0;
    assert_int_equal(d.count > 0, any);
    for (int32_t i = 0; i < d.count; i++) {
        before += d.all[i].bytes_before;
        after += d.all[i].bytes_after;
        nests_before += d.all[i].count_before;
        nests_after += d.all[i].count_after;
        assert_true(d.all[i].count_before + d.all[i].count_after > 0);
    }
    assert_int_equal(before, p->figures.hbm_bytes);
    assert_int_equal(after, q->figures.hbm_bytes);
    assert_true(d.others.bytes_before >= 0 && d.others.bytes_after >= 0);
    assert_true(nests_before <= p->nest_count && nests_after <= q->nest_count);
    lx_nest_diff_free(&d);
}

static void bytes_of_two_plans_add_up(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_plan *p = plan_of_block(512, 65536, LX_ASK_OWN, &st);
    struct lx_plan *q = plan_of_block(512, 131072, LX_ASK_OWN, &st);
    struct lx_plan_options plain = {.solver = lx_solver_find("auto"), .passes = {.tile = LX_TILE_NONE}};
    struct lx_plan *none = p ? lx_plan_make(p->graph, &plain, &st) : NULL;
    if (!p || !q || !none) fail_msg("%s", st.text);
    assert_true(p->nest_count > 0);
    differs(p, p, false);
    differs(p, none, true);
    differs(none, p, true);
    differs(p, q, true);
    differs(none, none, false);
    lx_plan_free(none);
    lx_plan_free(q);
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_of_a_nest_add_up),
                                       cmocka_unit_test(bytes_of_two_plans_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
