/* What is told of a team's plan adds up: bytes per axis and per step to those of the plan, spans of a time line to the clock. */
#include "solvers.h"
#include "team/team_figures.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { CELLS = 37 };

static struct lx_team_plans *plans_of(const char *name, const char *grid)
{
    char path[512];
    lx_status st = {0};
    struct lx_team_options how = {0};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    snprintf(path, sizeof path, SOURCE_DIR "/patterns/team/%s.json", name);
    const struct lx_graph *g = lx_graph_read(path, &st);
    assert_non_null(g);
    assert_true(lx_team_grid_of_text(grid, &how.grid, &st));
    struct lx_team_plan *team = lx_team_make(g, &how, &st);
    struct lx_team_plans *p = team ? lx_team_plans_make(team, &plan, &st) : NULL;
    if (!p) fail_msg("%s on %s: %s", name, grid, st.text);
    lx_graph_free(g);
    return p;
}

static void check_bytes(const struct team_figures *f)
{
    const struct lx_team_plan *p = f->plans->team;
    int64_t steps = 0, links = 0, sent = 0, all = p->bytes + p->combine_bytes;
    for (int32_t s = 0; s < f->step_count; s++) steps += f->steps[s].bytes;
    for (int i = 0; i < f->link_count; i++) links += f->links[i].bytes;
    for (int m = 0; m < p->devices; m++) sent += f->devices[m].sent_bytes;
    assert_int_equal(steps, all);
    assert_int_equal(links, all);
    assert_int_equal(sent, all);
}

static void check_times(const struct team_figures *f)
{
    double last = 0, longest = 0;
    for (int32_t s = 0; s < f->step_count; s++) {
        last = fmax(last, f->steps[s].to);
        longest = fmax(longest, f->steps[s].waited);
        assert_true((f->steps[s].waiter >= 0) == (f->steps[s].waited > 0));
    }
    assert_true(last <= f->clock->us + 1e-9 && last > 0);
    assert_true(f->devices[f->last].us == f->clock->us);
    assert_true((f->waiter >= 0) == (longest > 0));
    for (int m = 0; m < f->plans->team->devices; m++) {
        const struct team_device_figures *x = &f->devices[m];
        assert_true(x->beside >= 0 && x->beside <= x->links + 1e-9);
        assert_true((x->longest_step >= 0) == (x->waited > 0));
        assert_true(x->late != m);
    }
}

static void check_lanes(const struct team_figures *f)
{
    struct team_span at[CELLS];
    double cell = f->clock->us / CELLS;
    for (int m = 0; m < f->plans->team->devices; m++) {
        double works = 0, waits = 0;
        team_lane_fill(&f->clock->at[m], 0, f->clock->us, CELLS, at);
        for (int c = 0; c < CELLS; c++) {
            assert_true(at[c].works + at[c].waits <= 1 + 1e-9);
            assert_true((team_lane_mark_of(&at[c]) == LANE_NOTHING) == (at[c].works + at[c].waits <= 0));
            works += at[c].works * cell;
            waits += at[c].waits * cell;
        }
        assert_true(fabs(works - f->devices[m].busy) < 1e-6 * (1 + works));
        assert_true(fabs(waits - f->devices[m].waited) < 1e-6 * (1 + waits));
    }
}

static void figures_add_up(void **state)
{
    static const char *const names[] = {"mlp_grid", "moe_grid", "stencil_grid", "uneven_33"};
    static const char *const grids[] = {"1", "3", "2x2"};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
            struct lx_team_plans *p = plans_of(names[n], grids[k]);
            struct team_figures f;
            team_figures_make(p, &f);
            check_bytes(&f);
            check_times(&f);
            check_lanes(&f);
            team_figures_free(&f);
            lx_team_plans_free(p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
