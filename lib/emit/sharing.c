/* A split sum in HBM belongs to the first core of its group, and the plan has no sync between this core and
 * itself. All cores of the group may add parts if everybody who touches the bytes later does so after a
 * sync of all; who touched them before has arrived when the group has met. */
#include "emit/emission.h"

static bool sharing_overlaps(const struct emission *e, int32_t a, int32_t b)
{
    const int64_t *at = e->plan->hbm_address;
    const struct lx_layout *l = e->plan->layouts->layouts;
    return at[a] >= 0 && at[b] >= 0 && at[a] < at[b] + lx_layout_bytes(&l[b]) &&
           at[b] < at[a] + lx_layout_bytes(&l[a]);
}

static bool sharing_touches(const struct emission *e, int32_t tick, int32_t tensor)
{
    const struct lx_plan *p = e->plan;
    const struct lx_op *op = &e->graph->ops[tick];
    for (int i = 0; i < op_operand_count(op); i++)
        if (lx_plan_place(p, tick, i) < 0 && sharing_overlaps(e, op_operand(op, i), tensor)) return true;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        bool here = t->tick == tick || (t->ahead && lx_issue_tick(t) == tick);
        if (here && lx_through_hbm(t->kind) && sharing_overlaps(e, p->stays[t->stay].tensor, tensor))
            return true;
    }
    return false;
}

static bool sharing_ends(const struct emission *e, int32_t tick)
{
    for (int32_t i = 0; i < e->plan->sync_count; i++)
        if (e->plan->syncs[i].before == tick) return true;
    for (int32_t i = 0; i < e->plan->bundle_count; i++)
        if (e->plan->bundles[i].first == tick) return true;
    return false;
}

bool sum_is_shared(const struct emission *e, const struct op_emission *o)
{
    if (o->groups < 2 || o->place[o->out].in != PLACE_HBM || e->nest) return false;
    for (int32_t k = e->tick + 1; k < e->graph->op_count && !sharing_ends(e, k); k++)
        if (sharing_touches(e, k, o->op->output)) return false;
    return true;
}
