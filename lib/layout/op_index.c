/* One index map for all ops. Einsums bring their own, views have one variable per dimension, restickify is
 * the identity. */
#include "layout/op_index.h"
#include "layout/flat_index.h"

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
        return;
    }
    out->known = plain && (op->offset || op_is_restickify(op));
    if (!out->known) return;
    /* One input and one output of equal rank: dimension d of both is variable d. */
    const struct lx_tensor *from = &g->tensors[op->inputs[0]], *to = &g->tensors[op->output];
    int whole = op_is_insert(op) ? 1 : 0;
    out->var_count = out->rank[0] = out->rank[1] = from->rank;
    for (int d = 0; d < from->rank; d++) {
        out->letter[d] = (char)('a' + d);
        out->extent[d] = from->shape[d] < to->shape[d] ? from->shape[d] : to->shape[d];
    }
    for (int d = 0; d < LX_MAX_RANK; d++) out->var[0][d] = out->var[1][d] = (signed char)d;
    out->offset[whole] = op->offset;
    out->stride[whole] = op->stride;
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

int op_index_sum_order(const struct op_index *x, int *vars)
{
    int count = 0;
    for (int v = 0; v < x->var_count; v++) {
        if (!op_index_reduced(x, v)) continue;
        int at = count++;
        for (; at > 0; at--) { /* lower case before upper case */
            char a = x->letter[vars[at - 1]], b = x->letter[v];
            if ((a < 'a') != (b < 'a') ? a >= 'a' : a <= b) break;
            vars[at] = vars[at - 1];
        }
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
