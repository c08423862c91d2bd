/* Uses of tensors by the live ops. Rigid are tensors that are written again, since every writer must keep the
 * first one's layout, and those that a restickify of the graph itself reads, since it must change it. */
#include "layout/uses.h"
#include "base/memory.h"
#include "layout/op_index.h"

#include <stdlib.h>

static void uses_gather(const struct lx_graph *g, const bool *alive, struct tensor_uses *u)
{
    for (int32_t t = 0; t < g->tensor_count; t++) u->last_use[t] = u->first[t] = -1;
    for (int32_t o = 0; o < g->op_count; o++) {
        if (!alive[o]) continue;
        const struct lx_op *op = &g->ops[o];
        for (int i = 0; i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            u->readers[t] += i < op->input_count;
            u->last_use[t] = o;
            if (u->first[t] < 0) u->first[t] = o;
        }
        for (int i = op->input_count; i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            u->rigid[t] |= u->written[t];
            u->written[t] = true;
        }
        if (op_is_restickify(op)) u->rigid[op->inputs[0]] = true;
    }
}

static bool starts_there(const struct lx_graph *g, const struct tensor_uses *u, int32_t t)
{
    return (!u->written[t] && u->readers[t] > 1) || (g->tensors[t].role == LX_STATE && u->first[t] >= 0);
}

/* States, and inputs that are read several times, live from the start, what is written from its first writer
 * on. */
static int32_t most_live(const struct lx_graph *g, const bool *alive, const struct tensor_uses *u)
{
    int32_t live = 0, most = 0;
    for (int32_t t = 0; t < g->tensor_count; t++) live += starts_there(g, u, t);
    most = live;
    for (int32_t o = 0; o < g->op_count; o++) {
        if (!alive[o]) continue;
        const struct lx_op *op = &g->ops[o];
        for (int i = op->input_count; i < op_operand_count(op); i++)
            live += u->first[op_operand(op, i)] == o && g->tensors[op_operand(op, i)].role != LX_STATE;
        if (live > most) most = live;
        for (int i = 0; i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            bool again = false;
            for (int k = 0; k < i; k++) again |= op_operand(op, k) == t;
            if (!again && u->last_use[t] == o && (u->written[t] || starts_there(g, u, t))) live--;
        }
    }
    return most;
}

void tensor_uses_make(const struct lx_graph *g, const bool *alive, struct tensor_uses *out)
{
    size_t tensors = (size_t)g->tensor_count + 1;
    *out = (struct tensor_uses){0};
    out->first = mem_alloc(tensors * sizeof *out->first);
    out->last_use = mem_alloc(tensors * sizeof *out->last_use);
    out->readers = mem_zeroed(tensors, sizeof *out->readers);
    out->written = mem_zeroed(tensors, sizeof *out->written);
    out->rigid = mem_zeroed(tensors, sizeof *out->rigid);
    uses_gather(g, alive, out);
    out->most_live = most_live(g, alive, out);
}

void tensor_uses_free(struct tensor_uses *u)
{
    mem_free(u->first);
    mem_free(u->last_use);
    mem_free(u->readers);
    mem_free(u->written);
    mem_free(u->rigid);
}
