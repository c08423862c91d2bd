/* Timings on a machine that is shared with others: wait for a quiet moment, know how quiet it was.
 *
 * A neighbour on the other half of a core takes units, issue slots and cache away for milliseconds at a time.
 * A short loop that needs all of them (peak.h), on as many threads as are to be timed, runs before and after
 * whatever is timed; how long it took is the noise of the moment, and it knows nothing of what is timed. */
#ifndef TESTS_BENCH_QUIET_H
#define TESTS_BENCH_QUIET_H

#include "bench_clock.h"
#include "peak.h"
#include "device/kernels/pool.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- the probe ---- */

enum { PROBE_ROUNDS = 1000 };

struct probe {
    struct pool *pool;
    int threads;
    double least; /* seconds, of all probes; 0: none yet */
};

static inline double probe_now(struct probe *p)
{
    struct peak_task task = {choose_peak().probe, PROBE_ROUNDS};
    pool_run(p->pool, p->threads, peak_run, &task); /* wakes the threads */
    double start = now();
    pool_run(p->pool, p->threads, peak_run, &task);
    double seconds = now() - start;
    if (p->least == 0 || seconds < p->least) p->least = seconds;
    return seconds;
}

/* The noise up to which a moment is quiet, as far as we know by now. */
static inline double probe_quiet(const struct probe *p)
{
    return p->least * 1.05;
}

/* Waits until the probe takes hardly longer than ever, but not for ever. Returns its time. */
static inline double probe_until_quiet(struct probe *p, double patience)
{
    const double start = now();
    double seconds;
    do seconds = probe_now(p);
    while (seconds > probe_quiet(p) && now() - start < patience);
    return seconds;
}

/* ---- what was timed ---- */

enum { SERIES_MAX = 1000, QUIETEST = 20 };

struct timing {
    double noise, time;
};

struct series {
    int count;
    struct timing timing[SERIES_MAX];
};

static inline void series_add(struct series *s, double time, double noise)
{
    if (s->count < SERIES_MAX) s->timing[s->count++] = (struct timing){noise, time};
}

static inline int series_count(const struct series *s, double most_noise)
{
    int count = 0;
    for (int i = 0; i < s->count; i++) count += s->timing[i].noise <= most_noise;
    return count;
}

static inline int compare_noise(const void *a, const void *b)
{
    return compare_doubles(&((const struct timing *)a)->noise, &((const struct timing *)b)->noise);
}

/* The median time of the quietest. */
static inline double series_middle(struct series *s)
{
    double quiet[QUIETEST];
    const int count = s->count < QUIETEST ? s->count : QUIETEST;
    qsort(s->timing, (size_t)s->count, sizeof *s->timing, compare_noise);
    for (int i = 0; i < count; i++) quiet[i] = s->timing[i].time;
    return quantile(quiet, count, 0.5);
}

#endif
