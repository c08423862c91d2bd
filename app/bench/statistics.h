/* The few statistics that comparisons need. Samples are plain arrays; INFINITY stands for "never". */
#pragma once

#include "base/base.h"

/* Sorts `sample` in place. NAN for an empty one. */
double median_of(double *sample, size_t n);
/* Median of the distances from the median, times 1.4826: a standard deviation that outliers do not move. */
double deviation_of(const double *sample, size_t n);
double standard_deviation_of(const double *sample, size_t n);
/* The geometric mean of ratios, given by their logarithms, and how far off it may be. */
struct ratio {
    double times, spread; /* spread: one standard error; NAN when there is only one ratio */
    size_t count;
};
struct ratio ratio_of(const double *logarithms, size_t n);
/* exp(mean(log(x + shift))) - shift */
double shifted_geometric_mean(const double *sample, size_t n, double shift);

/* Two-sided p of Mann-Whitney's U: could two samples come from one distribution? Exact for up to 20 values
 * per side without ties, else by the normal approximation with tie correction. 1 when either is empty. */
double mann_whitney_p(const double *a, size_t n, const double *b, size_t m);
/* Two-sided p of the sign test: `less` against `more` out of their sum. */
double sign_test_p(size_t less, size_t more);
