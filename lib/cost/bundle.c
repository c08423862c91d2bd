/* The launch model is a fit of five measured kernels (cost_tables.c); a table without one has zeros, and the
 * device time is all there is. */
#include "cost/bundle.h"
#include "cost/rates.h"

#include <math.h>

double cost_launch(const struct lx_device *d, int64_t operands, int64_t cores)
{
    return cost_rate(d, COST_LAUNCH) + cost_rate(d, COST_LAUNCH_OPERAND) * (double)operands +
           cost_rate(d, COST_LAUNCH_DOUBLING) * log2(cores > 1 ? (double)cores : 1);
}

double cost_uncovered(const struct lx_device *d, double bytes)
{
    double covers = cost_rate(d, COST_LAUNCH_COVERS);
    return fmin(fmax(5 * (bytes - covers), 0), bytes);
}

double cost_end_to_end(const struct lx_device *d, const struct cost_bundle *b)
{
    double more = b->times > 1 ? (double)b->times - 1 : 0, each = b->hbm_bytes / (more + 1);
    double launch = cost_launch(d, b->operands, b->cores) + more * cost_launch(d, 0, b->cores);
    double shown = each > 0 ? cost_uncovered(d, each) / each : 1;
    return fmax(launch, b->busy_us + (b->device_us - b->busy_us) * shown);
}

/* The relayout model of torch-spyre: a run through log2 of the parts, and what each core receives. On Spyre
 * ns = runs per core x (-1.14 + 3.92 log2 parts) + bytes / 547. Two parts cost the least that a run can.
 * Runs are latency: a faster ring does not shorten them. */
double cost_relayout(const struct lx_device *d, int64_t runs, int64_t parts, int64_t part_bytes)
{
    double hops = log2(parts < 2 ? 2 : (double)parts);
    double run_ns = cost_rate(d, COST_HOP) * hops - cost_rate(d, COST_RUN);
    return ((double)runs * run_ns + (double)part_bytes / cost_rate(d, COST_RELAYOUT)) * 1e-3;
}
