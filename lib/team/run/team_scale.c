/* Which grid: those that the search ranks best are planned, and what takes least of them is told. */
#include "team/run/team_scale.h"
#include "base/cancel.h"
#include "base/checked.h"
#include "base/memory.h"
#include "plan/plan_slot.h"
#include "team/run/team_choose.h"
#include "team/run/team_clock.h"
#include "team/run/team_contest.h"

#include <math.h>

enum { FINALISTS = 2 };

static bool team_scale_point_of(const struct lx_team_plans *p, struct lx_team_point *out, lx_status *st)
{
    struct lx_team_clock *c = lx_team_clock_make(p, st);
    if (!c) return false;
    *out = (struct lx_team_point){.grid = p->team->grid,
                                  .devices = p->team->devices,
                                  .us = c->us,
                                  .bound_us = p->team->bound_us,
                                  .bytes = team_moved(p->team),
                                  .bound_bytes = p->team->bound_bytes,
                                  .unsharded = p->team->unsharded};
    for (int m = 0; m < c->devices; m++) {
        int first = 0;
        while (p->plans[first] != p->plans[m]) first++;
        out->shapes += first == m && p->plans[m];
        out->waited_us = fmax(out->waited_us, c->at[m].waited_us);
        if (p->plans[m]) out->hbm_bytes = max_i64(out->hbm_bytes, p->plans[m]->figures.hbm_bytes);
    }
    lx_team_clock_free(c);
    return true;
}

/* Keeps the best ones in order; what falls out is freed. */
static void team_scale_rank(struct lx_team_plan *best[FINALISTS], struct lx_team_plan *p, bool by_time)
{
    for (int k = 0; k < FINALISTS && p; k++) {
        struct lx_team_plan *old = best[k];
        if (old && !team_better(by_time, p->predicted_us, team_moved(p), old->predicted_us, team_moved(old)))
            continue;
        best[k] = p;
        p = old;
    }
    lx_team_free(p);
}

/* The next grid of so many devices: a row first, then 2 x n/2 and so on; false: there are no more. */
static bool next_grid(int devices, struct lx_team_grid *grid)
{
    int outer = grid->axes == 0 ? 1 : grid->axes == 1 ? 2 : grid->size[0] + 1;
    if (grid->axes == 0) return *grid = (struct lx_team_grid){1, {devices}}, true;
    while (outer * outer <= devices && devices % outer != 0) outer++;
    if (outer * outer > devices) return false;
    *grid = (struct lx_team_grid){2, {outer, devices / outer}};
    return true;
}

/* Cancelled it goes on with the best grid so far. */
static bool team_scale_predict(const struct lx_graph *g, const struct lx_team_options *how,
                               const struct lx_plan_options *plan, struct lx_team_point *out, lx_status *st)
{
    struct lx_team_plan *best[FINALISTS] = {0};
    struct lx_team_options on = *how;
    lx_status why = {0};
    struct lx_team_grid grid = {0};
    struct cancel search;
    cancel_begin(&search, team_search_seconds(how));
    while (why.code != LX_E_MEMORY && (!best[0] || !cancel_requested()) &&
           (how->grid.axes > 0 ? grid.axes == 0 : next_grid(how->devices, &grid))) {
        if (how->grid.axes > 0) grid = how->grid;
        on.grid = grid;
        team_scale_rank(best, lx_team_make(g, &on, &why), how->by_time);
    }
    cancel_end(&search);
    struct lx_team_plans *p = NULL;
    for (int k = 0; k < FINALISTS && best[k]; k++) {
        struct lx_plan_options one = *plan;
        on.grid = best[k]->grid;
        one.run = plan_run_share(&plan->run, k + 1 < FINALISTS && best[k + 1] ? 2 : 1);
        if (why.code != LX_E_MEMORY && (!p || !lx_run_stopped(&plan->run)))
            p = team_best_of(p, lx_team_plans_choose(g, &on, &one, &why), how->by_time);
        lx_team_free(best[k]);
    }
    if (why.code == LX_E_MEMORY) lx_team_plans_free(p), p = NULL; /* which is the best is not known */
    bool ok = p && team_scale_point_of(p, out, &why);
    if (!ok && st) *st = why;
    lx_team_plans_free(p);
    return ok;
}

static void *team_scale_in_time(const struct lx_graph *g, const struct lx_plan_options *plan,
                                const void *more, lx_status *st)
{
    struct lx_team_point *point = mem_zeroed(1, sizeof *point);
    struct cancel token;
    cancel_begin(&token, plan->run.time_limit);
    bool ok = team_scale_predict(g, more, plan, point, st);
    cancel_end(&token);
    if (ok) return point;
    mem_free(point);
    return NULL;
}

bool lx_team_predict(const struct lx_graph *g, const struct lx_team_options *how,
                     const struct lx_plan_options *plan, struct lx_team_point *out, lx_status *st)
{
    static const struct plan_task task = {team_scale_in_time, mem_free, team_options_copy};
    struct lx_team_point *point = plan_in_slot(&task, g, plan, how, st);
    if (point) *out = *point;
    mem_free(point);
    return point != NULL;
}
