/* What the layouts of one tensor cost: sizes with all padding, and what moving between them takes. */
#include "layout/propagate.h"
#include "base/checked.h"
#include "layout/layout.h"

int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    return add_i64(a, b, &sum) ? sum : INT64_MAX;
}

static int64_t stick_cost_elements(const struct lx_graph *g, const struct lx_tensor *t, int stick)
{
    int64_t e = lx_stick_elements(t->dtype, g->device.stick_bytes), n = e;
    for (int d = 0; d < t->rank; d++)
        if (!mul_i64(n, d == stick ? ceil_div_i64(t->shape[d], e) : t->shape[d], &n)) return INT64_MAX;
    return n;
}

void stick_costs_make(const struct lx_graph *g, struct arena *memory, struct stick_costs *out)
{
    out->at = arena_array(memory, (size_t)g->tensor_count, sizeof *out->at);
    for (int32_t t = 0; t < g->tensor_count; t++)
        for (int stick = -1; stick < g->tensors[t].rank; stick++)
            out->at[t][stick + 1] = stick_cost_elements(g, &g->tensors[t], stick);
}

int stick_source(const struct stick_costs *c, int32_t tensor, unsigned have, int primary)
{
    int best = primary;
    for (int stick = -1; stick < LX_MAX_RANK; stick++)
        if ((have >> (stick + 1) & 1) && c->at[tensor][stick + 1] < c->at[tensor][best + 1]) best = stick;
    return best;
}

int64_t stick_move_cost(const struct stick_costs *c, int32_t tensor, unsigned have, int wanted)
{
    int64_t least = INT64_MAX;
    for (int stick = -1; stick < LX_MAX_RANK; stick++)
        if (have >> (stick + 1) & 1) least = min_i64(least, c->at[tensor][stick + 1]);
    return max_i64(least, c->at[tensor][wanted + 1]);
}

int stick_default(const struct lx_tensor *t)
{
    return t->rank > 0 ? t->rank - 1 : -1;
}

int stick_for_need(int need)
{
    return need == STICK_NONE ? -1 : need;
}

bool stick_satisfies(const struct lx_tensor *t, int stick, int need)
{
    if (need == STICK_ANY) return true;
    bool none = stick < 0 || t->shape[stick] == 1;
    return need == STICK_NONE ? none : stick == need;
}
