/* Operands that are not walked index by index: boxes of inputs, parts of a concat, what a pad surrounds. */
#ifndef LX_GRAPH_OP_WALKS_H
#define LX_GRAPH_OP_WALKS_H

#include "base/json/json.h"
#include "graph/builder.h"

/* Do shapes of this operand say nothing of the extents of its variables? */
bool op_walks(const struct lx_op *op, int operand);
/* "views" of an op in a pattern. */
bool op_views_read(const struct json *j, const struct json_value *op, const struct graph_builder *b,
                   struct lx_op *out, lx_status *st);
void op_views_write(const struct lx_graph *g, const struct lx_op *op, struct text *t);
void op_views_copy(const struct graph_builder *b, const struct lx_op *from, struct lx_op *to);
/* Of ops with as many inputs, whose operands have the same ranks. */
bool op_views_equal(const struct lx_op *a, const struct lx_op *b);
uint64_t op_views_hash(uint64_t h, const struct lx_op *op);

/* An op on its way into a graph: what its checks need. Private to the room. */
struct op_check {
    const struct graph_builder *b;
    struct lx_op *op;
    struct place at;
    lx_status *st;
    struct lx_einsum *map; /* its index string taken apart */
    signed char **index;   /* of the map, while it is filled in */
};

/* Reports "op NAME" and what follows at the place of the check; returns false. */
bool op_error(const struct op_check *c, enum lx_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline const struct lx_tensor *check_operand(const struct op_check *c, int i)
{
    return &c->b->tensors.at[op_operand(c->op, i)];
}

/* Types, axes and numbers that a kind wants (op_params.c). */
bool op_check_types(const struct op_check *c);
/* Is the map one that a kind that chooses, or orders, can have (choice.c)? Sets the natures of its
 * variables. */
bool op_check_choice(const struct op_check *c);
bool op_check_ranking(const struct op_check *c);
/* From letters of windows to variables of the map; taps that no operand has become variables
 * (op_windows.c). */
bool op_map_windows(const struct op_check *c);
/* Extents that no plain operand has, walks and natures of an einsum whose letters are known. */
bool op_map_walks(const struct op_check *c);
/* Into the builder's memory, as letters again where the op has been mapped. */
void builder_copy_windows(struct graph_builder *b, const struct lx_op *op, struct lx_op *copy);

#endif
