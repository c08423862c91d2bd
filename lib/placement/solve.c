/* Runs a solver and lets out only what has been checked. A problem of the second version is rewritten first
 * (rewrite.h) and solved part by part (solve_parts.c); each part, like each plain list, goes through here. */
#include "placement/solve.h"
#include "placement/rewrite.h"
#include "base/fail.h"
#include "base/cancel.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void solve_all_off_chip(const struct lx_problem *p, struct lx_answer *a)
{
    for (int32_t i = 0; i < p->count; i++) {
        a->address[i] = LX_OFF_CHIP;
        if (a->pool) a->pool[i] = 0;
    }
}

/* Is it plain that not everything fits? Something is larger than the scratchpad, or more spill is forced
 * than what is barred. */
static bool cannot_fit(const struct lx_problem *p, int64_t bound)
{
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!b->reason && !lx_may_be_placed(p, b)) return true;
        if (b->reason) bound -= b->spill_cost;
    }
    return bound > 0;
}

/* `claimed` is what the solver said; only what follows from objective and bound, or from a proof by a
 * solver that can prove, is repeated. */
static enum lx_verdict solve_settle(const struct lx_problem *p, const struct lx_solver *solver,
                                    const struct lx_answer *a, int64_t our_bound, bool clash,
                                    enum lx_verdict claimed)
{
    if (claimed == LX_ERROR) return LX_ERROR;
    if (p->objective == LX_FIT) {
        if (!lx_left_out(p, a->address)) return LX_OPTIMAL;
        if (clash || cannot_fit(p, our_bound)) return LX_INFEASIBLE;
        return claimed == LX_INFEASIBLE && (solver->caps & LX_CAN_PROVE) ? LX_INFEASIBLE : LX_LIMIT;
    }
    if (a->objective == a->bound) return LX_OPTIMAL;
    return claimed == LX_LIMIT ? LX_LIMIT : LX_FEASIBLE;
}

static bool can_answer(const struct lx_problem *p, const struct lx_solver *solver, lx_status *st)
{
    if (solver->abi != LX_SOLVER_ABI)
        return status_set(st, LX_E_INTERNAL, "solver %s was built for interface %d, not %d", solver->name,
                          solver->abi, LX_SOLVER_ABI);
    if (!lx_can(solver, p->objective))
        return status_set(st, LX_E_USAGE,
                          "solver %s does not answer the %s question; `lxplan solvers` lists which do",
                          solver->name, lx_objective_word(p->objective));
    return true;
}

/* False: the solver failed; its message says why. A cancelled solver's answer is legal as it left it. */
static bool run_solver(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                       int64_t bound, struct lx_answer *answer)
{
    int64_t *address = answer->address;
    int32_t *pool = answer->pool;
    struct lx_run with_bound = *run;
    with_bound.known_bound = max_i64(bound, run->enough);
    solve_all_off_chip(p, answer);
    answer->status = LX_FEASIBLE; /* what a solver that says nothing claims */
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

/* May a solver end without any answer? One that was stopped early has no complete placement for the
 * height, and where something must be placed or forbidden, "all off chip" is no answer either. */
static bool may_have_none(const struct lx_problem *p)
{
    return p->objective == LX_HEIGHT || (lx_problem_needs(p) & (LX_CAN_MUST | LX_CAN_STAGING));
}

/* Can it be that no legal answer exists? Of plain lists whose height is asked only pins can clash. */
static bool may_be_impossible(const struct lx_problem *p)
{
    if (p->objective != LX_HEIGHT || p->pool_count || lx_problem_needs(p)) return may_have_none(p);
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].fixed >= 0) return true;
    return false;
}

/* All off chip instead of an answer that is not legal. */
static void without_answer(const struct lx_problem *p, const struct lx_solver *solver, int64_t bound,
                           enum lx_verdict claimed, const lx_status *why, struct lx_answer *answer)
{
    bool none = may_have_none(p) && (claimed == LX_LIMIT || claimed == LX_ERROR);
    bool proved = may_be_impossible(p) && claimed == LX_INFEASIBLE && (solver->caps & LX_CAN_PROVE);
    lx_status ignored;
    solve_all_off_chip(p, answer);
    answer->status = none ? claimed : proved ? LX_INFEASIBLE : LX_ERROR;
    answer->bound = bound;
    if (!check_so_far(p, answer->pool, answer->address, &answer->objective, &ignored))
        answer->objective = INT64_MAX;
    if (!none && !proved)
        snprintf(answer->message, sizeof answer->message, "refused by the checker: %.130s", why->text);
    LOG(solve, "%s: no legal answer: %s", solver->name, why->text);
}

/* The caller's run with the clock in its stop: the solver hears of both by run->stop, deeper loops by
 * cancel_requested(). */
struct limit {
    const struct lx_run *run;
    struct cancel token;
};

static bool solve_is_over(void *limit)
{
    struct limit *l = limit;
    if (lx_run_stopped(l->run)) atomic_store(&l->token.requested, true);
    return cancel_requested();
}

static void solve_pass_on(void *limit, const struct lx_progress *so_far)
{
    const struct lx_run *run = ((const struct limit *)limit)->run;
    run->progress(run->context, so_far);
}

/* The solver's run, until cancel_end(&l->token). */
static struct lx_run limit_begin(struct limit *l, const struct lx_run *run)
{
    struct lx_run timed = *run;
    l->run = run;
    cancel_begin(&l->token, run->time_limit);
    timed.stop = solve_is_over;
    timed.progress = run->progress ? solve_pass_on : NULL;
    timed.context = l;
    return timed;
}

bool solve_plain(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
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
    if (!run->hasty && !lx_run_stopped(run)) {
        /* A quarter of the time at most: an answer is worth more than a bound. */
        struct cancel token;
        cancel_begin(&token, run->time_limit / 4);
        bound = lx_bound(p);
        cancel_end(&token);
    }
    if (clash && p->objective == LX_HEIGHT) bound = INT64_MAX;
    if (bound == INT64_MAX) {
        solve_all_off_chip(p, answer);
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
    /* A heuristic that found no place for all where pins or limits stand in the way has given up. */
    if (claimed == LX_FEASIBLE && p->objective == LX_HEIGHT && may_be_impossible(p) &&
        lx_left_out(p, answer->address))
        claimed = LX_LIMIT;
    answer->bound = solver->caps & LX_CAN_PROVE ? max_i64(answer->bound, bound) : bound;
    lx_status why;
    bool legal = check_so_far(p, answer->pool, answer->address, &answer->objective, &why);
    /* Where it ended because that is enough, nothing is proved of the problem itself. */
    if (legal && run->enough > 0 && answer->objective <= run->enough) answer->bound = bound;
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

static bool solve_until_stopped(const struct lx_problem *p, const struct lx_solver *solver,
                                const struct lx_run *run, bool validate, struct lx_answer *answer,
                                lx_status *st)
{
    struct incumbents w;
    struct limit limit;
    const struct lx_run timed = limit_begin(&limit, run);
    struct lx_run watched = incumbents_watch(&w, p, &timed);
    *answer = (struct lx_answer){.address = answer->address, .pool = answer->pool, .status = LX_ERROR};
    bool ok = can_answer(p, solver, st) && (!validate || lx_problem_validate(p, st)),
         plain = ok && is_plain(p);
    if (!plain) watched.enough = 0; /* that would be of all parts together */
    ok = ok && (plain ? solve_plain : solve_parts)(p, solver, &watched, answer, st);
    if (ok) incumbents_end(&w, answer);
    if (w.memory_is_out) memory_out();
    cancel_end(&limit.token);
    return ok;
}

bool solve_valid(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st)
{
    return solve_until_stopped(p, solver, run, false, answer, st);
}

bool lx_problem_solve(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                      struct lx_answer *answer, lx_status *st)
{
    return solve_until_stopped(p, solver, run, true, answer, st);
}

/* Plain lists of which every buffer must have a place: fixed addresses that exclude each other, and what
 * is done about those that a solver was stopped before. Both O(n log n) at most. */

static bool is_pinned(const struct lx_problem *p, int32_t i)
{
    return p->buffers[i].fixed >= 0 && lx_may_be_placed(p, &p->buffers[i]);
}

static bool whole_lists_is_plain_list(const struct lx_problem *p)
{
    return !p->pool_count && !lx_problem_needs(p);
}

/* The checker tells, of an answer in which nobody else is placed: whatever else is, two that share a byte
 * go on sharing it. */
bool pins_clash(const struct lx_problem *p)
{
    int32_t pinned = 0;
    for (int32_t i = 0; i < p->count; i++) pinned += is_pinned(p, i);
    if (!whole_lists_is_plain_list(p) || pinned < 2) return false;
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

void stack_left_out(const struct lx_problem *p, int64_t *address)
{
    int64_t top = 0;
    if (p->objective != LX_HEIGHT || !whole_lists_is_plain_list(p)) return;
    /* Fixed ones first: where one of them had no place yet, others may lie there, and all of these begin
     * anew. */
    bool late = false;
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
