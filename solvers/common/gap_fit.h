/* Placing buffers one after the other into gaps, and the order in which the heuristics do it. */
#ifndef LX_SOLVERS_COMMON_GAP_FIT_H
#define LX_SOLVERS_COMMON_GAP_FIT_H

#include "placement/problem.h"

/* A buffer's rank for a heuristic: ascending `number / parts`, then ascending `tie`, then input order. */
struct rank {
    int64_t number, parts, tie;
};

/* Buffers in order of their ranks, but a parent always before its children. */
void rank_order(const struct lx_problem *p, const struct rank *ranks, int32_t *order);
/* The order of first-fit and best-fit. */
void worth_order(const struct lx_problem *p, int32_t *order);

/* Places `count` buffers in the given order (parents before children) into answer->address, which is all off
 * chip on entry; what finds no gap stays there. */
void gap_fit_place(const struct lx_problem *p, const int32_t *order, int32_t count, bool tightest,
                   const struct lx_run *run, struct lx_answer *answer);

/* The heuristics on problems of the second version. */

/* What a solver can take that leaves to full_fit what it cannot take itself. Groups of one place are the
 * driver's. */
enum { FULL_FIT_CAPS = LX_CAN_ALL & ~LX_CAN_SAME_PLACE };

/* Places what is worth its place, in the given order of all buffers (other orders are tried where a rule
 * stays broken), into `answer`. Status LX_LIMIT where no legal answer was found. */
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

/* Placements in orders of one rule each: by size, by cost, by cost for each byte, ... They take whatever
 * first-fit takes, O(n log n) each or little more. */

enum { ORDER_PLANS = 6 };

/* The buffers into gaps, in the order of the k-th rule; answer->address is all off chip on entry. */
void order_place(const struct lx_problem *p, int k, const struct lx_run *run, struct lx_answer *answer);

/* The best legal one of the caller's incumbent, of what the heuristics find, and of all orders, in `best`
 * (addresses and pools) and `*value`; `*have` is false where none is legal. For lists with whatever the
 * second version knows. */
void best_of_orders(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *best,
                    int64_t *value, bool *have);

#endif
