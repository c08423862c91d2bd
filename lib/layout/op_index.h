/* How each operand of an op is indexed, whatever the op is: einsum, view or restickify. */
#ifndef LX_LAYOUT_OP_INDEX_H
#define LX_LAYOUT_OP_INDEX_H

#include "graph/graph.h"

struct op_index {
    bool known; /* false: opaque, only the operands are known */
    int var_count, operand_count;
    int output; /* the operand that is the first result; all further ones are results, too */
    char letter[LX_MAX_VARS];
    int64_t extent[LX_MAX_VARS];
    int rank[LX_MAX_OPERANDS];
    signed char var[LX_MAX_OPERANDS][LX_MAX_RANK]; /* per operand (results behind inputs) and dimension */
    /* Operands indexed by offset + stride * v, within bounds. NULL: by v; a stride: 1. */
    const int64_t *offset[LX_MAX_OPERANDS], *stride[LX_MAX_OPERANDS];
    const struct lx_walk *walks; /* of the op's map, for who asks where single elements are; NULL: none */
    int window_count;
    const struct lx_window *windows; /* the op's; variables as here */
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
/* The dimension of an operand that variable `v` walks, or -1. */
int op_index_dim(const struct op_index *x, int operand, int v);
/* No output dimension has it. */
bool op_index_reduced(const struct op_index *x, int v);
/* It is `in` of a window: no loop runs along it. */
bool op_index_follows(const struct op_index *x, int v);
/* It is any part of a window. */
bool op_index_slides(const struct op_index *x, int v);
/* May the tiles of a nest cut it? Of an op with windows what it keeps, if it does not slide. */
bool op_index_tileable(const struct op_index *x, int v);
/* Gone along, and not kept: what sums have terms of. */
bool op_index_summed(const struct op_index *x, int v);
/* The reduced variables in the order of their letters, small ones first, in which terms are added; how
 * many. */
int op_index_sum_order(const struct op_index *x, int *vars);
/* Is dimension `dim` of the operand walked other than one by one from the begin of a stick on? */
bool op_index_leaves_sticks(const struct op_index *x, int operand, int dim, int64_t stick_elements);
bool op_is_restickify(const struct lx_op *op);
bool op_is_insert(const struct lx_op *op);
/* Keeps what it does not write: an insert, or one that alters what is there. */
bool op_keeps_rest(const struct lx_op *op);

#endif
