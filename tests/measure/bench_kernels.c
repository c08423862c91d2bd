/* The matrix kernels beside OpenBLAS, in one process.
 *
 *     build/bin/bench_kernels [--seconds N] [--smallest] [--only TEXT] [--threads N]
 *
 * Each row is one product at one number of threads. Ours and OpenBLAS alternate in turns of a fraction of a
 * millisecond, or of one call, each after a little for caches and threads; all rows are gone through again
 * and again. What else the machine does slows turns by a third or more, for milliseconds or for minutes, and
 * changes the clock: turns that are close to each other have much the same of it. So each turn of ours is
 * compared with one of the other: the next, or where threads have to change over one of the next few
 * milliseconds. The ratio is the median of these comparisons. GFLOPS are by the median of the turns. What the
 * machine itself gives is a row too: multiply-adds on registers, whose fastest turn is the peak.
 *
 * Of a shared machine one processor is often slower than the other, and several threads have the slow one
 * too. So the speed-up is against the mean speed of one thread on each of the processors that as many threads
 * were just seen on (on four of them if there are more): these turns, and then one on all threads, follow
 * each other at once, and the median of these comparisons counts.
 *
 * Where OpenBLAS does not know the processor and falls back to a kernel for an old one, the program starts
 * itself again with OPENBLAS_CORETYPE set to what the processor can: we compare with its best. Before turns
 * of several threads there is time for the others' to fall asleep, the same for all. */
#include "support/bench_clock.h"
#include "measure/kernel_products.h"
#include "support/peak.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seconds: until OpenBLAS's threads sleep; of work on all processors before turns of several threads; until
 * ours sleep; of the calls in a turn; of calls that come in bursts; of a pass over a row, roughly; of all
 * turns that are enough of a row. */
static const double REST = 0.05, BUSY = 0.01, NAP = 0.001, TURN_SECONDS = 0.0005, SHORT_CALL = 0.01,
                    PASS_SECONDS = 0.2, ENOUGH_SECONDS = 30;

/* Turns that follow each other where changing over takes long, and that are enough of a row; processors that
 * one thread is measured on. */
enum { BURST = 8, TURNS = 4000, PLACES = 4 };

/* ---- one row ---- */

/* Somebody who computes a row. */
struct runner {
    run_function *run;
    const struct job *job;
    int64_t calls; /* in a turn */
    double once;   /* seconds of a call, roughly */
};

/* All have taken the same turns. */
struct entry {
    struct job job;
    struct runner ours, alone, rival;             /* alone: the same on one thread; run NULL: there is none */
    double ours_times[TURNS], rival_times[TURNS]; /* of a call in each turn */
    double speed_up[TURNS];                       /* over one thread */
    int burst;                                    /* turns of one before those of the next */
    int turns;
    double spent; /* seconds */
};

/* ---- processors ---- */

/* Keeps this thread on a processor; -1: wherever it may be. Where that is not possible it stays free. */
static void keep_to(int one)
{
#ifdef __linux__
    static cpu_set_t all;
    if (CPU_COUNT(&all) == 0 && sched_getaffinity(0, sizeof all, &all) != 0) return;
    cpu_set_t set = all;
    if (one >= 0 && one < CPU_SETSIZE) {
        CPU_ZERO(&set);
        CPU_SET((size_t)one, &set);
    }
    sched_setaffinity(0, sizeof set, &set);
#else
    (void)one;
#endif
}

/* Passes the time on all processors: one that was idle comes back slower, and the next one to be measured
 * would have it by luck. */
static void keep_busy(const struct job *j, double seconds)
{
    struct peak_task task = {.loop = choose_peak(), .rounds = 10000};
    for (const double start = now(); now() - start < seconds;) pool_run(j->pool, j->threads, peak_run, &task);
}

/* ---- turns ---- */

static double time_calls(const struct runner *r, int64_t calls)
{
    double start = now();
    for (int64_t i = 0; i < calls; i++) r->run(r->job);
    return (now() - start) / (double)calls;
}

static void runner_open(struct runner *r, run_function *run, const struct job *job)
{
    *r = (struct runner){.run = run, .job = job};
    const double first = time_calls(r, 1);
    r->once = time_calls(r, 1 + (int64_t)(TURN_SECONDS / (first + 1e-9)));
    r->calls = 1 + (int64_t)(TURN_SECONDS / (r->once + 1e-9));
}

/* `first`: the same row on one thread, NULL if this is it. */
static bool entry_open(struct entry *e, const struct row *row, int threads, struct entry *first)
{
    if (!job_open(&e->job, row, threads, first ? &first->job : NULL)) return false;
    rival_threads(threads);
    runner_open(&e->ours, run_ours, &e->job);
    if (first) runner_open(&e->alone, run_ours, &first->job);
    if (row_has_rival(row)) runner_open(&e->rival, run_rival, &e->job);
    e->burst = first && e->alone.once < SHORT_CALL ? BURST : 1;
    return true;
}

static bool entry_done(const struct entry *e)
{
    return e->turns == TURNS || e->spent >= ENOUGH_SECONDS;
}

static double turn(const struct runner *r)
{
    for (int64_t warm = 0; warm <= r->calls / 2; warm++) r->run(r->job); /* caches and threads */
    return time_calls(r, r->calls);
}

static void take_turns(const struct entry *e, const struct runner *r, double *times, int to)
{
    if (!r->run) return;
    if (e->job.threads > 1) {
        keep_busy(&e->job, BUSY);
        pause_seconds(NAP);
    }
    for (int i = e->turns; i < to; i++) times[i] = turn(r);
}

/* Where a worker runs, for long enough that each takes a task. */
static void note_place(void *context, int64_t task, int worker)
{
    int *where = context;
    (void)task;
    for (double start = now(); now() - start < TURN_SECONDS;) where[worker] = sched_getcpu();
}

/* One thread on each processor, last on the caller's, then all. */
static void take_speed_ups(struct entry *e, int to)
{
    if (!e->alone.run) return;
    const int places = e->job.threads < PLACES ? e->job.threads : PLACES;
    int seen[POOL_THREADS_MAX], where[PLACES];
    for (int i = 0; i < POOL_THREADS_MAX; i++) seen[i] = -1;
    pool_run(e->job.pool, e->job.threads, note_place, seen);
    for (int p = 0; p < places; p++) where[p] = seen[p * e->job.threads / places];
    for (int i = e->turns; i < to; i++) {
        double speed = 0;
        for (int p = places - 1; p >= 0; p--) {
            keep_to(where[p]);
            speed += 1 / turn(&e->alone) / places;
        }
        keep_to(-1);
        e->speed_up[i] = 1 / turn(&e->ours) / speed;
    }
}

/* Turns of all: one each, or a burst of each where threads have to change over. */
static void entry_turns(struct entry *e)
{
    const double start = now();
    const int to = e->turns + e->burst < TURNS ? e->turns + e->burst : TURNS;
    if (e->job.threads > 1) keep_busy(&e->job, REST);
    take_speed_ups(e, to);
    take_turns(e, &e->ours, e->ours_times, to);
    take_turns(e, &e->rival, e->rival_times, to);
    e->turns = to;
    e->spent += now() - start;
}

static void entry_pass(struct entry *e)
{
    rival_threads(e->job.threads);
    const double start = now();
    do entry_turns(e);
    while (!entry_done(e) && now() - start < PASS_SECONDS);
}

/* ---- what came out ---- */

static double median(const double *values, int count)
{
    static double sorted[TURNS];
    memcpy(sorted, values, sizeof *sorted * (size_t)count);
    return quantile(sorted, count, 0.5);
}

/* By how much we are faster. */
static double median_ratio(const struct entry *e)
{
    static double ratios[TURNS];
    for (int i = 0; i < e->turns; i++) ratios[i] = e->rival_times[i] / e->ours_times[i];
    return median(ratios, e->turns);
}

static double gflops(const struct entry *e, const double *times)
{
    return job_flops(&e->job) * 1e-9 / median(times, e->turns);
}

static void print_head(const char *rival)
{
    printf("kernels: %s; %s\nmedians; ratio: ours / rival; peak: share of multiply-adds on registers;\n"
           "speed-up: over the mean of one thread on each processor, measured beside it\n",
           kernel_target_name(kernel_target_best()), rival);
    printf("%-20s %7s %9s %9s %7s %7s %8s %6s\n", "", "threads", "ours", "rival", "ratio", "peak", "speed-up",
           "turns");
}

static void print_entry(const struct entry *e, const struct entry *peak)
{
    const double ours = gflops(e, e->ours_times);
    double fastest = peak->ours_times[0]; /* the median has what else the machine does */
    for (int i = 1; i < peak->turns; i++) fastest = fmin(fastest, peak->ours_times[i]);
    printf("%-20s %7d %9.1f ", e->job.row->name, e->job.threads, ours);
    if (e->rival.run)
        printf("%9.1f %7.3f ", gflops(e, e->rival_times), median_ratio(e));
    else
        printf("%9s %7s ", "-", "-");
    if (e->job.row->kind == RELU) /* of memory, not of units */
        printf("%7s ", "-");
    else
        printf("%6.0f%% ", ours / (job_flops(&peak->job) * 1e-9 / fastest) * 100);
    printf("%8.3f %6d\n", e->alone.run ? median(e->speed_up, e->turns) : 1, e->turns);
}

/* ---- the program ---- */

/* One number of threads after the other, all rows of each. */
enum { LEVELS_MAX = 9, ENTRIES_MAX = 32 * LEVELS_MAX };
struct bench {
    int levels, count;
    int threads[LEVELS_MAX];
    struct entry entry[ENTRIES_MAX];
};

static bool bench_open(struct bench *b, int threads, const char *only, bool smallest)
{
    bool ok = true;
    for (int t = 1; ok && t <= threads; t *= 2) {
        const int before = b->count;
        b->threads[b->levels++] = t;
        for (const struct row *r = rows; ok && r->name && !(smallest && r > rows + 1); r++) {
            if (r->kind != PEAK && !strstr(r->name, only)) continue;
            struct entry *first = t > 1 ? &b->entry[b->count - before] : NULL;
            ok = entry_open(&b->entry[b->count++], r, t, first);
        }
    }
    return ok;
}

static void bench_measure(struct bench *b, double seconds)
{
    const bool watched = isatty(STDERR_FILENO);
    const double start = now();
    int left;
    do {
        left = 0;
        for (int i = 0; i < b->count; i++) {
            if (!entry_done(&b->entry[i])) entry_pass(&b->entry[i]);
            left += !entry_done(&b->entry[i]);
            if (watched) fprintf(stderr, "\r%4.0f s, row %2d of %d ", now() - start, i + 1, b->count);
        }
    } while (left > 0 && now() - start < seconds);
    if (watched) fprintf(stderr, "\r%24s\r", "");
}

static void bench_print(const struct bench *b)
{
    const int rows_each = b->count / b->levels;
    for (int i = 0; i < rows_each; i++)
        for (int l = 0; l < b->levels; l++) {
            const struct entry *peak = &b->entry[l * rows_each];
            print_entry(peak + i, peak);
        }
}

static void bench_close(struct bench *b)
{
    for (int i = 0; i < b->count; i++) job_close(&b->entry[i].job);
}

static int usage(FILE *to, int code)
{
    fputs("usage: bench_kernels [--seconds N] [--smallest] [--only TEXT] [--threads N]\n"
          "Measures the matrix kernels beside OpenBLAS.\n\n"
          "  --seconds N  go once through all rows, and again for at most N seconds (default 700)\n"
          "  --smallest   only the first product: does it work at all?\n"
          "  --only TEXT  only rows whose name contains TEXT\n"
          "  --threads N  up to N threads, doubling from 1 (default 2)\n",
          to);
    return code;
}

int main(int argc, char **argv)
{
    static struct bench b;
    bool smallest = false;
    const char *only = "";
    double seconds = 700;
    int threads = 2;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout, 0);
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = atof(argv[++i]);
        else if (strcmp(argv[i], "--smallest") == 0)
            smallest = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads = atoi(argv[++i]);
        else
            return usage(stderr, 2);
    }
    if (threads < 1 || threads > POOL_THREADS_MAX) return usage(stderr, 2);
    char rival[160];
    rival_open(argv, rival, sizeof rival);
    const bool ok = bench_open(&b, threads, only, smallest);
    if (ok && b.count == b.levels && !strstr(rows->name, only)) {
        fprintf(stderr, "bench_kernels: no row has \"%s\" in its name; without --only all are shown\n", only);
        return 2;
    }
    if (ok) {
        bench_measure(&b, seconds);
        print_head(rival);
        bench_print(&b);
    } else {
        fputs("bench_kernels: out of memory\n", stderr);
    }
    bench_close(&b);
    return ok ? 0 : 3;
}
