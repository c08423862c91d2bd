/* Ops that make tensors as a whole, on one core: numbers that count, constants, running sums. Private to the stage. */
#ifndef LX_DEVICE_EXECUTE_MADE_H
#define LX_DEVICE_EXECUTE_MADE_H

#include "device/execute/arith.h"

bool is_made(const struct lx_op *op);
/* Items of the output, in host order, of those of the input. */
void make_items(const struct lx_graph *g, const struct lx_op *op, const void *input, void *items);

#endif
