/* What an op needs of its operands. */
#include "team/team_private.h"
#include "base/checked.h"

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

/* Along dimension `k` of an operand that view `op` indexes by offset + stride * v. */
static struct lx_team_range shifted(const struct lx_op *op, const struct op_index *x, int k, int64_t extent,
                                    struct lx_team_range v)
{
    struct lx_team_range r = {x->offset[k] + x->stride[k] * v.begin,
                              x->offset[k] + x->stride[k] * (v.end - 1) + 1};
    if (!team_is_shift(op)) return r;
    /* What lies outside is 0 and needs nobody. The output's own place is kept in the box, so that a member
     * can shift its box and take its block of the result. */
    r.begin = max_i64(0, min_i64(min_i64(r.begin, v.begin), extent));
    r.end = min_i64(extent, max_i64(max_i64(r.end, v.end), 0));
    return r;
}

struct lx_team_box team_need_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                 int input, int var, struct lx_team_range range)
{
    const struct lx_tensor *t = &g->tensors[op->inputs[input]];
    struct lx_team_box b = lx_team_box_of(t->rank, t->shape);
    if (!x->known) return b;
    bool none = var >= 0 && range.end <= range.begin;
    for (int k = 0; k < t->rank; k++) {
        int v = x->var[input][k];
        struct lx_team_range values = v == var ? range : (struct lx_team_range){0, x->extent[v]};
        if (!none && x->shifted == input) values = shifted(op, x, k, t->shape[k], values);
        b.offset[k] = values.begin;
        b.size[k] = none ? 0 : values.end - values.begin;
    }
    return b;
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
    int out = x->operand_count - 1, k = op_index_dim(x, out, var);
    if (x->shifted != out) return block;
    struct lx_team_overlap o =
        lx_team_overlap_of(block.begin, block.end - block.begin, x->offset[k], x->extent[var], x->stride[k]);
    return (struct lx_team_range){o.skip, o.skip + o.size};
}

int64_t team_bytes(const struct lx_tensor *t, const struct lx_team_box *box)
{
    int128 bits = (int128)lx_team_box_elements(box) * lx_dtype_bits(t->dtype);
    return (int64_t)((bits + 7) / 8);
}

int64_t team_missing_bytes(const struct lx_tensor *t, const struct lx_team_box *box,
                           const struct lx_team_box *own)
{
    struct lx_team_box held = lx_team_box_meet(box, own);
    return team_bytes(t, box) - team_bytes(t, &held);
}
