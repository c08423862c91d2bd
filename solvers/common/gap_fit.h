/* Placing buffers one after the other into gaps, and the order in which the heuristics do it. */
#ifndef LX_SOLVERS_COMMON_GAP_FIT_H
#define LX_SOLVERS_COMMON_GAP_FIT_H

#include "placement/problem.h"

/* A buffer's rank for a heuristic: ascending `number / parts`, then ascending `tie`, then input order. */
struct rank {
    int64_t number, parts, tie;
};

/* Buffers in order of their ranks, but a parent always before its children. False: memory is out. */
void rank_order(const struct lx_problem *p, const struct rank *ranks, int32_t *order);
/* The order of first-fit and best-fit. */
void worth_order(const struct lx_problem *p, int32_t *order);

/* Places `count` buffers in the given order (parents before children) into answer->address, which is all off
 * chip on entry; what finds no gap stays there. */
void gap_fit_place(const struct lx_problem *p, const int32_t *order, int32_t count, bool tightest,
                   const struct lx_run *run, struct lx_answer *answer);

#endif
