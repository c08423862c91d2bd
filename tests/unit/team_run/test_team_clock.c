/* The time line of a team, the links' formulas, and the bound that is never above it. */
#include "support/other_sizes.h"
#include "unstable.h"
#include "solvers.h"
#include "team/team_private.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = {"team/attention_rows", "team/mlp_rows",    "team/softmax_columns",
                                    "team/uneven_33",      "graphs/mlp_small", "graphs/rms_norm",
                                    "graphs/moe_routed",   "graphs/lm_head"};
static const char *const grids[] = {"1", "2", "5", "2x2"};

static const struct lx_graph *read_pattern(const char *name)
{
    char path[512];
    lx_status st = {0};
    snprintf(path, sizeof path, SOURCE_DIR "/patterns/%s.json", name);
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static struct lx_team_plans *plans_of(const struct lx_graph *g, const char *grid, bool by_time)
{
    lx_status st = {0};
    struct lx_team_options how = {.by_time = by_time};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    assert_true(lx_team_grid_of_text(grid, &how.grid, &st));
    struct lx_team_plan *team = lx_team_make(g, &how, &st);
    struct lx_team_plans *p = team ? lx_team_plans_make(team, &plan, &st) : NULL;
    if (!p) fail_msg("%s on %s: %s", g->name, grid, st.text);
    return p;
}

/* A member ends when its ops and its waits do; nobody works before it has what it needs; one device is its plan. */
static void check_clock(const struct lx_team_plans *p)
{
    struct lx_team_clock *c = lx_team_clock_make(p);
    double last = 0;
    assert_non_null(c);
    for (int m = 0; m < c->devices; m++) {
        const struct lx_team_times *t = &c->at[m];
        assert_true(fabs(t->busy_us + t->waited_us - t->us) <= 1e-9 * (1 + t->us));
        assert_true(t->waited_us >= 0 && t->link_us >= 0);
        for (int o = 0; o < t->ops; o++)
            assert_true(t->end[o] >= t->begin[o] && (o == 0 || t->begin[o] >= t->end[o - 1] - 1e-9));
        last = fmax(last, t->us);
    }
    assert_true(last == c->us && c->us == p->team->predicted_us);
    if (c->devices == 1 && p->plans[0])
        assert_true(fabs(c->us - p->plans[0]->figures.end_to_end_us) <= 1e-6 * c->us);
    lx_team_clock_free(c);
}

static void bounds_are_below_plans(void **state)
{
    (void)state;
    int told = 0;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t k = 0; k < sizeof grids / sizeof *grids; k++)
            for (int by_time = 0; by_time < 2; by_time++) {
                const struct lx_graph *g =
                    with_device(read_pattern(names[n]), lx_device_at((int)(n + k + (size_t)by_time) % 2));
                struct lx_team_plans *p = plans_of(g, grids[k], by_time);
                lx_status st = {0};
                check_clock(p);
                if (!lx_team_plans_check(p, &st)) fail_msg("%s on %s: %s", names[n], grids[k], st.text);
                if (p->team->bound_us > p->team->predicted_us)
                    fail_msg("%s on %s: at least %g us, planned %g", names[n], grids[k], p->team->bound_us,
                             p->team->predicted_us);
                assert_true(lx_team_shards_bound_us(p->team) <= p->team->predicted_us);
                told += p->team->bound_us > 0;
                lx_team_plans_free(p);
                lx_graph_free(g);
            }
    assert_true(told > 50);
}

/* By hand: 32 GB/s, 5 us. */
static void links_by_hand(void **state)
{
    (void)state;
    struct lx_device d = *lx_device_at(0);
    const struct lx_team_grid row = {1, {8}}, grid = {2, {2, 4}};
    double all = 32e6, small = 320;
    assert_true(fabs(team_gather_us(&d, &row, 1, all) - (7 * 5 + 1000 * 7 / 8.0)) < 1e-6);
    assert_true(fabs(team_gather_us(&d, &row, 1, small) - 3 * (5 + 0.01)) < 1e-6); /* a tree */
    assert_true(fabs(team_combine_us(&d, &row, 1, all, false) - 2 * (7 * 5 + 1000 * 7 / 8.0)) < 1e-6);
    assert_true(fabs(team_combine_us(&d, &row, 1, all, true) - (7 * 5 + 1000 * 7 / 8.0)) < 1e-6);
    assert_true(fabs(team_gather_us(&d, &grid, 3, all) - (5 + 500 + 3 * 5 + 500 * 3 / 4.0)) < 1e-6);
    assert_true(fabs(team_swap_us(&d, &row, 1, all, true) - 1005) < 1e-6);
    assert_true(fabs(team_swap_us(&d, &row, 1, all, false) - 1035) < 1e-6);
    assert_true(team_gather_us(&d, &row, 0, all) == 0 && team_swap_us(&d, &row, 1, 0, true) == 0);
    d.link2_gb_per_s = 64, d.link2_us = 1;
    assert_true(fabs(team_gather_us(&d, &grid, 3, all) - (1 + 250 + 3 * 5 + 500 * 3 / 4.0)) < 1e-6);
}

/* Slower links of either axis make the same plan later, and its ops take what they took. */
static void slow_links_are_waited_for(void **state)
{
    (void)state;
    static const char *const keys[] = {"link_gb_per_s", "link2_gb_per_s", "link_us", "link2_us"};
    const struct lx_graph *g = read_pattern("graphs/gq_attention");
    for (int i = 0; i < 4; i++) {
        struct lx_device d = g->device;
        lx_status st = {0};
        assert_true(lx_device_set(&d, lx_device_parameter_find(keys[i]), i < 2 ? 0.01 : 5000, &st));
        const struct lx_graph *slow = with_device(read_pattern("graphs/gq_attention"), &d);
        struct lx_team_plans *q = plans_of(slow, "2x2", false);
        struct lx_team_plans *fast = plans_of(g, "2x2", false);
        assert_true(q->team->predicted_us > fast->team->predicted_us);
        lx_team_plans_free(q);
        lx_team_plans_free(fast);
        lx_graph_free(slow);
    }
    lx_graph_free(g);
}

/* Members that do the same may have plans of their own, in a file, say: each has its own time. */
static void each_by_its_own_plan(void **state)
{
    const struct lx_graph *g = read_pattern("graphs/moe_mlp");
    struct lx_team_options how = {.devices = 2, .replicated = true};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")}, other_plan = plan;
    lx_status st = {0};
    (void)state;
    other_plan.run = (struct lx_run){.time_limit = 1e-9, .quick = true};
    for (int other = 0; other < 2; other++) {
        struct lx_team_plan *team = lx_team_make(g, &how, &st);
        struct lx_team_plans *p = team ? lx_team_plans_make(team, &plan, &st) : NULL;
        struct lx_plan *own = p ? lx_plan_make(p->devices[0]->graph, &other_plan, &st) : NULL;
        if (!own) fail_msg("%s", st.text);
        assert_ptr_equal(p->plans[0], p->plans[1]);
        lx_plan_free(p->plans[other]);
        p->plans[other] = own;
        assert_true(p->plans[0]->layouts->graph->op_count != p->plans[1]->layouts->graph->op_count);
        struct lx_team_clock *c = lx_team_clock_make(p);
        for (int m = 0; m < 2; m++) {
            assert_int_equal(c->at[m].ops, p->plans[m]->layouts->graph->op_count);
            assert_true(fabs(c->at[m].us - p->plans[m]->figures.end_to_end_us) <= 1e-6 * c->us);
        }
        lx_team_clock_free(c);
        lx_team_plans_free(p);
    }
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_below_plans), cmocka_unit_test(links_by_hand),
        cmocka_unit_test(each_by_its_own_plan), cmocka_unit_test(slow_links_are_waited_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
