/* The matrix kernels beside OpenBLAS, in one process.
 *
 *     build/bin/bench_kernels [--seconds N] [--smallest] [--only TEXT] [--threads N]
 *
 * Each row is one product at one number of threads. Ours, ours on one thread and OpenBLAS take turns of a
 * fraction of a millisecond, or of one call, each after a little for caches and threads; all rows are gone
 * through again and again, so that whatever else the machine does hits everybody. A neighbour on the other
 * half of a core slows turns by a third or more, for milliseconds or for minutes, and nothing makes one
 * faster: of all turns of somebody the time counts that one in twenty beats. Beside it are ratio and speed-up
 * by medians, which say what one gets on this machine as it is.
 *
 * Where OpenBLAS does not know the processor and falls back to a kernel for an old one, the program starts
 * itself again with OPENBLAS_CORETYPE set to what the processor can: we compare with its best. After turns of
 * several threads of one, before the other's, there is time for the first to put them to sleep. */
#include "bench_clock.h"
#include "kernel_products.h"
#include "peak.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seconds: until OpenBLAS's threads sleep; until ours do; of the calls in a turn; of a runner's share in a
 * pass; that are enough of a runner. */
static const double REST = 0.05, NAP = 0.001, TURN_SECONDS = 0.0005, PASS_SECONDS = 0.2, ENOUGH_SECONDS = 8;

/* Turns in a pass, and that are enough of a runner. */
enum { PASS_TURNS = 8, TURNS = 400 };

/* Which of all times count. */
static const double FAST = 0.05, MEDIAN = 0.5;

/* ---- one row ---- */

/* Somebody who computes a row, and how long that took. */
struct runner {
    run_function *run;
    const struct job *job;
    int64_t calls; /* in a turn */
    int turns;
    double spent;        /* seconds in turns */
    double times[TURNS]; /* of a call */
};

struct entry {
    struct job job;
    struct runner ours, alone, rival; /* alone: the same on one thread; run NULL: there is none */
};

static double time_calls(const struct runner *r, int64_t calls)
{
    double start = now();
    for (int64_t i = 0; i < calls; i++) r->run(r->job);
    return (now() - start) / (double)calls;
}

static void runner_open(struct runner *r, run_function *run, const struct job *job)
{
    *r = (struct runner){.run = run, .job = job};
    double once = time_calls(r, 1);
    once = time_calls(r, 1 + (int64_t)(TURN_SECONDS / (once + 1e-9)));
    r->calls = 1 + (int64_t)(TURN_SECONDS / once);
}

static bool is_done(const struct runner *r)
{
    return !r->run || r->turns == TURNS || r->spent >= ENOUGH_SECONDS;
}

static void take_turn(struct runner *r)
{
    if (is_done(r)) return;
    time_calls(r, 1 + r->calls / 2); /* caches and threads */
    const double time = time_calls(r, r->calls);
    r->times[r->turns++] = time;
    r->spent += time * (double)r->calls;
}

static double runner_time(struct runner *r, double fraction)
{
    return quantile(r->times, r->turns, fraction);
}

/* `first`: the same row on one thread, NULL if this is it. */
static bool entry_open(struct entry *e, const struct row *row, int threads, struct entry *first)
{
    if (!job_open(&e->job, row, threads, first ? &first->job : NULL)) return false;
    rival_threads(threads);
    runner_open(&e->ours, run_ours, &e->job);
    if (first) runner_open(&e->alone, run_ours, &first->job);
    if (row_has_rival(row)) runner_open(&e->rival, run_rival, &e->job);
    return true;
}

static bool entry_done(const struct entry *e)
{
    return is_done(&e->ours) && is_done(&e->alone) && is_done(&e->rival);
}

static void take_turns(struct runner *r)
{
    const double start = now();
    for (int i = 0; i < PASS_TURNS && (i == 0 || now() - start < PASS_SECONDS); i++) take_turn(r);
}

/* Passes the time on all processors: one that was idle comes back slower, and the next one to be measured
 * would have it by luck. */
static void keep_busy(const struct job *j, double seconds)
{
    struct peak_task task = {.loop = choose_peak(), .rounds = 10000};
    for (const double start = now(); now() - start < seconds;) pool_run(j->pool, j->threads, peak_run, &task);
}

static void entry_pass(struct entry *e)
{
    const bool several = e->job.threads > 1;
    rival_threads(e->job.threads);
    if (several) keep_busy(&e->job, REST);
    take_turns(&e->alone);
    if (several) keep_busy(&e->job, REST / 5);
    take_turns(&e->ours);
    if (several) pause_seconds(NAP);
    take_turns(&e->rival);
}

/* ---- the program ---- */

/* What the machine itself gives, at best: GFLOPS of multiply-adds on registers. */
static double measure_peak(int threads)
{
    struct peak_task task = {.loop = choose_peak(), .rounds = 100000};
    struct pool *pool = pool_create(threads);
    double least = HUGE_VAL;
    for (int i = 0; i < 2 * TURNS; i++) {
        double start = now();
        pool_run(pool, threads, peak_run, &task);
        least = fmin(least, now() - start);
    }
    pool_destroy(pool);
    return (double)task.rounds * task.loop(1) * threads * 1e-9 / least;
}

static void print_head(const char *rival)
{
    printf("kernels: %s; %s\nGFLOPS by the time that one in twenty turns beats (~: time was out before all "
           "turns "
           "were taken);\nratio: ours / rival; peak: share of multiply-adds on registers; speed-up: over one "
           "thread; then both by medians\n",
           kernel_target_name(kernel_target_best()), rival);
    printf("%-20s %7s %9s %9s %7s %7s %8s %9s %8s\n", "", "threads", "ours", "rival", "ratio", "peak",
           "speed-up", "ratio", "speed-up");
}

static void print_entry(struct entry *e, double peak)
{
    const double flops = row_flops(e->job.row) * 1e-9, time = runner_time(&e->ours, FAST),
                 median = runner_time(&e->ours, MEDIAN);
    printf("%-20s %7d %9.1f ", e->job.row->name, e->job.threads, flops / time);
    if (e->rival.run) {
        const double rival = runner_time(&e->rival, FAST);
        printf("%9.1f %7.2f ", flops / rival, rival / time);
    } else {
        printf("%9s %7s ", "-", "-");
    }
    if (e->job.row->kind == RELU) /* of memory, not of units */
        printf("%7s ", "-");
    else
        printf("%6.0f%% ", flops / time / peak * 100);
    printf("%8.2f ", e->alone.run ? runner_time(&e->alone, FAST) / time : 1);
    if (e->rival.run)
        printf("%9.2f ", runner_time(&e->rival, MEDIAN) / median);
    else
        printf("%9s ", "-");
    printf("%8.2f%s\n", e->alone.run ? runner_time(&e->alone, MEDIAN) / median : 1,
           entry_done(e) ? "" : " ~");
}

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
        for (const struct row *r = rows; ok && r->name && !(smallest && r > rows); r++) {
            if (!strstr(r->name, only)) continue;
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

static void bench_print(struct bench *b)
{
    const int rows_each = b->count / b->levels;
    double peak[LEVELS_MAX];
    for (int l = 0; l < b->levels; l++) {
        peak[l] = measure_peak(b->threads[l]);
        printf("%-20s %7d %9.1f %9s %7s %6d%% %8.2f\n", "registers only", b->threads[l], peak[l], "-", "-",
               100, peak[l] / peak[0]);
    }
    for (int i = 0; i < rows_each; i++)
        for (int l = 0; l < b->levels; l++) print_entry(&b->entry[l * rows_each + i], peak[l]);
}

static void bench_close(struct bench *b)
{
    for (int i = 0; i < b->count; i++) job_close(&b->entry[i].job);
}

static int usage(FILE *to, int code)
{
    fputs("usage: bench_kernels [--seconds N] [--smallest] [--only TEXT] [--threads N]\n"
          "Measures the matrix kernels beside OpenBLAS.\n\n"
          "  --seconds N  go once through all rows, and again for at most N seconds (default 400)\n"
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
    double seconds = 400;
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
    if (ok && b.count == 0) {
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
