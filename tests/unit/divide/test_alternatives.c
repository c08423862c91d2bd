/* Other divisions of an op: in the order of their times, the present one among them with the time that the plan's model
 * gives, and agreement counted as the neighbours see it. */
#include "unstable.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { MOST = 5 };

struct stages {
    const struct lx_graph *graph;
    struct lx_layouts *layouts;
    struct lx_divisions *divisions;
};

static struct stages divided(const char *path)
{
    lx_status st = {0};
    struct stages s = {.graph = lx_graph_read(path, &st)};
    s.layouts = s.graph ? lx_layouts_make(s.graph, LX_WEIGHTS_FREE, &st) : NULL;
    s.divisions = s.layouts ? lx_divide(s.layouts, NULL, &st) : NULL;
    if (!s.divisions) fail_msg("%s", st.text);
    return s;
}

static void free_stages(struct stages *s)
{
    lx_divisions_free(s->divisions);
    lx_layouts_free(s->layouts);
    lx_graph_free(s->graph);
}

static bool same(const struct lx_division *d, const struct lx_alternative *a)
{
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].split != a->splits[i]) return false;
    return true;
}

static void check_op(const struct lx_divisions *d, int32_t op, const double *share)
{
    struct lx_alternative at[MOST];
    int neighbours, present = 0, n = lx_division_alternatives(d, op, share, at, MOST, &neighbours);
    if (d->at[op].kind != LX_DIVIDED) {
        assert_int_equal(n, 0);
        return;
    }
    assert_true(n >= 1 && n <= MOST);
    for (int i = 0; i < n; i++) {
        assert_true(at[i].agreeing >= 0 && at[i].agreeing <= neighbours);
        assert_int_equal(at[i].present, same(&d->at[op], &at[i]));
        if (i > 0) assert_true(at[i].device_us >= at[i - 1].device_us);
        if (!at[i].present) continue;
        present++;
        double us = lx_division_time(d, op, share);
        assert_true(fabs(at[i].device_us - us) <= 1e-9 * us);
    }
    assert_int_equal(present, 1);
}

static void every_op_has_its_own_among_them(void **state)
{
    static const char *const paths[] = {SOURCE_DIR "/patterns/graphs/gq_attention.json",
                                        SOURCE_DIR "/patterns/graphs/moe_mlp.json",
                                        SOURCE_DIR "/patterns/targets/moe_mlp.json"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct stages s = divided(paths[i]);
        double all[LX_MAX_OPERANDS], none[LX_MAX_OPERANDS] = {0};
        for (int k = 0; k < LX_MAX_OPERANDS; k++) all[k] = 1;
        for (int32_t o = 0; o < s.divisions->count; o++) {
            check_op(s.divisions, o, all);
            check_op(s.divisions, o, none);
        }
        free_stages(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_op_has_its_own_among_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
