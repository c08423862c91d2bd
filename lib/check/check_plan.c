/* A plan from scratch: legality of every placement, every value where it is looked for, and every claim. */
#include "plan/planner.h"
#include "base/checked.h"
#include "base/fail.h"

struct claim {
    const char *what;
    int64_t claimed, real;
};

static bool all_true(const struct claim *claims, size_t count, lx_status *st)
{
    for (size_t i = 0; i < count; i++)
        if (claims[i].claimed != claims[i].real)
            return status_set(st, LX_E_NO, "the plan claims %lld bytes of %s, but has %lld",
                              (long long)claims[i].claimed, claims[i].what, (long long)claims[i].real);
    return true;
}

/* Everything that follows from the addresses, made again and compared. */
static bool check_totals(const struct lx_plan *p, lx_status *st)
{
    struct lx_plan again = *p;
    struct arena scratch = {0};
    again.memory = &scratch;
    bool ok =
        (!p->draft || perfect_traffic(p->draft, &again.perfect_hbm_bytes, st)) && plan_totals(&again, st);
    const struct claim claims[] = {
        {"HBM traffic", p->hbm_bytes, again.hbm_bytes},
        {"HBM traffic with all off chip", p->baseline_hbm_bytes, again.baseline_hbm_bytes},
        {"spill", p->spill_bytes, again.spill_bytes},
        {"ring traffic", p->ring_bytes, again.ring_bytes},
        {"height", p->height_bytes, again.height_bytes}};
    ok = ok && all_true(claims, sizeof claims / sizeof *claims, st);
    arena_free(&scratch);
    return ok;
}

static bool check_bound(const struct lx_plan *p, int64_t objective, lx_status *st)
{
    if (p->bound_bytes > objective)
        return status_set(st, LX_E_NO,
                          "the plan claims a bound of %lld bytes above its own objective of %lld",
                          (long long)p->bound_bytes, (long long)objective);
    if (p->answer.status == LX_OPTIMAL && p->problem.objective != LX_FIT && p->bound_bytes != objective)
        return status_set(st, LX_E_NO,
                          "the plan claims to be optimal, but its bound is %lld and its objective %lld",
                          (long long)p->bound_bytes, (long long)objective);
    return true;
}

bool lx_plan_check(const struct lx_plan *p, lx_status *st)
{
    int64_t objective;
    /* A solver that was stopped before it had a complete placement for the height question has nothing to
     * be checked; one that was stopped later has. */
    if (p->answer.status == LX_ERROR ||
        (p->problem.objective == LX_HEIGHT && p->answer.status == LX_LIMIT && p->height_bytes == 0))
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
    if (!p->graph->is_list && (!check_stays(p, st) || !pool_check(p, st))) return false;
    if (!check_totals(p, st)) return false;
    return check_bound(p, p->problem.objective == LX_HEIGHT ? objective : p->spill_bytes, st);
}
