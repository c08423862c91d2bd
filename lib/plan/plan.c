/* Plans: made and freed. A bare list of buffers goes to the solver as it is; a graph is laid out, divided,
 * drafted, solved, and tried again under other decisions where the passes allow them. */
#include "plan/plan.h"
#include "base/clock.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/text.h"
#include "base/users.h"
#include "scratchpad/cooptimise/cooptimise.h"
#include "plan/planner.h"

#include <stdlib.h>
#include <string.h>

struct lx_plan *plan_new(const struct lx_graph *g, lx_status *st)
{
    struct arena *memory = calloc(1, sizeof *memory);
    struct lx_plan *p = memory ? arena_alloc(memory, sizeof *p) : NULL;
    struct users *users = p ? users_new(memory) : NULL;
    if (!users) {
        if (memory) arena_free(memory);
        free(memory);
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
    struct arena *memory = p->memory;
    lx_divisions_free(p->divisions);
    lx_layouts_free(p->layouts);
    lx_graph_free(p->graph);
    arena_free(memory);
    free(memory);
}

static bool off_chip(struct lx_plan *p, lx_status *st)
{
    p->answer.address = arena_array(p->memory, (size_t)p->problem.count, sizeof *p->answer.address);
    if (!p->answer.address) return status_no_memory(st);
    for (int32_t i = 0; i < p->problem.count; i++) p->answer.address[i] = LX_OFF_CHIP;
    return true;
}

bool plan_of_list(struct lx_plan *p, enum lx_objective objective, lx_status *st)
{
    const struct lx_graph *g = p->graph;
    int64_t capacity = g->capacity >= 0 ? g->capacity : lx_device_usable(&g->device);
    p->problem = (struct lx_problem){objective, capacity, g->alignment, g->buffer_count, g->buffers};
    lx_status why;
    if (!lx_problem_validate(&p->problem, &why))
        return status_set_at(st, why.code, g->file, why.line, why.column, "%s", why.text);
    return off_chip(p, st);
}

bool plan_divide(struct lx_plan *p, const struct lx_passes *passes, lx_status *st)
{
    struct lx_divide_options how = lx_passes_divide(passes);
    p->passes = *passes;
    p->layouts = lx_layouts_make(p->graph, st);
    p->divisions = p->layouts ? lx_divide(p->layouts, &how, st) : NULL;
    return p->divisions != NULL;
}

bool plan_adopt(struct lx_plan *p, const struct draft *x, lx_status *st)
{
    p->draft = arena_copy_array(p->memory, x, 1, sizeof *x);
    if (!p->draft) return status_no_memory(st);
    p->problem = x->problem;
    p->stays = x->stays;
    p->accesses = x->accesses;
    p->access_at = x->access_at;
    return off_chip(p, st);
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

/* What the passes of a stage leave out. */
static struct lx_passes of_stage(struct lx_passes p)
{
    if (p.stage != LX_STAGE_ALL) {
        p.clone = LX_CLONE_NONE;
        p.no_outputs = true;
        p.evict = p.reorder = false;
    }
    if (p.stage == LX_STAGE_REDUCTIONS || p.stage == LX_STAGE_BASELINE) p.no_in_place = true;
    return p;
}

/* The best attempt's own words become the plan's. */
static bool adopt_attempt(struct lx_plan *p, const struct attempt *a, lx_status *st)
{
    struct decisions how = a->draft.how;
    struct draft x;
    how.cuts = arena_copy_array(p->memory, how.cuts, (size_t)how.cut_count, sizeof *how.cuts);
    how.apart = arena_copy_array(p->memory, how.apart, (size_t)how.apart_count, sizeof *how.apart);
    if (!how.cuts || !how.apart) return status_no_memory(st);
    if (!draft_make(p->divisions, &how, p->memory, &x, st)) return false;
    x.problem.objective = a->draft.problem.objective;
    if (!plan_adopt(p, &x, st)) return false;
    int64_t *address = p->answer.address;
    memcpy(address, a->answer.address, (size_t)p->problem.count * sizeof *address);
    p->answer = a->answer;
    p->answer.address = address;
    return true;
}

/* Is the old plan better than the co-optimised one, by the goal of the passes: bytes, or time? Among equal
 * bytes ops that agree on their divisions are preferred to relayouts as long as the predicted times differ by
 * less than the model is sure of. */
static bool old_is_better(const struct lx_passes *passes, const struct attempt *old, double old_us,
                          const struct attempt *new, double new_us)
{
    if (passes->by_time) return old_us < new_us;
    if (old->hbm_bytes != new->hbm_bytes) return old->hbm_bytes < new->hbm_bytes;
    return new_us > 1.05 * old_us;
}

/* Divisions that suit the scratchpad, in place of those that work division alone chose. They stay only if the
 * plan as a whole, with its relayouts and copies, is then no worse. */
static bool cooptimise(struct lx_plan *p, const struct lx_plan_options *options, const struct decisions *how,
                       struct attempt *best, lx_status *st)
{
    const struct lx_passes *passes = &how->passes;
    struct lx_cooptimised found = {0};
    struct lx_cooptimise_options joint = {.mode = passes->cooptimise == LX_COOPTIMISE_FLIP ? LX_JOINT_FLIP
                                                                                           : LX_JOINT_FULL,
                                          .goal = passes->by_time ? LX_GOAL_TIME : LX_GOAL_TRAFFIC,
                                          .solver = options->solver,
                                          .run = options->run,
                                          .clone_inputs = passes->clone != LX_CLONE_NONE,
                                          .outputs_on_chip = !passes->no_outputs};
    double seed_us, us;
    joint.run.work_limit = 0; /* the limit counts the solver's steps */
    if (!attempt_us(best, &seed_us, st) || !lx_cooptimise(p->divisions, &joint, &found, st)) return false;
    struct attempt seed = *best;
    p->divided_anew = found.changed;
    p->joint_bytes = found.now.traffic_bytes;
    p->joint_us = found.now.time_us;
    p->joint_bound_bytes = found.bound_bytes;
    p->joint_bound_us = found.bound_us;
    p->joint_gap = found.gap;
    lx_cooptimised_free(&found);
    *best = (struct attempt){0};
    bool ok = attempt_plain(p->divisions, how, options, best, st) && attempt_us(best, &us, st);
    if (ok)
        LOG(cooptimise, "HBM %" PRId64 ", %.2f us before; %" PRId64 ", %.2f us with %d ops divided anew",
            seed.hbm_bytes, seed_us, best->hbm_bytes, us, (int)p->divided_anew);
    if (ok && old_is_better(passes, &seed, seed_us, best, us)) {
        struct lx_divide_options divide = lx_passes_divide(passes);
        struct lx_divisions *old = lx_divide(p->layouts, &divide, st);
        attempt_free(best);
        if ((ok = old != NULL)) {
            lx_divisions_free(p->divisions);
            p->divisions = old;
            p->divided_anew = 0;
            ok = attempt_plain(old, how, options, best, st);
        }
    }
    attempt_free(&seed);
    return ok;
}

static bool search_with(struct lx_plan *p, const struct lx_plan_options *options, struct attempt *best,
                        lx_status *st)
{
    bool ok = true;
    if (p->passes.reorder)
        ok = reorder_search(p->layouts, p->divisions, options, best, p->memory, &p->order, st);
    if (ok && p->passes.evict) ok = evict_search(p->divisions, options, best, st);
    return ok;
}

/* Back to the order of the pattern. */
static bool undo_order(struct lx_plan *p, lx_status *st)
{
    size_t n = (size_t)p->layouts->graph->op_count;
    int32_t *back = malloc((n + 1) * sizeof *back);
    if (!back) return status_no_memory(st);
    for (size_t t = 0; t < n; t++) back[p->order[t]] = (int32_t)t;
    bool ok = reorder_apply(p->layouts, p->divisions, back, st);
    p->order = NULL;
    free(back);
    return ok;
}

/* Orders and cuts. On a large graph every try with the full solver would take seconds, so that the quick one
 * searches, and what it found is solved once in full. */
static bool search(struct lx_plan *p, const struct lx_plan_options *options, struct attempt *best,
                   lx_status *st)
{
    enum { LARGE = 400 };
    struct lx_plan_options quick = *options;
    if (best->draft.problem.count <= LARGE || !options->quick_solver ||
        options->quick_solver == options->solver)
        return search_with(p, options, best, st);
    quick.solver = options->quick_solver;
    quick.run.options = NULL;
    quick.run.work_limit = 0;
    struct decisions how = {.passes = p->passes};
    struct attempt found, full;
    if (!attempt_plain(p->divisions, &how, &quick, &found, st)) return false;
    bool ok = search_with(p, &quick, &found, st) &&
              attempt_make(p->divisions, &found.draft.how, options, &full, st);
    if (ok) {
        attempt_keep_better(&full, &found);
        if (!attempt_keep_better(best, &full) && p->order) ok = undo_order(p, st);
    } else
        attempt_free(&found);
    return ok;
}

static bool plan_graph(struct lx_plan *p, const struct lx_plan_options *options, lx_status *st)
{
    struct lx_passes passes = of_stage(options->passes);
    if (!plan_divide(p, &passes, st)) return false;
    struct decisions how = {.passes = passes};
    struct attempt best;
    if (!attempt_plain(p->divisions, &how, options, &best, st)) return false;
    bool ok = true, spill = best.draft.problem.objective == LX_SPILL;
    if (passes.cooptimise && spill && !cooptimise(p, options, &how, &best, st)) {
        attempt_free(&best);
        return false;
    }
    int64_t bound = best.bound;
    if (spill) {
        if ((passes.reorder || passes.evict) && best.answer.objective > 0) ok = search(p, options, &best, st);
        if (passes.reorder || passes.evict) bound = 0; /* both may go below what holds without them */
    }
    ok = ok && adopt_attempt(p, &best, st);
    p->bound_bytes = bound;
    attempt_free(&best);
    return ok;
}

static bool plan_list(struct lx_plan *p, const struct lx_plan_options *options, lx_status *st)
{
    if (!plan_of_list(p, lx_asked(options->objective, p->graph->objective), st) ||
        !lx_solve(&p->problem, options->solver, &options->run, &p->answer, st))
        return false;
    p->bound_bytes = p->answer.bound;
    return true;
}

struct lx_plan *lx_plan_make(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st)
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
    struct lx_plan *p = plan_new(g, st);
    if (!p) return NULL;
    p->solver = options->solver->name;
    p->seed = options->run.seed;
    p->work_limit = options->run.work_limit;
    p->options = describe_options(p->memory, options->solver, options->run.options);
    double start = clock_seconds();
    bool ok = p->options ? true : status_no_memory(st);
    ok = ok && (g->is_list ? plan_list(p, options, st) : plan_graph(p, options, st));
    p->seconds = clock_seconds() - start;
    ok = ok && plan_complete(p, st);
    if (ok && !g->is_list && p->problem.objective == LX_SPILL && p->answer.status != LX_ERROR &&
        p->answer.status != LX_LIMIT)
        p->answer.status = p->spill_bytes == p->bound_bytes ? LX_OPTIMAL : LX_FEASIBLE;
    if (ok && !g->is_list)
        ok = pool_pack(p, options->quick_solver ? options->quick_solver : options->solver, st);
    if (ok)
        LOG(plan, "%s: %s, HBM %" PRId64 ", spill %" PRId64 ", bound %" PRId64, g->name,
            lx_verdict_word(p->answer.status), p->hbm_bytes, p->spill_bytes, p->bound_bytes);
    if (ok) return p;
    lx_plan_free(p);
    return NULL;
}

bool lx_plan_meets_target(const struct lx_plan *p)
{
    return p->graph->target_hbm_bytes < 0 || p->hbm_bytes <= p->graph->target_hbm_bytes;
}

int64_t lx_plan_objective(const struct lx_plan *p)
{
    if (p->problem.objective != LX_HEIGHT) return p->spill_bytes;
    return lx_left_out(&p->problem, p->answer.address) ? INT64_MAX : p->height_bytes;
}

int32_t lx_plan_place(const struct lx_plan *p, int32_t op, int operand)
{
    int32_t stay = p->accesses[p->access_at[op] + operand].stay;
    return stay >= 0 && p->answer.address[stay] >= 0 ? stay : -1;
}
