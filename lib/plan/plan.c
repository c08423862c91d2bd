/* Plans: made and freed. A bare list of buffers goes to the solver as it is; a graph is laid out, divided,
 * drafted, solved, and tried again under other decisions where the passes allow them. */
#include "plan/plan.h"
#include "base/clock.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/users.h"
#include "plan/fuse.h"
#include "search/planner.h"
#include "nests/alone.h"
#include "placement/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lx_plan *plan_new(const struct lx_graph *g, lx_status *st)
{
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_plan *p = memory ? arena_alloc(memory, sizeof *p) : NULL;
    struct users *users = p ? users_new(memory) : NULL;
    if (!users) {
        if (memory) arena_free(memory);
        mem_free(memory);
        status_no_memory(st);
        return NULL;
    }
    p->memory = memory;
    p->users = users;
    p->graph = lx_graph_ref(g);
    p->solver = "";
    p->options = "";
    return p;
}

const struct lx_plan *lx_plan_ref(const struct lx_plan *p)
{
    if (p) users_add(p->users);
    return p;
}

void lx_plan_free(const struct lx_plan *p)
{
    if (!p || !users_remove(p->users)) return;
    struct arena *memory = p->memory; /* the plan itself lives in it */
    if (p->draft) draft_free(p->draft);
    if (p->lender)
        lx_plan_free(p->lender);
    else {
        lx_divisions_free(p->own_divisions);
        lx_layouts_free(p->own_layouts);
    }
    lx_graph_free(p->graph);
    arena_free(memory);
    mem_free(memory);
}

bool plan_off_chip(struct lx_plan *p, lx_status *st)
{
    p->answer.address = arena_array(p->memory, (size_t)p->problem.count, sizeof *p->answer.address);
    if (p->problem.pool_count)
        p->answer.pool = arena_array(p->memory, (size_t)p->problem.count, sizeof *p->answer.pool);
    if (!p->answer.address || (p->problem.pool_count && !p->answer.pool)) return status_no_memory(st);
    for (int32_t i = 0; i < p->problem.count; i++) p->answer.address[i] = LX_OFF_CHIP;
    return true;
}

bool plan_of_list(struct lx_plan *p, enum lx_objective objective, lx_status *st)
{
    return problem_of_list(p->graph, objective, &p->problem, st) && plan_off_chip(p, st);
}

/* Is it of the same graph, on the same device, and divided by the same rules? */
static bool plan_is_like(const struct lx_plan *p, const struct lx_plan *like)
{
    if (!like || !like->lends || like->graph->hash != p->graph->hash ||
        strcmp(like->graph->name, p->graph->name) != 0)
        return false;
    struct lx_divide_options a = lx_passes_divide(&p->passes), b = lx_passes_divide(&like->passes);
    return a.cores == b.cores && a.no_cost == b.no_cost;
}

/* The search for layouts may be stopped: it has an answer of its own before long. */
static struct lx_layouts *plan_lay_out(const struct lx_graph *g, const struct lx_plan_options *options,
                                       lx_status *st)
{
    struct lx_run run = options ? options->run : (struct lx_run){0};
    struct stop stop;
    stop_begin(&stop, fuse_is_short, &run);
    struct lx_layouts *l = lx_layouts_make(g, st);
    stop_end(&stop);
    return l;
}

bool plan_divide(struct lx_plan *p, const struct lx_passes *passes, const struct lx_plan_options *options,
                 lx_status *st)
{
    struct lx_divide_options how = lx_passes_divide(passes);
    const struct lx_plan *like = options ? options->like : NULL;
    p->passes = *passes;
    if (plan_is_like(p, like)) {
        p->lender = lx_plan_ref(like->lender ? like->lender : like);
        p->own_layouts = p->lender->own_layouts;
        p->own_divisions = p->lender->own_divisions;
        return p->lends = true;
    }
    p->own_layouts = plan_lay_out(p->graph, options, st);
    if (p->own_layouts) lx_layouts_fit_spans(p->own_layouts, &how);
    p->own_divisions = p->own_layouts ? lx_divide(p->own_layouts, &how, st) : NULL;
    p->lends = p->own_divisions != NULL;
    return p->lends;
}

bool plan_adopt(struct lx_plan *p, const struct draft *x, lx_status *st)
{
    p->draft = arena_copy_array(p->memory, x, 1, sizeof *x);
    if (!p->draft) return status_no_memory(st);
    p->how = &p->draft->how;
    p->draft->memory = p->memory;
    p->layouts = x->layouts;
    p->divisions = x->divisions;
    p->order = x->how.order;
    p->nests = x->how.nests;
    p->nest_count = x->how.nest_count;
    p->problem = x->problem;
    p->stays = x->stays;
    p->accesses = x->accesses;
    p->access_at = x->access_at;
    return true;
}

/* "name=value ..." of the options that differ from their defaults. */
static const char *describe_options(struct arena *memory, const struct lx_solver *s, const int64_t *values)
{
    struct text t = {0};
    for (int i = 0; values && i < s->option_count; i++)
        if (values[i] != s->options[i].def)
            text_format(&t, "%s%s=%lld", t.length ? " " : "", s->options[i].name, (long long)values[i]);
    const char *text = t.failed ? NULL : arena_string(memory, t.at ? t.at : "");
    text_free(&t);
    return text;
}

/* The best attempt becomes the plan, with its memory. */
static bool adopt_best(struct lx_plan *p, struct planner *by)
{
    struct attempt *best = &by->best;
    if (!plan_adopt(p, &best->draft, by->st)) return false;
    arena_adopt(p->memory, best->memory);
    mem_free(best->memory);
    p->answer = best->answer;
    p->passes = best->draft.how.passes; /* to make it less time, some may have been left out */
    p->figures.perfect_hbm_bytes = best->perfect_bytes;
    p->joint = by->joint;
    p->unproved = by->unproved;
    *best = (struct attempt){0};
    return true;
}

/* All that the passes find beyond the first attempt, and what nothing goes below. */
static bool search_further(struct lx_plan *p, struct planner *by, const struct decisions *how, bool spill)
{
    bool ok = asks_time(by) ? stop_forgiven(least_time_search(by), by->st)
                            : !spill || run_searches(by, LX_TRIES_FEW);
    bool limited = ok && spill && bundles_are_limited(by);
    by->limited = limited && !asks_time(by);
    ok = ok && (!asks_time(by) || time_bound(&by->best.draft, &p->figures.bound_us, by->st));
    ok = ok && planner_find_bound(by, limited);
    if (by->put_off && !by->nested)
        ok = ok && stop_forgiven(plain_end(by, how, 0), by->st) && planner_find_bound(by, limited);
    return ok && stop_forgiven((!spill || (search_many(by) && plain_end(by, how, by->best.hbm_bytes) &&
                                           search_others(by))) &&
                                   (!limited || by->limited || merge_bundles(by)) &&
                                   (!spill || asks_time(by) || planner_raise_bound(by, limited)),
                               by->st);
}

/* With nests that are asked for the passes that search do so around them; below what must cross once no nests go. */
static bool search_around(struct lx_plan *p, struct planner *by, bool spill)
{
    by->bound = spill ? crossing_traffic(&by->best.draft) : 0;
    by->unproved = "the bound does not reach: of nests that are asked for it is what must cross once";
    by->nested = true;
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        if (row->search == tile_search) by->left_out |= 1u << (row - lx_passes());
    if (!force_nests(by)) return false;
    by->limited = spill && bundles_are_limited(by) && !asks_time(by);
    return (!asks_time(by) || time_bound(&by->best.draft, &p->figures.bound_us, by->st)) &&
           (!spill || by->options->run.hasty || stop_forgiven(search_many(by), by->st));
}

static bool plan_make_graph(struct lx_plan *p, const struct lx_plan_options *options, int64_t beat,
                            lx_status *st)
{
    struct decisions how = {.passes = passes_of_stage(&options->passes)};
    struct stop stop;
    if (!plan_divide(p, &how.passes, options, st)) return false;
    fuse_save(&options->run, 1);
    struct planner by = {
        .divided = p->own_divisions, .options = options, .beat = beat, .memory = p->memory, .st = st};
    if (!plain_begin(&by, &how)) return false;
    bool spill = by.best.draft.problem.objective == LX_SPILL;
    by.bound = spill ? by.best.perfect_bytes : 0;
    p->asks_time = asks_time(&by);
    fuse_save(&options->run, 0.5);
    stop_begin(&stop, options->run.stop, options->run.context);
    bool ok = *options->nests      ? search_around(p, &by, spill)
              : options->run.hasty ? true
                                   : search_further(p, &by, &how, spill);
    stop_end(&stop);
    ok = ok && adopt_best(p, &by);
    if (ok && !spill) p->figures.bound_bytes = by.bound;
    if (ok && spill && !p->asks_time) {
        p->figures.perfect_hbm_bytes = min_i64(p->figures.perfect_hbm_bytes, by.bound);
        p->figures.bound_bytes = by.bound - p->figures.perfect_hbm_bytes;
    }
    attempt_free(&by.best);
    return ok;
}

static bool plan_list(struct lx_plan *p, const struct lx_plan_options *options, lx_status *st)
{
    if (*options->nests)
        return status_set(st, LX_E_USAGE,
                          "a bare list of buffers has no ops, so no nests; leave --nests out");
    if (!plan_of_list(p, lx_asked(options->objective, p->graph->objective), st) ||
        !solve_valid(&p->problem, options->solver, &options->run, &p->answer, st))
        return false;
    if (p->answer.status == LX_INFEASIBLE) p->answer.bound = 0; /* there is nothing to be above it */
    p->figures.bound_bytes = p->answer.bound;
    return true;
}

/* By what a search was ended; NULL: by nothing, it went to its end. */
static const char *why_ended(const struct lx_plan *p, const struct lx_plan_options *how)
{
    const struct lx_run *run = &how->run;
    if (fuse_is_out(run) || (run->time_limit > 0 && p->seconds >= run->time_limit))
        return "stopped by --time";
    if (lx_run_stopped(run)) return "stopped before its end";
    if (p->answer.status != LX_LIMIT) return NULL;
    if (run->work_limit > 0) return "the work limit (--work) is reached";
    /* A heuristic without options goes through the buffers once, however many steps it may take. */
    return arena_format(p->memory,
                        how->solver->option_count || how->solver->caps & LX_CAN_PROVE
                            ? "%s used up its steps; --work gives it more"
                            : "%s found no place for all; a solver that searches may",
                        how->solver->name);
}

/* Why the least may be below the plan: what ended the search, what the passes say, else what the solver is. */
static const char *why_unproved(const struct lx_plan *p, const struct lx_plan_options *how)
{
    const struct lx_solver *solver = how->solver;
    if (p->answer.status == LX_OPTIMAL || p->answer.status == LX_INFEASIBLE || p->answer.status == LX_ERROR)
        return NULL;
    const char *ended = why_ended(p, how);
    if (ended) return ended;
    if (p->asks_time) return "the bound does not reach: it is what launches and memory take at least";
    if (p->unproved) return p->unproved;
    return arena_format(p->memory,
                        solver->caps & LX_CAN_PROVE ? "the bound of %s does not reach"
                                                    : "%s is a heuristic: it proves nothing",
                        solver->name);
}

void plan_settle(struct lx_plan *p)
{
    bool least = lx_plan_gap(p) <= 0 && (p->asks_time || lx_plan_objective(p) == p->figures.bound_bytes);
    if (p->graph->is_list || p->problem.objective != LX_SPILL || p->answer.status == LX_ERROR) return;
    if (least)
        p->answer.status = LX_OPTIMAL;
    else if (p->answer.status != LX_LIMIT)
        p->answer.status = LX_FEASIBLE;
}

/* A plan that knows what was asked. */
static struct lx_plan *plan_begin(const struct lx_graph *g, const struct lx_plan_options *options,
                                  lx_status *st)
{
    struct lx_plan *p = plan_new(g, st);
    if (!p) return NULL;
    p->solver = options->solver->name;
    p->seed = options->run.seed;
    p->launch = options->launch;
    p->work_limit = options->run.work_limit;
    p->options = describe_options(p->memory, options->solver, options->run.options);
    if (p->options) return p;
    status_no_memory(st);
    lx_plan_free(p);
    return NULL;
}

struct lx_plan *lx_plan_of_answer(const struct lx_graph *g, const struct lx_plan_options *options,
                                  const struct lx_progress *so_far, lx_status *st)
{
    struct lx_plan *p = plan_begin(g, options, st);
    bool ok = p && plan_of_list(p, lx_asked(options->objective, g->objective), st);
    for (int32_t i = 0; ok && i < p->problem.count; i++) {
        p->answer.address[i] = so_far->address[i];
        if (p->answer.pool && so_far->pool) p->answer.pool[i] = so_far->pool[i];
    }
    if (ok) {
        p->answer.status = LX_LIMIT;
        p->answer.objective = so_far->objective;
        p->answer.steps = so_far->steps;
        p->answer.bound = p->figures.bound_bytes = so_far->bound;
        ok = plan_complete_hastily(p, st);
    }
    if (ok) return p;
    lx_plan_free(p);
    return NULL;
}

struct lx_plan *plan_as_written(const struct lx_graph *g, const struct lx_plan_options *options, int64_t beat,
                                lx_status *st)
{
    const char *wrong =
        !options->solver ? "there is no such solver; lx_solvers() lists those there are"
        : options->run.seed > (uint64_t)LX_INT_MAX
            ? "the seed is beyond 2^53, the most that a plan file can say; choose a smaller one"
            : NULL;
    if (wrong) {
        status_set(st, LX_E_USAGE, "%s", wrong);
        return NULL;
    }
    struct lx_plan *p = plan_begin(g, options, st);
    if (!p) return NULL;
    double start = clock_seconds();
    bool ok = g->is_list ? plan_list(p, options, st) : plan_make_graph(p, options, beat, st);
    p->seconds = clock_seconds() - start;
    ok = ok && (options->run.hasty ? plan_complete_hastily(p, st) : plan_complete(p, st));
    if (ok) {
        plan_settle(p);
        p->unproved = why_unproved(p, options);
    }
    if (ok && !g->is_list)
        ok = pool_pack(p, options->quick_solver ? options->quick_solver : options->solver, options->run.hasty,
                       st) &&
             plan_launch_ops(p, st);
    if (ok)
        LOG(plan, "%s: %s, HBM %" PRId64 ", spill %" PRId64 ", bound %" PRId64, g->name,
            lx_verdict_word(p->answer.status), p->figures.hbm_bytes, p->figures.spill_bytes,
            p->figures.bound_bytes);
    if (ok) return p;
    lx_plan_free(p);
    return NULL;
}

bool lx_plan_meets_target(const struct lx_plan *p)
{
    return p->graph->target_hbm_bytes < 0 || p->figures.hbm_bytes <= p->graph->target_hbm_bytes;
}

int64_t lx_plan_objective(const struct lx_plan *p)
{
    if (p->problem.objective != LX_HEIGHT) return p->figures.spill_bytes;
    return lx_left_out(&p->problem, p->answer.address) ? INT64_MAX : p->figures.height_bytes;
}

int64_t lx_plan_value(const struct lx_plan *p)
{
    return p->problem.objective == LX_HEIGHT ? lx_plan_objective(p) : p->figures.hbm_bytes;
}

int64_t lx_plan_least(const struct lx_plan *p)
{
    if (p->problem.objective == LX_HEIGHT) return p->figures.bound_bytes;
    return p->figures.perfect_hbm_bytes + p->figures.bound_bytes;
}

double lx_plan_gap(const struct lx_plan *p)
{
    double us = p->figures.end_to_end_us, least = p->figures.bound_us;
    if (!p->asks_time) return lx_gap(lx_plan_value(p), lx_plan_least(p));
    if (us <= least * (1 + 1e-7)) return 0;
    return least > 0 ? (us - least) / least : INFINITY;
}

int32_t lx_plan_place(const struct lx_plan *p, int32_t op, int operand)
{
    int32_t stay = p->accesses[p->access_at[op] + operand].stay;
    return stay >= 0 && p->answer.address[stay] >= 0 ? stay : -1;
}
