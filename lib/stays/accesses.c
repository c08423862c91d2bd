/* Who accesses which tensor, and what that costs in HBM: the sticks that are touched, each once, whatever the
 * number of cores that want them. */
#include "stays/draft.h"
#include "base/checked.h"
#include "base/fail.h"
#include "graph/choice.h"
#include "layout/op_index.h"

#include <string.h>

int64_t tensor_bytes(const struct lx_layouts *l, int32_t tensor)
{
    const struct lx_layout *y = &l->layouts[tensor];
    return y->rank > 0 ? lx_layout_bytes(y) : l->graph->tensors[tensor].bytes;
}

int64_t operand_bytes(const struct lx_divisions *d, int32_t op, int operand)
{
    int32_t tensor = op_operand(&d->layouts->graph->ops[op], operand),
            n = nest_of_op(d->nests, d->nest_count, op);
    int64_t whole = tensor_bytes(d->layouts, tensor);
    if (n < 0) return whole;
    struct nest_tensor t = nest_tensor_of(d->layouts, &d->nests[n], tensor);
    return whole * nest_product(&d->nests[n], levels_to(LX_MAX_LEVELS) & ~t.indexed);
}

/* How many steps of `step` indices the positions offset + stride * v, 0 <= v < extent, fall into, of those
 * inside [0, size). */
static int64_t steps_touched(int64_t offset, int64_t stride, int64_t extent, int64_t size, int64_t step)
{
    int64_t first = offset >= 0 ? 0 : ceil_div_i64(-offset, stride);
    int64_t last = min_i64(extent - 1, offset < size ? (size - 1 - offset) / stride : -1);
    if (first > last) return 0;
    if (stride >= step) return last - first + 1;
    return (offset + stride * last) / step - (offset + stride * first) / step + 1;
}

static int64_t accesses_access_bytes(const struct lx_layouts *l, const struct lx_op *op, int operand)
{
    int32_t tensor = op_operand(op, operand);
    if ((op->offset || (op->map && op->map->walks)) && l->layouts[tensor].rank > 0) {
        struct op_index x;
        op_index_of(l->graph, op, &x);
        if (x.known && op_index_shifted(&x, operand)) {
            /* The operand of a view that is larger than what is moved. */
            int64_t sticks = 1;
            for (int k = 0; k < l->layouts[tensor].rank - 1; k++) {
                int h = l->layouts[tensor].host_dim[k];
                int64_t positions = l->layouts[tensor].size[k];
                if (h >= 0)
                    positions = steps_touched(op_index_offset(&x, operand, h),
                                              op_index_stride(&x, operand, h), x.extent[x.var[operand][h]],
                                              l->layouts[tensor].host_shape[h], l->layouts[tensor].step[k]);
                if (!mul_i64(sticks, positions, &sticks)) return INT64_MAX;
            }
            return mul_i64(sticks, l->layouts[tensor].stick_bytes, &sticks) ? sticks : INT64_MAX;
        }
    }
    struct lx_choice c;
    if (lx_choice_of(op, &c) && c.operand == operand) {
        /* The operand that an op chooses from: so many times what is chosen, but no more than there is. */
        int64_t sticks = lx_choice_picks(op, &c), whole = lx_layout_bytes(&l->layouts[tensor]);
        for (int k = 0; k < l->layouts[tensor].rank - 1; k++) {
            int v = l->layouts[tensor].host_dim[k] < 0
                        ? -1
                        : op->map->index[c.operand][(int)l->layouts[tensor].host_dim[k]],
                window = -2;
            for (int a = 0; v >= 0 && a < c.axis_count; a++)
                if (c.var[a] == v) window = c.window[a];
            /* Positions of a dimension with steps of `step` indices that `count` neighbours are in, wherever they
 * begin. */
            int64_t positions =
                window >= 0
                    ? min_i64(l->layouts[tensor].size[k],
                              ceil_div_i64(op->map->extent[window] - 1, l->layouts[tensor].step[k]) + 1)
                : window == -1 || (v >= 0 && lx_choice_by(op, &c, v)) ? 1
                                                                      : l->layouts[tensor].size[k];
            if (!mul_i64(sticks, positions, &sticks)) return whole;
        }
        return mul_i64(sticks, l->layouts[tensor].stick_bytes, &sticks) ? min_i64(sticks, whole) : whole;
    }
    return tensor_bytes(l, tensor);
}

void draft_accesses(struct draft *x)
{
    size_t ops = (size_t)x->graph->op_count, tensors = (size_t)x->graph->tensor_count, count = 0;
    for (size_t o = 0; o < ops; o++) count += (size_t)op_operand_count(&x->graph->ops[o]);
    x->accesses = arena_array(x->memory, count, sizeof *x->accesses);
    x->access_op = arena_array(x->memory, count, sizeof *x->access_op);
    x->access_at = arena_array(x->memory, ops + 1, sizeof *x->access_at);
    x->tensor_access = arena_array(x->memory, count, sizeof *x->tensor_access);
    x->tensor_at = arena_array(x->memory, tensors + 2, sizeof *x->tensor_at);
    int32_t at = 0;
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        x->access_at[o] = at;
        const struct lx_op *op = &x->graph->ops[o];
        for (int i = 0; i < op_operand_count(op); i++) {
            bool output = i >= op->input_count;
            x->access_op[at + i] = o;
            x->accesses[at + i] = (struct lx_access){.tensor = op_operand(op, i),
                                                     .stay = -1,
                                                     .reads = !output || op_keeps_rest(op),
                                                     .writes = output,
                                                     .bytes = accesses_access_bytes(x->layouts, op, i)};
        }
        at += op_operand_count(&x->graph->ops[o]);
    }
    x->access_at[ops] = at;
    draft_holds(x);
    for (int32_t a = 0; a < at; a++) {
        int64_t whole = x->accesses[a].bytes;
        x->accesses[a].bytes = held_access_bytes(x, a, whole);
        x->accesses[a].again = held_again_bytes(x, a, whole);
    }
    /* Counting sort; stable, so that each tensor's accesses stay in order of time, reads of an op before its
     * write. Entry t + 1 runs ahead as the place of the next access of t and ends as the begin of t + 1. */
    for (int32_t a = 0; a < at; a++) x->tensor_at[x->accesses[a].tensor + 2]++;
    for (size_t t = 1; t <= tensors; t++) x->tensor_at[t + 1] += x->tensor_at[t];
    for (int32_t a = 0; a < at; a++) x->tensor_access[x->tensor_at[x->accesses[a].tensor + 1]++] = a;
}
