/* Blocks: the buffers that same_place ties to one address, by union-find over the groups. Groups that share a member
 * are one. */
#ifndef LX_PLACEMENT_BLOCKS_H
#define LX_PLACEMENT_BLOCKS_H

#include "placement/problem.h"

/* Per buffer the least number of its block's members; malloc'ed. NULL: memory is out. */
int32_t *blocks_of(const struct lx_problem *p);
/* The same for any groups over n things. */
int32_t *groups_joined(int32_t n, const struct lx_group *groups, int32_t count);

/* For joins of one's own: begin with at[i] = i. The root is the least of a set. */
int32_t root_of(int32_t *at, int32_t i);
void join(int32_t *at, int32_t a, int32_t b);

#endif
