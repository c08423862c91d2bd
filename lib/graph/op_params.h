/* Parameters of ops beside their operands ("axis", "low", ...): one table of keys, and what each kind
 * takes. */
#ifndef LX_GRAPH_OP_PARAMS_H
#define LX_GRAPH_OP_PARAMS_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/text.h"
#include "graph/graph.h"

/* A bit per row of the table. */
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

/* Keys of an op in a pattern, without an end: the reader has them in its own list. */
enum { OP_PARAM_COUNT = 13 };
const char *op_param_key(int row);

/* `*out` stays NULL where the object has none of the keys; a key that `kind` does not take, or lacks, is an
 * error. */
bool op_params_read(const struct json *j, const struct json_value *object, const char *op,
                    const struct lx_kind *kind, struct arena *memory, const struct lx_op_params **out,
                    lx_status *st);
/* `, "key": value` of all that is not what it is without being said. */
void op_params_write(const struct lx_op_params *p, struct text *t);
/* A copy with all its lists; NULL for NULL. */
const struct lx_op_params *op_params_copy(struct arena *memory, const struct lx_op_params *p);
/* One that says nothing. */
struct lx_op_params op_params_none(void);
bool op_params_equal(const struct lx_op_params *a, const struct lx_op_params *b);
uint64_t op_params_hash(uint64_t h, const struct lx_op_params *p);

/* Numbers in ops: the value that stands for an operand, and the data of constants. */

/* "value" of an op, a number or a word for what JSON has none for. */
bool op_value_read(const struct json *j, const struct json_value *object, struct lx_op *op, lx_status *st);
void op_value_write(const struct lx_graph *g, const struct lx_op *op, struct text *t);
/* "data" of a constant: a number, or a list of at most LX_MAX_DATA. */
bool op_data_read(const struct json *j, const struct json_value *object, struct lx_op *op,
                  struct arena *memory, lx_status *st);
void op_data_write(const struct lx_graph *g, const struct lx_op *op, struct text *t);
const struct lx_op_data *op_data_copy(struct arena *memory, const struct lx_op_data *d, enum lx_dtype dtype);

#endif
