/* Ops by tensor (a counting sort). */
#include "team/team_private.h"

void tensor_ops_make(struct tensor_ops *x, const struct lx_graph *g, bool written)
{
    size_t count = 0;
    *x = (struct tensor_ops){.at = mem_zeroed((size_t)g->tensor_count + 2, sizeof *x->at)};
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        int first = written ? op->input_count : 0, end = written ? op_operand_count(op) : op->input_count;
        for (int i = first; i < end; i++, count++) x->at[op_operand(op, i)]++;
    }
    x->op = mem_zeroed(count + 1, sizeof *x->op);
    for (int32_t t = 0; t < g->tensor_count; t++) x->at[t + 1] += x->at[t];
    for (int32_t o = g->op_count; o-- > 0;) {
        const struct lx_op *op = &g->ops[o];
        int first = written ? op->input_count : 0, end = written ? op_operand_count(op) : op->input_count;
        for (int i = first; i < end; i++) x->op[--x->at[op_operand(op, i)]] = o;
    }
}

void tensor_ops_free(struct tensor_ops *x)
{
    mem_free(x->at);
    mem_free(x->op);
}

int32_t tensor_ops_after(const struct tensor_ops *x, int32_t t, int32_t o)
{
    int32_t k;
    BISECT(k, x->at[t], x->at[t + 1], x->op[k] <= o);
    return k < x->at[t + 1] ? x->op[k] : -1;
}

int32_t tensor_ops_before(const struct tensor_ops *x, int32_t t, int32_t o)
{
    int32_t k;
    BISECT(k, x->at[t], x->at[t + 1], x->op[k] < o);
    return k > x->at[t] ? x->op[k - 1] : -1;
}
