/* Windows of ops on their way into a graph. Private to the room. */
#ifndef LX_GRAPH_OP_WINDOWS_H
#define LX_GRAPH_OP_WINDOWS_H

#include "graph/builder.h"

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
