/* The parts of lx_plan_check. Private to the room. */
#ifndef LX_CHECK_CHECK_H
#define LX_CHECK_CHECK_H

#include "plan/plan.h"

/* check_values.c: the running graph computes what the pattern does. */
bool check_values(const struct lx_graph *pattern, const struct lx_layouts *l, lx_status *st);
/* check_again.c: what follows from graph, layouts, divisions, decisions and addresses is what the plan says. */
bool check_again(const struct lx_plan *p, lx_status *st);
/* check_stays.c: every op finds the latest value of what it reads, where it thinks it is. */
bool check_stays(const struct lx_plan *p, lx_status *st);

#endif
