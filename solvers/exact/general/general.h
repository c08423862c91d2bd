/* Placement problems with everything: several pools, several lives, pairs, groups, staging, charges, reuse; all three
 * questions, with proof. For problems that need no more than one pool and one life the other parts of `exact` are
 * faster. */
#ifndef LX_SOLVERS_EXACT_GENERAL_GENERAL_H
#define LX_SOLVERS_EXACT_GENERAL_GENERAL_H

#include "placement/problem.h"

struct general_options {
    int64_t step_limit, pack_nodes, core_nodes;
};

/* Fills addresses and pools, bound, steps, status and statistics. False when memory is out. */
void general_solve(const struct lx_problem *p, const struct lx_run *run,
                   const struct general_options *options, struct lx_answer *answer);

#endif
