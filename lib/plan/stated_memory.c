/* Tensors that the pattern wants on chip, or off it: are they there, at every op that accesses them? */
#include "plan/plan_make.h"
#include "base/fail.h"
#include "layout/op_index.h"

bool plan_wants_on_chip(const struct lx_plan *p, int32_t tensor)
{
    return p->layouts->graph->tensors[tensor].memory == 1 + LX_MEMORY_LX;
}

bool lx_plan_stated_met(const struct lx_plan *p, lx_status *st)
{
    for (int32_t o = 0; p->layouts && o < p->layouts->graph->op_count; o++) {
        const struct lx_op *op = &p->layouts->graph->ops[o];
        for (int i = 0; i < op_operand_count(op); i++) {
            int32_t tensor = op_operand(op, i), stay = p->accesses[p->access_at[o] + i].stay;
            bool placed = lx_plan_place(p, o, i) >= 0;
            if (placed && p->layouts->graph->tensors[tensor].memory == 1 + LX_MEMORY_HBM)
                return status_set(st, LX_E_NO, "the pattern says that %s is in HBM, but op %s has it on chip",
                                  p->layouts->graph->tensors[tensor].name, op->name);
            if (!plan_wants_on_chip(p, tensor) || placed) continue;
            return status_set(st, LX_E_NO, "the pattern says that %s is in lx, but op %s has it in HBM: %s",
                              p->layouts->graph->tensors[tensor].name, op->name,
                              stay >= 0 && p->reason[stay] ? p->reason[stay] : "no stay on chip serves it");
        }
    }
    return true;
}
