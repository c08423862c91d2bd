/* Placement problems solved and checked; graphs planned, and plans executed, on one device or over a team. */
#include "api/api_handles.h"
#include "api/joint_question.h"

/* A result that owns `plan` and `run`; NULL without a plan. */
static lx_result *api_plan_result(const struct lx_plan *plan, struct lx_run_result *run)
{
    if (!plan) return NULL;
    lx_result *r = mem_zeroed(1, sizeof *r);
    r->run = run;
    r->plan = plan;
    r->made = arena_array(&r->memory, RESULT_MADE, sizeof *r->made);
    int32_t n = plan->divisions ? plan->divisions->count : 0;
    r->splits = arena_array(&r->memory, (size_t)n, sizeof *r->splits);
    for (int32_t i = 0; i < n; i++) { /* "s/8,t/4" */
        const struct lx_division *d = &plan->divisions->at[i];
        SCOPED(text_free) struct text t = {0};
        for (int k = 0; k < d->split_count; k++)
            if (d->splits[k].split > 1)
                text_format(&t, "%s%c/%lld", t.length ? "," : "", d->splits[k].letter,
                            (long long)d->splits[k].split);
        r->splits[i] = arena_string(&r->memory, t.at ? t.at : "");
    }
    return r;
}

/* A result that takes over a team's plans; `ran`: another result that shares them, with its run. */
static lx_result *api_team_result(struct lx_team_plans *plans, const struct team_result *ran)
{
    if (!plans) return NULL;
    lx_result *r = mem_zeroed(1, sizeof *r);
    struct team_result t =
        ran ? *ran : (struct team_result){.plans = plans, .shares = mem_zeroed(1, sizeof(int))};
    r->team = arena_copy_array(&r->memory, &t, 1, sizeof t);
    ++*t.shares; /* nothing can fail any more */
    return r;
}

void lx_result_free(lx_result *r)
{
    if (!r) return;
    if (r->team && r->team->ran) lx_team_result_free(&r->team->run);
    if (r->team && --*r->team->shares == 0) {
        lx_team_plans_free(r->team->plans);
        mem_free(r->team->shares);
    }
    lx_run_result_free(r->run);
    lx_plan_free(r->plan);
    for (int k = 0; r->made && k < RESULT_MADE; k++) {
        VEC_FREE(&r->made[k].rows);
        arena_free(&r->made[k].memory);
    }
    arena_free(&r->memory);
    mem_free(r);
}

static lx_result *api_planned(const struct lx_graph *g, const struct lx_plan_options *how, lx_status *st)
{
    struct lx_plan *p = lx_plan_make(g, how, st);
    if (p && how->certify) lx_plan_certify(p);
    return api_plan_result(p, NULL);
}

/* Plans the pattern on the options' device or team; NULL with `st`. */
static lx_result *api_plan(const struct lx_graph *g, const lx_options *o, bool over_team, lx_status *st)
{
    struct lx_settings settings = api_settings(o);
    struct lx_plan_options how;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    SCOPED(graph_free_at) const struct lx_graph *on = lx_settings_graph(&settings, g, st);
    lx_result *r = NULL;
    settings.usual = over_team ? LX_ASK_OWN : LX_ASK_BALANCED; /* as the program plans */
    if (on && api_plan_options(o, &settings, on, &how, values, st)) {
        if (over_team) {
            struct lx_team_options team = {.grid = o->team, .by_time = how.objective == LX_ASK_TIME};
            r = api_team_result(lx_team_plans_choose(on, &team, &how, st), NULL);
            if (r && r->team->plans->team->unsharded) r->notes = lx_team_unsharded_words();
        } else
            r = api_planned(on, &how, st);
    }
    if (!r || !r->plan || r->plan->answer.status != LX_ERROR) return r;
    status_set(st, LX_E_INTERNAL, "the solver %s failed: %s", r->plan->solver, r->plan->answer.message);
    lx_result_free(r);
    return NULL;
}

lx_result *lx_plan(const lx_graph *g, const lx_options *o, lx_error *e)
{
    API_CALL(e, NULL);
    bool over_team = o && o->team.axes;
    if (g) return api_plan(g, o, over_team, st);
    if (!o || !o->file)
        return status_set(st, LX_E_USAGE, "there is no graph to plan, and the option file names none"), NULL;
    SCOPED(graph_free_at) const struct lx_graph *read = lx_graph_read(o->file, st);
    lx_result *r = read ? api_plan(read, o, over_team, st) : NULL;
    return r;
}

lx_result *lx_plan_parse(const char *bytes, int64_t size, lx_error *e)
{
    API_CALL(e, NULL);
    if (!bytes || size < 0) return status_set(st, LX_E_USAGE, "there is no text to read"), NULL;
    if (lx_is_team_plan(bytes, (size_t)size))
        return api_team_result(lx_team_plans_parse("", bytes, (size_t)size, st), NULL);
    return api_plan_result(lx_plan_of_text("", bytes, (size_t)size, st), NULL);
}

lx_result *lx_run(const lx_result *plan, const lx_options *o, lx_error *e)
{
    API_CALL(e, NULL);
    if (!plan || (!plan->plan && !plan->team))
        return status_set(st, LX_E_USAGE, "there is no plan to run"), NULL;
    uint64_t seed = o ? (uint64_t)o->settings.value[LX_OPTION_SEED] : 0;
    enum lx_verify verify = (enum lx_verify)api_own_option(o, API_VERIFY);
    if (plan->plan) {
        struct lx_device_options how = {.seed = seed,
                                        .verify = verify,
                                        .in_use = true,
                                        .threads = (int)api_own_option(o, API_THREADS),
                                        .stop = api_stop(o),
                                        .context = api_context(o)};
        struct lx_run_result *run = lx_device_run(plan->plan, &how, st);
        return run ? api_plan_result(lx_plan_ref(plan->plan), run) : NULL;
    }
    struct lx_settings settings = api_settings(o);
    struct lx_plan_options by;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct team_result ran = {.plans = plan->team->plans, .shares = plan->team->shares, .ran = true};
    if (!api_plan_options(o, &settings, NULL, &by, values, st)) return NULL;
    struct lx_team_run_options how = {.seed = seed,
                                      .plan = &by,
                                      .plans = ran.plans,
                                      .verify = verify,
                                      .stop = api_stop(o),
                                      .context = api_context(o)};
    return lx_team_run(ran.plans->team, &how, &ran.run, st) ? api_team_result(ran.plans, &ran) : NULL;
}

lx_result *lx_solve(const lx_placement *p, const lx_options *o, lx_error *e)
{
    API_CALL(e, NULL);
    if (!p) return status_set(st, LX_E_USAGE, "there is no placement"), NULL;
    SCOPED(graph_free_at) const struct lx_graph *g = placement_graph(p, st);
    lx_result *r = g ? api_plan(g, o, false, st) : NULL;
    if (r && p->pools.count) r->pool_name = arena_string(&r->memory, p->pools.at[0].name);
    return r;
}

int32_t lx_check(const lx_placement *p, const int32_t *pools, const int64_t *addresses, int32_t count,
                 double *value, lx_error *e)
{
    API_CALL(e, -LX_E_MEMORY);
    SCOPED(arena_free) struct arena memory = {0};
    struct lx_problem problem;
    int64_t worth = 0;
    enum lx_rule rule = LX_RULE_NONE;
    lx_status why = {0};
    if (!p) return status_set(st, LX_E_USAGE, "there is no placement to check an answer of"), api_code(st);
    if (count > 0 && !addresses)
        return status_set(st, LX_E_USAGE, "there are no addresses; give one per buffer, -1 for off"),
               api_code(st);
    if (count < 0 || (size_t)count != p->buffers.count)
        return status_set(st, LX_E_USAGE, "%d addresses for %zu buffers; give one each", (int)count,
                          p->buffers.count),
               api_code(st);
    bool valid = placement_problem(p, &memory, &problem, st) && lx_problem_validate(&problem, st);
    /* Address -1: off chip; pools matter only for placed buffers. */
    bool legal = valid && lx_check_places(&problem, pools, addresses, &worth, &rule, &why);
    if (legal && value) *value = (double)worth;
    if (legal || !valid) return legal ? 1 : api_code(st);
    if (why.code != LX_E_NO) return *st = why, api_code(st);
    return status_set(st, LX_E_NO, "%s: %s", lx_rule_word(rule), why.text), 0;
}

int32_t lx_result_places(const lx_result *r, int32_t *pools, int64_t *addresses, int32_t count)
{
    if (!r || (!r->joint && !r->plan)) return -1;
    int32_t all = r->joint ? r->joint->count : r->plan->problem.count;
    for (int32_t i = 0; i < count && i < all; i++) {
        int64_t address = r->joint ? r->joint->items[i].address : r->plan->answer.address[i];
        const int32_t *pool = r->joint ? NULL : r->plan->answer.pool;
        if (pools) pools[i] = address < 0 ? -1 : pool ? pool[i] : 0;
        if (addresses) addresses[i] = address;
    }
    return all;
}
