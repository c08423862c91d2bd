/* Constraints of the ops that graphs have: which axes must stay whole, and which factors others may take.
 *
 * Blocks add up and domains intersect. A domain that leaves nothing is an error of whoever
 * asks for splits. */
#include "divide/space.h"
#include "base/checked.h"

void axis_block(struct axis *a, const char *constraint)
{
    struct factor_set one = {{0}};
    factor_add(&one, 1);
    a->blocked = true;
    axis_allow(a, &one, constraint);
}

bool axis_allow(struct axis *a, const struct factor_set *allowed, const char *constraint)
{
    struct factor_set left = factors_common(&a->legal, allowed);
    if (!a->constraint) a->constraint = constraint;
    a->legal = left;
    return factor_least(&left, 1) > 0;
}

bool constraint_padded_reduction(int64_t extent, int64_t unit, bool is_reduction)
{
    return is_reduction && unit > 1 && extent % unit != 0;
}

bool constraint_unaligned(int64_t extent, int64_t unit)
{
    return unit > 1 && extent % unit != 0;
}

bool conv_blocks_spatial(const int64_t *stride, int count)
{
    for (int i = 0; i < count; i++)
        if (stride[i] > 1) return true;
    return false;
}

/* Are these rows of an operand that is padded for a product which reads it? Slices of the rows that are
 * there are none of the whole, so that no core could hold its own on chip. A product divides by cost. */
static bool pads_rows(const struct lx_layouts *l, const struct lx_op *op, const struct op_index *x, int v)
{
    bool pads = false;
    for (int k = 0; k < x->operand_count && !(op->kind->traits & LX_CONTRACTS); k++) {
        const struct lx_layout *y = &l->layouts[op_operand(op, k)];
        int d = op_index_dim(x, k, v);
        if (d < 0 || d == y->stick_dim) continue;
        for (int i = 0; i < y->rank - 1; i++) pads |= y->host_dim[i] == d && y->size[i] > y->host_shape[d];
    }
    return pads;
}

/* Could one core hold all that the op has? Then more cores are of little use. */
static bool is_small(const struct lx_layouts *l, const struct lx_op *op)
{
    int64_t bytes = 0, room = lx_device_usable(&l->graph->device);
    for (int k = 0; k < op_operand_count(op) && bytes <= room; k++) {
        const struct lx_layout *y = &l->layouts[op_operand(op, k)];
        if (!add_i64(bytes, y->rank ? lx_layout_bytes(y) : l->graph->tensors[op_operand(op, k)].bytes,
                     &bytes))
            return false;
    }
    return bytes <= room;
}

/* Cores that the axes have work for which take nothing apart. */
static int64_t cores_without(const struct space *s)
{
    int64_t cores = 1;
    for (int i = 0; i < s->axis_count; i++)
        if (!s->axes[i].apart && !s->axes[i].blocked && !s->axes[i].is_reduction)
            cores *= factor_most(&s->axes[i].legal, s->cores / cores);
    return cores;
}

void constrain_op(const struct lx_layouts *l, int32_t op_number, const struct op_index *x,
                  const int *axis_of_var, struct space *s)
{
    const struct lx_op *op = &l->graph->ops[op_number];
    const struct lx_layout *out = &l->layouts[op->output];
    for (int v = 0; v < x->var_count; v++) {
        struct axis *a = &s->axes[axis_of_var[v]];
        /* Why an axis of this nature stays whole; NULL: it may be cut. */
        enum lx_nature n = lx_var_nature(op, v);
        static const char *const why[] = {[LX_WINDOWED] = "a window, which follows from where it is",
                                          [LX_CHOSEN] = "a dimension of which an operand chooses",
                                          [LX_JOINED] = "a dimension that the op takes as a whole",
                                          [LX_SHIFTED] = NULL};
        const char *whole = n == LX_ITERATED ? NULL : why[n];
        if (whole) axis_block(a, whole);
        if (constraint_padded_reduction(a->extent, a->unit, op_index_reduced(x, v)))
            axis_block(a, "a reduction over a partly filled stick");
        if (op_is_restickify(op) && constraint_unaligned(a->extent, a->unit))
            axis_block(a, "a restickify of a partly filled stick");
        /* Parts that cores make of it cannot be added. */
        if (op_index_reduced(x, v) && (op->kind->id == LX_KIND_LOGSUMEXP || op->kind->id == LX_KIND_BLEND))
            axis_block(a, "a running sum, whose parts are not added up as they are");
        /* The device moves over the input of a convolution step by step: with a stride it does all steps on one
 * core. */
        int64_t stride[LX_MAX_RANK];
        bool slides = false;
        for (int i = 0; i < op->window_count; i++) {
            stride[i] = op->windows[i].stride;
            slides |= op->windows[i].out == v;
        }
        if (slides && (op->kind->traits & LX_CONTRACTS) && conv_blocks_spatial(stride, op->window_count))
            axis_block(a, "a convolution with a stride, whose steps one core does");
        /* Cores that would write parts of one stick. */
        int last = x->output, d = op_index_dim(x, last, v);
        if (op_index_shifted(x, last) && d >= 0 && d == out->stick_dim &&
            op_index_leaves_sticks(x, last, d, out->stick_elements))
            axis_block(a, "an insert that begins within a stick");
        a->apart = pads_rows(l, op, x, v) || (lx_var_nature(op, v) == LX_SHIFTED && !op_index_reduced(x, v));
    }
    if (!is_small(l, op) && cores_without(s) < s->cores)
        for (int i = 0; i < s->axis_count; i++) s->axes[i].apart = false;
}
