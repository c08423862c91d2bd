/* Dead ops: those of which no result reaches an output of the graph or an op off the device; and dead
 * results. One pass from the last op to the first; a full write ends the life of what the tensor held
 * before, an insert does not. */
#include "layout/insert_restickifies.h"
#include "base/memory.h"
#include "graph/results.h"

#include <stdlib.h>

/* Without the results that nobody wants; where that is no op, or memory is out, it makes them all. */
static void drop_results(struct lx_op *op, const bool *wanted, struct arena *memory)
{
    int which[LX_MAX_OUTPUTS], count = 0;
    int32_t *outputs = arena_array(memory, (size_t)op->output_count, sizeof *outputs);
    struct lx_op less;
    for (int i = 0; outputs && i < op->output_count; i++)
        if (wanted[op->outputs[i]]) which[count] = i, outputs[count++] = op->outputs[i];
    if (outputs && op_with_results(op, which, outputs, count, &less)) *op = less;
}

int32_t find_dead_ops(const struct lx_graph *g, bool *alive, struct lx_op *ops, struct arena *memory)
{
    bool *wanted = mem_zeroed((size_t)g->tensor_count + 1, sizeof *wanted);
    int32_t dead = 0;
    for (int32_t t = 0; wanted && t < g->tensor_count; t++) wanted[t] = lx_role_leaves(g->tensors[t].role);
    for (int32_t o = g->op_count; o-- > 0;) {
        const struct lx_op *op = &g->ops[o];
        /* Without memory for the marks every op counts as alive: slower, never wrong. */
        alive[o] = !wanted || (op->kind->traits & LX_EXTERN) != 0;
        for (int i = op->input_count; !alive[o] && i < op_operand_count(op); i++)
            alive[o] = wanted[op_operand(op, i)];
        dead += !alive[o];
        if (!alive[o] || !wanted) continue;
        if (op->output_count > 1) drop_results(&ops[o], wanted, memory);
        for (int i = op->input_count; !op_keeps_rest(op) && i < op_operand_count(op); i++)
            wanted[op_operand(op, i)] = false;
        for (int i = 0; i < op->input_count; i++) wanted[op->inputs[i]] = true;
    }
    mem_free(wanted);
    return dead;
}
