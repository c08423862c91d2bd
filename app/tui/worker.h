/* Planning behind the screen: jobs go in, results come out, the screen never waits.
 *
 * A handful of threads take jobs in order of their kind: the plan that is looked at first, races and lists
 * after it; one thread is always kept for the former. A result lies in a queue until the screen takes it; a
 * byte in a pipe wakes the screen's poll. A job that nobody wants any more is told to stop through the
 * solver's own callback, and its result says that it was. */
#ifndef LX_APP_TUI_WORKER_H
#define LX_APP_TUI_WORKER_H

#include "tui/planned.h"
#include "tui/team_cut.h"

enum job_kind { JOB_PLAN, JOB_TEAM, JOB_RUN, JOB_TEAM_RUN, JOB_RACE, JOB_READ, JOB_FILL, JOB_KINDS };

/* What is known of a pattern by reading its file. */
struct facts {
    char *name, *summary, *expect;
    int64_t ops, buffers, bytes, target; /* target -1: none */
    bool is_list, is_plan, must_refuse;
    bool refused; /* `st` says why */
    lx_status st;
};

struct result {
    enum job_kind kind;
    uint64_t serial; /* the caller's own number */
    int slot;
    bool stopped;              /* it was told to */
    struct facts facts;        /* JOB_READ */
    struct outcome outcome;    /* the others */
    struct lx_run_result *run; /* JOB_RUN; NULL: `run_st` says why */
    lx_status run_st;
    struct team_cut team;              /* JOB_TEAM; of such a job the slot is the number of members */
    struct lx_team_result team_result; /* JOB_TEAM_RUN, if `team_ran`; else `run_st` says why not */
    bool team_ran;
    struct result *next;
};

/* How far a running job is. */
struct progress {
    bool running, waiting;
    double seconds;
    struct lx_progress so_far;
};

struct worker;

/* NULL: no threads, no memory. */
struct worker *worker_start(void);
/* Stops everything and waits for it. */
void worker_end(struct worker *w);
/* False when memory is out. */
bool worker_post(struct worker *w, enum job_kind kind, uint64_t serial, int slot, const char *path,
                 const struct what_if *how, bool as_it_is);
/* All jobs of a kind: those that wait are dropped, those that run stop soon. */
void worker_stop(struct worker *w, enum job_kind kind);
/* The next result, or NULL. The caller frees it. */
struct result *worker_take(struct worker *w);
void result_free(struct result *r);
struct progress worker_progress(struct worker *w, enum job_kind kind, int slot);
/* Jobs of a kind (or JOB_KINDS: of all) that wait or run. */
int worker_busy(struct worker *w, enum job_kind kind);
/* Until nothing waits or runs: for scripts and tests. */
void worker_wait(struct worker *w);
/* Readable when there are results. */
int worker_descriptor(const struct worker *w);

void facts_read(const char *path, struct facts *out);
void facts_free(struct facts *f);

#endif
