/* How each operand of an op is indexed, whatever the op is: einsum, view or restickify. */
#ifndef LX_LAYOUT_OP_INDEX_H
#define LX_LAYOUT_OP_INDEX_H

#include "graph/graph.h"

struct op_index {
    bool known; /* false: opaque, only the operands are known */
    int var_count, operand_count;
    char letter[LX_MAX_VARS];
    int64_t extent[LX_MAX_VARS];
    int rank[LX_MAX_INPUTS + 1];
    signed char var[LX_MAX_INPUTS + 1][LX_MAX_RANK]; /* per operand (the output last) and dimension */
    /* Of a view: this operand is indexed by offset + stride * v; -1: none. */
    int shifted;
    int64_t offset[LX_MAX_RANK], stride[LX_MAX_RANK];
    int window_count;
    const struct lx_window *windows; /* the op's; variables as here */
};

void op_index_of(const struct lx_graph *g, const struct lx_op *op, struct op_index *out);
/* The dimension of an operand that variable `v` walks, or -1. */
int op_index_dim(const struct op_index *x, int operand, int v);
/* No output dimension has it. */
bool op_index_reduced(const struct op_index *x, int v);
/* It is `in` of a window: nobody goes along it, whoever reads the operand finds all of it. */
bool op_index_follows(const struct op_index *x, int v);
/* It is any part of a window. */
bool op_index_slides(const struct op_index *x, int v);
/* May the tiles of a nest cut it? Of an op with windows what it keeps, if it does not slide. */
bool op_index_tileable(const struct op_index *x, int v);
/* Gone along, and not kept: what sums have terms of. */
bool op_index_summed(const struct op_index *x, int v);
/* Does the view walk dimension `dim` of what it shifts other than one by one from the begin of a stick on? */
bool op_index_leaves_sticks(const struct op_index *x, int dim, int64_t stick_elements);
/* Tensor number of an operand. */
int32_t op_operand(const struct lx_op *op, int operand);
bool op_is_restickify(const struct lx_op *op);
bool op_is_insert(const struct lx_op *op);
/* Keeps what it does not write: an insert, or one that alters what is there. */
bool op_keeps_rest(const struct lx_op *op);

#endif
