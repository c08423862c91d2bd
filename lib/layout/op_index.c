/* One index map for all kinds of ops: einsums bring theirs, views have one variable per dimension of the part
 * that they move, and a restickify is the identity. */
#include "layout/op_index.h"
#include "layout/flat_index.h"

#include <string.h>

bool op_is_restickify(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_RESTICKIFY;
}

bool op_is_insert(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_INSERT;
}

bool op_keeps_rest(const struct lx_op *op)
{
    return op_is_insert(op) || (op->kind->traits & LX_ALTERS);
}

/* One input and one output of equal rank: dimension d of both is variable d. */
static void from_dimensions(const struct lx_graph *g, const struct lx_op *op, struct op_index *x)
{
    const struct lx_tensor *in = &g->tensors[op->inputs[0]], *out = &g->tensors[op->output];
    x->var_count = in->rank;
    for (int d = 0; d < in->rank; d++) {
        x->letter[d] = (char)('a' + d);
        x->extent[d] = in->shape[d] < out->shape[d] ? in->shape[d] : out->shape[d];
    }
    for (int d = 0; d < LX_MAX_RANK; d++) x->var[0][d] = x->var[1][d] = (signed char)d;
    x->rank[0] = x->rank[1] = in->rank;
    int whole = op_is_insert(op) ? 1 : 0;
    x->offset[whole] = op->offset;
    x->stride[whole] = op->stride;
}

void op_index_of(const struct lx_graph *g, const struct lx_op *op, struct op_index *out)
{
    out->known = true;
    out->operand_count = op_operand_count(op);
    out->output = op->input_count;
    out->var_count = 0;
    out->window_count = 0;
    for (int i = 0; i < out->operand_count; i++) out->offset[i] = out->stride[i] = NULL;
    out->walks = op->map ? op->map->walks : NULL;
    bool plain = op->input_count == 1 && g->tensors[op->inputs[0]].rank == g->tensors[op->output].rank;
    for (int i = 0; i < out->operand_count; i++) plain = plain && g->tensors[op_operand(op, i)].rank >= 0;
    if (op->map) {
        const struct lx_einsum *m = op->map;
        out->var_count = m->var_count;
        memcpy(out->letter, m->letter, sizeof out->letter);
        memcpy(out->extent, m->extent, sizeof out->extent);
        out->windows = op->windows;
        out->window_count = op->window_count;
        for (int i = 0; i < m->operand_count; i++) {
            out->rank[i] = m->rank[i];
            memcpy(out->var[i], m->index[i], (size_t)m->rank[i]);
            if (!m->walks) continue;
            out->offset[i] = m->walks[i].offset;
            out->stride[i] = m->walks[i].stride;
        }
    } else if (plain && (op->offset || op_is_restickify(op)))
        from_dimensions(g, op, out);
    else
        out->known = false;
}

int op_index_dim(const struct op_index *x, int operand, int v)
{
    for (int d = 0; d < x->rank[operand]; d++)
        if (x->var[operand][d] == v) return d;
    return -1;
}

bool op_index_leaves_sticks(const struct op_index *x, int operand, int dim, int64_t stick_elements)
{
    struct coordinate c = {
        .term_count = 1,
        .terms = {{.var = x->var[operand][dim], .scale = op_index_stride(x, operand, dim), .divisor = 1}},
        .constant = op_index_offset(x, operand, dim)};
    bool turns;
    return !stick_coordinate_legal(&c, stick_elements, &turns) || turns;
}

/* Small letters before capitals. */
static int op_index_letter_rank(char letter)
{
    return letter >= 'a' ? letter - 'a' : letter - 'A' + 26;
}

int op_index_sum_order(const struct op_index *x, int *vars)
{
    int count = 0;
    for (int v = 0; v < x->var_count; v++) {
        if (!op_index_reduced(x, v)) continue;
        int at = count++;
        for (; at > 0 && op_index_letter_rank(x->letter[vars[at - 1]]) > op_index_letter_rank(x->letter[v]);
             at--)
            vars[at] = vars[at - 1];
        vars[at] = v;
    }
    return count;
}

bool op_index_follows(const struct op_index *x, int v)
{
    for (int i = 0; i < x->window_count; i++)
        if (x->windows[i].in == v) return true;
    return false;
}

bool op_index_slides(const struct op_index *x, int v)
{
    for (int i = 0; i < x->window_count; i++)
        if (x->windows[i].in == v || x->windows[i].out == v || x->windows[i].tap == v) return true;
    return false;
}

bool op_index_tileable(const struct op_index *x, int v)
{
    return x->window_count == 0 || (!op_index_slides(x, v) && !op_index_reduced(x, v));
}

bool op_index_summed(const struct op_index *x, int v)
{
    return op_index_reduced(x, v) && !op_index_follows(x, v);
}

bool op_index_reduced(const struct op_index *x, int v)
{
    return op_index_dim(x, x->output, v) < 0;
}
