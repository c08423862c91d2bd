/* What an op needs of its operands. */
#include "team/team_private.h"
#include "base/checked.h"
#include "layout/layout.h"

bool team_is_shift(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_SHIFT;
}

bool team_plain_index(const struct lx_op *op)
{
    return op->map ? (op->kind->traits & LX_POINTWISE) && !op->reduces : op_is_restickify(op);
}

struct lx_team_box team_own_box(const struct lx_tensor *t, const struct lx_team_tensor *how, int member)
{
    struct lx_team_box b = lx_team_box_of(t->rank, t->shape);
    if (how->cut >= 0) {
        b.offset[how->cut] = how->bound[member];
        b.size[how->cut] = how->bound[member + 1] - how->bound[member];
    }
    return b;
}

struct lx_team_array team_own_array(const struct lx_tensor *t, const struct lx_team_tensor *how, int member)
{
    struct lx_team_box own = team_own_box(t, how, member);
    return lx_team_array_of_box(t->rank, t->shape, how->cut, &own);
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

/* What lies outside of a shifted tensor is 0 and needs nobody. The output's own place is kept in the box, so that
 * a member can shift its box and take its block of the result. */
static void need_of_shift(const struct lx_tensor *t, const struct lx_team_box *target,
                          struct lx_team_box *need)
{
    for (int k = 0; k < t->rank; k++) {
        int64_t begin = min_i64(need->offset[k], target->offset[k]), extent = t->shape[k];
        int64_t end = max_i64(need->offset[k] + need->size[k], target->offset[k] + target->size[k]);
        need->offset[k] = max_i64(0, min_i64(begin, extent));
        need->size[k] = min_i64(extent, max_i64(end, 0)) - need->offset[k];
    }
}

struct lx_team_box team_need_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                 int input, int var, struct lx_team_range range)
{
    const struct lx_tensor *t = &g->tensors[op->inputs[input]];
    if (!x->known) return lx_team_box_of(t->rank, t->shape);
    bool none = var >= 0 && range.end <= range.begin;
    struct lx_team_view view = team_view_of(x, input);
    struct lx_team_box target = {.rank = t->rank};
    for (int k = 0; k < t->rank; k++) {
        bool cut = x->var[input][k] == var;
        target.offset[k] = cut ? range.begin : 0;
        target.size[k] = none ? 0 : cut ? range.end - range.begin : view.size[k];
    }
    if (none) return target;
    struct lx_team_box need = lx_team_local_bounding_box(&view, &target, NULL, false);
    if (op_index_shifted(x, input) && team_is_shift(op)) need_of_shift(t, &target, &need);
    return need;
}

struct lx_team_box lx_team_need(const struct lx_graph *g, const struct lx_op *op, int input, int var,
                                struct lx_team_range range)
{
    struct op_index x;
    op_index_of(g, op, &x);
    return team_need_box(g, op, &x, input, var, range);
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

struct lx_team_box team_share_of(const struct lx_graph *g, int32_t op, int members, int member)
{
    const struct lx_tensor *out = &g->tensors[g->ops[op].output];
    int longest = 0;
    for (int d = 1; d < out->rank; d++)
        if (out->shape[d] > out->shape[longest] && out->shape[longest] < members) longest = d;
    if (out->rank > 0) return lx_team_default_partition(members, member, out->rank, out->shape, longest);
    struct lx_team_box none = {.rank = 1}; /* no box of rank 0 is empty */
    return member == 0 ? lx_team_box_of(0, NULL) : none;
}
