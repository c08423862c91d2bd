/* Predicted time of a plan: each op by the cost of its division with the bytes that it really moves, and the
 * relayouts before it. */
#include "scratchpad/make.h"
#include "cost/op.h"

void predict_times(struct lx_plan *p)
{
    p->predicted_us = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        struct lx_op_traffic *t = &p->traffic[o];
        t->us = lx_division_us(p->divisions, o, t->hbm_read, t->hbm_written);
    }
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        if (x->kind != LX_RING) continue;
        struct lx_core_view from = stay_view(p->draft, x->source), to = stay_view(p->draft, x->stay);
        p->traffic[x->tick].us += view_ring_us(p->layouts, p->stays[x->stay].tensor, &from, &to);
    }
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) p->predicted_us += p->traffic[o].us;
}
