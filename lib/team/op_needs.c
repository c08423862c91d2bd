/* Computes the parts of its operands that an op needs. */
#include "team/team_private.h"
#include "layout/layout.h"

bool team_is_shift(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_SHIFT;
}

bool team_plain_index(const struct lx_op *op)
{
    if (!op->map) return op_is_restickify(op);
    return (op->kind->traits & LX_POINTWISE) && !op->reduces && !op->map->walks;
}

/* Whether partial sums of the op can be combined. */
static bool team_adds_up(const struct lx_op *op)
{
    static const enum lx_kind_id kinds[] = {LX_KIND_MATMUL, LX_KIND_SUM, LX_KIND_MEAN, LX_KIND_MAX,
                                            LX_KIND_MIN};
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) known |= op->kind->id == kinds[i];
    return op->map && op->reduces && known;
}

/* Chosen, ordered or displaced elements may lie anywhere along their variable. */
bool team_may_shard(const struct lx_op *op, const struct op_index *x, int v)
{
    enum lx_nature nature = lx_var_nature(op, v);
    if (!x->known || op_index_follows(x, v)) return false;
    if (op_index_reduced(x, v)) /* partial sums need one more dimension */
        return nature == LX_ITERATED && !op_index_slides(x, v) && team_adds_up(op) &&
               x->rank[x->output] < LX_MAX_RANK;
    return nature == LX_ITERATED || (nature == LX_SHIFTED && !(op->kind->traits & LX_PLACES));
}

bool team_picks(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_MAX || op->kind->id == LX_KIND_MIN;
}

/* Linear kinds. `together`: linear in all inputs; otherwise in each single input with the others constant
 * (bits in `one`). `constant`: the op may have a constant operand. */
static const struct linear_kind {
    enum lx_kind_id id;
    bool together, constant;
    unsigned one;
} linear_kinds[] = {
    {LX_KIND_ADD, true, false, 0},        {LX_KIND_SUB, true, false, 0},   {LX_KIND_NEG, true, false, 0},
    {LX_KIND_CLONE, true, false, 0},      {LX_KIND_SUM, true, false, 0},   {LX_KIND_MEAN, true, false, 0},
    {LX_KIND_CONCAT, true, false, 0},     {LX_KIND_SLICE, true, false, 0}, {LX_KIND_SHIFT, true, false, 0},
    {LX_KIND_RESTICKIFY, true, false, 0}, {LX_KIND_MUL, false, true, 3},   {LX_KIND_DIV, false, true, 1},
    {LX_KIND_MATMUL, false, false, 3},
};

bool team_linear(const struct lx_graph *g, const struct lx_op *op, unsigned *one)
{
    *one = 0;
    for (size_t k = 0; k < sizeof linear_kinds / sizeof *linear_kinds; k++) {
        const struct linear_kind *row = &linear_kinds[k];
        if (row->id != op->kind->id) continue;
        if (op->output_count > 1 || op_keeps_rest(op)) return false;
        /* These types round alike at every magnitude; partial sums of others would not add up. */
        for (int i = 0; i < op_operand_count(op); i++) {
            enum lx_dtype d = g->tensors[op_operand(op, i)].dtype;
            if (d != LX_FP16 && d != LX_BF16 && d != LX_FP32 && d != LX_FP64) return false;
        }
        if (g->tensors[op->output].rank >= LX_MAX_RANK || /* partial sums need one more dimension */
            (op->has_value && !row->constant))
            return false;
        if (!row->together) *one = op->has_value ? 1 : row->one;
        return true;
    }
    return false;
}

bool team_reads_partial_along(const struct lx_op *op, int var, int input)
{
    if (var > LX_TEAM_PARTIAL) return false;
    for (size_t k = 0; k < sizeof linear_kinds / sizeof *linear_kinds; k++)
        if (linear_kinds[k].id == op->kind->id)
            return linear_kinds[k].together || LX_TEAM_PARTIAL - var == input;
    return false;
}

bool team_reads_partial(const struct lx_op *op, const int var[LX_TEAM_AXES], int input)
{
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (team_reads_partial_along(op, var[a], input)) return true;
    return false;
}

struct lx_team_view team_view_of(const struct op_index *x, int operand)
{
    struct lx_team_view view = {.rank = x->rank[operand]};
    for (int k = 0; k < view.rank; k++) {
        view.offset[k] = op_index_offset(x, operand, k);
        view.stride[k] = op_index_stride(x, operand, k);
        view.size[k] = x->extent[x->var[operand][k]];
    }
    return view;
}

struct lx_team_view team_view_along(const struct op_index *x, int operand, int dim)
{
    struct lx_team_view all = team_view_of(x, operand);
    return (struct lx_team_view){1, {all.offset[dim]}, {all.size[dim]}, {all.stride[dim]}};
}

struct lx_team_box team_box_along(struct lx_team_range range)
{
    return (struct lx_team_box){1, {range.begin}, {max_i64(range.end - range.begin, 0)}};
}

bool team_shift_copies(const struct lx_tensor *t, const struct lx_team_box *target,
                       const struct lx_team_box *read)
{
    struct lx_team_box all = lx_team_box_of(t->rank, t->shape);
    bool apart = false;
    for (int k = 0; k < t->rank; k++)
        apart |= read->offset[k] > target->offset[k] + target->size[k] ||
                 read->offset[k] + read->size[k] < target->offset[k];
    return apart && lx_team_box_within(read, &all);
}

/* A shift reads zeros outside its tensor; these are not exchanged. The box includes the written positions,
 * so that a device can shift its box and take its block of the result. A long-distance shift needs only the
 * read positions, a shift of zeros only the written ones. */
static void need_of_shift(const struct lx_tensor *t, const struct lx_team_box *target,
                          struct lx_team_box *need)
{
    struct lx_team_box all = lx_team_box_of(t->rank, t->shape), inside = lx_team_box_meet(need, &all);
    if (team_shift_copies(t, target, need)) return;
    if (lx_team_box_empty(&inside)) {
        *need = *target;
        return;
    }
    for (int k = 0; k < t->rank; k++) {
        int64_t begin = min_i64(need->offset[k], target->offset[k]), extent = t->shape[k];
        int64_t end = max_i64(need->offset[k] + need->size[k], target->offset[k] + target->size[k]);
        need->offset[k] = max_i64(0, min_i64(begin, extent));
        need->size[k] = min_i64(extent, max_i64(end, 0)) - need->offset[k];
    }
}

static struct lx_team_range op_needs_range_of(const struct op_index *x, const struct lx_team_space *space,
                                              int v)
{
    int loop = team_loop_of(space, v);
    return loop >= 0 ? space->range[loop] : (struct lx_team_range){0, x->extent[v]};
}

struct lx_team_box team_need_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                 int input, const struct lx_team_space *space)
{
    const struct lx_tensor *t = &g->tensors[op->inputs[input]];
    if (!x->known) return lx_team_box_of(t->rank, t->shape);
    bool none = lx_team_space_empty(space);
    struct lx_team_view view = team_view_of(x, input);
    struct lx_team_box target = {.rank = t->rank};
    for (int k = 0; k < t->rank; k++) {
        struct lx_team_range r = op_needs_range_of(x, space, x->var[input][k]);
        target.offset[k] = r.begin;
        target.size[k] = none ? 0 : r.end - r.begin;
    }
    if (none) return target;
    struct lx_team_box need = lx_team_local_bounding_box(&view, &target, NULL, false);
    for (int k = 0; k < t->rank; k++) { /* all elements under a window; at least one */
        int i = 0;
        while (i < x->window_count && x->windows[i].in != x->var[input][k]) i++;
        if (i == x->window_count) continue;
        const struct lx_window *w = &x->windows[i];
        struct lx_team_range out = op_needs_range_of(x, space, w->out);
        int64_t taps = w->dilation * (w->size - 1), extent = t->shape[k];
        int64_t low = w->stride * out.begin + min_i64(0, taps) - w->pad;
        int64_t high = w->stride * (out.end - 1) + max_i64(0, taps) - w->pad;
        need.offset[k] = min_i64(max_i64(low + w->hole - 1, 0) / w->hole, extent - 1);
        need.size[k] = max_i64(min_i64(max_i64(high, 0) / w->hole, extent - 1) + 1 - need.offset[k], 1);
    }
    struct lx_team_box all = lx_team_box_of(t->rank, t->shape);
    if (x->walks) need = lx_team_box_meet(&need, &all); /* an op reads nothing beyond the ends */
    if (op_index_shifted(x, input) && team_is_shift(op)) need_of_shift(t, &target, &need);
    return need;
}

struct lx_team_box lx_team_need(const struct lx_graph *g, const struct lx_op *op, int input,
                                const struct lx_team_space *space)
{
    struct op_index x;
    op_index_of(g, op, &x);
    return team_need_box(g, op, &x, input, space);
}

struct lx_team_box team_result_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                   const struct lx_team_space *space)
{
    const struct lx_tensor *t = &g->tensors[op->output];
    struct lx_team_box box = lx_team_box_of(t->rank, t->shape);
    for (int l = 0; l < space->loops; l++) {
        int dim = op_index_dim(x, x->output, space->var[l]);
        if (dim < 0) continue;
        box.offset[dim] = space->range[l].begin;
        box.size[dim] = space->range[l].end - space->range[l].begin;
    }
    return box;
}

struct lx_team_range team_range_of_block(const struct op_index *x, int var, struct lx_team_range block)
{
    int out = x->output, k = op_index_dim(x, out, var);
    if (!op_index_shifted(x, out)) return block;
    struct lx_team_box own = team_box_along(block);
    struct lx_team_array part = lx_team_array_of_box(1, own.size, 0, &own);
    struct lx_team_view slice = team_view_along(x, out, k);
    struct lx_team_box values = lx_team_local_target_of_slice(&part, &slice).target;
    return (struct lx_team_range){values.offset[0], values.offset[0] + values.size[0]};
}

int64_t team_bytes(const struct lx_tensor *t, const struct lx_team_box *box)
{
    const int64_t stick = 128; /* any size will do */
    int128 sticks_by_128 = (int128)lx_team_box_elements(box) * stick;
    int64_t each = lx_stick_elements(t->dtype, stick);
    return (int64_t)((sticks_by_128 + each - 1) / each);
}

int64_t team_missing_bytes(const struct lx_tensor *t, const struct lx_team_box *box,
                           const struct lx_team_box *own)
{
    struct lx_team_box held = lx_team_box_meet(box, own);
    return team_bytes(t, box) - team_bytes(t, &held);
}
