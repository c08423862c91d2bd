/* Which team of one grid: several are judged by their devices' plans as long as there is time. */
#include "team/run/team_choose.h"
#include "team/run/team_bound.h"
#include "team/run/team_contest.h"
#include "base/cancel.h"
#include "base/memory.h"
#include "base/slot.h"
#include "plan/plan_slot.h"

#include <string.h>

/* What is left of the time, for one of so many teams. When its devices are planned there are the clock of the whole and what is
 * exchanged to be found, which takes longer the longer the cuts took. */
static struct lx_run team_choose_share_of(const struct lx_plan_options *lit, int teams)
{
    cancel_reserve(0.25);
    return plan_run_share(&lit->run, teams);
}

/* The devices' plans, in what is left of the time for so many teams. */
static struct lx_team_plans *team_choose_plan_devices(struct lx_team_plan *team,
                                                      const struct lx_plan_options *lit, int teams,
                                                      lx_status *st)
{
    struct lx_plan_options how = *lit;
    how.run = team_choose_share_of(lit, teams);
    return lx_team_plans_make(team, &how, st);
}

/* Teams one after the other, of which the best stays. One that cannot be leaves the others in; without memory there is no
 * knowing which would have won. */
struct contest {
    struct lx_team_plans *best;
    lx_status why; /* of the first that could not be */
    bool over;     /* memory is out */
};

static void team_choose_enter(struct contest *c, struct lx_team_plans *p, const lx_status *why)
{
    if (!p && c->why.code == LX_OK) c->why = *why;
    c->best = team_best_of(c->best, p, true);
    if (p || why->code != LX_E_MEMORY) return;
    lx_team_plans_free(c->best);
    *c = (struct contest){.why = *why, .over = true};
}

/* The same where all devices do the same, so that there is one plan to make. NULL: that cannot be. */
static struct lx_team_plans *plan_whole(const struct lx_graph *g, const struct lx_team_options *how,
                                        const struct lx_plan_options *lit, lx_status *st)
{
    struct lx_team_options whole = *how;
    whole.replicated = true;
    struct lx_team_plan *team = lx_team_make(g, &whole, st);
    if (team && lx_team_all_replicated(team)) return team_choose_plan_devices(team, lit, 1, st);
    lx_team_free(team);
    return NULL;
}

/* Planned, unless that takes longer than there is time: then it is begun, and *late. What is whole is never late, as there is
 * one plan to make; what was not searched, and is cut only because inputs are by bytes, always is. */
static struct lx_team_plans *plan_in_time(struct lx_team_plan *team, const struct lx_plan_options *lit,
                                          int teams, bool *late, lx_status *st)
{
    struct lx_plan_options share = *lit;
    bool whole = lx_team_all_replicated(team);
    *late = team->unsharded && !whole;
    if (whole) return team_choose_plan_devices(team, lit, teams, st);
    share.run = team_choose_share_of(lit, 1);
    struct lx_team_plans *begun = team_plans_begin(team, &share, late, st);
    if (*late) return begun;
    share.run = team_choose_share_of(lit, teams);
    return begun ? team_plans_finish(begun, &share, st) : NULL;
}

/* Is anything cut because it is stated? */
static bool cut_as_stated(const struct lx_team_plan *team)
{
    for (int32_t t = 0; t < team->graph->tensor_count; t++)
        if (team->tensors[t].given && !lx_team_is_replicated(&team->tensors[t])) return true;
    return false;
}

/* The first of so many teams: in time if it can be, as nothing may be cut then. Where that cannot be (cuts are stated, or some
 * op is too large for one device), as long as it takes. */
static struct lx_team_plans *plan_first(struct lx_team_plan *team, const struct lx_graph *g,
                                        const struct lx_team_options *how, const struct lx_plan_options *lit,
                                        int teams, lx_status *st)
{
    lx_status why = {0};
    bool late;
    if (cut_as_stated(team)) return team_choose_plan_devices(team, lit, teams, st);
    struct lx_team_plans *first = plan_in_time(team, lit, teams, &late, st);
    if (!first || !late) return first;
    struct lx_team_plans *whole = plan_whole(g, how, lit, &why);
    if (whole || why.code == LX_E_MEMORY) {
        lx_team_plans_free(first);
        if (whole)
            whole->team->unsharded = true;
        else
            *st = why;
        return whole;
    }
    struct lx_plan_options share = *lit;
    share.run = team_choose_share_of(lit, teams);
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
    for (int i = 0; i < wanted && (i == 0 || (count > 0 && !cancel_requested())); i++) {
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

/* The same with the first plan that there is, and no bound. */
static struct lx_team_plans *plan_whole_quickly(const struct lx_graph *g, const struct lx_team_options *how,
                                                const struct lx_plan_options *plan, lx_status *st)
{
    struct lx_plan_options quick = *plan;
    struct cancel token;
    quick.run = (struct lx_run){.seed = plan->run.seed, .hasty = true};
    cancel_begin(&token, 0);
    atomic_store(&token.requested, true);
    struct lx_team_plans *whole = plan_whole(g, how, &quick, st);
    cancel_end(&token);
    return whole;
}

/* Where somebody waits for a team of a graph that is not small, one that is not cut is offered first. */
static void team_choose_offer(const struct lx_graph *g, const struct lx_team_options *how,
                              const struct lx_plan_options *plan)
{
    enum { SMALL = 30 }; /* ops */
    lx_status ignored = {0};
    if (g->op_count <= SMALL || !slot_wants_result()) return;
    struct lx_team_plans *whole = plan_whole_quickly(g, how, plan, &ignored);
    if (!whole) return;
    whole->team->unsharded = true;
    slot_offer(whole);
}

/* What takes least by the search may take longer by the clock than to cut nothing: many small ops, and each exchange is some
 * more of them. That is planned in haste, and for good where it comes near, or is few ops. */
static void team_choose_enter_whole(struct contest *c, const struct lx_graph *g,
                                    const struct lx_team_options *how, const struct lx_plan_options *lit)
{
    enum { NEAR = 2, FEW = 32 };
    const struct lx_team_plan *best = c->best ? c->best->team : NULL;
    lx_status why = {0};
    if (!best || lx_run_stopped(&lit->run) || lx_team_all_replicated(best) ||
        lx_team_replicated_bound_us(best->graph) > best->predicted_us)
        return;
    struct lx_team_plans *whole = plan_whole_quickly(g, how, lit, &why);
    bool near =
        whole && (best->graph->op_count < FEW || whole->team->predicted_us < NEAR * best->predicted_us);
    lx_team_plans_free(whole);
    if (near) whole = plan_whole(g, how, lit, &why);
    if (near || why.code == LX_E_MEMORY) team_choose_enter(c, near ? whole : NULL, &why);
}

static struct lx_team_plans *team_choose(const struct lx_graph *g, const struct lx_team_options *how,
                                         const struct lx_plan_options *plan, lx_status *st)
{
    struct lx_team_plan *teams[WAYS];
    struct contest c = {0};
    struct cancel search;
    cancel_begin(&search, team_search_seconds(how));
    int count = make_teams(g, how, teams, &c.why);
    cancel_end(&search);
    for (int i = 0; i < count; i++) {
        lx_status why = {0};
        if (c.over || (c.best && (c.best->team->unsharded || lx_run_stopped(&plan->run) ||
                                  lx_team_shards_bound_us(teams[i]) > c.best->team->predicted_us)))
            lx_team_free(teams[i]);
        else if (i == 0)
            team_choose_enter(&c, plan_first(teams[i], g, how, plan, count, &why), &why);
        else
            team_choose_enter(&c, plan_rival(teams[i], plan, count - i, &why), &why);
    }
    if (how->by_time) team_choose_enter_whole(&c, g, how, plan);
    if (!c.best && st) *st = c.why;
    return c.best;
}

const char *lx_team_unsharded_words(void)
{
    return "no time was left for cuts: devices compute all that is not stated to be cut; give it more time";
}

static void *choose_in_time(const struct lx_graph *g, const struct lx_plan_options *plan, const void *more,
                            lx_status *st)
{
    const struct lx_team_options *how = more;
    struct cancel token;
    cancel_begin(&token, plan->run.time_limit);
    team_choose_offer(g, how, plan);
    struct lx_team_plans *p = team_choose(g, how, plan, st);
    cancel_end(&token);
    return p;
}

static void drop_plans(void *plans)
{
    lx_team_plans_free(plans);
}

void *team_options_copy(const void *more)
{
    const struct lx_team_options *from = more;
    size_t count = (size_t)from->choice_count, bytes = sizeof *from + count * sizeof *from->choices;
    for (size_t i = 0; i < count; i++) bytes += strlen(from->choices[i].tensor) + 1;
    struct lx_team_options *copy = mem_alloc(bytes);
    struct lx_team_choice *choices = (struct lx_team_choice *)(copy + 1);
    char *names = (char *)(choices + count);
    *copy = *from;
    copy->choices = choices;
    for (size_t i = 0; i < count; i++) {
        choices[i] = from->choices[i];
        choices[i].tensor = strcpy(names, from->choices[i].tensor);
        names += strlen(names) + 1;
    }
    return copy;
}

struct lx_team_plans *lx_team_plans_choose(const struct lx_graph *g, const struct lx_team_options *how,
                                           const struct lx_plan_options *plan, lx_status *st)
{
    static const struct plan_task team = {choose_in_time, drop_plans, team_options_copy};
    return plan_in_slot(&team, g, plan, how, st);
}
