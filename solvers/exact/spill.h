/* The Spill question: least cost off chip. */
#ifndef LX_SOLVERS_EXACT_SPILL_H
#define LX_SOLVERS_EXACT_SPILL_H

#include "exact/search.h"

struct spill_options {
    int64_t step_limit; /* pivots and Fit nodes in all */
    int64_t fit_nodes, core_nodes;
    bool improve; /* large-neighbourhood search where the proof does not come */
};

/* Fills answer->address, bound, steps, status and statistics. False when memory is out; the answer is
 * legal all the same. */
void spill_solve(const struct lx_problem *p, const struct lx_run *run, const struct spill_options *options,
                 struct lx_answer *answer);

#endif
