/* Private to the stages that make problems: lx_solve of a problem that lx_problem_validate has let through. */
#ifndef LX_SCRATCHPAD_PLACEMENT_SOLVE_H
#define LX_SCRATCHPAD_PLACEMENT_SOLVE_H

#include "scratchpad/placement/problem.h"

bool solve_valid(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st);

/* solve.c: of a problem that a solver can be given as it is. */
bool solve_plain(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st);
/* solve_parts.c: of any other. */
bool solve_parts(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st);
/* lx_check for places in several pools. */
bool check_so_far(const struct lx_problem *p, const int32_t *pool, const int64_t *address, int64_t *value,
                  lx_status *st);

#endif
