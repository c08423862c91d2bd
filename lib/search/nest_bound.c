/* HBM bytes that no plan with nests goes below, whatever its divisions, order, evictions and moves. */
#include "search/planner.h"
#include "base/checked.h"
#include "base/log.h"
#include "nests/alone.h"

/* By the rule of the heuristic inputs are copied also where that costs more than it saves. */
static struct decisions plain_of(const struct planner *p)
{
    struct decisions how = {.passes = p->best.draft.how.passes, .unlimited = true};
    if (how.passes.clone == LX_CLONE_HEURISTIC) how.passes.clone = LX_CLONE_AUTO;
    return how;
}

/* In scratchpads without limit. */
int64_t tile_least(const struct draft *x)
{
    return nests_help(x, x->how.passes.reorder) ? crossing_traffic(x) : LX_INT_MAX;
}

bool nest_bound(const struct planner *p, bool *holds, int64_t *bytes)
{
    struct arena memory = {0};
    struct draft plain = {0};
    struct decisions how = plain_of(p);
    const struct lx_device *device = &p->divided->layouts->graph->device;
    struct alone_asks asks = {.any_order = how.passes.reorder};
    *holds = false;
    if (!planner_runs(p, tile_search)) return true;
    if (!mul_i64(lx_device_usable(device), p->divided->cores, &asks.room)) asks.room = INT64_MAX;
    bool ok = draft_make(p->divided, &how, &memory, &plain, p->st);
    *holds = ok && nests_help(&plain, asks.any_order);
    if (*holds) *bytes = alone_traffic(&plain, &asks);
    if (*holds) LOG(attempt, "with nests no plan below HBM %" PRId64, *bytes);
    draft_free(&plain);
    arena_free(&memory);
    return ok;
}
