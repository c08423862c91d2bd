/* Operands that are not walked index by index: boxes of inputs, parts of a concat, what a pad surrounds. */
#ifndef LX_GRAPH_OP_WALKS_H
#define LX_GRAPH_OP_WALKS_H

#include "base/json/json.h"
#include "graph/builder.h"

/* Do shapes of this operand say nothing of the extents of its variables? */
bool op_walks(const struct lx_op *op, int operand);
/* Extents that no plain operand tells, walks and natures of an einsum whose letters are known. */
bool builder_walk_op(const struct graph_builder *b, struct place at, const struct lx_op *op,
                     struct lx_einsum *m, lx_status *st);

/* "views" of an op in a pattern. */
bool op_views_read(const struct json *j, const struct json_value *op, const struct graph_builder *b,
                   struct lx_op *out, lx_status *st);
void op_views_write(const struct lx_graph *g, const struct lx_op *op, struct text *t);
/* False: memory is out. */
void op_views_copy(const struct graph_builder *b, const struct lx_op *from, struct lx_op *to);
/* Of ops with as many inputs, whose operands have the same ranks. */
bool op_views_equal(const struct lx_op *a, const struct lx_op *b);
uint64_t op_views_hash(uint64_t h, const struct lx_op *op);

/* Windows of ops on their way into a graph. Private to the room. */

/* An index string taken apart, before its kind is looked at. */
struct windows_context {
    const struct graph_builder *b;
    const struct lx_op *op;
    struct place at;
    lx_status *st;
    struct lx_einsum *map;
    signed char *const *index;
    const int *rank;
};

/* From letters to variables of the map; taps that no operand has become variables. */
bool builder_map_windows(const struct windows_context *c, struct lx_op *op);
/* Into the builder's memory, as letters again where the op has been mapped. False: memory is out. */
void builder_copy_windows(struct graph_builder *b, const struct lx_op *op, struct lx_op *copy);

#endif
