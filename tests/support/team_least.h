/* The bound of a team's bytes where it may be above a plan: by one byte, which is enough to refute it. */
#ifndef LX_TESTS_SUPPORT_TEAM_LEAST_H
#define LX_TESTS_SUPPORT_TEAM_LEAST_H

#include "team/shard/cut_least.h"
#include "base/memory.h"

#include <stdlib.h>

/* Of plans whose tensors are cut as those of `p` are, the inputs and what is given, or with `all` every one that is not in
 * parts; -1: memory is out. It must not be above the bytes of `p`. */
int64_t team_least_of(const struct lx_team_plan *p, bool all);

#endif
