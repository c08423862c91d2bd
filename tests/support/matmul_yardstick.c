#include "support/matmul_yardstick.h"

static const double macs_per_us = 1.536e6; /* of one core */
static const double hbm_gb_per_s = 204.8;
static const double pt_rows = 8, target_passes = 5, efficiency_exponent = 0.25;
static const double cohort_limit = 8, cohort_exponent = 0.75;
static const double psum_us_shared = 1e-3, psum_us_batched = 1e-4; /* an element and reduce step */
static const double m_lane_us = 10, m_lane_least = 4, m_lane_rows = 32;
static const double m_tile_us = 30, m_tile_rows = 16;
static const double wide_n_us = 25, wide_n_columns = 512;
static const double underuse_us = 150, batch_us = 10, large_m_us = 20, down_n_us = 10, narrow_us = 5;
static const double narrow_n = 4096, narrow_n_tile = 128;
static const int64_t decode_rows_low = 2, decode_rows_high = 32;

/* GB/s of all weight slices together, by (m, k). */
static const struct {
    int64_t m, k;
    double gb_per_s;
} decode_caps[] = {
    {1, 1, 142}, {1, 2, 142}, {1, 4, 140}, {1, 8, 140}, {2, 1, 144}, {2, 2, 146}, {2, 4, 143}, {2, 8, 136},
    {4, 1, 152}, {4, 2, 147}, {4, 4, 140}, {4, 8, 128}, {8, 1, 135}, {8, 2, 120}, {8, 4, 103},
};
static const double decode_cap_other = 140;

struct cost_rates spyre_rates(void)
{
    struct lx_device spyre;
    lx_device_preset("spyre", &spyre);
    return cost_rates_of(&spyre);
}

static double decode_cap(int64_t m, int64_t k)
{
    for (unsigned i = 0; i < sizeof decode_caps / sizeof *decode_caps; i++)
        if (decode_caps[i].m == m && decode_caps[i].k == k) return decode_caps[i].gb_per_s;
    return decode_cap_other;
}

double matmul_bytes(const struct matmul_shape *s)
{
    double b = (double)s->b, m = (double)s->m, n = (double)s->n, k = (double)s->k;
    return (b * m * k + (s->shared_weight ? 1 : b) * k * n) * (double)s->operand_bytes +
           b * m * n * (double)s->output_bytes;
}

/* A logarithm that linked costs nothing below 1. */
static double log_above(double x)
{
    return x > 1 ? log2(x) : 0;
}

static double matmul_upstream(enum matmul_model version, const struct matmul_shape *s,
                              const struct matmul_split *p)
{
    double B = (double)s->b, M = (double)s->m, N = (double)s->n, K = (double)s->k;
    double b = (double)p->b, m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double used = b * m * n * k, cores = (double)s->cores;
    bool shared = s->shared_weight;
    struct cost_rates spyre = spyre_rates();
    bool decode = version == MATMUL_UPSTREAM_C && shared && s->operand_bytes == 2 && s->b == 1 &&
                  s->m >= decode_rows_low && s->m <= decode_rows_high;

    double efficiency = fmin(1, pow(fmax(1, M / (pt_rows * m)) / target_passes, efficiency_exponent));
    double compute = B * M * N * K / used / (macs_per_us * efficiency);
    if (version != MATMUL_UPSTREAM_A && p->k > 1) compute *= 2;

    double cohort = shared ? fmax(m, n) : n;
    double hbm =
        matmul_bytes(s) / (hbm_gb_per_s * 1e3) * fmax(1, pow(cohort / cohort_limit, cohort_exponent));
    if (decode) {
        double weight = K * N * (double)s->operand_bytes;
        double rate = fmin(decode_cap(p->m, p->k), used / m * matmul_slice_rate(&spyre, m));
        hbm = (matmul_bytes(s) - weight) / (hbm_gb_per_s * 1e3) + weight / (rate * 1e3);
    }
    double psum = (k - 1) * B * M * N / (b * m * n) * (shared ? psum_us_shared : psum_us_batched);

    double lanes = fmax(m_lane_least, fmin(cores / 2, M / m_lane_rows));
    double penalty = m_lane_us * log_above(lanes / m) + wide_n_us * log_above(N / n / wide_n_columns) +
                     underuse_us * log_above(cores / used);
    if (!decode) penalty += m_tile_us * log_above(m_tile_rows / (M / m));
    if (!shared) penalty += batch_us * log_above(b);
    if (M / m >= m_tile_rows)
        penalty += shared ? narrow_us * log_above(narrow_n / N) * log_above(N / n / narrow_n_tile)
                          : large_m_us * log_above(K / N) * log_above(n);
    if (shared) penalty += down_n_us * log_above(K / N) * log_above(n);
    return compute + hbm + psum + penalty;
}

double matmul_time(enum matmul_model model, const struct matmul_shape *s, const struct matmul_split *p)
{
    struct cost_rates r = spyre_rates();
    return model == MATMUL_OURS ? matmul_time_with(&r, s, p) : matmul_upstream(model, s, p);
}
