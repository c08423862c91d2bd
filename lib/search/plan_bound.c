/* What no plan that the passes may find goes below, and in words what keeps it from being more. */
#include "plan/plan.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/stop.h"
#include "search/keep.h"
#include "search/planner.h"
#include "nests/alone.h"

bool bundles_are_limited(const struct planner *p)
{
    const struct draft *x = &p->best.draft;
    int32_t runs = x->graph->op_count > 0;
    for (int32_t o = 1; o < x->graph->op_count; o++)
        runs += (x->graph->ops[o].kind->traits | x->graph->ops[o - 1].kind->traits) & LX_WIPES ? 1 : 0;
    return x->bundle_count > runs;
}

/* The pass that is still to come and may go below the bound of the divisions as chosen; NULL: there is none, as where
 * traffic is not asked for: then no pass searches. */
static const struct lx_pass *voiding_pass(const struct planner *p)
{
    if (p->best.draft.problem.objective != LX_SPILL) return NULL;
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        if (planner_is_on(p, row) && row->bound == LX_BOUND_VOID) return row;
    return NULL;
}

/* With nests: that of each tensor alone. Where they cannot help nothing is looked for. */
static bool find_nest_bound(struct planner *p)
{
    if (!planner_runs(p, tile_search) || p->best.draft.problem.objective != LX_SPILL) return true;
    bool ok = nest_bound(p, &p->nested, &p->bound);
    if (!ok && stop_is_now()) {
        p->nested = true;
        p->bound = crossing_traffic(&p->best.draft);
    }
    if (!stop_forgiven(ok, p->st)) return false;
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        if (row->search == tile_search && !p->nested) p->left_out |= 1u << (row - lx_passes());
    p->unproved =
        "the bound does not reach: it has each tensor alone on chip, in the nests that are best for it";
    return true;
}

bool planner_find_bound(struct planner *p, bool limited)
{
    bool ok = find_nest_bound(p);
    /* The search over divisions knew no nests. */
    if (p->nested) p->joint.bound_bytes = min_i64(p->joint.bound_bytes, p->bound);
    if (!ok || p->nested) return ok;
    const struct lx_pass *row = voiding_pass(p);
    p->bound = p->best.bound;
    p->unproved = p->best.open_relayouts && p->options->solver->caps & LX_CAN_PROVE
                      ? "the bound does not reach: not all ways to decide relayouts were tried"
                      : NULL;
    if (limited && !p->joint.searched) {
        p->bound = crossing_traffic(&p->best.draft);
        ok = stop_forgiven(borderless_traffic(&p->best.draft, &p->bound, p->st), p->st);
        p->unproved = "the bound does not reach: it leaves out how ops are bundled";
    } else if (p->joint.searched) {
        p->unproved = "the bound does not reach: the search over divisions ended above it";
    } else if (row) {
        p->bound = p->best.perfect_bytes;
        p->unproved = arena_format(
            p->memory, "the bound does not reach: with --%s it leaves out where buffers lie", row->option);
        ok = p->unproved ? true : status_no_memory(p->st);
    }
    return ok;
}

bool planner_raise_bound(struct planner *p, bool limited)
{
    int64_t least = 0;
    /* The model knows the borders of bundles as they stand, and they may still be taken away. */
    if (limited || p->joint.searched || p->best.hbm_bytes <= p->bound) return true;
    if (p->nested) return true; /* and nothing of nests */
    if (!keep_bound(p, &least)) return false;
    p->bound = max_i64(p->bound, least);
    return true;
}
