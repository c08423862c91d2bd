/* The solver `exact`: branch and bound with proof for all three questions. */
#ifndef LX_SOLVERS_EXACT_EXACT_H
#define LX_SOLVERS_EXACT_EXACT_H

#include "placement/problem.h"
#include "exact/search.h"

extern const struct lx_solver lx_solver_exact;

/* The Spill question: least cost off chip. */

struct spill_options {
    int64_t step_limit; /* pivots and Fit nodes in all */
    int64_t fit_nodes, core_nodes;
    bool improve; /* large-neighbourhood search where the proof does not come */
};

/* Fills answer->address, bound, steps, status and statistics. */
void spill_solve(const struct lx_problem *p, const struct lx_run *run, const struct spill_options *options,
                 struct lx_answer *answer);

/* The Fit and the Height question for a whole problem, handovers included. */

struct whole_options {
    int64_t step_limit, core_nodes;
};

/* Both fill answer->address, status, bound, steps and statistics. */
void whole_fit(const struct lx_problem *p, const struct lx_run *run, const struct whole_options *options,
               struct lx_answer *answer);
void whole_height(const struct lx_problem *p, const struct lx_run *run, const struct whole_options *options,
                  struct lx_answer *answer);

/* Placement problems with everything: several pools, several lives, pairs, groups, staging, charges,
 * reuse; all three questions, with proof. For problems that need no more than one pool and one life the
 * other parts of `exact` are faster. */

struct general_options {
    int64_t step_limit, pack_nodes, core_nodes;
};

/* Fills addresses and pools, bound, steps, status and statistics. */
void general_solve(const struct lx_problem *p, const struct lx_run *run,
                   const struct general_options *options, struct lx_answer *answer);

#endif
