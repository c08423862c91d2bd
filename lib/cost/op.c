/* Rates by kind of op. Memory that is read and written at once turns around: 0.00574 ns for each byte that
 * goes both ways, which makes 105 GB/s of balanced traffic out of 150 GB/s one way. */
#include "cost/op.h"

#include <math.h>

#define UPSTREAM "torch-spyre cost_model.py, August to September 2026, measured on the device"

const struct cost_constant cost_constants[COST_CONSTANT_COUNT] = {
    [COST_ONE_WAY] = {"one_way", 150, "GB/s", UPSTREAM},
    [COST_TURNAROUND] = {"turnaround", 0.00574, "ns/B", UPSTREAM},
    [COST_ROW_FLOOR] = {"row_reduction_floor", 114, "GB/s", UPSTREAM},
    [COST_ROW_GAIN] = {"row_reduction_gain", 61, "GB/s", UPSTREAM},
    [COST_ROW_SCALE] = {"row_reduction_scale", 3700, "rows", UPSTREAM},
    [COST_OUTER] = {"outer_reduction", 113, "GB/s", UPSTREAM},
    [COST_RESTICK] = {"restickify", 116, "GB/s", UPSTREAM},
    [COST_BROADCASTS] = {"broadcast", 118, "GB/s", UPSTREAM},
    [COST_MACS] = {"matmul_macs", 1140, "MAC/ns", UPSTREAM},
};

/* What few cores reach of the device's rate: upstream's table for row reductions, 1 to 32 cores. */
static const double core_share[] = {0.11, 0.22, 0.43, 0.54, 0.54, 1};

static double share_of(int64_t cores)
{
    enum { LAST = sizeof core_share / sizeof *core_share - 1 };
    double at = log2(cores < 1 ? 1 : (double)cores);
    if (at >= LAST) return core_share[LAST];
    int low = (int)at;
    return core_share[low] + (at - low) * (core_share[low + 1] - core_share[low]);
}

static double value(enum cost_constant_id id)
{
    return cost_constants[id].value;
}

/* Microseconds at a rate in GB/s. */
static double at_rate(double bytes, double gb_per_s)
{
    return bytes / (gb_per_s * 1e3);
}

double cost_op(const struct cost_work *w)
{
    double both = w->read_bytes + w->written_bytes, turn = fmin(w->read_bytes, w->written_bytes);
    double memory = at_rate(both, value(COST_ONE_WAY)) + turn * value(COST_TURNAROUND) * 1e-3;
    double row_rate =
        fmin(value(COST_ONE_WAY),
             value(COST_ROW_FLOOR) + value(COST_ROW_GAIN) * exp(-(double)w->rows / value(COST_ROW_SCALE)));
    double share = share_of(w->cores_used);
    switch (w->kind) {
    case COST_MATMUL:
        return matmul_time(MATMUL_OURS, &w->shape, &w->split);
    case COST_ROW_REDUCTION:
        return at_rate(both, row_rate * share);
    case COST_OUTER_REDUCTION:
        return at_rate(both, value(COST_OUTER) * share);
    case COST_RESTICKIFY:
        return at_rate(both, value(COST_RESTICK) * share);
    case COST_BROADCAST:
        return at_rate(both, value(COST_BROADCASTS) * share);
    case COST_POINTWISE:
        return memory / share;
    case COST_OPAQUE:
    case COST_CLASS_COUNT:
        break;
    }
    return memory;
}

double cost_matmul_resident(double all_us, const struct matmul_shape *shape, int64_t cores_used,
                            double all_bytes, double bytes)
{
    double macs = (double)shape->b * (double)shape->m * (double)shape->n * (double)shape->k;
    double compute = macs / ((double)(cores_used < 1 ? 1 : cores_used) * value(COST_MACS) * 1e3);
    return fmax(fmin(compute, all_us), all_us - at_rate(all_bytes - bytes, value(COST_ONE_WAY)));
}
