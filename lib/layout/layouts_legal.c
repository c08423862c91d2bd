/* Can the ops run with these layouts? Asked of layouts that come from a file; the stage's own are made so. */
#include "layout/stated_layouts.h"
#include "base/checked.h"
#include "base/fail.h"
#include "layout/propagate.h"

static int stick_of(const struct lx_layouts *l, int32_t tensor)
{
    return l->layouts[tensor].rank == 0 ? -1 : l->layouts[tensor].stick_dim;
}

/* Positions that a host dimension occupies. */
static int64_t positions(const struct lx_layout *l, int dim)
{
    for (int i = 0; i < l->rank - 1; i++)
        if (l->host_dim[i] == dim) return l->size[i];
    return 0;
}

/* Rows of a matmul's kernel go up to whole sticks of the other operand, unless its own sticks run along them. */
static bool kernel_is_padded(const struct lx_layouts *l, const struct lx_op *op, const struct op_index *x,
                             const struct stick_way *w)
{
    if (w->kernel < 0) return true;
    const struct lx_layout *kernel = &l->layouts[op->inputs[w->kernel]];
    int64_t rows = x->extent[w->kernel_row], e = l->layouts[op->inputs[1 - w->kernel]].stick_elements;
    int dim = op_index_dim(x, w->kernel, w->kernel_row);
    return rows == 1 || dim == kernel->stick_dim || positions(kernel, dim) >= round_up_i64(rows, e);
}

/* The variable that an op's sticks run along; of a restickify it is the dimension that its output's do. */
static bool same_stick_var(const struct lx_layouts *l, int32_t o, const struct stick_way *w)
{
    int stated = l->stick_var[o];
    return stated == w->stick_var || (w->turns && stated == stick_of(l, l->graph->ops[o].output));
}

static bool way_fits(const struct lx_layouts *l, int32_t o, const struct op_index *x,
                     const struct stick_way *w)
{
    const struct lx_op *op = &l->graph->ops[o];
    if (!same_stick_var(l, o, w)) return false;
    for (int i = 0; i <= op->input_count; i++) {
        int32_t t = op_operand(op, i);
        if (l->graph->tensors[t].rank >= 0 &&
            !stick_satisfies(&l->graph->tensors[t], stick_of(l, t), w->need[i]))
            return false;
    }
    return kernel_is_padded(l, op, x, w);
}

bool layouts_legal(const struct lx_layouts *l, lx_status *st)
{
    struct stick_way ways[MAX_STICK_WAYS];
    for (int32_t o = 0; o < l->graph->op_count; o++) {
        struct op_index x;
        op_index_of(l->graph, &l->graph->ops[o], &x);
        int count = stick_ways(l->graph, &l->graph->ops[o], &x, ways), i = 0;
        while (i < count && !way_fits(l, o, &x, &ways[i])) i++;
        if (i == count)
            return status_set(st, LX_E_NO, "op %s cannot run with the layouts of its operands",
                              l->graph->ops[o].name);
    }
    return true;
}
