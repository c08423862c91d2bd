/* Rates by kind of op. Traffic in both directions is slower: on Spyre 105 GB/s instead of 150 GB/s one
 * way. */
#include "cost/op.h"

/* Share of the full rate that a row reduction reaches on `cores` cores. Other ops are not known to slow down
 * like this; cost_op_parts counts the scratchpad's port. */
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

/* GB/s of the op's HBM traffic, at most what the ports of its cores take. */
static double rate_of(const struct cost_rates *r, const struct cost_work *w)
{
    const double most = (double)w->cores_used / (1 + w->imbalance) * r->value[COST_CORE_PORT];
    double row; /* GB/s of a row reduction on all cores */
    switch (w->kind) {
    case COST_ROW_REDUCTION:
        row = fmin(r->value[COST_ONE_WAY],
                   r->value[COST_ROW_FLOOR] +
                       r->value[COST_ROW_GAIN] * exp(-(double)w->rows / r->value[COST_ROW_SCALE]));
        return fmin(row * op_share_of(r, w->cores_used), most);
    case COST_OUTER_REDUCTION: return fmin(r->value[COST_OUTER], most);
    case COST_RESTICKIFY: return fmin(r->value[COST_RESTICK], most);
    case COST_BROADCAST: return fmin(r->value[COST_BROADCASTS], most);
    case COST_POINTWISE:
    case COST_OPAQUE:
    case COST_MATMUL:
    case COST_CLASS_COUNT: break;
    }
    return fmin(r->value[COST_ONE_WAY], most);
}

static double memory_time(const struct cost_rates *r, const struct cost_work *w)
{
    double us = at_rate(w->read_bytes + w->written_bytes, rate_of(r, w));
    bool turns = w->kind == COST_POINTWISE || w->kind == COST_OPAQUE;
    return turns ? us + fmin(w->read_bytes, w->written_bytes) * r->value[COST_TURNAROUND] * 1e-3 : us;
}

/* Microseconds at the peak rate of the cores used; a multiply-add is two flops. */
static double arithmetic_us(const struct cost_rates *r, const struct cost_work *w)
{
    return w->flops * (1 + w->imbalance) /
           (2 * r->value[COST_MACS] * (double)(w->cores_used > 0 ? w->cores_used : 1));
}

double cost_sum_parts(bool shares, double parts)
{
    return shares ? 2 * (1 - 1 / parts) : parts - 1;
}

double cost_op(const struct cost_rates *r, const struct cost_work *w)
{
    if (w->kind == COST_MATMUL) return matmul_time_with(r, &w->shape, &w->split);
    return fmax(memory_time(r, w), arithmetic_us(r, w)) + w->sum_bytes * r->value[COST_PSUM] * 1e-3;
}

/* What an op takes beside its bytes and its numbers, and beside a meeting of its cores. */
static double overheads_us(const struct cost_rates *r, const struct cost_work *w)
{
    return r->value[COST_TICK] + w->folds * r->value[COST_FOLD] + w->functions * r->value[COST_FUNCTION] +
           (w->contracts ? r->value[COST_CONTRACT] : 0);
}

void cost_op_parts(const struct cost_rates *r, const struct cost_work *w, int operand_count,
                   const double *bytes, const double *core_bytes, struct cost_parts *out, double *memory_us)
{
    double total = memory_time(r, w), all = 0, held = 0, fixed = overheads_us(r, w);
    bool meets = w->kind == COST_MATMUL ? w->split.k > 1 : w->sum_bytes > 0;
    double beside = fixed + (meets ? r->value[COST_MEET] : 0);
    for (int i = 0; i < operand_count; i++) held += core_bytes[i];
    *out = (struct cost_parts){.port_us = at_rate(held, r->value[COST_LX_PORT]), .fixed_us = fixed};
    if (w->kind == COST_MATMUL && operand_count == 3) {
        /* As fitted: transfers hide compute time, an operand on chip hides nothing. The fit has no port. */
        struct matmul_parts t = matmul_parts_with(r, &w->shape, &w->split);
        memory_us[w->kernel] = t.kernel;
        memory_us[1 - w->kernel] = t.rows;
        memory_us[2] = t.output;
        *out = (struct cost_parts){.extra_us = t.shown + t.sums + beside,
                                   .back_us = t.sums,
                                   .fixed_us = fixed,
                                   .compute_us = fmax(t.compute - t.shown, 0)};
        return;
    }
    for (int i = 0; i < operand_count; i++) all += bytes[i];
    for (int i = 0; i < operand_count; i++) {
        memory_us[i] = all > 0 ? total * bytes[i] / all : 0;
        if (w->contracts) memory_us[i] = fmax(memory_us[i], at_rate(core_bytes[i], r->value[COST_CORE_PORT]));
    }
    out->compute_us = arithmetic_us(r, w);
    out->back_us = w->sum_bytes * r->value[COST_PSUM] * 1e-3;
    out->extra_us = out->back_us + beside;
}

/* --- Bundles and rings. The launch model is a fit of five measured kernels; other tables have zeros. --- */

double cost_launch(const struct lx_device *d, int64_t operands, int64_t cores)
{
    return cost_rate(d, COST_LAUNCH) + cost_rate(d, COST_LAUNCH_OPERAND) * (double)operands +
           cost_rate(d, COST_LAUNCH_DOUBLING) * log2(cores > 1 ? (double)cores : 1);
}

double cost_charged_bytes(const struct lx_device *d, double bytes)
{
    const double credit = cost_rate(d, COST_CREDIT), fade = 0.2; /* of each byte beyond the credit */
    return fmin(fmax(bytes - credit, 0) * (1 + fade), bytes);
}

double cost_hbm_rate(const struct lx_device *d)
{
    static const enum cost_constant_id rates[] = {COST_ONE_WAY, COST_STREAM_CAP, COST_OUTER, COST_RESTICK,
                                                  COST_BROADCASTS};
    const struct cost_rates r = cost_rates_of(d);
    double most = 0;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) most = fmax(most, r.value[rates[i]] * 1e3);
    return most;
}

double cost_end_to_end(double launch_us, double device_us)
{
    /* The norm of exponent 8, by operations that are equal on every machine. */
    const double most = fmax(launch_us, device_us), ratio = most > 0 ? fmin(launch_us, device_us) / most : 0,
                 square = ratio * ratio, fourth = square * square;
    return most * sqrt(sqrt(sqrt(1 + fourth * fourth)));
}

/* The relayout model of torch-spyre. On Spyre ns = runs per core x (-1.14 + 3.92 log2 parts) + bytes / 547.
 * Runs are latency: a faster ring does not shorten them. */
double cost_relayout(const struct lx_device *d, int64_t runs, int64_t parts, int64_t part_bytes)
{
    double hops = log2(parts < 2 ? 2 : (double)parts);
    double run_ns = fmax(cost_rate(d, COST_HOP) * hops - cost_rate(d, COST_RUN), 0);
    return ((double)runs * run_ns + (double)part_bytes / cost_rate(d, COST_RELAYOUT)) * 1e-3;
}
