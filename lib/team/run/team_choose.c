/* Chooses a team. For one grid, several teams are compared by their devices' plans while there is time. For
 * many grids, the search picks the best first. */
#include "base/base.h"
#include "base/slot.h"
#include "plan/plan_slot.h"
#include "team/run/team_clock.h"

int64_t team_moved(const struct lx_team_plan *p)
{
    return p->bytes + p->combine_bytes;
}

bool team_was_left(const struct lx_team_plans *p)
{
    return p->team->unsharded && p->alike;
}

/* By time or bytes, ties by the other; false if equal in both. */
static bool team_choose_is_better(bool by_time, const struct lx_team_plan *a, const struct lx_team_plan *b)
{
    if (by_time && a->predicted_us != b->predicted_us) return a->predicted_us < b->predicted_us;
    if (team_moved(a) != team_moved(b)) return team_moved(a) < team_moved(b);
    return !by_time && a->predicted_us < b->predicted_us;
}

/* Returns the better of two plans and frees the other. When minimizing bytes, any plan is better than one
 * whose search ran out of time (team_was_left). */
static struct lx_team_plans *team_choose_best_of(struct lx_team_plans *a, struct lx_team_plans *b,
                                                 bool by_time)
{
    bool second = !a || (b && team_choose_is_better(by_time, b->team, a->team));
    if (a && b && !by_time && team_was_left(a) != team_was_left(b)) second = team_was_left(a);
    lx_team_plans_free(second ? a : b);
    return second ? b : a;
}

/* Seconds of the remaining time for the shard search; 0: no deadline. Every device is planned afterwards;
 * when minimizing bytes, inputs are sharded and each device may need its own plan. */
static double team_choose_search_seconds(const struct lx_team_options *how)
{
    int devices = how->grid.axes > 0 ? lx_team_device_count(&how->grid) : how->devices;
    double left = cancel_seconds_left();
    return isinf(left) ? 0 : fmax(left, 1e-3) / (how->by_time ? 4 : 2 + devices / 2);
}

/* The share of the remaining time for one of `teams` teams. It reserves time for the team's clock and
 * exchange bound, which takes longer after a longer search. */
static struct lx_plan_options team_choose_share(const struct lx_plan_options *plan, int teams)
{
    struct lx_plan_options share = *plan;
    cancel_reserve(0.25);
    share.run = plan_run_share(&plan->run, teams);
    return share;
}

static struct lx_team_plans *team_choose_plan(struct lx_team_plan *team, const struct lx_plan_options *plan,
                                              int teams, lx_status *st)
{
    struct lx_plan_options share = team_choose_share(plan, teams);
    return lx_team_plans_make(team, &share, st);
}

/* Plans the graph replicated, with only one plan to make. NULL: impossible. */
static struct lx_team_plans *team_choose_replicated(const struct lx_graph *g,
                                                    const struct lx_team_options *how,
                                                    const struct lx_plan_options *plan)
{
    struct lx_team_options options = *how;
    lx_status ignored = {0};
    options.replicated = true;
    struct lx_team_plan *team = lx_team_make(g, &options, &ignored);
    if (team && lx_team_all_replicated(team)) return team_choose_plan(team, plan, 1, &ignored);
    lx_team_free(team);
    return NULL;
}

/* Plans the team, unless that would exceed the deadline: then *late is set and the plan is only begun. A
 * replicated team is never late: there is one plan to make. A team without a search, sharded only by its
 * default inputs, is always late. */
static struct lx_team_plans *team_choose_in_time(struct lx_team_plan *team,
                                                 const struct lx_plan_options *plan, int teams, bool *late,
                                                 lx_status *st)
{
    bool replicated = lx_team_all_replicated(team);
    *late = team->unsharded && !replicated;
    if (replicated) return team_choose_plan(team, plan, teams, st);
    struct lx_plan_options share = team_choose_share(plan, 1);
    struct lx_team_plans *begun = team_plans_begin(team, &share, late, st);
    if (*late || !begun) return begun;
    share = team_choose_share(plan, teams);
    return team_plans_finish(begun, &share, st);
}

/* Plans the first team, replicated if time is short. If that is impossible (stated shards, or an op too
 * large for one device), the deadline is ignored. */
static struct lx_team_plans *team_choose_first(struct lx_team_plan *team, const struct lx_graph *g,
                                               const struct lx_team_options *how,
                                               const struct lx_plan_options *plan, int teams, lx_status *st)
{
    bool late, stated = false;
    for (int32_t t = 0; t < team->graph->tensor_count; t++)
        stated |= team->tensors[t].given && !lx_team_is_replicated(&team->tensors[t]);
    if (stated) return team_choose_plan(team, plan, teams, st);
    struct lx_team_plans *first = team_choose_in_time(team, plan, teams, &late, st);
    if (!first || !late) return first;
    struct lx_team_plans *replicated = team_choose_replicated(g, how, plan);
    if (replicated) {
        lx_team_plans_free(first);
        replicated->team->unsharded = true;
        return replicated;
    }
    struct lx_plan_options share = team_choose_share(plan, teams);
    return team_plans_finish(first, &share, st);
}

/* Candidate teams: by prices with and without nests, and by fewest bytes, without duplicates. The first is
 * required, the others depend on time. Returns their number; 0: see `st`. */
enum { WAYS = 3 };
static int team_choose_teams(const struct lx_graph *g, const struct lx_team_options *how,
                             struct lx_team_plan *teams[WAYS], lx_status *st)
{
    struct lx_team_options ways[WAYS] = {*how, *how, *how};
    double room = (double)lx_device_usable(&g->device) * (double)g->device.cores;
    int wanted = how->by_time ? 2 : 1, count = 0;
    for (int32_t t = 0; t < g->tensor_count; t++) /* some tensor exceeds the chip */
        ways[0].spills |=
            how->by_time && g->tensors[t].role == LX_INTERMEDIATE && (double)g->tensors[t].bytes > room;
    if (ways[0].spills) wanted = 3;
    if (wanted > 1) ways[wanted - 1].by_time = false;
    for (int i = 0; i < wanted && (i == 0 || (count > 0 && !cancel_requested())); i++) {
        lx_status ignored = {0};
        struct lx_team_plan *team = lx_team_make(g, &ways[i], i == 0 ? st : &ignored);
        bool again = !team;
        for (int k = 0; team && k < count; k++) again |= teams[k]->hash == team->hash;
        if (again)
            lx_team_free(team);
        else
            teams[count++] = team;
    }
    return count;
}

/* The replicated plan without any search. */
static struct lx_team_plans *team_choose_quickly(const struct lx_graph *g, const struct lx_team_options *how,
                                                 const struct lx_plan_options *plan)
{
    struct lx_plan_options quick = *plan;
    struct cancel token;
    quick.run = (struct lx_run){.seed = plan->run.seed, .quick = true};
    cancel_begin(&token, 0);
    atomic_store(&token.requested, true);
    struct lx_team_plans *replicated = team_choose_replicated(g, how, &quick);
    cancel_end(&token);
    return replicated;
}

/* If a caller waits for a result and the graph is not small, offers a replicated team first. */
static void team_choose_offer(const struct lx_graph *g, const struct lx_team_options *how,
                              const struct lx_plan_options *plan)
{
    enum { SMALL = 30 }; /* ops */
    if (g->op_count <= SMALL || !slot_wants_result()) return;
    struct lx_team_plans *replicated = team_choose_quickly(g, how, plan);
    if (!replicated) return;
    replicated->team->unsharded = true;
    if (how->make_ready) how->make_ready(replicated);
    slot_offer(replicated);
}

/* A replicated team may be faster than the best team by the search, if there are many small ops and each
 * exchange adds more. It is planned quickly, and planned fully if it comes near or has few ops. */
static struct lx_team_plans *team_choose_or_replicate(struct lx_team_plans *p, const struct lx_graph *g,
                                                      const struct lx_team_options *how,
                                                      const struct lx_plan_options *plan)
{
    enum { NEAR = 2, FEW = 32 };
    const struct lx_team_plan *best = p->team;
    if (lx_run_stopped(&plan->run) || lx_team_all_replicated(best) ||
        lx_team_replicated_bound_us(best->graph) > best->predicted_us)
        return p;
    SCOPED(team_plans_free_at) struct lx_team_plans *replicated = team_choose_quickly(g, how, plan);
    bool near = replicated &&
                (best->graph->op_count < FEW || replicated->team->predicted_us < NEAR * best->predicted_us);
    return near ? team_choose_best_of(p, team_choose_replicated(g, how, plan), true) : p;
}

/* Plans the teams one after the other and keeps the best. */
static struct lx_team_plans *team_choose(const struct lx_graph *g, const struct lx_team_options *how,
                                         const struct lx_plan_options *plan, lx_status *st)
{
    struct lx_team_plan *teams[WAYS];
    struct lx_team_plans *best = NULL;
    lx_status why = {0}, ignored = {0};
    struct cancel search;
    cancel_begin(&search, team_choose_search_seconds(how));
    int count = team_choose_teams(g, how, teams, &why);
    cancel_end(&search);
    for (int i = 0; i < count; i++) {
        struct lx_team_plans *p = NULL;
        bool late = false;
        lx_status *first = why.code == LX_OK ? &why : &ignored;
        if (best && (best->team->unsharded || lx_run_stopped(&plan->run) ||
                     lx_team_shards_bound_us(teams[i]) > best->team->predicted_us))
            lx_team_free(teams[i]);
        else if (i == 0)
            p = team_choose_first(teams[i], g, how, plan, count, first);
        else
            p = team_choose_in_time(teams[i], plan, count - i, &late, first);
        if (late) lx_team_plans_free(p), p = NULL; /* out of time */
        best = team_choose_best_of(best, p, true);
    }
    if (best && how->by_time) best = team_choose_or_replicate(best, g, how, plan);
    if (!best && st) *st = why;
    return best;
}

const char *lx_team_unsharded_words(void)
{
    return "no time was left for shards: devices compute all that is not stated to be sharded; give it more "
           "time";
}

/* Runs in a slot, within the time limit. */
static void *team_choose_make(const struct lx_graph *g, const struct lx_plan_options *plan, const void *more,
                              lx_status *st)
{
    const struct lx_team_options *how = more;
    struct cancel token;
    cancel_begin(&token, plan->run.time_limit);
    team_choose_offer(g, how, plan);
    struct lx_team_plans *p = team_choose(g, how, plan, st);
    if (p && how->make_ready) how->make_ready(p);
    cancel_end(&token);
    return p;
}

static void team_choose_drop(void *plans)
{
    lx_team_plans_free(plans);
}

/* Copies the options with choices and names into one block. */
static void *team_choose_copy(const void *more)
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
    static const struct plan_task task = {team_choose_make, team_choose_drop, team_choose_copy};
    return plan_in_slot(&task, g, plan, how, st);
}

static void team_choose_point(const struct lx_team_plans *p, struct lx_team_point *out)
{
    struct lx_team_clock *c = lx_team_clock_make(p);
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
}

/* Advances to the next grid: a row, then 2 x n/2 and so on; false at the end. */
static bool team_choose_next_grid(int devices, struct lx_team_grid *grid)
{
    int outer = grid->axes == 0 ? 1 : grid->axes == 1 ? 2 : grid->size[0] + 1;
    if (grid->axes == 0) return *grid = (struct lx_team_grid){1, {devices}}, true;
    while (outer * outer <= devices && devices % outer != 0) outer++;
    if (outer * outer > devices) return false;
    *grid = (struct lx_team_grid){2, {outer, devices / outer}};
    return true;
}

/* The best grids by the search, in order. On cancellation the best so far. */
enum { FINALISTS = 2 };
static void team_choose_grids(const struct lx_graph *g, const struct lx_team_options *how,
                              struct lx_team_plan *best[FINALISTS], lx_status *st)
{
    struct lx_team_options on = *how;
    struct lx_team_grid grid = {0};
    struct cancel search;
    cancel_begin(&search, team_choose_search_seconds(how));
    while ((!best[0] || !cancel_requested()) &&
           (how->grid.axes > 0 ? grid.axes == 0 : team_choose_next_grid(how->devices, &grid))) {
        if (how->grid.axes > 0) grid = how->grid;
        on.grid = grid;
        struct lx_team_plan *p = lx_team_make(g, &on, st);
        for (int k = 0; k < FINALISTS && p; k++) {
            struct lx_team_plan *old = best[k];
            if (old && !team_choose_is_better(how->by_time, p, old)) continue;
            best[k] = p;
            p = old;
        }
        lx_team_free(p);
    }
    cancel_end(&search);
}

static void *team_choose_predict(const struct lx_graph *g, const struct lx_plan_options *plan,
                                 const void *more, lx_status *st)
{
    struct lx_team_options how = *(const struct lx_team_options *)more;
    struct lx_team_plan *best[FINALISTS] = {0};
    SCOPED(team_plans_free_at) struct lx_team_plans *p = NULL;
    struct lx_team_point *point = NULL;
    lx_status why = {0};
    struct cancel token;
    cancel_begin(&token, plan->run.time_limit);
    team_choose_grids(g, &how, best, &why);
    for (int k = 0; k < FINALISTS && best[k]; k++) {
        struct lx_plan_options one = *plan;
        how.grid = best[k]->grid;
        one.run = plan_run_share(&plan->run, k + 1 < FINALISTS && best[k + 1] ? 2 : 1);
        if (!p || !lx_run_stopped(&plan->run))
            p = team_choose_best_of(p, lx_team_plans_choose(g, &how, &one, &why), how.by_time);
        lx_team_free(best[k]);
    }
    cancel_end(&token);
    if (p) team_choose_point(p, point = mem_zeroed(1, sizeof *point));
    if (!p && st) *st = why;
    return point;
}

bool lx_team_predict(const struct lx_graph *g, const struct lx_team_options *how,
                     const struct lx_plan_options *plan, struct lx_team_point *out, lx_status *st)
{
    static const struct plan_task task = {team_choose_predict, mem_free, team_choose_copy};
    OWNED struct lx_team_point *point = plan_in_slot(&task, g, plan, how, st);
    if (point) *out = *point;
    return point != NULL;
}
