/* The bound of a team's bytes where it may be above a plan: by one byte, which is enough to refute it. */
#ifndef LX_TESTS_SUPPORT_TEAM_LEAST_H
#define LX_TESTS_SUPPORT_TEAM_LEAST_H

#include "team/shard/shard_search.h"
#include "base/memory.h"

#include <stdlib.h>

/* Of plans whose tensors are cut as those of `p` are, the inputs and what is given, or with `all` every one that is not in
 * parts; -1: memory is out. It must not be above the bytes of `p`. */
static int64_t team_least_of(const struct lx_team_plan *p, bool all)
{
    size_t tensors = (size_t)p->graph->tensor_count + 1;
    bool *fixed = mem_zeroed(tensors, sizeof *fixed);
    struct shard_state *state = mem_zeroed(tensors, sizeof *state);
    int64_t bytes = -1;
    for (int32_t t = 0; fixed && state && t < p->graph->tensor_count; t++) {
        fixed[t] = p->tensors[t].given || p->graph->tensors[t].role == LX_INPUT ||
                   (all && !lx_team_is_partial(&p->tensors[t]));
        for (int a = 0; a < LX_TEAM_AXES; a++) state[t].at[a] = (signed char)p->tensors[t].shard[a];
    }
    if (!fixed || !state ||
        !shard_bound_bytes(p->graph, &p->grid, fixed, state, p->bytes + p->combine_bytes + 1, &bytes))
        bytes = -1;
    mem_free(fixed);
    mem_free(state);
    return bytes;
}

#endif
