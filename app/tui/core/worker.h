/* Background jobs; the screen never waits for them.
 *
 * A job has `data` and the functions of its sort (`struct work`). A few threads take jobs in order of
 * rank; one thread is kept for rank 0. A finished job waits in a queue until the screen takes it; a byte
 * in a pipe wakes the screen's poll. A cancelled job is told by watch_stop, and `done` is told that it was
 * cancelled. */
#pragma once

#include "base/words/words.h"
#include "unstable.h"

/* Best and bound over time: a few dozen points that thin out. */
enum { CURVE_MOST = 128 };

struct curve_point {
    double seconds;
    int64_t best, bound; /* best INT64_MAX: none so far; bound 0: none */
};

/* Best never rises and bound never falls. All zero: empty. */
struct curve {
    int count;
    struct curve_point at[CURVE_MOST];
};

/* Adds a point if a value is new; thins out the points if there are too many. */
void curve_add(struct curve *c, double seconds, int64_t best, int64_t bound);
/* Extends the curve up to a moment with its last values. An empty one stays empty. */
void curve_reach(struct curve *c, double seconds);
/* INT64_MAX: none. */
int64_t curve_best(const struct curve *c);
int64_t curve_bound(const struct curve *c);

/* A sort of jobs; its address names it. */
struct work {
    int rank; /* smaller: sooner; 0: the user waits for it */
    /* On a thread of the worker; `watch` is for the functions below. */
    void (*run)(void *data, void *watch);
    /* On the screen's thread; `stopped`: it was cancelled. */
    void (*done)(void *data, bool stopped);
    /* Called for every job, done or dropped. */
    void (*free)(void *data);
};

/* For callbacks of long work: is it cancelled, and its progress. */
bool watch_stop(void *watch);
void watch_progress(void *watch, const struct lx_progress *so_far);
/* Progress in steps; `bound` has their number. */
void watch_steps(void *watch, int32_t done, int32_t steps);
/* Progress of a run in words. */
void watch_run(void *watch, const struct lx_run_progress *so_far);
/* Hands an interim result to the screen while the job continues: as at the end, by `done` and `free`.
 * Takes the data over. */
void watch_hand_over(void *watch, void *data);
/* Of all progress. */
struct curve watch_curve(void *watch);
double watch_seconds(void *watch);

/* The progress of a running job. */
struct progress {
    bool running, waiting;
    double seconds;
    struct lx_progress so_far; /* objective INT64_MAX: nothing so far */
    struct words words;        /* of a run; empty: none so far */
    struct curve curve;
};

struct worker;

/* NULL: there are no threads. */
struct worker *worker_start(void);
/* Cancels everything and waits for it; drops results that were not taken. */
void worker_end(struct worker *w);
/* Takes the data over. `slot` tells jobs of one sort apart. */
void worker_post(struct worker *w, const struct work *work, int slot, void *data);
/* Cancels all jobs of a sort (NULL: of every one): drops waiting ones, running ones end soon. */
void worker_stop(struct worker *w, const struct work *work);
/* Cancels jobs of a sort (NULL: of every one) but `but`. Running ones end soon with their best results;
 * waiting ones are dropped, but with `to_an_end` those of rank 0 still run, to an early end. */
void worker_cancel(struct worker *w, const struct work *work, const struct work *but, bool to_an_end);
/* Calls `done` of every job that has finished. True: there were some. */
bool worker_take(struct worker *w);
struct progress worker_progress(struct worker *w, const struct work *work, int slot);
/* Jobs of a sort (NULL: of every one) that wait or run. */
int worker_busy(struct worker *w, const struct work *work);
/* Asks every job to end. False: one still runs after so many milliseconds. */
bool worker_stopped_within(struct worker *w, int milliseconds);
/* Until nothing waits or runs: for scripts and tests. */
void worker_wait(struct worker *w);
/* Readable when something has finished. */
int worker_descriptor(const struct worker *w);
