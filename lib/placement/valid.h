/* Private to the data model: the parts of lx_problem_validate, one file each. Every message names the key
 * that is wrong, by the words of spec and pattern files. */
#ifndef LX_PLACEMENT_VALID_H
#define LX_PLACEMENT_VALID_H

#include "placement/problem.h"

/* Report at the place of a buffer; returns false. */
__attribute__((format(printf, 4, 5))) bool buffer_error(const struct lx_buffer *b, lx_status *st,
                                                        enum lx_code code, const char *format, ...);

/* valid_pools.c: the pools; what a buffer says of pools, pins and lives. */
bool valid_pools(const struct lx_problem *p, lx_status *st);
bool valid_in_pools(const struct lx_problem *p, const struct lx_buffer *b, lx_status *st);
/* valid_bonds.c; `costs`: the sum of what the buffers cost so far. */
bool valid_bonds(const struct lx_problem *p, int64_t costs, lx_status *st);

/* Buffers that same_place ties to one address are a block; groups that share a member are one. Per buffer
 * the least number of its block; the caller frees it. */
int32_t *blocks_of(const struct lx_problem *p);

#endif
