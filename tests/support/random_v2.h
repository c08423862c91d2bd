/* Small random placement problems of the second version, which mix everything that one may ask for. The same stream
 * gives the same problem. */
#ifndef LX_TESTS_SUPPORT_RANDOM_V2_H
#define LX_TESTS_SUPPORT_RANDOM_V2_H

#include "base/rng.h"
#include "placement/problem.h"

#include <stdio.h>
#include <string.h>

enum { V2_MOST = 12, V2_POOLS = 3, V2_LIST = 5 };

struct v2_charge_lists {
    int32_t at[4][3];
};

struct v2_problem {
    struct lx_problem p;
    struct lx_buffer b[V2_MOST];
    struct lx_life lives[V2_MOST][3];
    int64_t uses[V2_MOST][2], costs[V2_MOST][V2_POOLS];
    int32_t pools[V2_MOST][V2_POOLS], parents[V2_MOST][V2_MOST];
    char name[V2_MOST][16];
    struct lx_pool pool[V2_POOLS];
    struct lx_reserved reserved[V2_POOLS][2];
    struct lx_pair apart[V2_LIST], exclusive[V2_LIST], staging[V2_LIST];
    struct lx_group same_place[2], together[2];
    int32_t same_at[2][3], together_at[2][3];
    struct lx_linked_cost linked[V2_LIST];
    struct v2_charge_lists linked_at[V2_LIST];
    struct lx_reuse reuse[V2_LIST];
    bool in_edge[V2_MOST], in_group[V2_MOST], is_staging[V2_MOST];
};

bool v2_chance(struct rng *r, int percent);
int32_t v2_any(struct rng *r, const struct v2_problem *v);

/* A problem of up to `most` buffers; not all are valid: ask lx_problem_validate. */
void random_v2(struct v2_problem *v, struct rng *r, int32_t most);

#endif
