/* Plans of teams behind the same handles: one list, of members, and the sums over them. */
#include "api/api_team.h"
#include "base/checked.h"
#include "base/memory.h"
#include "team/run/team_plans.h"

#include <stdlib.h>
#include <string.h>

static lx_result *api_team_result_of(struct team_result t)
{
    lx_result *r = mem_zeroed(1, sizeof *r);
    r->team = arena_copy_array(&r->memory, &t, 1, sizeof t);
    return r;
}

lx_result *team_result_of(struct lx_team_plans *plans)
{
    if (!plans) return NULL;
    struct team_result t = {.plans = plans, .shares = mem_alloc(sizeof *t.shares)};
    *t.shares = 1;
    return api_team_result_of(t);
}

void team_result_free(struct team_result *t)
{
    if (t->ran) lx_team_result_free(&t->run);
    if (--*t->shares > 0) return;
    lx_team_plans_free(t->plans);
    mem_free(t->shares);
}

lx_result *team_plan(const lx_graph *g, const lx_options *o, lx_status *st)
{
    struct lx_settings settings = api_settings(o);
    struct lx_plan_options how;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    const struct lx_graph *on = lx_settings_graph(&settings, g, st);
    struct lx_team_plans *plans = NULL;
    if (on && api_plan_options(o, &settings, LX_SPILL, &how, values, st)) {
        struct lx_team_options team = {.grid = o->team, .by_time = how.objective == LX_ASK_TIME};
        plans = lx_team_plans_choose(on, &team, &how, st);
    }
    lx_graph_free(on);
    lx_result *r = team_result_of(plans);
    if (r && plans->team->unsharded) r->notes = lx_team_unsharded_words();
    return r;
}

lx_result *team_run(const struct team_result *t, const lx_options *o, lx_status *st)
{
    struct lx_settings settings = api_settings(o);
    struct lx_plan_options plan;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct team_result ran = {.plans = t->plans, .shares = t->shares, .ran = true};
    if (!api_plan_options(o, &settings, LX_SPILL, &plan, values, st)) return NULL;
    struct lx_team_run_options how = {.seed = o ? (uint64_t)o->settings.value[LX_OPTION_SEED] : 0,
                                      .plan = &plan,
                                      .plans = t->plans,
                                      .verify = (enum lx_verify)api_own_option(o, API_VERIFY),
                                      .stop = api_stop(o),
                                      .context = api_context(o)};
    if (!lx_team_run(t->plans->team, &how, &ran.run, st)) return NULL;
    lx_result *r = api_team_result_of(ran);
    ++*t->shares;
    return r;
}

static double planned_hbm(const struct team_result *t, int member)
{
    struct lx_team_account a = lx_team_planned(t->plans, member);
    return (double)(a.planned.hbm_read + a.planned.hbm_written);
}

/* clang-format off */
static double members(const struct team_result *t) { return t->plans->team->devices; }
static double exchanged(const struct team_result *t) { return (double)t->plans->team->bytes; }
static double combined(const struct team_result *t) { return (double)t->plans->team->combine_bytes; }
static double exchange_bound(const struct team_result *t) { return (double)max_i64(t->plans->team->bound_bytes, 0); }
static double run_ok(const struct team_result *t) { return t->run.ok; }
static double differing(const struct team_result *t) { return (double)t->run.differing; }
static double worst(const struct team_result *t) { return t->run.worst; }
/* clang-format on */

static double all_hbm(const struct team_result *t)
{
    double sum = 0;
    for (int m = 0; m < t->plans->team->devices; m++) sum += planned_hbm(t, m);
    return sum;
}

static const struct {
    const char *name;
    bool of_run;
    double (*get)(const struct team_result *t);
} numbers[] = {
    {"members", false, members},
    {"hbm_bytes", false, all_hbm},
    {"exchanged_bytes", false, exchanged},
    {"combined_bytes", false, combined},
    {"exchange_bound", false, exchange_bound},
    {"ok", true, run_ok},
    {"differing", true, differing},
    {"worst", true, worst},
};

int32_t team_number(const struct team_result *t, const char *name, double *value)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, name) == 0 && (t->ran || !numbers[i].of_run)) {
            if (value) *value = numbers[i].get(t);
            return 0;
        }
    return -1;
}

const char *team_word(const struct team_result *t, const char *name)
{
    if (strcmp(name, "status") == 0) return !t->ran ? "feasible" : t->run.ok ? "ok" : "wrong";
    return strcmp(name, "name") == 0 ? t->plans->team->graph->name : NULL;
}

int64_t team_count(const struct team_result *t, const char *list)
{
    return strcmp(list, "members") == 0 ? t->plans->team->devices : -1;
}

int32_t team_item_number(const struct team_result *t, const char *list, int64_t i, const char *name,
                         double *value)
{
    if (i < 0 || i >= team_count(t, list)) return -1;
    struct lx_team_account a = lx_team_planned(t->plans, (int)i);
    double found;
    if (strcmp(name, "hbm_bytes") == 0)
        found = planned_hbm(t, (int)i);
    else if (strcmp(name, "ops") == 0)
        found = (double)a.ops;
    else if (strcmp(name, "height") == 0)
        found = (double)a.height_bytes;
    else
        return -1;
    if (value) *value = found;
    return 0;
}
