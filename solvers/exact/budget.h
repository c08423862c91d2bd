/* How long the search may go on, and who hears of it. Work is counted in steps, which makes runs
 * repeatable: a simplex pivot or a node of the Fit engine is one, more where the problem is large. The
 * clock is only a fuse, and it decides when a caller is told that the work goes on. */
#ifndef LX_SOLVERS_EXACT_BUDGET_H
#define LX_SOLVERS_EXACT_BUDGET_H

#include "base/clock.h"
#include "placement/problem.h"

struct model;

struct budget {
    const struct lx_run *run;
    int64_t steps, limit;
    double deadline; /* on the monotonic clock; 0: none */
    bool stopped;
    /* What the caller hears: the answer as a whole, which one part at a time is improved in. */
    const struct model *part; /* better plans of this model are better answers */
    int64_t *address;         /* the answer, per buffer; NULL: nothing to tell yet */
    int64_t rest, rest_bound; /* value and bound of the other parts */
    int64_t value, bound;     /* of this part */
    int32_t lacking;          /* parts of which no legal plan is known: then there is no answer to tell */
    double told;              /* when, on the monotonic clock */
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

/* So many nodes, or what is left for them; 1 at least. */
static inline int64_t budget_nodes(const struct budget *b, int64_t nodes, int32_t items)
{
    int64_t left = (b->limit - b->steps) / (1 + items / 256);
    if (left < nodes) nodes = left;
    return nodes > 1 ? nodes : 1;
}

static inline void budget_tell(struct budget *b, const int64_t *address)
{
    struct lx_progress so_far = {.steps = b->steps,
                                 .objective = b->lacking ? INT64_MAX : b->rest + b->value,
                                 .bound = b->rest_bound + b->bound,
                                 .address = b->lacking ? NULL : address};
    b->told = clock_seconds();
    b->run->progress(b->run->context, &so_far);
}

/* Nothing new, but the work goes on. */
static inline void budget_alive(struct budget *b, const int64_t *none)
{
    b->told = clock_seconds();
    b->run->progress(b->run->context,
                     &(struct lx_progress){.steps = b->steps, .objective = INT64_MAX, .address = none});
}

/* Stopped from outside, which no other budget outlives. Polled every few milliseconds at least, so it is
 * here that the caller hears that the work goes on. */
static inline bool budget_stopped(void *budget)
{
    struct budget *b = budget;
    if (b->run->progress && clock_seconds() > b->told + 0.2)
        (b->address ? budget_tell : budget_alive)(b, NULL);
    return lx_run_stopped(b->run) || (b->deadline > 0 && clock_seconds() > b->deadline);
}

static inline bool budget_spent(struct budget *b)
{
    if (!b->stopped) b->stopped = b->steps >= b->limit || budget_stopped(b);
    return b->stopped;
}

/* spill.c: a better plan (per item) of a model; does nothing unless that is the part the caller hears of. */
void budget_better(struct budget *b, const struct model *m, const int64_t *address, int64_t value);
/* A better bound of it. */
static inline void budget_bound(struct budget *b, const struct model *m, int64_t bound)
{
    if (m == b->part && bound > b->bound) b->bound = bound;
}

#endif
