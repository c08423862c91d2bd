/* Ops that make tensors as a whole: numbers that count, constants, running sums. Private to the stage. */
#ifndef LX_DEVICE_REFERENCE_MADE_VALUES_H
#define LX_DEVICE_REFERENCE_MADE_VALUES_H

#include "device/reference/wide_operand.h"

bool made_known(const struct lx_op *op);
/* Elements of the result, in host order, and bounds of the errors that a sum in fp64 makes; `slack` has the same room. */
void made_values(const struct lx_graph *g, const struct lx_op *op, const struct operand *in,
                 wide_number *value, double *slack);

#endif
