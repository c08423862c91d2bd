/* Runs a solver and lets out only what has been checked. */
#include "scratchpad/placement/solve.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

static void all_off_chip(const struct lx_problem *p, struct lx_answer *a)
{
    for (int32_t i = 0; i < p->count; i++) a->address[i] = LX_OFF_CHIP;
}

static unsigned needed_capability(enum lx_objective o)
{
    return o == LX_SPILL ? LX_CAN_SPILL : o == LX_FIT ? LX_CAN_FIT : LX_CAN_HEIGHT;
}

/* Is it plain that not everything fits? Something is larger than the scratchpad, or more spill is forced
 * than what is barred. */
static bool cannot_fit(const struct lx_problem *p, int64_t bound)
{
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!b->reason && b->size > p->capacity) return true;
        if (b->reason) bound -= b->spill_cost;
    }
    return bound > 0;
}

/* `claimed` is what the solver said; only what follows from objective and bound, or from a proof by a
 * solver that can prove, is repeated. */
static enum lx_verdict settle(const struct lx_problem *p, const struct lx_solver *solver,
                              const struct lx_answer *a, int64_t our_bound, enum lx_verdict claimed)
{
    if (claimed == LX_ERROR) return LX_ERROR;
    if (p->objective == LX_FIT) {
        if (!lx_left_out(p, a->address)) return LX_OPTIMAL;
        if (cannot_fit(p, our_bound)) return LX_INFEASIBLE;
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
    if (!(solver->caps & needed_capability(p->objective)))
        return status_set(st, LX_E_USAGE,
                          "solver %s does not answer the %s question; `lxplan solvers` lists which do",
                          solver->name, lx_objective_word(p->objective));
    if (lx_problem_needs(p) & ~solver->caps)
        return status_set(
            st, LX_E_USAGE,
            "solver %s cannot take all that this problem asks for; `lxplan solvers` lists which can",
            solver->name);
    return true;
}

bool lx_solve(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
              struct lx_answer *answer, lx_status *st)
{
    *answer = (struct lx_answer){.address = answer->address, .pool = answer->pool, .status = LX_ERROR};
    return can_answer(p, solver, st) && lx_problem_validate(p, st) && solve_valid(p, solver, run, answer, st);
}

bool solve_valid(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st)
{
    int64_t *address = answer->address;
    *answer = (struct lx_answer){.address = address, .status = LX_ERROR};
    if (!can_answer(p, solver, st)) return false;
    struct lx_run with_bound = *run;
    int64_t bound;
    if (!lx_bound(p, &bound, st)) return false;
    with_bound.known_bound = bound;
    all_off_chip(p, answer);
    answer->status = LX_FEASIBLE; /* what a solver that says nothing claims */
    if (!solver->solve(p, &with_bound, answer)) {
        answer->status = LX_ERROR;
        if (!answer->message[0]) snprintf(answer->message, sizeof answer->message, "out of memory");
    }
    answer->address = address;
    answer->message[sizeof answer->message - 1] = 0;
    if (answer->stat_count < 0 || answer->stat_count > LX_MAX_STATS) answer->stat_count = 0;
    enum lx_verdict claimed = answer->status;
    answer->bound = solver->caps & LX_CAN_PROVE ? max_i64(answer->bound, bound) : bound;
    lx_status why;
    bool legal = lx_check(p, answer->address, &answer->objective, &why);
    if (!legal && why.code == LX_E_MEMORY) return status_no_memory(st);
    if (legal && answer->objective < answer->bound) {
        legal = false;
        snprintf(why.text, sizeof why.text, "the claimed bound %lld is above the objective %lld",
                 (long long)answer->bound, (long long)answer->objective);
    }
    if (!legal) {
        /* A solver that was stopped early may have no complete placement for the height question. */
        bool none = p->objective == LX_HEIGHT && (claimed == LX_LIMIT || claimed == LX_ERROR);
        all_off_chip(p, answer);
        answer->status = none ? claimed : LX_ERROR;
        answer->bound = bound;
        answer->objective = INT64_MAX;
        if (p->objective != LX_HEIGHT && !lx_check(p, answer->address, &answer->objective, st)) return false;
        if (!none)
            snprintf(answer->message, sizeof answer->message, "refused by the checker: %.130s", why.text);
        LOG(solve, "%s: no legal answer: %s", solver->name, why.text);
        return true;
    }
    answer->status = settle(p, solver, answer, bound, claimed);
    if (answer->status == LX_OPTIMAL && p->objective != LX_FIT) answer->bound = answer->objective;
    LOG(solve, "%s: %s, %s %" PRId64 ", bound %" PRId64 ", %" PRId64 " steps, %d buffers", solver->name,
        lx_verdict_word(answer->status), lx_objective_word(p->objective), answer->objective, answer->bound,
        answer->steps, (int)p->count);
    return true;
}
