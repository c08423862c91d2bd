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
 * Six numbers were fitted, by coordinate descent on log(predicted / measured) over 597 of 601 measured splits
 * of 24 shapes (four took more than twelve times the best of their shape: hangs, or nearly), each weighted by
 * (best / its time)^2 so that the good splits of a shape count; the slice rates and the row efficiency are
 * upstream's, unchanged. tests/measure/bench_matmul_picks.c repeats the fit and leaves shapes and families
 * out. */
#include "cost/matmul.h"

#include <math.h>
#include <string.h>

const struct matmul_model_row matmul_models[MATMUL_MODEL_COUNT] = {
    [MATMUL_OURS] = {"ours", "operand streams, runs and passes; fitted"},
    [MATMUL_UPSTREAM_A] = {"upstream-a", "torch-spyre, June to August 2026"},
    [MATMUL_UPSTREAM_B] = {"upstream-b", "torch-spyre, September 2026: compute doubled where K is split"},
    [MATMUL_UPSTREAM_C] = {"upstream-c",
                           "torch-spyre, late September 2026: and measured weight delivery for decode"},
};

/* In the order of struct matmul_constants. */
const struct matmul_constant_row matmul_constant_rows[MATMUL_CONSTANT_COUNT] = {
    {"stream_cap", 144, "fitted; the one-way rate of the memory is about 150 GB/s, measured"},
    {"run_overhead", 3.5, "fitted on the four batched shapes; a burst is at most 32 sticks"},
    {"psum_us_per_kb", 0.0133, "fitted; 75 GB/s, two reduce rings of 35 GB/s each"},
    {"compute_shown", 0.19, "fitted; the rest is hidden behind transfers"},
    {"compute_reduced", 1.33, "fitted; one of two corelets would be 2 with nothing hidden"},
    {"kernel_passes", 1.45, "fitted on the four batched shapes"},
};

struct matmul_constants matmul_constants_default(void)
{
    double values[MATMUL_CONSTANT_COUNT];
    struct matmul_constants c;
    for (int i = 0; i < MATMUL_CONSTANT_COUNT; i++) values[i] = matmul_constant_rows[i].value;
    memcpy(&c, values, sizeof c);
    return c;
}

/* Measured on one slice of a decode weight with 1 to 32 cores that want it: torch-spyre, September 2026
 * (decode_slice_gbps). Between the powers of two: linear in the logarithm. */
double matmul_slice_rate(double sharers)
{
    static const double rate[] = {5.4, 18.4, 33.0, 42.9, 40.1, 41.6};
    enum { LAST = sizeof rate / sizeof *rate - 1 };
    double at = log2(sharers < 1 ? 1 : sharers);
    if (at >= LAST) return rate[LAST];
    int low = (int)at;
    double share = at - low;
    return rate[low] * (1 - share) + rate[low + 1] * share;
}

double matmul_bytes(const struct matmul_shape *s)
{
    double b = (double)s->b, m = (double)s->m, n = (double)s->n, k = (double)s->k;
    return (b * m * k + (s->shared_weight ? 1 : b) * k * n) * (double)s->operand_bytes +
           b * m * n * (double)s->output_bytes;
}

/* Microseconds to deliver `bytes`, every slice to `sharers` of the `used` cores. */
static double deliver(const struct matmul_constants *c, double bytes, double used, double sharers, double run)
{
    double rate = fmin(c->stream_cap, used / sharers * matmul_slice_rate(sharers)) * 1e3;
    return bytes / rate * (1 + c->run_overhead / run);
}

struct matmul_parts matmul_parts_with(const struct matmul_constants *c, const struct matmul_shape *s,
                                      const struct matmul_split *p)
{
    double B = (double)s->b, M = (double)s->m, N = (double)s->n, K = (double)s->k;
    double b = (double)p->b, m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double used = b * m * n * k, batches = s->shared_weight ? 1 : B;
    double k_sticks = ceil(K / (double)s->stick_elements) / k;
    /* An unsplit batch leaves runs as long as a burst can be, and longer. */
    double run = s->b > 1 && p->b > 1 ? B / b : HUGE_VAL;
    double a_us = deliver(c, B * M * K * (double)s->operand_bytes, used, n, run);
    double w_us = deliver(c, batches * K * N * (double)s->operand_bytes, used, s->shared_weight ? m * b : m,
                          s->shared_weight ? HUGE_VAL : run);
    double output = B * M * N * (double)s->output_bytes;
    double c_us = output / (c->stream_cap * 1e3) * (1 + c->run_overhead / run);
    if (s->b > 1 && !s->shared_weight && k_sticks > 1) w_us *= 1 + c->kernel_passes;
    /* 1.536e6 multiply-adds a microsecond and core, and the rows that keep the 8-row array busy: upstream. */
    double rows = fmin(1, pow(fmax(1, M / (8 * m)) / 5, 0.25));
    double compute = B * M * N * K / used / (1.536e6 * rows);
    double shown = compute * (p->k > 1 ? c->compute_reduced : c->compute_shown);
    double sums = (k - 1) * c->psum_us_per_kb * output / (b * m * n) / 1e3;
    return (struct matmul_parts){a_us, w_us, c_us, compute, shown, sums};
}

double matmul_time_with(const struct matmul_constants *c, const struct matmul_shape *s,
                        const struct matmul_split *p)
{
    struct matmul_parts t = matmul_parts_with(c, s, p);
    return t.rows + t.kernel + t.output + t.shown + t.sums;
}

double matmul_time(enum matmul_model model, const struct matmul_shape *s, const struct matmul_split *p)
{
    if (model != MATMUL_OURS) return matmul_upstream(model, s, p);
    struct matmul_constants c = matmul_constants_default();
    return matmul_time_with(&c, s, p);
}
