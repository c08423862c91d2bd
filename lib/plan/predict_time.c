/* Predicted time of a placement: each op by the cost of its division with the operands that go through HBM,
 * and the copies of its tick: loads and stores at HBM's rate, relayouts by the ring's model. */
#include "plan/planner.h"
#include "base/fail.h"
#include "cost/op.h"

#include <stdlib.h>

static double transfer_us(const struct draft *x, const struct lx_transfer *t)
{
    if (t->kind != LX_RING) return cost_copy(&x->graph->device, t->bytes);
    struct lx_core_view from = stay_view(x, t->source), to = stay_view(x, t->stay);
    return view_ring_us(x->layouts, x->stays[t->stay].tensor, &from, &to);
}

double predict_times(const struct draft *x, const int64_t *address, const struct lx_transfer *transfers,
                     int32_t transfer_count, struct lx_op_traffic *ops)
{
    double sum = 0;
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        bool through_hbm[LX_MAX_INPUTS + 1];
        for (int i = 0; i <= x->graph->ops[o].input_count; i++) {
            int32_t stay = x->accesses[x->access_at[o] + i].stay;
            through_hbm[i] = stay < 0 || address[stay] < 0;
        }
        ops[o].us = lx_division_us(x->divisions, o, through_hbm);
    }
    for (int32_t i = 0; i < transfer_count; i++) ops[transfers[i].tick].us += transfer_us(x, &transfers[i]);
    for (int32_t o = 0; o < x->graph->op_count; o++) sum += ops[o].us;
    return sum;
}

bool attempt_us(const struct attempt *a, double *us, lx_status *st)
{
    struct arena scratch = {0};
    struct traffic t;
    struct lx_op_traffic *ops = calloc((size_t)a->draft.graph->op_count + 1, sizeof *ops);
    bool ok = ops ? traffic_list(&a->draft, a->answer.address, &scratch, &t, ops, st) : status_no_memory(st);
    if (ok) *us = predict_times(&a->draft, a->answer.address, t.transfers, t.transfer_count, ops);
    free(ops);
    arena_free(&scratch);
    return ok;
}
