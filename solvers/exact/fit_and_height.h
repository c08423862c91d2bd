/* The Fit and the Height question for a whole problem, handovers included. */
#ifndef LX_SOLVERS_EXACT_FIT_AND_HEIGHT_H
#define LX_SOLVERS_EXACT_FIT_AND_HEIGHT_H

#include "placement/problem.h"

struct whole_options {
    int64_t step_limit, core_nodes;
};

/* Both fill answer->address, status, bound, steps and statistics. False when memory is out. */
void whole_fit(const struct lx_problem *p, const struct lx_run *run, const struct whole_options *options,
               struct lx_answer *answer);
void whole_height(const struct lx_problem *p, const struct lx_run *run, const struct whole_options *options,
                  struct lx_answer *answer);

#endif
