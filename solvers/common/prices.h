/* Prices of bytes and ticks: what room is worth at each time, from the problem without addresses. */
#ifndef LX_SOLVERS_COMMON_PRICES_H
#define LX_SOLVERS_COMMON_PRICES_H

#include "common/items.h"

#define WORTH_ONE (INT64_C(1) << 20)

/* worth[i]: the cost of item i for the price of its bytes over its life, WORTH_ONE where they are equal, at most 2^50.
 * What is worth more than that belongs on chip if nothing but the sum of sizes counted, at `percent` of the capacity.
 * False when memory is out. */
void prices_find(const struct items *it, int64_t percent, const struct lx_run *run, int64_t *worth);

#endif
