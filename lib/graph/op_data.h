/* Numbers in ops: the value that stands for an operand. */
#ifndef LX_GRAPH_OP_DATA_H
#define LX_GRAPH_OP_DATA_H

#include "base/json.h"

/* "value" of an op, a number or a word for what JSON has none for; `*out` stays where there is none. */
bool op_value_read(const struct json *j, const cJSON *object, double *out, lx_status *st);

#endif
