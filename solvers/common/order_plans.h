/* Placements in orders of one rule each: by size, by cost, by cost for each byte, ... They take whatever first-fit
 * takes, O(n log n) each or little more. */
#ifndef LX_SOLVERS_COMMON_ORDER_PLANS_H
#define LX_SOLVERS_COMMON_ORDER_PLANS_H

#include "placement/problem.h"

enum { ORDER_PLANS = 6 };

/* The buffers into gaps, in the order of the k-th rule; answer->address is all off chip on entry. False: memory is
 * out. */
void order_place(const struct lx_problem *p, int k, const struct lx_run *run, struct lx_answer *answer);

/* The best legal one of the caller's incumbent, of what the heuristics find, and of all orders, in `best` (addresses
 * and pools) and `*value`; `*have` is false where none is legal. For lists with whatever the second version knows.
 * False: memory is out. */
void best_of_orders(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *best,
                    int64_t *value, bool *have);

#endif
