/* The harness: runs to make, runs under way, and other ranks. */
#pragma once

#include "bench/ranks.h"
#include "bench/bench.h"
#include "interrupt.h"

#include <sys/types.h>

/* run_child.c: one run in a process of its own. */

enum { WIRE_STATS = LX_MAX_STATS };

/* The message of a run's process, followed by one address and one pool per buffer. Everything in it is a
 * claim: the parent believes only the times, and those within its own wall clock. */
struct wire {
    uint64_t magic, checksum; /* of the places */
    double seconds;
    int32_t called;     /* lx_problem_solve reached the solver */
    int32_t solver_ok;  /* the solver did not run out of memory */
    int32_t solve_code; /* lx_code of lx_problem_solve */
    int32_t claim;      /* lx_verdict */
    int64_t bound, steps, count;
    int32_t stat_count;
    struct {
        char name[32];
        int64_t value;
    } stats[WIRE_STATS];
    char message[160];
    char error[256];
};

/* How far a run is, written by its process while the parent looks: each number by itself is right. */
struct live {
    _Atomic int64_t steps, objective, bound;
};

struct job {
    bool active;
    struct planned run;
    bool recorded; /* not a warm-up */
    struct loaded *instance;
    pid_t pid;
    int fd; /* -1 after its end */
    double start, deadline, next_look;
    char *data;
    size_t length, wanted;
    struct child_result result;
    struct live *live; /* shared with the child; NULL: no live display */
};

/* Says how the memory limit is kept, for the header. */
const char *memory_limit_means(void);
bool job_start(struct job *j, const struct settings *s, const struct bench_solver *solver, uint64_t seed,
               lx_status *st);
/* Reads the pipe, and kills a job over a limit. True when the job has ended and `result` is filled in. */
bool job_poll(struct job *j, const struct settings *s);
void job_kill(struct job *j);
/* Makes the room for `live`; without it runs are not watched. */
void job_watch(struct job *j);
void job_unwatch(struct job *j);
/* Forgets everything but the instance. */
void job_reset(struct job *j);

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
    struct mate *mates; /* a rank no longer answers */
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
