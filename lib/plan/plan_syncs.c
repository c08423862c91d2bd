/* The syncs of a plan, and until when they keep bytes in HBM from being another tensor's. */
#include "plan/plan_make.h"
#include "clock/syncs.h"

struct plan_program plan_program_of_plan(const struct lx_plan *p, struct arena *memory)
{
    int32_t ops = p->layouts->graph->op_count,
            *bundle_of = arena_array(memory, (size_t)ops, sizeof *bundle_of);
    for (int32_t b = 0; b < p->bundle_count; b++)
        for (int32_t o = p->bundles[b].first; o < p->bundles[b].first + p->bundles[b].count; o++)
            bundle_of[o] = b;
    return (struct plan_program){.layouts = p->layouts,
                                 .divisions = p->divisions,
                                 .nests = p->nests,
                                 .nest_count = p->nest_count,
                                 .stays = p->stays,
                                 .buffers = p->problem.buffers,
                                 .address = p->answer.address,
                                 .stay_count = p->problem.count,
                                 .accesses = p->accesses,
                                 .access_at = p->access_at,
                                 .transfers = p->transfers,
                                 .transfer_count = p->transfer_count,
                                 .hbm_address = p->hbm_address,
                                 .bundle_of = bundle_of,
                                 .bundle_count = p->bundle_count,
                                 .syncs = p->syncs,
                                 .sync_count = p->sync_count};
}

void plan_sync(struct lx_plan *p)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct lx_syncs found;
    struct plan_program program = plan_program_of_plan(p, &scratch);
    program.syncs = NULL;
    program.sync_count = 0;
    program_syncs(&program, p->memory, &found);
    p->syncs = found.at;
    p->sync_count = found.count;
}

int64_t plan_sync_times(const struct lx_plan *p)
{
    int64_t times = 0;
    for (int32_t i = 0; i < p->sync_count; i++)
        times += p->syncs[i].in_loop ? nest_runs(p->nests, p->nest_count, p->syncs[i].before) : 1;
    return times;
}

int64_t *plan_next_syncs(const struct lx_plan *p, struct arena *memory)
{
    int32_t ops = p->layouts->graph->op_count;
    int64_t *next = arena_array(memory, (size_t)ops + 1, sizeof *next);
    for (int32_t o = 0; o <= ops; o++) next[o] = ops;
    for (int32_t i = 0; i < p->sync_count; i++) next[p->syncs[i].before] = p->syncs[i].before;
    for (int32_t b = 0; b < p->bundle_count; b++) next[p->bundles[b].first] = p->bundles[b].first;
    for (int32_t o = ops; o-- > 0;) next[o] = min_i64(next[o], next[o + 1]);
    return next;
}
