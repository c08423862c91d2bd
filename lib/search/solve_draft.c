/* A draft given to a solver: for the least traffic, time or height, by true prices or those of a rule. */
#include "base/checked.h"
#include "base/fail.h"
#include "search/planner.h"
#include "base/memory.h"
#include "placement/solve.h"

#include <stdlib.h>
#include <string.h>

/* Takes over another placement of the draft if it is the first or takes less time. */
static bool keep_placement(const struct planner *by, struct attempt *a, struct attempt *with, bool first)
{
    struct clocks now;
    if (!traffic_count(&with->draft, with->answer.address, &with->hbm_bytes) ||
        !draft_clocks(&with->draft, with->answer.address, &now, by->st))
        return false;
    with->us = now.end_to_end_us;
    int64_t *address = a->answer.address, steps = a->answer.steps + with->answer.steps;
    if (first || with->us < a->us || (with->us == a->us && with->hbm_bytes < a->hbm_bytes)) {
        memcpy(address, with->answer.address, (size_t)a->draft.problem.count * sizeof *address);
        a->answer = with->answer;
        a->answer.address = address;
        a->us = with->us;
        a->hbm_bytes = with->hbm_bytes;
    }
    a->answer.steps = steps;
    return true;
}

/* The draft's buffers by their worth in time, on each clock; nothing on chip is one answer, too. What the solver says
 * of objective and bound is about prices, not about the plan. */
static bool solve_by_time(const struct planner *by, struct attempt *a)
{
    size_t n = (size_t)a->draft.problem.count;
    struct attempt with = {.draft = a->draft};
    struct lx_buffer *priced = mem_alloc((n + 1) * sizeof *priced);
    struct lx_problem p = a->draft.problem;
    with.answer.address = mem_alloc((n + 1) * sizeof *with.answer.address);
    bool ok = priced && with.answer.address ? true : status_no_memory(by->st);
    for (size_t i = 0; ok && i < n; i++) with.answer.address[i] = LX_OFF_CHIP;
    with.answer.status = LX_FEASIBLE;
    ok = ok && keep_placement(by, a, &with, true);
    p.buffers = priced;
    p.bonds = (struct lx_bonds){0}; /* their costs are bytes */
    for (int clock = 0; ok && clock < PRICE_COUNT && (clock == 0 || !lx_run_stopped(&by->options->run));
         clock++)
        ok = price_buffers(&a->draft, (enum price)clock, priced, by->st) &&
             solve_valid(&p, by->options->solver, &by->options->run, &with.answer, by->st) &&
             (with.answer.status == LX_ERROR || keep_placement(by, a, &with, false));
    mem_free(priced);
    mem_free(with.answer.address);
    a->bound = a->answer.bound = 0;
    if (ok) a->answer.status = LX_FEASIBLE;
    return ok && lx_problem_check(&a->draft.problem, a->answer.address, &a->answer.objective, by->st);
}

/* Who watches is told of the traffic of whole plans, whichever draft the solver works on. */
struct told {
    const struct lx_run *run;
    int64_t base;
};

static bool told_stop(void *context)
{
    return lx_run_stopped(((const struct told *)context)->run);
}

/* The bound is the draft's: what holds for all plans is known in the end. The answer is one to a draft, too. */
static void told_progress(void *context, const struct lx_progress *so_far)
{
    const struct told *t = context;
    struct lx_progress out = {.steps = so_far->steps, .objective = so_far->objective};
    if (out.objective < INT64_MAX) out.objective += t->base;
    t->run->progress(t->run->context, &out);
}

static struct lx_run told_run(struct told *t)
{
    struct lx_run run = *t->run;
    if (!run.progress) return run;
    run.progress = told_progress;
    run.stop = run.stop ? told_stop : NULL;
    run.context = t;
    return run;
}

/* With linked costs, if the solver takes them. */
static bool solve_linked(const struct planner *by, int64_t base, const struct lx_problem *p,
                         struct lx_answer *answer)
{
    const struct lx_solver *solver = by->options->solver;
    struct told told = {&by->options->run, base};
    struct lx_run run = told_run(&told);
    if (lx_problem_needs(p) & ~solver->caps) return solve_unlinked(p, solver, &run, answer, by->st);
    run.enough = max_i64(0, by->enough - base);
    run.spare = by->spare;
    run.hasty |= by->brief;
    return solve_valid(p, solver, &run, answer, by->st);
}

/* By the rule of the heuristic a copy of an input that is read more than once counts as an intermediate, whatever it
 * saves. The solver is given such prices; what its answer costs, and the bound, are those of the true ones. */
static bool solve_by_rule(const struct planner *by, const struct lx_problem *p, struct attempt *a)
{
    const struct draft *x = &a->draft;
    size_t n = (size_t)p->count;
    struct lx_problem by_rule = *p;
    struct lx_answer true_one = {.address = mem_alloc((n + 1) * sizeof *true_one.address)};
    struct lx_buffer *ruled = mem_alloc((n + 1) * sizeof *ruled);
    bool ok = true_one.address && ruled ? true : status_no_memory(by->st);
    for (size_t i = 0; ok && i < n; i++) {
        ruled[i] = p->buffers[i];
        if (i < (size_t)x->problem.count && !x->stays[i].bar && !x->stays[i].begins_written &&
            ruled[i].use_count > 1)
            ruled[i].spill_cost += 2 * tensor_bytes(x->layouts, x->stays[i].tensor);
    }
    by_rule.buffers = ruled;
    ok = ok && solve_linked(by, x->base_bytes, &by_rule, &a->answer) &&
         solve_linked(by, x->base_bytes, p, &true_one) &&
         lx_problem_check(p, a->answer.address, &a->answer.objective, by->st);
    if (ok) a->answer.bound = true_one.bound;
    mem_free(ruled);
    mem_free(true_one.address);
    return ok;
}

/* Charges say what traffic costs: they have no part in whether or how high all of it fits. */
static bool solve_packing(const struct planner *by, struct attempt *a)
{
    struct lx_problem p = a->draft.problem;
    p.bonds = (struct lx_bonds){0};
    if (!solve_valid(&p, by->options->solver, &by->options->run, &a->answer, by->st)) return false;
    a->bound = a->answer.bound;
    return traffic_count(&a->draft, a->answer.address, &a->hbm_bytes);
}

/* For the least traffic; of a lax draft with the buffers that stand for waiting sources. */
static bool solve_traffic(const struct planner *by, struct attempt *a)
{
    const struct lx_problem *p = &a->asked.problem;
    bool by_rule = a->draft.how.passes.clone == LX_CLONE_HEURISTIC;
    if (by_rule ? !solve_by_rule(by, p, a) : !solve_linked(by, a->draft.base_bytes, p, &a->answer))
        return false;
    a->bound = a->draft.base_bytes + a->answer.bound;
    return traffic_count(&a->draft, a->answer.address, &a->hbm_bytes);
}

bool attempt_solve(const struct planner *by, struct attempt *a)
{
    struct lx_problem *p = &a->draft.problem;
    p->objective = lx_asked(by->options->objective, p->objective);
    if (!draft_valid(&a->draft, by->st)) return false;
    draft_waits(&a->draft, a->memory, &a->asked);
    a->answer.address = arena_array(a->memory, (size_t)a->asked.problem.count, sizeof *a->answer.address);
    if (!a->answer.address) return status_no_memory(by->st);
    if (asks_time(by)) return solve_by_time(by, a);
    return p->objective == LX_SPILL ? solve_traffic(by, a) : solve_packing(by, a);
}
