/* Medians, ranks and tests over plain arrays. U is exact up to EXACT values per sample without ties (a table
 * of n * m * U ways), a normal approximation otherwise. */
#include "bench/statistics.h"

enum { EXACT = 20 };

double median_of(double *sample, size_t n)
{
    if (n == 0) return NAN;
    qsort(sample, n, sizeof *sample, order_double);
    if (n % 2 == 1 || sample[n / 2 - 1] == sample[n / 2]) return sample[n / 2];
    return sample[n / 2 - 1] / 2 + sample[n / 2] / 2;
}

double deviation_of(const double *sample, size_t n)
{
    OWNED double *copy = mem_alloc((n ? n : 1) * sizeof *copy);
    if (n) memcpy(copy, sample, n * sizeof *copy);
    double middle = median_of(copy, n);
    for (size_t i = 0; i < n; i++) copy[i] = fabs(copy[i] - middle);
    return median_of(copy, n) * 1.4826;
}

double standard_deviation_of(const double *sample, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += sample[i];
    for (size_t i = 0; i < n; i++) squares += pow(sample[i] - sum / (double)n, 2);
    return n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

struct ratio ratio_of(const double *logarithms, size_t n)
{
    struct ratio r = {NAN, NAN, n};
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += logarithms[i];
    if (n == 0) return r;
    r.times = exp(sum / (double)n);
    if (n > 1) r.spread = r.times * standard_deviation_of(logarithms, n) / sqrt((double)n);
    return r;
}

double shifted_geometric_mean(const double *sample, size_t n, double shift)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += log1p(sample[i] / shift);
    return n ? shift * expm1(sum / (double)n) : NAN;
}

/* How many of the ways to rank n among n + m give each U, as shares; the usual recurrence
 * ways(n, m, u) = ways(n - 1, m, u - m) + ways(n, m - 1, u). */
static double exact_tail(size_t n, size_t m, double u)
{
    size_t most = n * m;
    double *ways = mem_zeroed((n + 1) * (m + 1) * (most + 1), sizeof *ways), below = 0, all = 0;
#define WAYS(i, j, v) ways[((i) * (m + 1) + (j)) * (most + 1) + (v)]
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++)
            for (size_t v = 0; v <= i * j; v++) {
                if (i == 0 || j == 0) {
                    WAYS(i, j, v) = v == 0;
                    continue;
                }
                WAYS(i, j, v) = (v >= j ? WAYS(i - 1, j, v - j) : 0) + WAYS(i, j - 1, v);
            }
    for (size_t v = 0; v <= most; v++) {
        all += WAYS(n, m, v);
        if ((double)v <= u) below += WAYS(n, m, v);
    }
#undef WAYS
    mem_free(ways);
    return below / all;
}

double mann_whitney_p(const double *a, size_t n, const double *b, size_t m)
{
    if (n == 0 || m == 0) return 1;
    double *all = mem_alloc((n + m) * sizeof *all), u = 0, ties = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++) u += a[i] > b[k] ? 1 : a[i] == b[k] ? 0.5 : 0;
    memcpy(all, a, n * sizeof *all);
    memcpy(all + n, b, m * sizeof *all);
    qsort(all, n + m, sizeof *all, order_double);
    for (size_t i = 0; i < n + m;) {
        size_t k = i;
        while (k < n + m && all[k] == all[i]) k++;
        double t = (double)(k - i);
        ties += t * t * t - t;
        i = k;
    }
    mem_free(all);
    double pairs = (double)n * (double)m, total = (double)(n + m);
    if (u > pairs / 2) u = pairs - u;
    if (ties == 0 && n <= EXACT && m <= EXACT) return fmin(1, 2 * exact_tail(n, m, u));
    double variance = pairs / 12 * (total + 1 - ties / (total * (total - 1)));
    if (variance <= 0) return 1;
    double z = (pairs / 2 - u - 0.5) / sqrt(variance); /* half a step towards the middle for continuity */
    return z <= 0 ? 1 : fmin(1, erfc(z / sqrt(2)));
}

double sign_test_p(size_t less, size_t more)
{
    size_t n = less + more, few = less < more ? less : more;
    double tail = 0;
    for (size_t k = 0; k <= few; k++)
        tail += exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) -
                    (double)n * log(2));
    return fmin(1, 2 * tail);
}
