/* The harness: runs to make, runs under way, and other ranks. */
#ifndef LX_APP_BENCH_HARNESS_H
#define LX_APP_BENCH_HARNESS_H

#include "bench/ranks.h"
#include "bench/run_child.h"
#include "interrupt.h"

/* Another rank, as rank 0 sees it. */
struct mate {
    enum { MATE_ABSENT, MATE_IDLE, MATE_BUSY, MATE_GONE } state;
    const struct planned *run; /* where busy */
    double deadline;           /* of its answer */
};

/* The processes that share the work; without --transport it is this one alone. */
struct crew {
    const struct ranks *ranks; /* NULL: alone */
    int rank, count;
    struct mate *mates; /* of rank 0, one per rank */
    bool lost_one;      /* someone does not answer any more */
};

struct bench {
    struct call *call;
    struct settings settings;
    instances list;
    schedule todo;
    size_t next, total, done; /* of todo; of all runs, with those of a resumed file */
    struct job *jobs;
    int active;
    struct results_file file;
    struct results results; /* for the report at the end */
    struct loaded *last;    /* the next run is most often on the same instance */
    double start, next_progress;
    size_t done_at_start;
    bool show;
    struct crew crew;
};

/* harness.c */
const char *solver_name(const struct bench *b, const struct planned *p);
const char *config_of(const struct bench *b, const struct planned *p);
int64_t seed_of(const struct bench *b, const struct planned *p);
/* A run that cannot begin has its row already when this returns, and nothing is under way. */
bool begin_run(struct bench *b, struct job *j, const struct planned *p, bool recorded);
/* Waits a moment for running jobs, and keeps the rows of jobs that have ended. */
bool poll_jobs(struct bench *b);
/* Kills running jobs without recording them. */
void stop_jobs(struct bench *b);
bool run_list(struct bench *b, const schedule *list, bool recorded);
bool warm_up(struct bench *b);

/* mpi_crew.c: `--transport mpi`. Rank 0 leads: it owns the results file, deals the runs out one at a time,
 * and makes runs itself. The others follow, and say nothing. */
bool crew_join(struct bench *b);
/* For rank 0: everyone has the same runs as `header` tells of; the settings learn all machines. */
bool crew_gather(struct bench *b, const char *header);
bool crew_lead(struct bench *b);
/* For the others, to the end. `ok`: the list of runs was made; else `call->st` says why not. */
void crew_follow(struct bench *b, bool ok, const char *header);
bool crew_send_row(struct bench *b, const struct row *row);
/* For rank 0, whatever happened: sends all home. Does not return if someone is lost. */
void crew_dismiss(struct bench *b, bool ok);

#endif
