/* Our matmul model: time goes into delivering operands, and the division decides how they are delivered.
 *
 *   streams   Cores that need the same slice of an operand share one stream. A stream for one core is slow
 *             (5.4 GB/s), from eight cores on it saturates near 42 GB/s; all streams together reach the
 *             memory's rate. A has used/n slices with n sharers, W has used/m (a shared weight used/(m*b)).
 *   runs      A batched operand has its batch innermost in memory: splitting the batch b ways leaves runs of
 *             B/b consecutive sticks, and each run costs some sticks' time to begin.
 *   passes    A core that holds several K sticks of a batched kernel fetches them in passes.
 *   sums      Splitting K makes k - 1 reduce steps over a core's part of the output, and compute is no longer
 *             hidden behind transfers.
 *   compute   The PE array works at its rate only with enough rows per core.
 *
 * The numbers above are those of the table spyre. Six of them were fitted, by coordinate descent on
 * log(predicted / measured) over 597 measured splits of 24 shapes, each weighted by (best / its time)^2; the
 * slice rates and the row efficiency are upstream's. tests/measure/bench_matmul_picks.c repeats the fit. */
#include "cost/op.h"

enum { MATMUL_BLOCK = 128 }; /* rows, and columns */

/* Interpolates linearly in log2(sharers) between the measured powers of two. */
double matmul_slice_rate(const struct cost_rates *r, double sharers)
{
    const double *rate = &r->value[COST_SLICE_1];
    enum { LAST = COST_DOUBLINGS - 1 };
    double at = log2(sharers < 1 ? 1 : sharers);
    if (at >= LAST) return rate[LAST];
    int low = (int)at;
    double share = at - low;
    return rate[low] * (1 - share) + rate[low + 1] * share;
}

/* Microseconds to deliver `bytes`, every slice to `sharers` of the `used` cores. */
static double matmul_deliver(const struct cost_rates *r, double bytes, double used, double sharers,
                             double run)
{
    double rate = fmin(r->value[COST_STREAM_CAP], used / sharers * matmul_slice_rate(r, sharers)) * 1e3;
    return bytes / rate * (1 + r->value[COST_RUN_OVERHEAD] / run);
}

/* Ratio of computed to needed positions along `extent`, where a core computes whole tiles; 1 if `tile` is
 * 0. */
static double padding(double extent, double tile)
{
    return tile > 0 ? ceil(extent / tile) * tile / extent : 1;
}

struct matmul_parts matmul_parts_with(const struct cost_rates *r, const struct matmul_shape *s,
                                      const struct matmul_split *p)
{
    double B = (double)s->b, M = (double)s->m, N = (double)s->n, K = (double)s->k;
    double b = (double)p->b, m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double used = b * m * n * k / (1 + p->imbalance), batches = s->shared_weight ? 1 : B;
    double k_sticks = ceil(K / (double)s->stick_elements) / k;
    /* Runs of an unsplit batch are at least as long as a burst: no overhead. */
    double run = s->b > 1 && p->b > 1 ? B / b : HUGE_VAL;
    double a_us = matmul_deliver(r, B * M * K * (double)s->operand_bytes, used, n, run);
    double w_us = matmul_deliver(r, batches * K * N * (double)s->operand_bytes, used,
                                 s->shared_weight ? m * b : m, s->shared_weight ? HUGE_VAL : run);
    double output = B * M * N * (double)s->output_bytes;
    double c_us = output / (r->value[COST_STREAM_CAP] * 1e3) * (1 + r->value[COST_RUN_OVERHEAD] / run);
    if (s->b > 1 && !s->shared_weight && k_sticks > 1) w_us *= 1 + r->value[COST_KERNEL_PASSES];
    /* Compute time with nothing hidden. `rows`: efficiency of the PE array, below 1 with few rows per
     * core. */
    double passes = fmax(1, M / (r->value[COST_PE_ROWS] * m)) / r->value[COST_PE_PASSES];
    double rows = fmin(1, pow(passes, r->value[COST_PE_EXPONENT]));
    double compute = B * M * N * K / used / (r->value[COST_MACS] * rows) * padding(M / m, r->tile_rows) *
                     padding(N / n, r->tile_columns);
    /* A core takes blocks of tiles, a stick of terms at a time. */
    double blocks = ceil(M / m / MATMUL_BLOCK) * ceil(N / n / MATMUL_BLOCK) * B / b;
    compute += blocks * ceil(k_sticks) * r->value[COST_STEP];
    double shown = compute * r->value[p->k > 1 ? COST_COMPUTE_REDUCED : COST_COMPUTE_SHOWN];
    if (r->hides_compute) shown = fmax(0, compute - (a_us + w_us + c_us));
    double sums = cost_sum_parts(r->shares_sums, k) * r->value[COST_PSUM] * output / (b * m * n) / 1e3;
    return (struct matmul_parts){a_us, w_us, c_us, compute, shown, sums};
}

double matmul_time_with(const struct cost_rates *r, const struct matmul_shape *s,
                        const struct matmul_split *p)
{
    struct matmul_parts t = matmul_parts_with(r, s, p);
    return fmax(t.rows + t.kernel + t.output, t.compute - t.shown) + t.shown + t.sums;
}
