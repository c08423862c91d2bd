/* How long the search may go on. Work is counted in steps, which makes runs repeatable: a simplex pivot
 * or a node of the Fit engine is one. The clock is only a fuse. */
#ifndef LX_SOLVERS_EXACT_BUDGET_H
#define LX_SOLVERS_EXACT_BUDGET_H

#include "base/clock.h"
#include "scratchpad/placement/problem.h"

struct budget {
    const struct lx_run *run;
    int64_t steps, limit;
    double deadline; /* on the monotonic clock; 0: none */
    bool stopped;
};

static inline struct budget budget_new(const struct lx_run *run, int64_t limit)
{
    struct budget b = {.run = run, .limit = limit};
    if (run->time_limit > 0) b.deadline = clock_seconds() + run->time_limit;
    return b;
}

/* A node of the Fit engine touches the neighbours of an item, so that it costs more where there are many. */
static inline void budget_charge_nodes(struct budget *b, int64_t nodes, int32_t items)
{
    b->steps += nodes * (1 + items / 256);
}

/* Stopped from outside, which no other budget outlives. */
static inline bool budget_stopped(void *budget)
{
    struct budget *b = budget;
    return lx_run_stopped(b->run) || (b->deadline > 0 && clock_seconds() > b->deadline);
}

static inline bool budget_spent(struct budget *b)
{
    if (!b->stopped) b->stopped = b->steps >= b->limit || budget_stopped(b);
    return b->stopped;
}

#endif
