/* How each operand of an op (einsum, view or restickify) is indexed. */
#pragma once

#include "graph/graph.h"

struct op_index {
    bool known; /* false: opaque; only the operand counts are valid */
    int var_count, operand_count;
    int output; /* the operand that is the first result; all later ones are results, too */
    char letter[LX_MAX_VARS];
    int64_t extent[LX_MAX_VARS];
    int rank[LX_MAX_OPERANDS];
    signed char var[LX_MAX_OPERANDS][LX_MAX_RANK]; /* per operand (results after inputs) and dimension */
    /* Operand i is indexed by offset[i] + stride[i] * v, within bounds. NULL: offset 0, stride 1. */
    const int64_t *offset[LX_MAX_OPERANDS], *stride[LX_MAX_OPERANDS];
    const struct lx_walk *walks; /* positions of single elements in the op's map; NULL: none */
    int window_count;
    const struct lx_window *windows; /* the op's windows, with the variables of this map */
};

static inline bool op_index_shifted(const struct op_index *x, int operand)
{
    return x->offset[operand] != NULL;
}

static inline int64_t op_index_offset(const struct op_index *x, int operand, int dim)
{
    return x->offset[operand] ? x->offset[operand][dim] : 0;
}

static inline int64_t op_index_stride(const struct op_index *x, int operand, int dim)
{
    return x->stride[operand] ? x->stride[operand][dim] : 1;
}

void op_index_of(const struct lx_graph *g, const struct lx_op *op, struct op_index *out);
/* The dimension of an operand that variable `v` indexes, or -1. */
int op_index_dim(const struct op_index *x, int operand, int v);
/* `v` indexes no output dimension. */
bool op_index_reduced(const struct op_index *x, int v);
/* `v` is the input variable (`in`) of a window: no loop runs along it. */
bool op_index_follows(const struct op_index *x, int v);
/* `v` is any variable of a window. */
bool op_index_slides(const struct op_index *x, int v);
/* Whether a nest may tile `v`. In an op with windows only output variables outside windows can be tiled. */
bool op_index_tileable(const struct op_index *x, int v);
/* Reduction variables: iterated over, absent from the output. */
bool op_index_summed(const struct op_index *x, int v);
/* Writes the reduced variables to `vars` in the order in which terms are added: by letter, lower case first.
 * Returns their number. */
int op_index_sum_order(const struct op_index *x, int *vars);
/* Whether dimension `dim` is walked with a stride or an offset that leaves stick boundaries. */
bool op_index_leaves_sticks(const struct op_index *x, int operand, int dim, int64_t stick_elements);
bool op_is_restickify(const struct lx_op *op);
bool op_is_insert(const struct lx_op *op);
/* The op keeps elements that it does not write: an insert, or an in-place update. */
bool op_keeps_rest(const struct lx_op *op);
