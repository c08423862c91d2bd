/* Rates by kind of op. Traffic in both directions is slower: on Spyre 105 GB/s instead of 150 GB/s one
 * way. */
#include "cost/op.h"

#include <math.h>

/* Share of the device's rate that a row reduction reaches on few cores. Other ops are not known to slow down
 * like this; the port of a core's scratchpad is counted apart (cost_op_parts). */
static double op_share_of(const struct cost_rates *r, int64_t cores)
{
    const double *share = &r->value[COST_SHARE_1];
    enum { LAST = COST_DOUBLINGS - 1 };
    double at = log2(cores < 1 ? 1 : (double)cores);
    if (at >= LAST) return share[LAST];
    int low = (int)at;
    return share[low] + (at - low) * (share[low + 1] - share[low]);
}

static double at_rate(double bytes, double gb_per_s)
{
    return bytes / (gb_per_s * 1e3);
}

double cost_copy(const struct lx_device *d, int64_t bytes)
{
    return at_rate((double)bytes, cost_rate(d, COST_ONE_WAY));
}

double cost_local_copy(const struct lx_device *d, int64_t bytes)
{
    return at_rate(2 * (double)bytes, cost_rate(d, COST_LX_PORT));
}

/* GB/s of all bytes of the op, as far as its cores can take them. */
static double rate_of(const struct cost_rates *r, const struct cost_work *w)
{
    const double most = (double)w->cores_used * r->value[COST_CORE_PORT];
    double row; /* of a row reduction that all cores work on */
    switch (w->kind) {
    case COST_ROW_REDUCTION:
        row = fmin(r->value[COST_ONE_WAY],
                   r->value[COST_ROW_FLOOR] +
                       r->value[COST_ROW_GAIN] * exp(-(double)w->rows / r->value[COST_ROW_SCALE]));
        return fmin(row * op_share_of(r, w->cores_used), most);
    case COST_OUTER_REDUCTION:
        return fmin(r->value[COST_OUTER], most);
    case COST_RESTICKIFY:
        return fmin(r->value[COST_RESTICK], most);
    case COST_BROADCAST:
        return fmin(r->value[COST_BROADCASTS], most);
    case COST_POINTWISE:
    case COST_OPAQUE:
    case COST_MATMUL:
    case COST_CLASS_COUNT:
        break;
    }
    return fmin(r->value[COST_ONE_WAY], most);
}

static double memory_time(const struct cost_rates *r, const struct cost_work *w)
{
    double us = at_rate(w->read_bytes + w->written_bytes, rate_of(r, w));
    bool turns = w->kind == COST_POINTWISE || w->kind == COST_OPAQUE;
    return turns ? us + fmin(w->read_bytes, w->written_bytes) * r->value[COST_TURNAROUND] * 1e-3 : us;
}

/* Arithmetic at the peak of the cores that work on it; a multiply-add is two. */
static double arithmetic_us(const struct cost_rates *r, const struct cost_work *w)
{
    return w->flops / (2 * r->value[COST_MACS] * (double)(w->cores_used > 0 ? w->cores_used : 1));
}

double cost_op(const struct cost_rates *r, const struct cost_work *w)
{
    if (w->kind == COST_MATMUL) return matmul_time_with(r, &w->shape, &w->split);
    return fmax(memory_time(r, w), arithmetic_us(r, w)) + w->sum_bytes * r->value[COST_PSUM] * 1e-3;
}

void cost_op_parts(const struct cost_rates *r, const struct cost_work *w, int operand_count,
                   const double *bytes, double core_bytes, struct cost_parts *out, double *memory_us)
{
    double total = memory_time(r, w), all = 0;
    *out = (struct cost_parts){.port_us = at_rate(core_bytes, r->value[COST_LX_PORT])};
    if (w->kind == COST_MATMUL && operand_count == 3) {
        /* Transfers hide compute time, as the fitted model has it; an operand on chip hides nothing. The fit
         * knows no port. */
        struct matmul_parts t = matmul_parts_with(r, &w->shape, &w->split);
        memory_us[w->kernel] = t.kernel;
        memory_us[1 - w->kernel] = t.rows;
        memory_us[2] = t.output;
        *out = (struct cost_parts){.extra_us = t.shown + t.sums,
                                   .back_us = t.sums,
                                   .compute_us =
                                       fmin(fmax(t.compute - t.shown, 0), t.rows + t.kernel + t.output)};
        return;
    }
    for (int i = 0; i < operand_count; i++) all += bytes[i];
    for (int i = 0; i < operand_count; i++) memory_us[i] = all > 0 ? total * bytes[i] / all : 0;
    out->compute_us = arithmetic_us(r, w);
    out->extra_us = out->back_us = w->sum_bytes * r->value[COST_PSUM] * 1e-3;
}

/* --- Bundles and rings. The launch model is a fit of five measured kernels; tables without it have zeros.
 * --- */

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

/* The relayout model of torch-spyre. On Spyre ns = runs per core x (-1.14 + 3.92 log2 parts) + bytes / 547.
 * Runs are latency: a faster ring does not shorten them. */
double cost_relayout(const struct lx_device *d, int64_t runs, int64_t parts, int64_t part_bytes)
{
    double hops = log2(parts < 2 ? 2 : (double)parts);
    double run_ns = fmax(cost_rate(d, COST_HOP) * hops - cost_rate(d, COST_RUN), 0);
    return ((double)runs * run_ns + (double)part_bytes / cost_rate(d, COST_RELAYOUT)) * 1e-3;
}
