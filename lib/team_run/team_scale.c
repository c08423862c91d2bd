/* Grids ranked by the search, the best ones priced by their members' plans. */
#include "team_run/team_scale.h"
#include "base/checked.h"
#include "base/stop.h"
#include "plan/fuse.h"
#include "team_run/member_plans.h"
#include "team_run/team_bound.h"
#include "team_run/team_clock.h"

#include <math.h>

enum { FINALISTS = 2 };

static int64_t moved(const struct lx_team_plan *p)
{
    return p->bytes + p->combine_bytes;
}

/* By what is asked for first, of equals by the other; the earlier one of those that are equal in both. */
static bool better(bool by_time, double us, int64_t bytes, double than_us, int64_t than_bytes)
{
    if (by_time) return us != than_us ? us < than_us : bytes < than_bytes;
    return bytes != than_bytes ? bytes < than_bytes : us < than_us;
}

/* Of two plans the better one; the other is freed. */
static struct lx_team_plans *best_of(struct lx_team_plans *a, struct lx_team_plans *b, bool by_time)
{
    bool second = !a || (b && better(by_time, b->team->predicted_us, moved(b->team), a->team->predicted_us,
                                     moved(a->team)));
    lx_team_plans_free(second ? a : b);
    return second ? b : a;
}

/* The members' plans, in what is left of the time for so many teams. */
static struct lx_team_plans *plan_members(struct lx_team_plan *team, const struct lx_plan_options *lit,
                                          int teams, lx_status *st)
{
    struct lx_plan_options how = *lit;
    how.run = fuse_share(&lit->run, teams);
    return lx_team_plans_make(team, &how, st);
}

static struct lx_team_plans *choose(const struct lx_graph *g, const struct lx_team_options *how,
                                    const struct lx_plan_options *plan, lx_status *st)
{
    struct lx_team_options other = *how;
    struct lx_team_plan *team = lx_team_make(g, how, st);
    if (!team || !how->by_time || stop_is_now()) return team ? plan_members(team, plan, 1, st) : NULL;
    lx_status why = {0};
    other.by_time = false;
    struct lx_team_plan *rival = lx_team_make(g, &other, &why);
    if (rival && rival->hash == team->hash) lx_team_free(rival), rival = NULL;
    struct lx_team_plans *first = plan_members(team, plan, rival ? 2 : 1, st);
    if (first && rival &&
        (lx_run_stopped(&plan->run) || lx_team_cuts_bound_us(rival) > first->team->predicted_us))
        lx_team_free(rival), rival = NULL;
    return best_of(first, rival ? plan_members(rival, plan, 1, &why) : NULL, true);
}

/* The time of a team. The search for cuts has a part of it: every member is to be planned after it. */
struct team_time {
    struct fuse all, search;
    struct lx_plan_options plan; /* in all of it */
    struct lx_run part;
    struct stop stop;
};

static void time_begin(struct team_time *t, const struct lx_plan_options *asked)
{
    enum { PARTS = 3 };
    t->plan = *asked;
    t->plan.run = fuse_light(&t->all, &asked->run);
    t->part = fuse_share(&t->plan.run, PARTS);
    struct lx_run lit = fuse_light(&t->search, &t->part);
    stop_begin(&t->stop, lit.stop, lit.context);
}

struct lx_team_plans *lx_team_plans_choose(const struct lx_graph *g, const struct lx_team_options *how,
                                           const struct lx_plan_options *plan, lx_status *st)
{
    struct team_time t;
    time_begin(&t, plan);
    struct lx_team_plans *p = choose(g, how, &t.plan, st);
    stop_end(&t.stop);
    return p;
}

static bool point_of(const struct lx_team_plans *p, struct lx_team_point *out, lx_status *st)
{
    struct lx_team_clock *c = lx_team_clock_make(p, st);
    if (!c) return false;
    *out = (struct lx_team_point){.grid = p->team->grid,
                                  .members = p->team->members,
                                  .us = c->us,
                                  .bound_us = p->team->bound_us,
                                  .bytes = moved(p->team),
                                  .bound_bytes = p->team->bound_bytes};
    for (int m = 0; m < c->members; m++) {
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
static void rank(struct lx_team_plan *best[FINALISTS], struct lx_team_plan *p, bool by_time)
{
    for (int k = 0; k < FINALISTS && p; k++) {
        struct lx_team_plan *old = best[k];
        if (old && !better(by_time, p->predicted_us, moved(p), old->predicted_us, moved(old))) continue;
        best[k] = p;
        p = old;
    }
    lx_team_free(p);
}

/* The next grid of so many members: a row first, then 2 x n/2 and so on; false: there are no more. */
static bool next_grid(int members, struct lx_team_grid *grid)
{
    int outer = grid->axes == 0 ? 1 : grid->axes == 1 ? 2 : grid->size[0] + 1;
    if (grid->axes == 0) return *grid = (struct lx_team_grid){1, {members}}, true;
    while (outer * outer <= members && members % outer != 0) outer++;
    if (outer * outer > members) return false;
    *grid = (struct lx_team_grid){2, {outer, members / outer}};
    return true;
}

/* Told to stop it goes on with the best grid so far. */
static bool predict(const struct lx_graph *g, const struct lx_team_options *how,
                    const struct lx_plan_options *plan, struct lx_team_point *out, lx_status *st)
{
    struct lx_team_plan *best[FINALISTS] = {0};
    struct lx_team_options on = *how;
    lx_status why = {0};
    struct lx_team_grid grid = {0};
    while ((!best[0] || !stop_work(STOP_EACH)) &&
           (how->grid.axes > 0 ? grid.axes == 0 : next_grid(how->members, &grid))) {
        if (how->grid.axes > 0) grid = how->grid;
        on.grid = grid;
        rank(best, lx_team_make(g, &on, &why), how->by_time);
    }
    if (!best[0]) return st ? *st = why, false : false;
    struct lx_team_plans *p = NULL;
    for (int k = 0; k < FINALISTS && best[k]; k++) {
        struct lx_plan_options one = *plan;
        on.grid = best[k]->grid;
        one.run = fuse_share(&plan->run, k + 1 < FINALISTS && best[k + 1] ? 2 : 1);
        if (!p || !lx_run_stopped(&plan->run))
            p = best_of(p, lx_team_plans_choose(g, &on, &one, &why), how->by_time);
        lx_team_free(best[k]);
    }
    bool ok = p && point_of(p, out, &why);
    if (!ok && st) *st = why;
    lx_team_plans_free(p);
    return ok;
}

bool lx_team_predict(const struct lx_graph *g, const struct lx_team_options *how,
                     const struct lx_plan_options *plan, struct lx_team_point *out, lx_status *st)
{
    struct team_time t;
    time_begin(&t, plan);
    bool ok = predict(g, how, &t.plan, out, st);
    stop_end(&t.stop);
    return ok;
}
