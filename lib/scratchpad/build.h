/* Graph to problem, and the traffic that a placement causes. Private to the stage. */
#ifndef LX_SCRATCHPAD_BUILD_H
#define LX_SCRATCHPAD_BUILD_H

#include "base/arena.h"
#include "scratchpad/plan.h"

/* `out->buffers` lives in `memory`. */
bool problem_from_graph(const struct lx_graph *g, int objective, struct arena *memory, struct lx_problem *out,
                        lx_status *st);
/* A plan of `g`, which it takes over, with its problem and every buffer off chip. */
struct lx_plan *plan_begin(struct lx_graph *g, int objective, lx_status *st);
/* HBM bytes over all operands of all ops that are off chip; for a list, the spill itself.
 * `address` NULL: everything is off chip. */
int64_t traffic_of(const struct lx_graph *g, const struct lx_problem *p, const int64_t *address);
/* Fills reason, took_slot_of, hbm, baseline, spill and height of a plan with its problem and answer. */
bool plan_complete(struct lx_plan *plan, lx_status *st);

#endif
