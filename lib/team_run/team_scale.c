/* Which team: of one grid several teams, judged by their members' plans as long as there is time; of several grids those that the
 * search ranks best, each so. */
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

/* Teams one after the other, of which the best stays. One that cannot be leaves the others in; without memory there is no
 * knowing which would have won. */
struct contest {
    struct lx_team_plans *best;
    lx_status why; /* of the first that could not be */
    bool over;     /* memory is out */
};

static void enter(struct contest *c, struct lx_team_plans *p, const lx_status *why)
{
    if (!p && c->why.code == LX_OK) c->why = *why;
    c->best = best_of(c->best, p, true);
    if (p || why->code != LX_E_MEMORY) return;
    lx_team_plans_free(c->best);
    *c = (struct contest){.why = *why, .over = true};
}

/* The same where all members do the same, so that there is one plan to make. NULL: that cannot be. */
static struct lx_team_plans *plan_whole(const struct lx_graph *g, const struct lx_team_options *how,
                                        const struct lx_plan_options *lit, lx_status *st)
{
    struct lx_team_options whole = *how;
    whole.whole = true;
    struct lx_team_plan *team = lx_team_make(g, &whole, st);
    if (team && lx_team_all_whole(team)) return plan_members(team, lit, 1, st);
    lx_team_free(team);
    return NULL;
}

/* Planned, unless that takes longer than there is time: then it is begun, and *late. What is whole is never late, as there is
 * one plan to make. */
static struct lx_team_plans *plan_in_time(struct lx_team_plan *team, const struct lx_plan_options *lit,
                                          int teams, bool *late, lx_status *st)
{
    struct lx_plan_options share = *lit;
    *late = false;
    if (lx_team_all_whole(team)) return plan_members(team, lit, teams, st);
    share.run = fuse_share(&lit->run, 1);
    struct lx_team_plans *begun = team_plans_begin(team, &share, late, st);
    if (*late) return begun;
    share.run = fuse_share(&lit->run, teams);
    return begun ? team_plans_finish(begun, &share, st) : NULL;
}

/* The first of so many teams: in time if it can be by time, as nothing may be cut then. Where that cannot be (cuts are stated,
 * or some op is too large for one device), and by bytes, as long as it takes. */
static struct lx_team_plans *plan_first(struct lx_team_plan *team, const struct lx_graph *g,
                                        const struct lx_team_options *how, const struct lx_plan_options *lit,
                                        int teams, lx_status *st)
{
    lx_status why = {0};
    bool late;
    if (!how->by_time) return plan_members(team, lit, teams, st);
    struct lx_team_plans *first = plan_in_time(team, lit, teams, &late, st);
    if (!first || !late) return first;
    struct lx_team_plans *whole = plan_whole(g, how, lit, &why);
    if (whole || why.code == LX_E_MEMORY) {
        lx_team_plans_free(first);
        if (whole)
            whole->team->uncut = true;
        else
            *st = why;
        return whole;
    }
    struct lx_plan_options share = *lit;
    share.run = fuse_share(&lit->run, teams);
    return team_plans_finish(first, &share, st);
}

/* Another one, if there is time for it. */
static struct lx_team_plans *plan_rival(struct lx_team_plan *team, const struct lx_plan_options *lit,
                                        int teams, lx_status *st)
{
    bool late;
    struct lx_team_plans *p = plan_in_time(team, lit, teams, &late, st);
    if (!late) return p;
    lx_team_plans_free(p);
    return NULL;
}

/* Is there something that no device has room for on chip? */
static bool spills(const struct lx_graph *g)
{
    double room = (double)lx_device_usable(&g->device) * (double)g->device.cores;
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (g->tensors[t].role == LX_INTERMEDIATE && (double)g->tensors[t].bytes > room) return true;
    return false;
}

/* Teams that may take least time: by prices with and without nests, and the one of fewest bytes. Each is there once; the first
 * in any case, unless it cannot be, the others as long as there is time. How many; 0: `st` says why. */
enum { WAYS = 3 };
static int make_teams(const struct lx_graph *g, const struct lx_team_options *how,
                      struct lx_team_plan *teams[WAYS], lx_status *st)
{
    struct lx_team_options ways[WAYS] = {*how, *how, *how};
    bool large = how->by_time && spills(g);
    int wanted = !how->by_time ? 1 : large ? 3 : 2, count = 0;
    ways[0].spills = large;
    if (wanted > 1) ways[wanted - 1].by_time = false;
    for (int i = 0; i < wanted && (i == 0 || (count > 0 && !stop_is_now())); i++) {
        lx_status why = {0};
        struct lx_team_plan *team = lx_team_make(g, &ways[i], &why);
        bool again = false;
        for (int k = 0; team && k < count; k++) again |= teams[k]->hash == team->hash;
        if (again)
            lx_team_free(team);
        else if (team)
            teams[count++] = team;
        else if (i == 0 || why.code == LX_E_MEMORY) {
            while (count > 0) lx_team_free(teams[--count]);
            return *st = why, 0;
        }
    }
    return count;
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

/* What takes least by the search may take longer by the clock than to cut nothing: many small ops, and each exchange is some
 * more of them. That is planned in haste, and for good where it comes near, or is few ops. */
static void enter_whole(struct contest *c, const struct lx_graph *g, const struct lx_team_options *how,
                        const struct lx_plan_options *lit)
{
    enum { NEAR = 2, FEW = 32 };
    const struct lx_team_plan *best = c->best ? c->best->team : NULL;
    struct lx_plan_options hasty = *lit;
    lx_status why = {0};
    hasty.run = (struct lx_run){.stop = at_once, .seed = lit->run.seed, .hasty = true};
    if (!best || lx_run_stopped(&lit->run) || lx_team_all_whole(best) ||
        lx_team_whole_bound_us(best->graph) > best->predicted_us)
        return;
    struct lx_team_plans *whole = plan_whole(g, how, &hasty, &why);
    bool near =
        whole && (best->graph->op_count < FEW || whole->team->predicted_us < NEAR * best->predicted_us);
    lx_team_plans_free(whole);
    if (near) whole = plan_whole(g, how, lit, &why);
    if (near || why.code == LX_E_MEMORY) enter(c, near ? whole : NULL, &why);
}

static struct lx_team_plans *choose(const struct lx_graph *g, const struct lx_team_options *how,
                                    const struct lx_plan_options *plan, lx_status *st)
{
    struct lx_team_plan *teams[WAYS];
    struct contest c = {0};
    int count = make_teams(g, how, teams, &c.why);
    for (int i = 0; i < count; i++) {
        lx_status why = {0};
        if (c.over || (c.best && (c.best->team->uncut || lx_run_stopped(&plan->run) ||
                                  lx_team_cuts_bound_us(teams[i]) > c.best->team->predicted_us)))
            lx_team_free(teams[i]);
        else if (i == 0)
            enter(&c, plan_first(teams[i], g, how, plan, count, &why), &why);
        else
            enter(&c, plan_rival(teams[i], plan, count - i, &why), &why);
    }
    if (how->by_time) enter_whole(&c, g, how, plan);
    if (!c.best && st) *st = c.why;
    return c.best;
}

/* The time of a team. The search for cuts has a part of it: every member is to be planned after it, and by bytes, where what
 * arrives is cut, all may have a plan of their own. */
struct team_time {
    struct fuse all, search;
    struct lx_plan_options plan; /* in all of it */
    struct lx_run part;
    struct stop stop;
};

static void time_begin(struct team_time *t, const struct lx_team_options *how,
                       const struct lx_plan_options *asked)
{
    int members = how->grid.axes > 0 ? lx_team_members_of(&how->grid) : how->members;
    int parts = how->by_time ? 3 : 2 + members / 2;
    t->plan = *asked;
    t->plan.run = fuse_light(&t->all, &asked->run);
    t->part = fuse_share(&t->plan.run, parts);
    struct lx_run lit = fuse_light(&t->search, &t->part);
    stop_begin(&t->stop, lit.stop, lit.context);
}

struct lx_team_plans *lx_team_plans_choose(const struct lx_graph *g, const struct lx_team_options *how,
                                           const struct lx_plan_options *plan, lx_status *st)
{
    struct team_time t;
    time_begin(&t, how, plan);
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
    while (why.code != LX_E_MEMORY && (!best[0] || !stop_work(STOP_EACH)) &&
           (how->grid.axes > 0 ? grid.axes == 0 : next_grid(how->members, &grid))) {
        if (how->grid.axes > 0) grid = how->grid;
        on.grid = grid;
        rank(best, lx_team_make(g, &on, &why), how->by_time);
    }
    struct lx_team_plans *p = NULL;
    for (int k = 0; k < FINALISTS && best[k]; k++) {
        struct lx_plan_options one = *plan;
        on.grid = best[k]->grid;
        one.run = fuse_share(&plan->run, k + 1 < FINALISTS && best[k + 1] ? 2 : 1);
        if (why.code != LX_E_MEMORY && (!p || !lx_run_stopped(&plan->run)))
            p = best_of(p, lx_team_plans_choose(g, &on, &one, &why), how->by_time);
        lx_team_free(best[k]);
    }
    if (why.code == LX_E_MEMORY) lx_team_plans_free(p), p = NULL; /* which is the best is not known */
    bool ok = p && point_of(p, out, &why);
    if (!ok && st) *st = why;
    lx_team_plans_free(p);
    return ok;
}

bool lx_team_predict(const struct lx_graph *g, const struct lx_team_options *how,
                     const struct lx_plan_options *plan, struct lx_team_point *out, lx_status *st)
{
    struct team_time t;
    time_begin(&t, how, plan);
    bool ok = predict(g, how, &t.plan, out, st);
    stop_end(&t.stop);
    return ok;
}
