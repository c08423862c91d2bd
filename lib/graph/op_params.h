/* Parameters of ops besides operands ("axis", "low", ...): one table of keys, and the keys of each kind. */
#pragma once

#include "base/base.h"
#include "base/json/json.h"
#include "graph/graph.h"

/* One bit per row of the table. */
enum op_param {
    OP_PARAM_AXIS = 1 << 0,
    OP_PARAM_AXES = 1 << 1,
    OP_PARAM_LOW = 1 << 2,
    OP_PARAM_HIGH = 1 << 3,
    OP_PARAM_INTERIOR = 1 << 4,
    OP_PARAM_START = 1 << 5,
    OP_PARAM_STEP = 1 << 6,
    OP_PARAM_K = 1 << 7,
    OP_PARAM_DESCENDING = 1 << 8,
    OP_PARAM_EXCLUSIVE = 1 << 9,
    OP_PARAM_REVERSE = 1 << 10,
    OP_PARAM_COMBINE = 1 << 11,
    OP_PARAM_GROUP = 1 << 12,
};

/* Number of keys; the pattern reader includes them in its own list. */
enum { OP_PARAM_COUNT = 13 };
const char *op_param_key(int row);

/* `*out` stays NULL if the object has none of the keys. Fails if `kind` does not take a key, or lacks a
 * needed one. */
bool op_params_read(const struct json *j, const struct json_value *object, const char *op,
                    const struct lx_kind *kind, struct arena *memory, const struct lx_op_params **out,
                    lx_status *st);
/* Writes `, "key": value` for each parameter that differs from its default. */
void op_params_write(const struct lx_op_params *p, struct text *t);
/* A deep copy; NULL for NULL. */
const struct lx_op_params *op_params_copy(struct arena *memory, const struct lx_op_params *p);
/* All defaults. */
struct lx_op_params op_params_none(void);
bool op_params_equal(const struct lx_op_params *a, const struct lx_op_params *b);
uint64_t op_params_hash(uint64_t h, const struct lx_op_params *p);

/* Numbers in ops: constant operands, and elements of constants. */

/* Reads "value" of an op: a number, or a word for infinities and NaN. */
bool op_value_read(const struct json *j, const struct json_value *object, struct lx_op *op, lx_status *st);
void op_value_write(const struct lx_graph *g, const struct lx_op *op, struct text *t);
/* Reads "data" of a constant: a number, or a list of at most LX_MAX_DATA. */
bool op_data_read(const struct json *j, const struct json_value *object, struct lx_op *op,
                  struct arena *memory, lx_status *st);
void op_data_write(const struct lx_graph *g, const struct lx_op *op, struct text *t);
const struct lx_op_data *op_data_copy(struct arena *memory, const struct lx_op_data *d, enum lx_dtype dtype);
