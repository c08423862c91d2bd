/* Places buffers one after the other into gaps, in an order that the heuristics choose. */
#pragma once

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
 * chip on entry; a buffer without a gap stays off chip. */
void gap_fit_place(const struct lx_problem *p, const int32_t *order, int32_t count, bool tightest,
                   const struct lx_run *run, struct lx_answer *answer);

/* Capabilities of a solver that calls full_fit for problems with pools or bonds. The driver resolves groups
 * of one place. */
enum { FULL_FIT_CAPS = LX_CAN_ALL & ~LX_CAN_SAME_PLACE };

/* Places the buffers that pay, in the given order of all buffers, into `answer`; if a rule stays broken,
 * other orders are tried. `improve`: start from the addresses in `answer`, which are legal for a list with
 * linked costs. Status LX_LIMIT: no legal answer was found. */
void full_fit(const struct lx_problem *p, const int32_t *order, bool tightest, bool improve,
              const struct lx_run *run, struct lx_answer *answer);

/* One pool, with linked costs or `must` buffers, and no other bonds? */
static inline bool is_list_with_linked_costs(const struct lx_problem *p)
{
    unsigned needs = lx_problem_needs(p);
    return !p->pool_count && needs && !(needs & ~(unsigned)(LX_CAN_LINKED_COSTS | LX_CAN_MUST));
}

enum { ORDER_PLANS = 6 };

/* Places the buffers into gaps by rule k (size, cost, cost per byte ...), about O(n log n); answer->address
 * is all off chip on entry. */
void order_place(const struct lx_problem *p, int k, const struct lx_run *run, struct lx_answer *answer);

/* The best legal answer of the caller's incumbent, the heuristics and all orders, in `best` (addresses and
 * pools) and `*value`; `*have` is false if none is legal. Takes all bonds. */
void best_of_orders(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *best,
                    int64_t *value, bool *have);
