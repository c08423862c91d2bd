/* The launch model is a fit of five measured kernels (cost_tables.c); a table without one has zeros, and the device
 * time is all there is. */
#include "cost/bundle.h"
#include "cost/rates.h"

#include <math.h>

double cost_launch(const struct lx_device *d, int64_t operands, int64_t cores)
{
    return cost_rate(d, COST_LAUNCH) + cost_rate(d, COST_LAUNCH_OPERAND) * (double)operands +
           cost_rate(d, COST_LAUNCH_DOUBLING) * log2(cores > 1 ? (double)cores : 1);
}

double cost_end_to_end(const struct lx_device *d, const struct cost_bundle *b)
{
    double launch = cost_launch(d, b->operands, b->cores);
    bool covered = b->hbm_bytes <= cost_rate(d, COST_LAUNCH_COVERS) && b->busy_us <= launch;
    return covered ? launch : fmax(launch, b->device_us);
}
