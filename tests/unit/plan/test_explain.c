/* Why a buffer is off chip, and what is said to bring it on chip: each remedy is taken, and must. */
#include "lxplan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Counts the plans that are made. */
static struct lx_plan *count_plans(void *context, const struct lx_graph *g, const struct lx_plan_options *how,
                                   lx_status *st)
{
    ++*(int *)context;
    return lx_plan_make(g, how, st);
}

static const struct lx_graph *read_graph(const char *path, const struct lx_options *asked)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st), *sized = g ? lx_options_graph(asked, g, &st) : NULL;
    if (!sized) fail_msg("%s", st.text);
    lx_graph_free(g);
    return sized;
}

static struct lx_plan_options options_of(const struct lx_options *asked, const struct lx_graph *g,
                                         int64_t values[LX_MOST_SOLVER_OPTIONS])
{
    lx_status st = {0};
    struct lx_plan_options how = {0};
    assert_true(lx_options_plan(asked, g->is_list ? g->objective : LX_SPILL, &how, values, &st));
    return how;
}

static struct lx_plan *make(const struct lx_graph *g, const struct lx_plan_options *how)
{
    lx_status st = {0};
    struct lx_plan *p = lx_plan_make(g, how, &st);
    if (!p) fail_msg("%s", st.text);
    return p;
}

static int32_t off_chip(const struct lx_plan *p, const char *name)
{
    struct lx_explanation e;
    lx_status st = {0};
    assert_true(lx_plan_explain(p, name, &e, &st));
    int32_t off = e.count ? e.off_chip : -1;
    lx_explanation_free(&e);
    return off;
}

/* Each remedy, taken, has the buffer on chip with the traffic that was promised. */
static void take_each(const struct lx_graph *g, const struct lx_plan_options *how,
                      const struct lx_remedies *r, const char *name)
{
    for (int32_t i = 0; i < r->count; i++) {
        struct lx_plan_options other = *how;
        assert_true((r->all[i].solver != NULL) != (r->all[i].pass != NULL));
        if (r->all[i].solver) {
            other.solver = r->all[i].solver;
            other.run.options = NULL; /* those are the other one's */
        } else
            lx_pass_set(&other.passes, r->all[i].pass, r->all[i].value);
        struct lx_plan *p = make(g, &other);
        assert_int_equal(off_chip(p, name), 0);
        assert_int_equal(p->figures.hbm_bytes, r->all[i].hbm_bytes);
        lx_plan_free(p);
    }
}

static void test_remedies(void **state)
{
    (void)state;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct lx_options asked = {.solvers = lx_solvers()};
    lx_status st = {0};
    int tries = 0, asked_about = 0, found = 0;
    assert_true(lx_options_set(&asked, "solver", "greedy", &st));
    assert_true(lx_options_set(&asked, "work", "2000", &st));
    const struct lx_graph *g = read_graph(SOURCE_DIR "/patterns/targets/simple_fragmentation.json", &asked);
    struct lx_plan_options how = options_of(&asked, g, values);
    struct lx_plan *p = make(g, &how);
    for (int32_t i = 0; i < p->problem.count; i++) {
        const char *name = p->problem.buffers[i].name;
        struct lx_remedies r;
        if (off_chip(p, name) < 1) continue;
        assert_true(lx_plan_remedies(p, &asked, name, count_plans, &tries, &r, &st));
        assert_true(r.tried);
        take_each(g, &how, &r, name);
        asked_about++;
        found += r.count;
        lx_remedies_free(&r);
    }
    assert_true(asked_about > 0 && found > 0 && tries > found);
    lx_plan_free(p);
    lx_graph_free(g);
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
    lx_status st = {0};
    for (int32_t i = 0; i < p.problem.count; i++) {
        struct lx_explanation e;
        assert_true(lx_plan_explain(&p, buffers[i].name, &e, &st));
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
        cmocka_unit_test(test_remedies),
        cmocka_unit_test(test_obstacles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
