/* Input data: the same for the same seed, name and shape, on every machine. Private to the stage. */
#ifndef LX_DEVICE_REFERENCE_INPUT_DATA_H
#define LX_DEVICE_REFERENCE_INPUT_DATA_H

#include "kernels/kernels.h"
#include "graph/graph.h"

/* Items in host order of a tensor before the first op: numbers for inputs and weights, zeros for others.
 *
 * Numbers lie in [-1, 1], weights of a contraction are divided by the square root of the summed length so
 * that sums stay near 1, and what an op wants to be positive (a logarithm, a divisor) lies in [1/2, 3/2].
 * Integers are small ones. Bytes are any. */
void data_fill(const struct lx_graph *g, int32_t tensor, uint64_t seed, struct pool *pool, void *items,
               int64_t count);

#endif
