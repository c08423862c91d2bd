/* For solvers that take no linked costs: each buffer is priced by itself. What a charge costs unless a buffer is on chip
 * is shared out among those whose absence triggers it, what being on chip costs for sure is taken off. The answer is
 * then weighed by the true costs, and the bound is the placement stage's own. */
#include "search/planner.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "placement/solve.h"

#include <stdlib.h>

static void unlinked_add_share(struct lx_buffer *buffers, const struct lx_group *g, int64_t share)
{
    for (int32_t i = 0; i < g->count; i++) buffers[g->at[i]].spill_cost += share;
}

static void unlinked_share_out(const struct lx_problem *p, struct lx_buffer *buffers)
{
    for (int32_t i = 0; i < p->bonds.charge_count; i++) {
        const struct lx_charge *c = &p->bonds.charges[i];
        int32_t absent = c->all_off.count + c->any_off.count;
        if (absent == 0 && c->all_on.count == 1)
            buffers[c->all_on.at[0]].spill_cost -= c->cost;
        else if (absent) {
            unlinked_add_share(buffers, &c->all_off, c->cost / absent);
            unlinked_add_share(buffers, &c->any_off, c->cost / absent);
        }
    }
    for (int32_t i = 0; i < p->count; i++) buffers[i].spill_cost = max_i64(0, buffers[i].spill_cost);
}

bool solve_unlinked(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                    struct lx_answer *answer, lx_status *st)
{
    struct lx_problem plain = *p;
    struct lx_buffer *buffers = mem_alloc(((size_t)p->count + 1) * sizeof *buffers);
    if (!buffers) return status_no_memory(st);
    for (int32_t i = 0; i < p->count; i++) buffers[i] = p->buffers[i];
    unlinked_share_out(p, buffers);
    plain.buffers = buffers;
    plain.bonds = (struct lx_bonds){0};
    bool ok = solve_valid(&plain, solver, run, answer, st);
    answer->bound = ok && !run->hasty ? lx_bound(p) : 0;
    ok = ok && lx_problem_check(p, answer->address, &answer->objective, st);
    mem_free(buffers);
    if (ok && answer->status == LX_OPTIMAL && answer->objective != answer->bound)
        answer->status = LX_FEASIBLE;
    return ok;
}
