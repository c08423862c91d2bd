/* Operands that are not indexed by plain variables: boxes of inputs, parts of a concat, inputs of a pad. */
#pragma once

#include "base/json/json.h"
#include "graph/builder.h"

/* Whether the operand's shape does not determine the extents of its variables. */
bool op_walks(const struct lx_op *op, int operand);
/* "views" of an op in a pattern. */
bool op_views_read(const struct json *j, const struct json_value *op, const struct graph_builder *b,
                   struct lx_op *out, lx_status *st);
void op_views_write(const struct lx_graph *g, const struct lx_op *op, struct text *t);
void op_views_copy(const struct graph_builder *b, const struct lx_op *from, struct lx_op *to);
/* Both ops must have equal input counts and operand ranks. */
bool op_views_equal(const struct lx_op *a, const struct lx_op *b);
uint64_t op_views_hash(uint64_t h, const struct lx_op *op);

/* An op under construction, with the context of its checks. Private to lib/graph. */
struct op_check {
    const struct graph_builder *b;
    struct lx_op *op;
    struct place at;
    lx_status *st;
    struct lx_einsum *map; /* the parsed index string */
    signed char **index;   /* writable index of the map */
};

/* Reports "op NAME" and the message at `at`; returns false. */
bool op_error(const struct op_check *c, enum lx_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline const struct lx_tensor *check_operand(const struct op_check *c, int i)
{
    return &c->b->tensors.at[op_operand(c->op, i)];
}

/* Checks types, axes and numbers against the kind (op_params.c). */
bool op_check_types(const struct op_check *c);
/* Check the map of a choosing or ordering op, and set the natures of its variables (choice.c). */
bool op_check_choice(const struct op_check *c);
bool op_check_ranking(const struct op_check *c);
/* Replaces window letters by variables of the map; taps without an operand become new variables
 * (op_windows.c). */
bool op_map_windows(const struct op_check *c);
/* Sets walks, natures, and extents that no plain operand determines, after the letters are known. */
bool op_map_walks(const struct op_check *c);
/* Copies windows into the builder's memory; if the op was mapped, as letters again. */
void builder_copy_windows(struct graph_builder *b, const struct lx_op *op, struct lx_op *copy);
