/* Ops by tensor, sorted by counting. */
#include "team/tensor_ops.h"
#include "base/memory.h"

#include <stdlib.h>

struct operands {
    int begin, end;
};

static struct operands tensor_ops_operands_of(const struct lx_op *op, bool written)
{
    return written ? (struct operands){op->input_count, op_operand_count(op)}
                   : (struct operands){0, op->input_count};
}

bool tensor_ops_make(struct tensor_ops *x, const struct lx_graph *g, bool written)
{
    size_t count = 0;
    *x = (struct tensor_ops){.at = mem_zeroed((size_t)g->tensor_count + 2, sizeof *x->at)};
    if (!x->at) return false;
    for (int32_t o = 0; o < g->op_count; o++) {
        struct operands r = tensor_ops_operands_of(&g->ops[o], written);
        for (int i = r.begin; i < r.end; i++, count++) x->at[op_operand(&g->ops[o], i)]++;
    }
    x->op = mem_zeroed(count + 1, sizeof *x->op);
    if (!x->op) return false;
    for (int32_t t = 0; t < g->tensor_count; t++) x->at[t + 1] += x->at[t];
    for (int32_t o = g->op_count; o-- > 0;) {
        struct operands r = tensor_ops_operands_of(&g->ops[o], written);
        for (int i = r.begin; i < r.end; i++) x->op[--x->at[op_operand(&g->ops[o], i)]] = o;
    }
    return true;
}

void tensor_ops_free(struct tensor_ops *x)
{
    mem_free(x->at);
    mem_free(x->op);
}

/* Where in its list the first one behind op `o` stands, or the list ends. */
static int32_t place_after(const struct tensor_ops *x, int32_t t, int32_t o)
{
    int32_t low = x->at[t], high = x->at[t + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (x->op[middle] > o)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int32_t tensor_ops_after(const struct tensor_ops *x, int32_t t, int32_t o)
{
    int32_t k = place_after(x, t, o);
    return k < x->at[t + 1] ? x->op[k] : -1;
}

int32_t tensor_ops_before(const struct tensor_ops *x, int32_t t, int32_t o)
{
    int32_t k = place_after(x, t, o - 1);
    return k > x->at[t] ? x->op[k - 1] : -1;
}
