/* The rates of a device: the numbers of its cost table (graph/cost_table.h), scaled to the device.
 * Microseconds throughout; 1 GB/s is 1000 bytes per microsecond. */
#ifndef LX_COST_RATES_H
#define LX_COST_RATES_H

#include "graph/target.h"

#include <stdbool.h>

struct cost_rates {
    double value[COST_CONSTANT_COUNT];
    double tile_rows, tile_columns; /* 0: no rounding to whole tiles */
    bool hides_compute, shares_sums;
};

struct cost_rates cost_rates_of(const struct lx_device *d);
/* One of them. */
double cost_rate(const struct lx_device *d, enum cost_constant_id id);

#endif
