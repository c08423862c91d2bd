/* The bound of a team's bytes where it may be above a plan: by one byte, which is enough to refute it. */
#ifndef LX_TESTS_SUPPORT_TEAM_LEAST_H
#define LX_TESTS_SUPPORT_TEAM_LEAST_H

#include "team/shard/shard_search.h"
#include "base/memory.h"

#include <stdlib.h>

/* Of plans whose tensors are sharded as in `p`, the inputs and given ones, or with `all` every one that is not
 * partial sums; -1: it was cancelled. It must not be above the bytes of `p`. */
int64_t team_least_of(const struct lx_team_plan *p, bool all);

#endif
