/* Members that do the same, but for where in what they have whole their part begins. Private to the stage. */
#ifndef LX_TEAM_RUN_MEMBER_TWINS_H
#define LX_TEAM_RUN_MEMBER_TWINS_H

#include "plan/plan.h"

/* The same for graphs of which one's plan fits the others; `hash` 0: memory is out. */
uint64_t team_shape_of(const struct lx_graph *does);
/* A plan of a graph of one shape as one of `does`; NULL: `st` is set. */
struct lx_plan *team_plan_of_twin(const struct lx_plan *plan, const struct lx_graph *does, lx_status *st);

#endif
