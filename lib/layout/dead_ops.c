/* Dead ops: those whose result reaches no output of the graph and no op off the device. One pass from the
 * last op to the first; a full write ends the life of what the tensor held before, an insert does not. */
#include "layout/insert_restickifies.h"

#include <stdlib.h>

int32_t find_dead_ops(const struct lx_graph *g, bool *alive)
{
    bool *wanted = calloc((size_t)g->tensor_count + 1, sizeof *wanted);
    int32_t dead = 0;
    for (int32_t t = 0; wanted && t < g->tensor_count; t++) wanted[t] = lx_role_leaves(g->tensors[t].role);
    for (int32_t o = g->op_count; o-- > 0;) {
        const struct lx_op *op = &g->ops[o];
        /* Without memory for the marks every op counts as alive: slower, never wrong. */
        alive[o] = !wanted || wanted[op->output] || (op->kind->traits & LX_EXTERN) != 0;
        dead += !alive[o];
        if (!alive[o] || !wanted) continue;
        if (!op_keeps_rest(op)) wanted[op->output] = false;
        for (int i = 0; i < op->input_count; i++) wanted[op->inputs[i]] = true;
    }
    free(wanted);
    return dead;
}
