/* What programs that measure share: clocks and medians. */
#ifndef LX_TESTS_SUPPORT_BENCH_CLOCK_H
#define LX_TESTS_SUPPORT_BENCH_CLOCK_H

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* Seconds. */
static inline double now_by(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double now(void)
{
    return now_by(CLOCK_MONOTONIC);
}

static inline void pause_seconds(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) continue;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value at a fraction of the sorted ones: 0 the least, 0.5 the median, 1 the largest; between two of them
 * a mixture. Sorts them. */
static inline double quantile(double *values, int count, double fraction)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    const double place = fraction * (double)(count - 1);
    const int below = (int)place, above = below + 1 < count ? below + 1 : below;
    return values[below] + (values[above] - values[below]) * (place - below);
}

#endif
