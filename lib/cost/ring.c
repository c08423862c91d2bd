/* The relayout model of torch-spyre (August to September 2026, measured on the device):
 * ns = runs per core x (-1.14 + 3.92 log2 parts) + span / 547. Two parts cost the least that a run can. */
#include "cost/ring.h"

#include <math.h>

double cost_relayout(int64_t runs, int64_t parts, int64_t part_bytes)
{
    double hops = log2(parts < 2 ? 2 : (double)parts);
    return ((double)runs * (3.92 * hops - 1.14) + (double)part_bytes / 547) * 1e-3;
}
