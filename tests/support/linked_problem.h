/* Small random problems with linked costs, and their optima by brute force: linked costs, groups, musts, costs of being
 * placed, on top of what small_problem.h draws. */
#ifndef LX_TESTS_SUPPORT_LINKED_PROBLEM_H
#define LX_TESTS_SUPPORT_LINKED_PROBLEM_H

#include "support/small_problem.h"

enum { LINKED_COSTS = 8, LINKED_GROUPS = 2, LINKED_LISTS = 4 };

struct linked {
    struct small small;
    struct lx_linked_cost linked[LINKED_COSTS];
    int32_t list[LINKED_COSTS][LINKED_LISTS][SMALL_MAX];
    struct lx_group group[LINKED_GROUPS];
    int32_t member[LINKED_GROUPS][SMALL_MAX];
    int64_t on_cost[SMALL_MAX];
};

void linked_random(struct linked *l, struct rng *r, int32_t n);

/* The value of an answer whose addresses are legal; INT64_MAX: it breaks a clause, a group or a must. */
int64_t linked_value(const struct lx_problem *p, const int64_t *address);

/* The least value; INT64_MAX: there is no legal answer. */
int64_t linked_optimum(const struct lx_problem *p);

#endif
