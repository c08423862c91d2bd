/* Why each buffer is where it is: the slot it took over, or the reason why it is off chip. */
#include "plan/planner.h"
#include "plan/occupancy.h"
#include "base/digits.h"
#include "base/fail.h"

#include <stdlib.h>

/* `plain`: room alone decides, one pool and one life each. */
static const char *why_off_chip(const struct lx_plan *plan, const struct lx_occupancy *o,
                                const struct lx_buffer *b, bool plain)
{
    const struct lx_problem *p = &plan->problem;
    if (b->reason) return b->reason;
    if (plan->answer.status == LX_ERROR) return "the solver gave no plan";
    if (b->size > p->capacity)
        return arena_format(plan->memory, "larger than the scratchpad: %s of %s bytes",
                            digits_in_groups(b->size).at, digits_in_groups(p->capacity).at);
    if (!plain)
        return plan->answer.status == LX_INFEASIBLE
                   ? "no legal answer exists"
                   : "no place was found for it that is legal and worth its cost";
    int64_t taken = lx_occupancy_most(o, b->start, b->end);
    if (plan->asks_time && taken + b->size <= p->capacity)
        return "left off chip: no less time was found with it on chip";
    if (taken + b->size > p->capacity)
        return arena_format(
            plan->memory,
            "no room on scratchpad: others take up to %s of %s bytes while it lives, it needs %s",
            digits_in_groups(taken).at, digits_in_groups(p->capacity).at, digits_in_groups(b->size).at);
    return arena_format(
        plan->memory,
        "no room on scratchpad: fragmentation; others take at most %s of %s bytes while it lives, but no "
        "hole of %s lasts as long",
        digits_in_groups(taken).at, digits_in_groups(p->capacity).at, digits_in_groups(b->size).at);
}

/* A child stands in a parent's place if both have the same address and nobody took it before. Children
 * are asked in order of their number, as the checker does within a tick. */
static void find_handovers(struct lx_plan *plan, bool *given)
{
    const struct lx_problem *p = &plan->problem;
    const int64_t *address = plan->answer.address;
    for (int32_t i = 0; i < p->count; i++) {
        plan->took_slot_of[i] = -1;
        if (address[i] < 0 || p->buffers[i].size == 0) continue;
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++) {
            int32_t parent = p->buffers[i].parents[k];
            if (address[parent] != address[i] || given[parent]) continue;
            if (plan->answer.pool && plan->answer.pool[parent] != plan->answer.pool[i]) continue;
            given[parent] = true;
            plan->took_slot_of[i] = parent;
            break;
        }
    }
}

bool plan_places(struct lx_plan *plan, lx_status *st)
{
    size_t n = (size_t)plan->problem.count;
    bool *given = calloc(n + 1, sizeof *given);
    plan->took_slot_of = arena_array(plan->memory, n, sizeof *plan->took_slot_of);
    bool ok = given && plan->took_slot_of;
    if (ok) find_handovers(plan, given);
    free(given);
    return ok ? plan_totals(plan, st) : status_no_memory(st);
}

/* Is it a staging buffer that nobody needs, its owner being on chip? */
static bool is_idle_staging(const struct lx_plan *plan, int32_t buffer)
{
    const struct lx_bonds *b = &plan->problem.bonds;
    for (int32_t i = 0; i < b->staging_count; i++)
        if (b->staging[i].a == buffer) return plan->answer.address[b->staging[i].b] >= 0;
    return false;
}

static bool find_reasons(struct lx_plan *plan)
{
    struct lx_occupancy o = {0};
    bool plain = !plan->problem.pool_count && !(lx_problem_needs(&plan->problem) & ~(unsigned)LX_CAN_CHARGES);
    plan->reason = arena_array(plan->memory, (size_t)plan->problem.count, sizeof *plan->reason);
    bool ok = plan->reason && lx_occupancy_make(plan, LX_ALL_POOLS, &o);
    for (int32_t i = 0; ok && i < plan->problem.count; i++)
        if (plan->answer.address[i] < 0) {
            plan->reason[i] = is_idle_staging(plan, i)
                                  ? "staging that is not needed: its owner is on chip"
                                  : why_off_chip(plan, &o, &plan->problem.buffers[i], plain);
            if (plan->stays && plan->reason[i] && plan_wants_on_chip(plan, plan->stays[i].tensor))
                plan->reason[i] = arena_format(plan->memory, "%s; the pattern says lx", plan->reason[i]);
            ok = plan->reason[i] != NULL;
        }
    lx_occupancy_free(&o);
    return ok;
}

bool plan_complete(struct lx_plan *plan, lx_status *st)
{
    return plan_places(plan, st) && (find_reasons(plan) ? true : status_no_memory(st));
}

bool plan_complete_hastily(struct lx_plan *plan, lx_status *st)
{
    if (!plan_places(plan, st)) return false;
    plan->reason = arena_array(plan->memory, (size_t)plan->problem.count, sizeof *plan->reason);
    if (!plan->reason) return status_no_memory(st);
    for (int32_t i = 0; i < plan->problem.count; i++)
        if (plan->answer.address[i] < 0)
            plan->reason[i] = plan->problem.buffers[i].reason
                                  ? plan->problem.buffers[i].reason
                                  : "no room in this answer; a better one is looked for";
    return true;
}
