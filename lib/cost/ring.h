/* Predicted time on the rings between the cores, in microseconds. */
#ifndef LX_COST_RING_H
#define LX_COST_RING_H

#include "graph/target.h"

#include <stdint.h>

/* A relayout: every core receives `runs` runs of consecutive sticks, `part_bytes` in all, of a tensor that is
 * cut into `parts` along the dimension that changes hands. */
double cost_relayout(const struct lx_device *d, int64_t runs, int64_t parts, int64_t part_bytes);

#endif
