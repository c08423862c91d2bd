/* The heuristics on problems of the second version. */
#ifndef LX_SOLVERS_COMMON_FULL_FIT_H
#define LX_SOLVERS_COMMON_FULL_FIT_H

#include "placement/problem.h"

/* What a solver can take that leaves to full_fit what it cannot take itself. Groups of one place are the
 * driver's. */
enum { FULL_FIT_CAPS = LX_CAN_ALL & ~LX_CAN_SAME_PLACE };

/* Places what is worth its place, in the given order of all buffers (other orders are tried where a rule
 * stays broken), into `answer`. Status LX_LIMIT where no legal answer was found. False: memory is out. */
bool full_fit(const struct lx_problem *p, const int32_t *order, bool tightest, const struct lx_run *run,
              struct lx_answer *answer);
/* The same from the places that `answer` has: those of a plain list whose costs are linked, which are as
 * legal there as without. What is not worth its place goes, what is worth one comes. */
bool full_fit_improve(const struct lx_problem *p, const int32_t *order, bool tightest,
                      const struct lx_run *run, struct lx_answer *answer);

/* Is it a list in one pool with linked costs or forbidden charges, and nothing else? */
static inline bool is_list_with_charges(const struct lx_problem *p)
{
    unsigned needs = lx_problem_needs(p);
    return !p->pool_count && needs && !(needs & ~(unsigned)(LX_CAN_CHARGES | LX_CAN_MUST));
}

#endif
