/* The rates of a device: the numbers of its cost table (graph/cost_table.h), scaled to the device.
 * Microseconds throughout; 1 GB/s is 1000 bytes per microsecond. */
#pragma once

#include "graph/target.h"
#include "base/base.h"

struct cost_rates {
    double value[COST_CONSTANT_COUNT];
    double tile_rows, tile_columns; /* 0: no rounding to whole tiles */
    bool hides_compute, shares_sums;
};

struct cost_rates cost_rates_of(const struct lx_device *d);
/* One of them. */
double cost_rate(const struct lx_device *d, enum cost_constant_id id);
