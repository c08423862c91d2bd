/* Planning with a deadline, or that can be interrupted, in a slot (base/slot.h). Private to the library. */
#ifndef LX_PLAN_PLAN_SLOT_H
#define LX_PLAN_PLAN_SLOT_H

#include "plan/plan.h"

/* What is made of a graph and options: plans, teams. */
struct plan_task {
    /* On the worker, or here where nobody waits; `more` is its own. */
    void *(*make)(const struct lx_graph *g, const struct lx_plan_options *options, const void *more,
                  lx_status *st);
    void (*drop)(void *result);
    void *(*copy)(const void *more); /* for the worker, with mem_alloc in one block; NULL: there is no more */
};

/* The result, or NULL with `st`. Callbacks of the options are called on this thread. */
void *plan_in_slot(const struct plan_task *task, const struct lx_graph *g,
                   const struct lx_plan_options *options, const void *more, lx_status *st);

/* The run of the next of `plans` plans, in the time that is left until the deadline. Cancelled: hasty. */
struct lx_run plan_run_share(const struct lx_run *run, int plans);

/* Is this the worker of lx_plan_make? Does the thread that waits want a complete plan now? The plan is its
 * own then, and nobody changes it any more. */
bool plan_is_awaited(void);
bool plan_offer_is_wanted(void);
void plan_offer(struct lx_plan *p);

#endif
