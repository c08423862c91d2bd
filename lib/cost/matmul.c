/* Our matmul model: time goes into delivering operands, and the division decides how they are delivered.
 *
 *   streams   Cores that need the same slice of an operand share one stream. A stream for one core is slow
 *             (5.4 GB/s), for two it is much faster, from eight cores on it saturates near 42 GB/s; all
 *             streams together reach the memory's rate. So an operand wants several slices and several
 *             sharers of each: A has used/n slices with n sharers, W has used/m (a shared weight used/(m*b))
 *             with the others. Upstream has this for decode weights only; here it holds for both operands of
 *             every matmul.
 *   runs      A batched operand has its batch innermost in memory: splitting the batch b ways leaves runs of
 *             B/b consecutive sticks, and each run costs some sticks' time to begin.
 *   passes    A core that holds several K sticks of a batched kernel fetches them in passes.
 *   sums      Splitting K makes k - 1 reduce steps over a core's part of the output, and compute is no longer
 *             hidden behind transfers.
 *   compute   The PE array works at its rate only with enough rows per core.
 *
 * All numbers are those of the device's cost table (rates.h); those above are the table spyre's. Of a table that
 * says so, transfers hide all of the compute time that they can, and cores compute whole tiles.
 *
 * Six numbers of spyre's were fitted, by coordinate descent on log(predicted / measured) over 597 of 601 measured splits
 * of 24 shapes (four took more than twelve times the best of their shape: hangs, or nearly), each weighted by
 * (best / its time)^2 so that the good splits of a shape count; the slice rates and the row efficiency are
 * upstream's, unchanged. tests/measure/bench_matmul_picks.c repeats the fit and leaves shapes and families
 * out. */
#include "cost/op.h"

#include <math.h>

/* Between the powers of two: linear in the logarithm. */
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

/* What a core computes of an extent, over what is asked of it: 1, or more where it works in whole tiles. */
static double padding(double extent, double tile)
{
    return tile > 0 ? ceil(extent / tile) * tile / extent : 1;
}

struct matmul_parts matmul_parts_with(const struct cost_rates *r, const struct matmul_shape *s,
                                      const struct matmul_split *p)
{
    double B = (double)s->b, M = (double)s->m, N = (double)s->n, K = (double)s->k;
    double b = (double)p->b, m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double used = b * m * n * k, batches = s->shared_weight ? 1 : B;
    double k_sticks = ceil(K / (double)s->stick_elements) / k;
    /* An unsplit batch leaves runs as long as a burst can be, and longer. */
    double run = s->b > 1 && p->b > 1 ? B / b : HUGE_VAL;
    double a_us = matmul_deliver(r, B * M * K * (double)s->operand_bytes, used, n, run);
    double w_us = matmul_deliver(r, batches * K * N * (double)s->operand_bytes, used,
                                 s->shared_weight ? m * b : m, s->shared_weight ? HUGE_VAL : run);
    double output = B * M * N * (double)s->output_bytes;
    double c_us = output / (r->value[COST_STREAM_CAP] * 1e3) * (1 + r->value[COST_RUN_OVERHEAD] / run);
    if (s->b > 1 && !s->shared_weight && k_sticks > 1) w_us *= 1 + r->value[COST_KERNEL_PASSES];
    /* With nothing hidden. The rows keep the array busy, or do not. */
    double passes = fmax(1, M / (r->value[COST_PE_ROWS] * m)) / r->value[COST_PE_PASSES];
    double rows = fmin(1, pow(passes, r->value[COST_PE_EXPONENT]));
    double compute = B * M * N * K / used / (r->value[COST_MACS] * rows) * padding(M / m, r->tile_rows) *
                     padding(N / n, r->tile_columns);
    double shown = compute * r->value[p->k > 1 ? COST_COMPUTE_REDUCED : COST_COMPUTE_SHOWN];
    if (r->hides_compute) shown = fmax(0, compute - (a_us + w_us + c_us));
    double sums = (k - 1) * r->value[COST_PSUM] * output / (b * m * n) / 1e3;
    return (struct matmul_parts){a_us, w_us, c_us, compute, shown, sums};
}

double matmul_time_with(const struct cost_rates *r, const struct matmul_shape *s,
                        const struct matmul_split *p)
{
    struct matmul_parts t = matmul_parts_with(r, s, p);
    return t.rows + t.kernel + t.output + t.shown + t.sums;
}
