/* The solver `exact`: branch and bound with proof for all three objectives. */
#pragma once

#include "exact/search.h"

extern const struct lx_solver lx_solver_exact;

struct exact_options {
    int64_t step_limit;            /* pivots and Fit nodes in all */
    int64_t fit_nodes, core_nodes; /* of one packing; of each step of shrinking a core */
    bool improve;                  /* run large-neighbourhood search if no proof is found */
};

/* Each fills answer->address, bound, steps, status and statistics. */

/* Spill: least cost off chip. */
void spill_solve(const struct lx_problem *p, const struct lx_run *run, const struct exact_options *options,
                 struct lx_answer *answer);

/* Fit and Height for a whole problem, handovers included. */
void whole_fit(const struct lx_problem *p, const struct lx_run *run, const struct exact_options *options,
               struct lx_answer *answer);
void whole_height(const struct lx_problem *p, const struct lx_run *run, const struct exact_options *options,
                  struct lx_answer *answer);

/* All three objectives with several pools and lives, pairs, groups, staging, linked costs and reuse. For one
 * pool and one life the other functions are faster. */
void general_solve(const struct lx_problem *p, const struct lx_run *run, const struct exact_options *options,
                   struct lx_answer *answer);
