/* Many hands for many tasks of one kind: processes that this one forks, or the ranks of mpirun.
 *
 * Tasks and results are plain data of one size each. Whoever does a task has all that it needs before: what
 * was read before the fork, or what every rank reads for itself. A result stands where its task stands, so
 * that it does not matter who did it and when. */
#pragma once

#include "bench/ranks.h"
#include "command.h"

#include <sys/types.h>

struct crowd {
    int64_t jobs;              /* processes at the same time */
    const struct ranks *ranks; /* NULL: no others */
    int rank, count;
    size_t task_size, result_size;
    void *context;
    void (*work)(void *context, const void *task, void *result);
    void (*lost)(void *context, const void *task, void *result); /* who did it has died */
    void (*done)(void *context, size_t done, size_t all);        /* news for a person; may be NULL */
};

/* All tasks; after an interrupt the results of tasks that are not done are unchanged. False with `st`. */
bool crowd_do(struct crowd *c, const void *tasks, size_t count, void *results, lx_status *st);
/* For ranks above 0, instead: serves tasks until the end. `ok`: it could read its input. */
void crowd_serve(struct crowd *c, bool ok);
/* For rank 0, whatever happened: sends the others home. */
void crowd_dismiss(struct crowd *c);
/* Has whoever forked this process died? `parent` itself is no orphan. */
bool crowd_is_orphan(pid_t parent);
