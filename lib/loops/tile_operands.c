/* Orders of dense operands: see tile_operands.h. */
#include "loops/nest_of_op.h"

/* Where a variable stands in the order of an operand; lower is further out. */
enum { OF_BOTH, SUMMED_EARLY, OF_OUTPUT, SUMMED, CLASSES };

static int tile_operands_class_of(const struct op_index *x, bool contracts, bool sums_inside, int v)
{
    if (op_index_reduced(x, v)) return sums_inside ? SUMMED : SUMMED_EARLY;
    /* Both inputs of a contraction have it, and the output. */
    return contracts && op_index_dim(x, 0, v) >= 0 && op_index_dim(x, 1, v) >= 0 ? OF_BOTH : OF_OUTPUT;
}

int tile_operand_order(const struct op_index *x, bool contracts, const struct lx_layout *l, int operand,
                       int *order)
{
    int output = x->output, all[LX_MAX_VARS + LX_MAX_RANK], count = 0, n = 0;
    bool sums_inside = true;
    if (contracts && operand == 1) /* as its sticks run, so that packing copies runs */
        sums_inside = l->stick_dim >= 0 && op_index_reduced(x, x->var[operand][l->stick_dim]);
    for (int d = 0; d < x->rank[output]; d++) all[count++] = x->var[output][d];
    count += op_index_sum_order(x, all + count);
    for (int class = 0; class < CLASSES; class ++)
        for (int i = 0; i < count; i++)
            if (op_index_dim(x, operand, all[i]) >= 0 &&
                (operand == output ? OF_OUTPUT : tile_operands_class_of(x, contracts, sums_inside, all[i])) ==
                    class)
                order[n++] = all[i];
    return n;
}

void tile_operand_strides(const int *order, int count, const struct op_index *x, const int64_t *size,
                          int64_t *stride)
{
    int64_t step = 1;
    for (int v = 0; v < x->var_count; v++) stride[v] = 0;
    for (int i = count - 1; i >= 0; i--) {
        stride[order[i]] = step;
        step *= size[order[i]];
    }
}
