/* The relayout model of torch-spyre: a run through log2 of the parts, and what each core receives. On Spyre
 * ns = runs per core x (-1.14 + 3.92 log2 parts) + bytes / 547. Two parts cost the least that a run can. Runs are
 * latency: a faster ring does not shorten them. */
#include "cost/ring.h"
#include "cost/rates.h"

#include <math.h>

double cost_relayout(const struct lx_device *d, int64_t runs, int64_t parts, int64_t part_bytes)
{
    double hops = log2(parts < 2 ? 2 : (double)parts);
    double run_ns = cost_rate(d, COST_HOP) * hops - cost_rate(d, COST_RUN);
    return ((double)runs * run_ns + (double)part_bytes / cost_rate(d, COST_RELAYOUT)) * 1e-3;
}
