/* A plan from scratch: legality of every placement, every value where it is looked for, and every claim. */
#include "check/check.h"
#include "base/fail.h"
#include "layout/stated_layouts.h"
#include "plan/planner.h"

static bool check_bound(const struct lx_plan *p, int64_t objective, lx_status *st)
{
    double us = p->figures.end_to_end_us;
    if (p->asks_time && p->figures.bound_us > us * (1 + 1e-7))
        return status_set(st, LX_E_NO, "the plan claims a bound of %.3f us above its own time of %.3f",
                          p->figures.bound_us, us);
    if (p->asks_time && p->answer.status == LX_OPTIMAL && lx_plan_gap(p) > 0)
        return status_set(st, LX_E_NO,
                          "the plan claims to be optimal, but its bound is %.3f us and its time %.3f",
                          p->figures.bound_us, us);
    if (p->figures.bound_bytes > objective)
        return status_set(st, LX_E_NO,
                          "the plan claims a bound of %lld bytes above its own objective of %lld",
                          (long long)p->figures.bound_bytes, (long long)objective);
    if (!p->asks_time && p->answer.status == LX_OPTIMAL && p->problem.objective != LX_FIT &&
        p->figures.bound_bytes != objective)
        return status_set(st, LX_E_NO,
                          "the plan claims to be optimal, but its bound is %lld and its objective %lld",
                          (long long)p->figures.bound_bytes, (long long)objective);
    return true;
}

static bool check_cores(const struct lx_plan *p, lx_status *st)
{
    int64_t cores = p->passes.undivided ? 1 : p->graph->device.cores;
    if (p->divisions->cores == cores) return true;
    return status_set(st, LX_E_NO,
                      "the plan divides ops over %lld cores, but its passes and its device give %lld",
                      (long long)p->divisions->cores, (long long)cores);
}

bool lx_plan_check(const struct lx_plan *p, lx_status *st)
{
    int64_t objective;
    /* A solver that was stopped before it had a complete placement for the height question has nothing to
     * be checked; one that was stopped later has. */
    if (p->answer.status == LX_ERROR ||
        (p->problem.objective == LX_HEIGHT && p->answer.status == LX_LIMIT && p->figures.height_bytes == 0))
        return status_set(st, LX_E_NO, "solver %s gave no plan: %s", p->solver,
                          p->answer.message[0] ? p->answer.message : lx_verdict_word(p->answer.status));
    if (!lx_check(&p->problem, p->answer.address, &objective, st)) return false;
    if (p->problem.objective == LX_FIT && lx_left_out(&p->problem, p->answer.address))
        return status_set(st, LX_E_NO, "not every buffer is placed (%s): %s is not",
                          lx_verdict_word(p->answer.status),
                          lx_left_out(&p->problem, p->answer.address)->name);
    if (objective != p->answer.objective)
        return status_set(st, LX_E_NO, "the plan claims %lld bytes of %s, but has %lld",
                          (long long)p->answer.objective, lx_objective_word(p->problem.objective),
                          (long long)objective);
    if (!p->graph->is_list && !check_cores(p, st)) return false;
    if (!p->graph->is_list && (!layouts_legal(p->layouts, st) || !check_values(p->graph, p->layouts, st)))
        return false;
    if (!p->graph->is_list && (!check_stays(p, st) || !pool_check(p, st))) return false;
    if (!check_again(p, st)) return false;
    return check_bound(p, p->problem.objective == LX_HEIGHT ? objective : p->figures.spill_bytes, st);
}
