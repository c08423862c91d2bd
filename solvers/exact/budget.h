/* Limits of the search, and reports of its progress. Work is counted in steps, which makes runs repeatable: a
 * simplex pivot or a node of the Fit engine costs one step, more if the problem is large. The clock only
 * serves the deadline and the interval of reports. */
#pragma once

#include "base/base.h"
#include "placement/problem.h"

struct model;

struct budget {
    const struct lx_run *run;
    int64_t steps, limit;
    double deadline; /* on the monotonic clock; 0: none */
    bool stopped;
    /* For reports: the whole answer; one part at a time is improved. */
    const struct model *part; /* better plans of this model are better answers */
    int64_t *address;         /* the answer, per buffer; NULL: nothing to report yet */
    int64_t rest, rest_bound; /* value and bound of the other parts */
    int64_t value, bound;     /* of this part */
    int32_t lacking;          /* parts without a legal plan; with any there is no answer to report */
    double reported;          /* time of the last report, on the monotonic clock */
};

static inline struct budget budget_new(const struct lx_run *run, int64_t limit)
{
    struct budget b = {.run = run, .limit = limit};
    if (run->time_limit > 0) b.deadline = clock_seconds() + run->time_limit;
    return b;
}

/* Counts nodes of the Fit engine; a node visits an item's neighbours, so it costs more with many items. */
static inline void budget_spend_nodes(struct budget *b, int64_t nodes, int32_t items)
{
    b->steps += nodes * (1 + items / 256);
}

/* At most `nodes` nodes, or the number still affordable; at least 1. */
static inline int64_t budget_nodes(const struct budget *b, int64_t nodes, int32_t items)
{
    int64_t left = (b->limit - b->steps) / (1 + items / 256);
    if (left < nodes) nodes = left;
    return nodes > 1 ? nodes : 1;
}

/* `address` NULL: reports steps and bound only. */
static inline void budget_report(struct budget *b, const int64_t *address)
{
    struct lx_progress so_far = {.steps = b->steps, .objective = INT64_MAX};
    if (b->address) so_far.bound = b->rest_bound + b->bound;
    if (b->address && !b->lacking) {
        so_far.objective = b->rest + b->value;
        so_far.address = address;
    }
    b->reported = clock_seconds();
    b->run->progress(b->run->context, &so_far);
}

/* No answer can be of use any more, by the bounds of all parts. */
static inline bool budget_is_useless(const struct budget *b)
{
    return b->run->most > 0 && b->rest_bound + b->bound > b->run->most;
}

/* Cancelled or past the deadline? Polled every few milliseconds, so it also reports. */
static inline bool budget_stopped(void *budget)
{
    struct budget *b = budget;
    if (b->run->progress && clock_seconds() > b->reported + 0.2) budget_report(b, NULL);
    return lx_run_stopped(b->run) || (b->deadline > 0 && clock_seconds() > b->deadline);
}

static inline bool budget_spent(struct budget *b)
{
    if (!b->stopped) b->stopped = b->steps >= b->limit || budget_stopped(b);
    return b->stopped;
}

/* spill.c: a better plan (per item) of a model; does nothing unless the model is the reported part. */
void budget_better(struct budget *b, const struct model *m, const int64_t *address, int64_t value);
/* spill.c: a better bound of the model. */
static inline void budget_bound(struct budget *b, const struct model *m, int64_t bound)
{
    if (m == b->part && bound > b->bound) b->bound = bound;
}
