/* One run in a process of its own. */
#ifndef LX_APP_BENCH_RUN_CHILD_H
#define LX_APP_BENCH_RUN_CHILD_H

#include "bench/bench.h"

#include <sys/types.h>

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
    struct live *live; /* shared with the child; NULL: nobody looks */
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

#endif
