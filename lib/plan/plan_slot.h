/* Planning with a deadline, or with a way to interrupt it, in a slot (base/slot.h). Private to the
 * library. */
#pragma once

#include "plan/plan.h"

/* A function from graph and options to a result: a plan, or a team's plans. */
struct plan_task {
    /* Runs on the worker, or on this thread if none is needed. The worker's `more` is its copy. */
    void *(*make)(const struct lx_graph *g, const struct lx_plan_options *options, const void *more,
                  lx_status *st);
    void (*drop)(void *result);
    /* copy of `more` for the worker, one block of mem_alloc; NULL: `more` is not used */
    void *(*copy)(const void *more);
};

/* Returns the result, or NULL with `st`. Calls the callbacks of `options` on this thread. */
void *plan_in_slot(const struct plan_task *task, const struct lx_graph *g,
                   const struct lx_plan_options *options, const void *more, lx_status *st);

/* The run of the next of `plans` plans, with its share of the time until the deadline. Cancelled: quick. */
struct lx_run plan_run_share(const struct lx_run *run, int plans);

/* True on the worker of lx_plan_make; true if it should offer a complete plan now. An offered plan is never
 * changed: plan_offer_twin offers it and returns a twin, or, off the worker, the plan. */
bool plan_is_awaited(void);
bool plan_offer_is_wanted(void);
void plan_offer(struct lx_plan *p);
struct lx_plan *plan_offer_twin(struct lx_plan *p);
