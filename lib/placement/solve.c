/* Runs a solver and lets out only checked answers. Problems of version 2 are solved part by part
 * (rewrite.h). */
#include "placement/rewrite.h"

static void solve_nothing(const struct lx_problem *p, struct lx_answer *a)
{
    for (int32_t i = 0; i < p->count; i++) {
        a->address[i] = LX_OFF_CHIP;
        if (a->pool) a->pool[i] = 0;
    }
}

/* --- Plain lists that must be placed completely: clashing pins, and buffers that a cancelled solver left
 * out. --- */

static bool is_pinned(const struct lx_problem *p, int32_t i)
{
    return p->buffers[i].fixed >= 0 && lx_may_be_placed(p, &p->buffers[i]);
}

static bool is_plain_list(const struct lx_problem *p)
{
    return !p->pool_count && !lx_problem_needs(p);
}

/* Do fixed addresses of a plain list exclude each other? Asks the checker about them alone. */
static bool pins_clash(const struct lx_problem *p)
{
    int32_t pinned = 0;
    for (int32_t i = 0; i < p->count; i++) pinned += is_pinned(p, i);
    if (!is_plain_list(p) || pinned < 2) return false;
    struct lx_problem alone = *p;
    int64_t *address = mem_alloc(((size_t)p->count + 1) * sizeof *address), value;
    enum lx_rule rule = LX_RULE_NONE;
    lx_status why = {0};
    for (int32_t i = 0; i < p->count; i++) address[i] = is_pinned(p, i) ? p->buffers[i].fixed : LX_OFF_CHIP;
    alone.objective = LX_SPILL;
    if (p->objective == LX_HEIGHT) alone.capacity = INT64_MAX / 4;
    bool legal = lx_check_places(&alone, NULL, address, &value, &rule, &why);
    mem_free(address);
    return !legal && rule == LX_RULE_OVERLAP;
}

/* For the height of a plain list: stacks buffers without a place above everything. */
static void stack_left_out(const struct lx_problem *p, int64_t *address)
{
    int64_t top = 0;
    bool late = false; /* a fixed one has no place; others may lie there, so all others begin anew */
    if (p->objective != LX_HEIGHT || !is_plain_list(p)) return;
    for (int32_t i = 0; i < p->count; i++) late |= is_pinned(p, i) && address[i] < 0;
    for (int32_t i = 0; late && i < p->count; i++)
        address[i] = is_pinned(p, i) ? p->buffers[i].fixed : LX_OFF_CHIP;
    for (int32_t i = 0; i < p->count; i++)
        if (address[i] >= 0) top = max_i64(top, address[i] + p->buffers[i].size);
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (address[i] >= 0 || !lx_may_be_placed(p, b)) continue;
        address[i] = round_up_i64(top, lx_alignment_of(p, b));
        top = address[i] + b->size;
    }
}

/* --- One run of a solver. --- */

/* Reduces the solver's claim to a verdict that objective and bound, or a solver that can prove, support. */
static enum lx_verdict solve_settle(const struct lx_problem *p, const struct lx_solver *solver,
                                    const struct lx_answer *a, int64_t our_bound, bool clash,
                                    enum lx_verdict claimed)
{
    if (claimed == LX_ERROR) return LX_ERROR;
    if (p->objective == LX_FIT) {
        if (!lx_left_out(p, a->address)) return LX_OPTIMAL;
        /* Does not fit: a buffer is larger than the scratchpad, or more spill is forced than barred buffers
         * cost. */
        for (int32_t i = 0; i < p->count; i++) {
            const struct lx_buffer *b = &p->buffers[i];
            clash |= !b->reason && !lx_may_be_placed(p, b);
            if (b->reason) our_bound -= b->spill_cost;
        }
        if (clash || our_bound > 0) return LX_INFEASIBLE;
        return claimed == LX_INFEASIBLE && (solver->caps & LX_CAN_PROVE) ? LX_INFEASIBLE : LX_LIMIT;
    }
    if (a->objective == a->bound) return LX_OPTIMAL;
    return claimed == LX_LIMIT ? LX_LIMIT : LX_FEASIBLE;
}

/* False: the solver failed; its message is the reason. A cancelled solver's answer counts. */
static bool run_solver(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                       int64_t bound, struct lx_answer *answer)
{
    int64_t *address = answer->address;
    int32_t *pool = answer->pool;
    struct lx_run with_bound = *run;
    with_bound.known_bound = max_i64(bound, run->stop_at);
    solve_nothing(p, answer);
    answer->status = LX_FEASIBLE; /* for a solver that claims nothing */
    if (run->progress)
        run->progress(run->context, &(struct lx_progress){.objective = INT64_MAX, .bound = bound});
    bool ok = solver->solve(p, &with_bound, answer);
    if (!ok) answer->status = LX_ERROR;
    if (!ok && lx_run_stopped(run) && !answer->message[0]) {
        answer->status = LX_LIMIT;
        answer->bound = 0;
        ok = true;
    }
    answer->address = address;
    answer->pool = pool;
    answer->message[sizeof answer->message - 1] = 0;
    if (answer->stat_count < 0 || answer->stat_count > LX_MAX_STATS) answer->stat_count = 0;
    return ok;
}

/* May a solver end without any answer? It may have no complete placement for the height, or a must or
 * forbidden linked cost makes "all off chip" illegal. */
static bool may_have_none(const struct lx_problem *p)
{
    return p->objective == LX_HEIGHT || (lx_problem_needs(p) & (LX_CAN_MUST | LX_CAN_STAGING));
}

/* Can it be that no legal answer exists? For the height of a plain list only pins can clash. */
static bool may_be_impossible(const struct lx_problem *p)
{
    if (p->objective != LX_HEIGHT || p->pool_count || lx_problem_needs(p)) return may_have_none(p);
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].fixed >= 0) return true;
    return false;
}

static void without_answer(const struct lx_problem *p, const struct lx_solver *solver, int64_t bound,
                           enum lx_verdict claimed, const lx_status *why, struct lx_answer *answer)
{
    bool none = may_have_none(p) && (claimed == LX_LIMIT || claimed == LX_ERROR);
    bool proved = may_be_impossible(p) && claimed == LX_INFEASIBLE && (solver->caps & LX_CAN_PROVE);
    lx_status ignored;
    solve_nothing(p, answer);
    answer->status = none ? claimed : proved ? LX_INFEASIBLE : LX_ERROR;
    answer->bound = bound;
    if (!check_so_far(p, answer->pool, answer->address, &answer->objective, &ignored))
        answer->objective = INT64_MAX;
    if (!none && !proved)
        snprintf(answer->message, sizeof answer->message, "refused by the checker: %.130s", why->text);
    LOG(solve, "%s: no legal answer: %s", solver->name, why->text);
}

static bool solve_plain(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                        struct lx_answer *answer, lx_status *st)
{
    unsigned lacks = lx_problem_needs(p) & ~solver->caps;
    int64_t bound = 0;
    char words[300];
    if (lacks)
        return status_set(st, LX_E_USAGE,
                          "solver %s does not take %s; `lxplan solvers NAME` tells what one takes",
                          solver->name, lx_needs_words(lacks, words, sizeof words));
    bool clash = pins_clash(p);
    if (!run->quick && !lx_run_stopped(run)) {
        /* A quarter of the time at most: an answer is worth more than a bound. */
        struct cancel token;
        cancel_begin(&token, run->time_limit / 4);
        bound = lx_bound(p);
        cancel_end(&token);
    }
    if (clash && p->objective == LX_HEIGHT) bound = INT64_MAX;
    if (bound == INT64_MAX) {
        solve_nothing(p, answer);
        answer->status = LX_INFEASIBLE;
        answer->objective = answer->bound = INT64_MAX;
        LOG(solve, "%s is not asked: no legal answer exists", solver->name);
        return true;
    }
    bool ended = run_solver(p, solver, run, bound, answer);
    if (!ended && !answer->message[0]) return status_no_memory(st);
    if (ended && p->objective == LX_HEIGHT && lx_left_out(p, answer->address) && lx_run_stopped(run))
        stack_left_out(p, answer->address);
    enum lx_verdict claimed = answer->status;
    /* A heuristic has given up if it found no place for all where pins or limits stand in the way. */
    if (claimed == LX_FEASIBLE && p->objective == LX_HEIGHT && may_be_impossible(p) &&
        lx_left_out(p, answer->address))
        claimed = LX_LIMIT;
    answer->bound = solver->caps & LX_CAN_PROVE ? max_i64(answer->bound, bound) : bound;
    lx_status why;
    bool legal = check_so_far(p, answer->pool, answer->address, &answer->objective, &why);
    /* If the solver stopped at `stop_at`, its bound is no proof. */
    if (legal && run->stop_at > 0 && answer->objective <= run->stop_at) answer->bound = bound;
    if (legal && answer->objective < answer->bound) {
        legal = false;
        snprintf(why.text, sizeof why.text, "the claimed bound %lld is above the objective %lld",
                 (long long)answer->bound, (long long)answer->objective);
    }
    if (!legal) {
        without_answer(p, solver, bound, claimed, &why, answer);
        return true;
    }
    answer->status = solve_settle(p, solver, answer, bound, clash, claimed);
    if (answer->status == LX_FEASIBLE && lx_run_stopped(run)) answer->status = LX_LIMIT;
    if (answer->status == LX_OPTIMAL && p->objective != LX_FIT) answer->bound = answer->objective;
    LOG(solve, "%s: %s, %s %" PRId64 ", bound %" PRId64 ", %" PRId64 " steps, %d buffers", solver->name,
        lx_verdict_word(answer->status), lx_objective_word(p->objective), answer->objective, answer->bound,
        answer->steps, (int)p->count);
    return true;
}

/* --- Problems of version 2: part by part. The checker judges the whole as asked. --- */

struct run_parts {
    struct rewrite w;
    const struct lx_problem *p;
    const struct lx_solver *solver;
    const struct lx_run *run;
    struct lx_answer *whole, part; /* part: room for any part's answer */
    const struct part *now;
    int64_t value, bound; /* of the finished parts, and the constant */
    bool none;            /* some part has no answer */
    double end;           /* the deadline, or 0 */
    int64_t *shown;       /* an answer for the caller's progress function */
    int32_t *shown_pool;
};

static bool stop_part(void *context)
{
    return lx_run_stopped(((const struct run_parts *)context)->run);
}

/* Reports a part's progress for the whole; with its answer only if there is no other part. */
static void report_part(void *context, const struct lx_progress *so_far)
{
    struct run_parts *r = context;
    struct lx_progress out = *so_far;
    out.address = NULL;
    out.pool = NULL;
    out.steps += r->whole->steps;
    if (so_far->objective < INT64_MAX / 2) out.objective += r->value;
    out.bound += r->bound;
    if (so_far->address && r->w.part_count == 1 && r->now->hard_limit == LX_NO_LIMIT) {
        for (int32_t i = 0; i < r->p->count; i++) r->shown[i] = LX_OFF_CHIP;
        rewrite_places(&r->w, r->now, so_far->address, so_far->pool, r->shown, r->shown_pool);
        out.address = r->shown;
        out.pool = r->shown_pool;
    }
    r->run->progress(r->run->context, &out);
}

/* The worst verdict of a part is the whole's. */
static enum lx_verdict worse(enum lx_verdict a, enum lx_verdict b)
{
    static const int rank[] = {
        [LX_OPTIMAL] = 0, [LX_FEASIBLE] = 1, [LX_LIMIT] = 2, [LX_ERROR] = 3, [LX_INFEASIBLE] = 4};
    return rank[a] > rank[b] ? a : b;
}

static void judge_part(struct run_parts *r, const struct part *part)
{
    struct lx_answer *a = &r->part;
    if (part->hard_limit != LX_NO_LIMIT && a->objective > part->hard_limit) {
        a->status = a->bound > part->hard_limit ? LX_INFEASIBLE : worse(a->status, LX_LIMIT);
        a->objective = INT64_MAX;
    }
    r->none |= a->objective == INT64_MAX || a->status == LX_INFEASIBLE;
    r->value += a->objective == INT64_MAX ? 0 : a->objective;
    /* A part without an answer may have the highest bound. */
    if (r->p->objective != LX_FIT && !add_i64(r->bound, a->bound, &r->bound)) r->bound = INT64_MAX;
    r->whole->steps += a->steps;
    for (int i = 0; i < a->stat_count; i++) {
        if (i >= r->whole->stat_count)
            r->whole->stats[r->whole->stat_count++] = (struct lx_stat){a->stats[i].name, 0};
        r->whole->stats[i].value += a->stats[i].value;
    }
    if (!r->whole->message[0]) snprintf(r->whole->message, sizeof r->whole->message, "%s", a->message);
    r->whole->status = worse(r->whole->status, a->status);
    rewrite_places(&r->w, part, a->address, a->pool, r->whole->address, r->whole->pool);
}

static void close_whole(struct run_parts *r)
{
    struct lx_answer *a = r->whole;
    lx_status why;
    a->bound = r->bound;
    if (a->status == LX_INFEASIBLE || (r->none && r->p->objective != LX_FIT)) {
        solve_nothing(r->p, a);
        a->objective = INT64_MAX;
        return;
    }
    if (check_so_far(r->p, a->pool, a->address, &a->objective, &why)) {
        if (a->status == LX_OPTIMAL && r->p->objective != LX_FIT) a->bound = a->objective;
        return;
    }
    solve_nothing(r->p, a);
    a->objective = INT64_MAX;
    if (r->p->objective == LX_FIT && a->status == LX_LIMIT) return; /* an incomplete answer is none */
    a->status = LX_ERROR;
    snprintf(a->message, sizeof a->message, "refused by the checker: %.130s", why.text);
}

static bool solve_part(struct run_parts *r, const struct part *part, lx_status *st)
{
    struct lx_run run = *r->run;
    if (part->problem.count == 0) {
        /* A pool that no buffer may be in: its height is the end of its reserved bytes. */
        const struct lx_problem *p = &part->problem;
        for (int32_t k = 0; p->objective == LX_HEIGHT && k < p->pool_count; k++) {
            int64_t top = 0;
            for (int32_t i = 0; i < p->pools[k].reserved_count; i++)
                top = max_i64(top, p->pools[k].reserved[i].to);
            r->value += top;
            r->bound += top;
        }
        return true;
    }
    run.progress = r->run->progress ? report_part : NULL;
    run.stop = r->run->stop ? stop_part : NULL;
    run.context = r;
    run.incumbent = NULL;
    run.incumbent_pool = NULL;
    if (r->end > 0) run.time_limit = fmax(r->end - clock_seconds(), 0.001);
    r->part = (struct lx_answer){.address = r->part.address, .pool = r->part.pool, .status = LX_ERROR};
    r->now = part;
    if (!solve_plain(&part->problem, r->solver, &run, &r->part, st)) return false;
    judge_part(r, part);
    return true;
}

static bool solve_parts(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                        struct lx_answer *answer, lx_status *st)
{
    size_t n = (size_t)p->count + 1;
    struct run_parts r = {.p = p, .solver = solver, .run = run, .whole = answer};
    if (p->pool_count > 1 && !answer->pool)
        return status_set(st, LX_E_INTERNAL, "several pools, but no room for those of the answer");
    if (run->time_limit > 0) r.end = clock_seconds() + run->time_limit;
    r.part.address = mem_alloc(n * sizeof *r.part.address);
    r.part.pool = mem_alloc(n * sizeof *r.part.pool);
    r.shown = mem_alloc(n * sizeof *r.shown);
    r.shown_pool = mem_zeroed(n, sizeof *r.shown_pool);
    rewrite_make(&r.w, p);
    bool ok = true;
    solve_nothing(p, answer);
    answer->objective = INT64_MAX;
    answer->status = r.w.impossible ? LX_INFEASIBLE : LX_OPTIMAL;
    if (r.w.impossible) snprintf(answer->message, sizeof answer->message, "%s", r.w.why);
    r.value = r.bound = r.w.constant;
    for (int32_t k = 0; ok && k < r.w.part_count && answer->status != LX_INFEASIBLE; k++)
        ok = solve_part(&r, &r.w.parts[k], st);
    if (ok && !r.w.impossible) close_whole(&r);
    rewrite_free(&r.w);
    mem_free(r.part.address);
    mem_free(r.part.pool);
    mem_free(r.shown);
    mem_free(r.shown_pool);
    return ok;
}

/* --- Any problem. --- */

/* Passes a solver's reports on: legal answers that are better than all before, bounds that never fall, and
 * the last answer. Its stop includes the deadline: the solver polls run->stop, deeper loops
 * cancel_requested(). */
struct watch {
    const struct lx_problem *p;
    const struct lx_run *run; /* the caller's */
    struct cancel token;
    int64_t best, bound, steps;
    bool memory_is_out; /* in a report: the solver, which may be a plug-in, must stop */
};

static bool watch_stopped(void *context)
{
    struct watch *w = context;
    if (lx_run_stopped(w->run)) atomic_store(&w->token.requested, true);
    return w->memory_is_out || cancel_requested();
}

/* Is the report a better answer than the best, legal and, where all must be placed, complete? */
static bool watch_is_news(struct watch *w, const struct lx_progress *so_far)
{
    int64_t objective;
    lx_status ignored;
    if (!so_far->address || so_far->objective >= w->best) return false;
    if (w->p->objective == LX_FIT && lx_left_out(w->p, so_far->address)) return false;
    if (!check_so_far(w->p, so_far->pool, so_far->address, &objective, &ignored)) return false;
    if (objective >= w->best) return false;
    w->best = objective;
    return true;
}

static void watch_pass(void *context, const struct lx_progress *so_far)
{
    struct watch *w = context;
    struct border border;
    if (w->memory_is_out) return;
    if (border_begin(&border) == 0) {
        bool news = watch_is_news(w, so_far);
        w->steps = max_i64(w->steps, so_far->steps);
        w->bound = min_i64(max_i64(w->bound, so_far->bound), w->best);
        struct lx_progress out = {
            w->steps,    w->best, w->bound, news ? so_far->address : NULL, news ? so_far->pool : NULL,
            so_far->step};
        w->run->progress(w->run->context, &out);
        border_end(&border);
    } else {
        w->memory_is_out = true;
    }
}

static bool solve_watched(const struct lx_problem *p, const struct lx_solver *solver,
                          const struct lx_run *run, bool validate, struct lx_answer *answer, lx_status *st)
{
    struct watch w = {.p = p, .run = run, .best = INT64_MAX};
    struct lx_run watched = *run;
    watched.stop = watch_stopped;
    watched.progress = run->progress ? watch_pass : NULL;
    watched.context = &w;
    *answer = (struct lx_answer){.address = answer->address, .pool = answer->pool, .status = LX_ERROR};
    if (solver->abi != LX_SOLVER_ABI)
        return status_set(st, LX_E_INTERNAL, "solver %s was built for interface %d, not %d", solver->name,
                          solver->abi, LX_SOLVER_ABI);
    if (!lx_can(solver, p->objective))
        return status_set(st, LX_E_USAGE,
                          "solver %s does not answer the %s question; `lxplan solvers` lists which do",
                          solver->name, lx_objective_word(p->objective));
    if (validate && !lx_problem_validate(p, st)) return false;
    cancel_begin(&w.token, run->time_limit);
    bool plain = is_plain(p);
    if (!plain) watched.stop_at = watched.most = 0; /* they count all parts together */
    bool ok = (plain ? solve_plain : solve_parts)(p, solver, &watched, answer, st);
    if (ok && run->progress && answer->status != LX_ERROR && answer->status != LX_INFEASIBLE)
        watch_pass(&w, &(struct lx_progress){answer->steps, answer->objective, answer->bound, answer->address,
                                             answer->pool, NULL});
    if (w.memory_is_out) memory_out();
    cancel_end(&w.token);
    return ok;
}

bool lx_problem_solve(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                      struct lx_answer *answer, lx_status *st)
{
    return solve_watched(p, solver, run, true, answer, st);
}

bool solve_valid(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st)
{
    return solve_watched(p, solver, run, false, answer, st);
}
