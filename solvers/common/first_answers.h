/* First answers for the searches: simple placements in a few fixed orders. */
#pragma once

#include "common/links.h"
#include "common/taken_bits.h"

#define WORTH_ONE (INT64_C(1) << 20)

/* worth[i]: the cost of item i over the price of its bytes during its life, WORTH_ONE where they are equal,
 * at most 2^50. Prices come from the problem without addresses at `percent` of the capacity; there an item
 * above WORTH_ONE belongs on chip. */
void prices_find(const struct items *it, int64_t percent, const struct lx_run *run, int64_t *worth);

/* The lowest legal base of item i among the placed items (`base`), or NOT_PLACED. An in-place partner's slot
 * is preferred if no other item overlaps it. `partner[k]`: the items that k shares its slot with, `.parent`
 * when k is the child, `.child` when k is the parent; updated on sharing. Needs `near`. `scratch`: room for
 * the ranges taken by conflicting neighbours; `map`: of the items' units, or NULL. */
struct sharing {
    int32_t parent, child;
};
int64_t lowest_fit(const struct items *it, int32_t i, const int64_t *base, struct sharing *share,
                   struct byte_range *scratch, struct taken_bits *map);

void lowest_fit_map(const struct items *it, struct taken_bits *map);

/* Places the items in the order of the planner's score (long and rarely used ones last), parents before
 * children; only those with keep[i], or all when it is NULL. */
void start_by_score(const struct items *it, const bool *keep, const struct lx_run *run, int64_t *base);

/* The best of several orders; `base` holds an incumbent on entry when `have` is set. Without lists of
 * conflicts only a sweep over time is tried. Items that links make unprofitable are taken off chip again.
 * Stops at the known bound. `worth`: see prices_find; NULL: unknown. */
void start_best(struct links *links, const int64_t *worth, const struct lx_run *run, bool have,
                int64_t *base);

/* Is `a` a better answer than `b`? */
bool start_better(struct links *links, const int64_t *a, const int64_t *b);
