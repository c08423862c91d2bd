/* Numbers in ops: the value that stands for an operand, and the data of constants. */
#ifndef LX_GRAPH_OP_DATA_H
#define LX_GRAPH_OP_DATA_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/text.h"
#include "graph/graph.h"

/* "value" of an op, a number or a word for what JSON has none for. */
bool op_value_read(const struct json *j, const struct json_value *object, struct lx_op *op, lx_status *st);
void op_value_write(const struct lx_graph *g, const struct lx_op *op, struct text *t);
/* "data" of a constant: a number, or a list of at most LX_MAX_DATA. */
bool op_data_read(const struct json *j, const struct json_value *object, struct lx_op *op,
                  struct arena *memory, lx_status *st);
void op_data_write(const struct lx_graph *g, const struct lx_op *op, struct text *t);
/* NULL only for NULL or when memory is out. */
const struct lx_op_data *op_data_copy(struct arena *memory, const struct lx_op_data *d, enum lx_dtype dtype);

#endif
