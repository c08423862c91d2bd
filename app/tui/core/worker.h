/* Work behind the screen: jobs go in, what they made comes out, the screen never waits.
 *
 * A job is a closure: what it is made of and makes (`data`), and the functions of its sort (`struct work`).
 * Whoever needs something done in the background brings both; the worker knows no sort of job. A handful of
 * threads take jobs in order of rank; one thread is always kept for those of rank 0. A finished job lies in a
 * queue until the screen takes it; a byte in a pipe wakes the screen's poll. A job that nobody wants any more
 * is told to stop, and whoever takes its results is told that it was. */
#ifndef LX_APP_TUI_WORKER_H
#define LX_APP_TUI_WORKER_H

#include "unstable.h"

/* Best and bound over time, of something that is being solved: a few dozen points that thin out as it goes on. */
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

/* A point where something is new; the oldest but the first make room. */
void curve_add(struct curve *c, double seconds, int64_t best, int64_t bound);
/* Up to a moment: it is as good then as it was when it was found. An empty one stays empty. */
void curve_reach(struct curve *c, double seconds);
/* INT64_MAX: none. */
int64_t curve_best(const struct curve *c);
int64_t curve_bound(const struct curve *c);

/* What jobs of one sort have in common; its address names the sort. */
struct work {
    int rank; /* smaller: sooner; 0: what a person is waiting for */
    /* On a thread of the worker; `watch` is for the functions below. */
    void (*run)(void *data, void *watch);
    /* On the screen's thread; `stopped`: it was told to. */
    void (*done)(void *data, bool stopped);
    /* Of every job, be it done or dropped. */
    void (*free)(void *data);
};

/* For callbacks of long work: must it stop, how far is it. */
bool watch_stop(void *watch);
void watch_progress(void *watch, const struct lx_progress *so_far);
/* Of so many steps; progress has them as its bound. */
void watch_steps(void *watch, int32_t done, int32_t steps);
/* Of the nest that runs; of 1: none does. */
void watch_iteration(void *watch, int64_t iteration, int64_t of);
/* What a job has made so far, while it goes on: the screen gets it as it gets the job itself at the end, by `done` and
 * `free`. Takes the data over. */
void watch_hand_over(void *watch, void *data);
/* Of all that was reported. */
struct curve watch_curve(void *watch);
double watch_seconds(void *watch);

/* How far a running job is. */
struct progress {
    bool running, waiting;
    double seconds;
    struct lx_progress so_far;     /* objective INT64_MAX: nothing so far */
    int64_t iteration, iterations; /* of the nest that runs; iterations 0 or 1: none does */
    struct curve curve;
};

struct worker;

/* NULL: no threads, no memory. */
struct worker *worker_start(void);
/* Stops everything and waits for it; what was not taken is dropped. */
void worker_end(struct worker *w);
/* Takes the data over. `slot` tells jobs of one sort apart. */
void worker_post(struct worker *w, const struct work *work, int slot, void *data);
/* All jobs of a sort (NULL: of every one): those that wait are dropped, those that run stop soon. */
void worker_stop(struct worker *w, const struct work *work);
/* A person says stop: what runs ends soon with what it has, and of what waits only rank 0 still runs, to an early end. Jobs
 * of the sort `but` are not meant. */
void worker_hurry(struct worker *w, const struct work *but);
/* Calls `done` of every job that has finished. True: there were some. */
bool worker_take(struct worker *w);
struct progress worker_progress(struct worker *w, const struct work *work, int slot);
/* Jobs of a sort (NULL: of every one) that wait or run. */
int worker_busy(struct worker *w, const struct work *work);
/* Until nothing waits or runs: for scripts and tests. */
void worker_wait(struct worker *w);
/* Readable when something has finished. */
int worker_descriptor(const struct worker *w);

#endif
