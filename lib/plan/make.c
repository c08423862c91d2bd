/* Makes plans. A buffer list goes to the solver; a graph is laid out, divided, and searched
 * (plan_steps.c). */
#include "plan/plan_make.h"
#include "plan/plan_slot.h"
#include "base/slot.h"
#include "nests/nest_candidates.h"

/* Moves the best attempt into the plan, with its memory; the search's bound becomes the plan's. */
static void adopt_best(struct lx_plan *p, struct search *search)
{
    struct attempt *best = &search->best;
    bool traffic = asks_traffic(search);
    plan_adopt(p, &best->draft);
    arena_adopt(p->memory, best->memory);
    mem_free(best->memory);
    p->answer = best->answer;
    p->passes = best->draft.how.passes; /* objective time may drop some passes */
    p->figures.perfect_hbm_bytes = best->perfect_bytes;
    p->figures.bound_us = search->bound_us;
    p->joint = search->joint;
    p->unproved = search->unproved;
    p->gain_count = search->gain_count;
    memcpy(p->gains, search->gains, sizeof p->gains);
    *best = (struct attempt){0};
    if (!traffic) p->figures.bound_bytes = search->bound;
    if (traffic && !p->asks_time) {
        p->figures.perfect_hbm_bytes = min_i64(p->figures.perfect_hbm_bytes, search->bound);
        p->figures.bound_bytes = search->bound - p->figures.perfect_hbm_bytes;
    }
}

/* A plan with the request's parameters. */
static struct lx_plan *plan_begin(const struct lx_graph *g, const struct lx_plan_options *options)
{
    struct lx_plan *p = plan_new(g);
    p->solver = options->solver->name;
    p->seed = options->run.seed;
    p->launch = options->launch;
    p->work_limit = options->run.work_limit;
    /* "name=value ..." of the options that differ from their defaults. */
    const struct lx_solver *s = options->solver;
    const int64_t *values = options->run.options;
    SCOPED(text_free) struct text t = {0};
    for (int i = 0; values && i < s->option_count; i++)
        if (values[i] != s->options[i].def)
            text_format(&t, "%s%s=%lld", t.length ? " " : "", s->options[i].name, (long long)values[i]);
    p->options = arena_string(p->memory, t.at ? t.at : "");
    return p;
}

/* Makes a separate plan of the best attempt; it shares layouts and divisions. Its bound holds for all
 * plans. */
static bool plan_of_best(struct search *search, const struct lx_plan *of, bool hand_over, struct lx_plan *p)
{
    const struct lx_plan_options *request = search->request;
    struct search so_far = *search;
    lx_status ignored = {0};
    p->lender = lx_plan_ref(of);
    p->own_layouts = of->own_layouts;
    p->own_divisions = of->own_divisions;
    p->lends = true;
    p->asks_time = of->asks_time;
    so_far.st = &ignored;
    if (asks_traffic(search)) so_far.bound = min_i64(search->bound, crossing_traffic(&search->best.draft));
    if (hand_over)
        search->best = (struct attempt){0};
    else if (!attempt_copy(&so_far, &search->best, &so_far.best))
        return false;
    if (so_far.best.perfect_bytes < 0) so_far.best.perfect_bytes = so_far.bound;
    adopt_best(p, &so_far);
    p->answer.status = LX_LIMIT;
    plan_complete(p, true);
    plan_settle(p);
    if (p->answer.status != LX_OPTIMAL)
        p->unproved = request->run.time_limit > 0 ? "stopped by --time" : "stopped before its end";
    return pool_pack(p, request->quick_solver ? request->quick_solver : request->solver, true, &ignored) &&
           plan_launch_ops(p, &ignored);
}

static void offer_best(struct search *search, bool hand_over)
{
    struct plan_offers *offers = search->offers;
    const struct attempt *best = &search->best;
    int64_t bytes = best->hbm_bytes;
    double us = best->us;
    if (search->divided->count <= OFFERS_FROM || !best->memory || search->whole ||
        (best->us == offers->us ? best->hbm_bytes >= offers->bytes : best->us > offers->us) ||
        (search->rival_bytes > 0 && best->hbm_bytes >= search->rival_bytes) || ops_too_wide(&best->draft) ||
        !plan_offer_is_wanted())
        return;
    struct lx_plan *p = plan_begin(offers->of->graph, search->request);
    p->seconds = clock_seconds() - offers->began;
    if (plan_of_best(search, offers->of, hand_over, p)) {
        offers->bytes = bytes;
        offers->us = us;
        plan_offer(p);
    } else {
        lx_plan_free(p);
    }
}

/* Divisions of their own: the plan that they are taken from may be freed first. */
static const struct lx_division *const *given_divisions(const struct draft *x, struct arena *memory)
{
    size_t ops = (size_t)x->divided->count;
    if (!x->how.divided) return NULL;
    const struct lx_division **divided = arena_array(memory, ops, sizeof *divided);
    for (size_t o = 0; o < ops; o++) {
        const struct lx_division *from = x->how.divided[o];
        if (!from) continue;
        struct lx_division *to = arena_copy_array(memory, from, 1, sizeof *to);
        to->splits = arena_copy_array(memory, from->splits, (size_t)from->split_count, sizeof *to->splits);
        for (int i = 0; i < to->split_count; i++)
            if (to->splits[i].constraint)
                to->splits[i].constraint = arena_string(memory, to->splits[i].constraint);
        to->operands =
            arena_copy_array(memory, from->operands, (size_t)from->operand_count, sizeof *to->operands);
        divided[o] = to;
    }
    return divided;
}

/* The attempt that a plan was made of; it shares the plan's memory, except for divisions. */
static struct attempt attempt_given(const struct lx_plan *from, const struct lx_plan_options *options,
                                    struct arena *memory)
{
    struct attempt a = {.draft = *from->draft,
                        .answer = from->answer,
                        .hbm_bytes = from->figures.hbm_bytes,
                        .us = fmax(from->figures.end_to_end_us, options->fast_us)};
    a.draft.how.divided = given_divisions(from->draft, memory);
    return a;
}

/* Leaves a plan with fewer bytes to later searches. */
static void plan_leave_lean(const struct search *search, const struct lx_plan *of)
{
    struct search lean = *search;
    lean.best = lean_take(search);
    if (!lean.best.memory) return;
    struct lx_plan *p = plan_begin(of->graph, search->request);
    bool ok = plan_of_best(&lean, of, true, p);
    p->answer.status = LX_FEASIBLE;
    if (ok)
        VEC_PUSH(&search->request->states->lean, p);
    else
        lx_plan_free(p);
}

static bool plan_graph(struct lx_plan *p, const struct lx_plan_options *options, int64_t rival, lx_status *st)
{
    struct lx_passes passes = passes_of_stage(&options->passes);
    if (!plan_divide(p, &passes, options, st)) return false;
    cancel_reserve(1);
    struct attempt given;
    if (options->from) given = attempt_given(options->from, options, p->memory);
    struct plan_offers offers = {offer_best, p, clock_seconds(), INT64_MAX, INFINITY};
    struct search search = {.divided = p->own_divisions,
                            .request = options,
                            .effort = effort_asked(options),
                            .given = options->from ? &given : NULL,
                            .rival_bytes = rival,
                            .memory = p->memory,
                            .offers = plan_is_awaited() && !options->keeps_quiet ? &offers : NULL,
                            .st = st};
    SCOPED(runners_free) struct runners runners = {0};
    p->asks_time = asks_time(&search);
    if (p->asks_time && passes.prefetch == LX_PREFETCH_AUTO && p->graph->op_count <= RUNNERS_MOST_OPS)
        search.runners = &runners;
    SCOPED(lean_free)
    struct lean lean = {.fastest_us = INFINITY, .slower = options->states ? options->states->slower : 0};
    if (options->objective == LX_ASK_TIME && lean.slower > 0) search.lean = &lean;
    bool ok = steps_run(&search);
    if (ok && !cancel_requested()) plan_leave_lean(&search, p);
    if (ok) adopt_best(p, &search);
    attempt_free(&search.best);
    return ok;
}

/* Passes the solver's answers on to the request's callback, and offers some as plans to the waiting
 * thread. */
struct list_watch {
    const struct lx_graph *graph;
    const struct lx_plan_options *options;
};

static bool list_stopped(void *context)
{
    const struct list_watch *watch = context;
    return lx_run_stopped(&watch->options->run);
}

static void list_progress(void *context, const struct lx_progress *so_far)
{
    const struct list_watch *watch = context;
    const struct lx_run *run = &watch->options->run;
    lx_status ignored = {0};
    if (run->progress) run->progress(run->context, so_far);
    if (!so_far->address || !plan_offer_is_wanted()) return;
    struct lx_plan *p = lx_plan_of_answer(watch->graph, watch->options, so_far, &ignored);
    if (!p) return;
    p->unproved = run->time_limit > 0 ? "stopped by --time" : "stopped before its end";
    plan_offer(p);
}

static bool plan_list(struct lx_plan *p, const struct lx_plan_options *options, lx_status *st)
{
    enum { SMALL = 200 }; /* buffers: a smaller list is solved as soon as an offer is made */
    struct list_watch watch = {p->graph, options};
    struct lx_run run = options->run;
    if (p->graph->list->buffer_count > SMALL && slot_is_here()) {
        run.context = &watch;
        run.progress = list_progress;
        run.stop = run.stop ? list_stopped : NULL;
    }
    if (*options->nests)
        return status_set(st, LX_E_USAGE,
                          "a bare list of buffers has no ops, so no nests; leave --nests out");
    if (!plan_of_list(p, lx_asked(options->objective, p->graph->list->objective), st) ||
        !solve_valid(&p->problem, options->solver, &run, &p->answer, st))
        return false;
    if (p->answer.status == LX_INFEASIBLE) {
        p->answer.bound = 0; /* there is no answer to bound */
        if (!p->answer.message[0]) lx_clash_words(&p->problem, p->answer.message, sizeof p->answer.message);
    }
    p->figures.bound_bytes = p->answer.bound;
    return true;
}

/* The reason why the plan is not proved optimal: the end of the search, the passes, or the kind of solver. */
static const char *why_unproved(const struct lx_plan *p, const struct lx_plan_options *how)
{
    const struct lx_solver *solver = how->solver;
    const struct lx_run *run = &how->run;
    enum lx_verdict status = p->answer.status;
    if (status == LX_OPTIMAL || status == LX_INFEASIBLE || status == LX_ERROR) return NULL;
    if (cancel_is_late() || (run->time_limit > 0 && p->seconds >= run->time_limit))
        return "stopped by --time";
    if (lx_run_stopped(run)) return "stopped before its end";
    if (status == LX_LIMIT && run->work_limit > 0) return "the work limit (--work) is reached";
    /* A heuristic without options makes one pass over the buffers, whatever the work limit. */
    if (status == LX_LIMIT)
        return arena_format(p->memory,
                            solver->option_count || solver->caps & LX_CAN_PROVE
                                ? "%s used up its steps; --work gives it more"
                                : "%s found no place for all; a solver that searches may",
                            solver->name);
    if (p->asks_time) return "not proved optimal: the bound is the least that launches and memory take";
    if (p->unproved) return p->unproved;
    return arena_format(p->memory,
                        solver->caps & LX_CAN_PROVE ? "not proved optimal: %s ended above its bound"
                                                    : "%s is a heuristic: it proves nothing",
                        solver->name);
}

struct lx_plan *lx_plan_of_answer(const struct lx_graph *g, const struct lx_plan_options *options,
                                  const struct lx_progress *so_far, lx_status *st)
{
    struct lx_plan *p = plan_begin(g, options);
    if (!plan_of_list(p, lx_asked(options->objective, g->list->objective), st)) return lx_plan_free(p), NULL;
    for (int32_t i = 0; i < p->problem.count; i++) {
        p->answer.address[i] = so_far->address[i];
        if (p->answer.pool && so_far->pool) p->answer.pool[i] = so_far->pool[i];
    }
    p->answer.status = LX_LIMIT;
    p->answer.objective = so_far->objective;
    p->answer.steps = so_far->steps;
    p->answer.bound = p->figures.bound_bytes = so_far->bound;
    plan_complete(p, true);
    return p;
}

struct lx_plan *plan_as_written(const struct lx_graph *g, const struct lx_plan_options *options,
                                int64_t rival, lx_status *st)
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
    struct lx_plan *p = plan_begin(g, options);
    double start = clock_seconds();
    bool ok = g->list ? plan_list(p, options, st) : plan_graph(p, options, rival, st);
    p->seconds = clock_seconds() - start;
    bool quickly = options->run.quick || cancel_requested();
    if (ok) {
        plan_complete(p, quickly);
        plan_settle(p);
        p->unproved = why_unproved(p, options);
    }
    if (ok && !g->list)
        ok = pool_pack(p, options->quick_solver ? options->quick_solver : options->solver, quickly, st) &&
             plan_launch_ops(p, st);
    if (ok)
        LOG(plan, "%s: %s, HBM %" PRId64 ", spill %" PRId64 ", bound %" PRId64, g->name,
            lx_verdict_word(p->answer.status), p->figures.hbm_bytes, p->figures.spill_bytes,
            p->figures.bound_bytes);
    if (ok) return p;
    lx_plan_free(p);
    return NULL;
}
