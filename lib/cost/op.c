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
};

/* What few cores reach of the device's rate in a row reduction: upstream's table, 1 to 32 cores. Nothing says
 * that other ops slow down like this; a softmax over columns on one core moves its bytes at nearly the full
 * rate. What one core can take through its scratchpad's port is counted apart (cost_op_parts). */
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
        return at_rate(both, value(COST_OUTER));
    case COST_RESTICKIFY:
        return at_rate(both, value(COST_RESTICK));
    case COST_BROADCAST:
        return at_rate(both, value(COST_BROADCASTS));
    case COST_POINTWISE:
    case COST_OPAQUE:
    case COST_CLASS_COUNT:
        break;
    }
    return memory;
}

/* A matmul's transfers hide what compute time they can, as the fitted model has it, and no more than they
 * take; what stays on chip hides nothing. */
static void matmul_parts(const struct cost_work *w, struct cost_parts *out, double *memory_us)
{
    struct matmul_constants c = matmul_constants_default();
    struct matmul_parts t = matmul_parts_with(&c, &w->shape, &w->split);
    memory_us[w->kernel] = t.kernel;
    memory_us[1 - w->kernel] = t.rows;
    memory_us[2] = t.output;
    out->extra_us = t.shown + t.sums;
    out->compute_us = fmin(fmax(t.compute - t.shown, 0), t.rows + t.kernel + t.output);
}

void cost_op_parts(const struct cost_work *w, int operand_count, const double *bytes, double core_bytes,
                   double lx_gb_per_s, struct cost_parts *out, double *memory_us)
{
    double total = cost_op(w), all = 0;
    *out = (struct cost_parts){0, 0};
    if (w->kind == COST_MATMUL && operand_count == 3) {
        matmul_parts(w, out, memory_us);
        return;
    }
    for (int i = 0; i < operand_count; i++) all += bytes[i];
    for (int i = 0; i < operand_count; i++) memory_us[i] = all > 0 ? total * bytes[i] / all : 0;
    out->compute_us = fmin(at_rate(core_bytes, lx_gb_per_s), total);
}
