/* Placement problems solved and checked. */
#include "api/api_team.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "s/8,t/4": what of an op is split. */
static const char *split_words(struct arena *memory, const struct lx_division *d)
{
    struct text t = {0};
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].split > 1)
            text_format(&t, "%s%c/%lld", t.length ? "," : "", d->splits[i].letter,
                        (long long)d->splits[i].split);
    const char *words = arena_string(memory, t.at ? t.at : "");
    text_free(&t);
    return words;
}

lx_result *api_result(const struct lx_plan *plan, struct lx_run_result *run)
{
    if (!plan) return NULL;
    lx_result *r = mem_zeroed(1, sizeof *r);
    r->run = run;
    r->plan = plan;
    int32_t n = plan->divisions ? plan->divisions->count : 0;
    r->splits = arena_array(&r->memory, (size_t)n, sizeof *r->splits);
    for (int32_t i = 0; i < n; i++) r->splits[i] = split_words(&r->memory, &plan->divisions->at[i]);
    return r;
}

void lx_result_free(lx_result *r)
{
    if (!r) return;
    if (r->team) team_result_free(r->team);
    lx_run_result_free(r->run);
    lx_plan_free(r->plan);
    arena_free(&r->memory);
    mem_free(r);
}

/* What no checker lets through is no answer. */
static const struct lx_plan *unless_refused(const struct lx_plan *plan, lx_status *st)
{
    if (!plan || plan->answer.status != LX_ERROR) return plan;
    status_set(st, LX_E_INTERNAL, "the solver %s failed: %s", plan->solver, plan->answer.message);
    lx_plan_free(plan);
    return NULL;
}

lx_result *api_plan(const struct lx_graph *g, const lx_options *o, lx_status *st)
{
    struct lx_settings settings = api_settings(o);
    struct lx_plan_options how;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    const struct lx_graph *on = lx_settings_graph(&settings, g, st);
    const struct lx_plan *plan = NULL;
    if (on && api_plan_options(o, &settings, lx_graph_objective(on), &how, values, st))
        plan = unless_refused(lx_plan_make(on, &how, st), st);
    lx_graph_free(on);
    return api_result(plan, NULL);
}

lx_result *lx_solve(const lx_placement *p, const lx_options *o, lx_error *e)
{
    API_CALL(e, NULL);
    if (!p) return status_set(st, LX_E_USAGE, "there is no placement"), NULL;
    const struct lx_graph *g = placement_graph(p, st);
    lx_result *r = g ? api_plan(g, o, st) : NULL;
    lx_graph_free(g);
    if (r && p->pools.count) r->pool_name = arena_string(&r->memory, p->pools.at[0].name);
    return r;
}

/* Off chip is -1; a pool counts only of what is placed. */
static bool check_answer(const struct lx_problem *problem, const int32_t *pools, const int64_t *addresses,
                         int64_t *value, lx_status *st)
{
    enum lx_rule rule = LX_RULE_NONE;
    lx_status why = {0};
    if (lx_check_places(problem, pools, addresses, value, &rule, &why)) return true;
    if (why.code != LX_E_NO) return *st = why, false;
    return status_set(st, LX_E_NO, "%s: %s", lx_rule_word(rule), why.text);
}

int32_t lx_check(const lx_placement *p, const int32_t *pools, const int64_t *addresses, int32_t count,
                 double *value, lx_error *e)
{
    API_CALL(e, -LX_E_MEMORY);
    struct arena memory = {0};
    struct lx_problem problem;
    int64_t worth = 0;
    if (!p) return status_set(st, LX_E_USAGE, "there is no placement to check an answer of"), api_code(st);
    if (count > 0 && !addresses)
        return status_set(st, LX_E_USAGE, "there are no addresses; give one per buffer, -1 for off"),
               api_code(st);
    if (count < 0 || (size_t)count != p->buffers.count)
        return status_set(st, LX_E_USAGE, "%d addresses for %zu buffers; give one each", (int)count,
                          p->buffers.count),
               api_code(st);
    bool ok = placement_problem(p, &memory, &problem, st) && lx_problem_validate(&problem, st);
    bool legal = ok && check_answer(&problem, pools, addresses, &worth, st);
    ok = ok && (legal || st->code == LX_E_NO);
    arena_free(&memory);
    if (ok && legal && value) *value = (double)worth;
    return ok ? legal : api_code(st);
}
