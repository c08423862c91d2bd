/* From an op's index map to flat indices, and from these through the stride map to device coordinates: the
 * way that a compiler which knows only the flat index of an access goes. */
#include "layout/operand_coordinates.h"

bool operand_coordinates(const struct lx_layouts *l, int32_t op, const struct op_index *x, int operand,
                         struct coordinate *out, lx_status *st)
{
    const struct lx_layout *y = &l->layouts[op_operand(&l->graph->ops[op], operand)];
    struct index_term index[LX_MAX_RANK];
    int64_t constant = 0, step = 1;
    int count = x->rank[operand];
    for (int d = count - 1; d >= 0; d--) {
        int v = x->var[operand][d];
        index[d] = (struct index_term){v, op_index_stride(x, operand, d) * step, x->extent[v], 0};
        constant += op_index_offset(x, operand, d) * step;
        step *= y->host_shape[d];
    }
    return access_coordinates(y->rank, y->size, y->stride_map, index, count, constant, out, st);
}
