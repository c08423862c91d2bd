#include "support/team_least.h"

int64_t team_least_of(const struct lx_team_plan *p, bool all)
{
    size_t tensors = (size_t)p->graph->tensor_count + 1;
    bool *fixed = mem_zeroed(tensors, sizeof *fixed);
    struct shard_state *state = mem_zeroed(tensors, sizeof *state);
    int64_t bytes = -1;
    for (int32_t t = 0; t < p->graph->tensor_count; t++) {
        fixed[t] = p->tensors[t].given || p->graph->tensors[t].role == LX_INPUT ||
                   (all && !lx_team_is_partial(&p->tensors[t]));
        for (int a = 0; a < LX_TEAM_AXES; a++) state[t].at[a] = p->tensors[t].shard[a];
    }
    if (!shard_bound_bytes(p->graph, &p->grid, fixed, state, p->bytes + p->combine_bytes + 1, &bytes))
        bytes = -1;
    mem_free(fixed);
    mem_free(state);
    return bytes;
}
