/* Views of drafts as programs. */
#include "clock/program.h"
#include "stays/draft.h"

struct early_copies program_early_copies(const struct plan_program *p, struct arena *memory)
{
    int32_t ops = p->layouts->graph->op_count, *at = arena_array(memory, (size_t)ops + 2, sizeof *at), *copy;
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (p->transfers[i].ahead > 0) at[lx_issue_tick(&p->transfers[i]) + 2]++;
    for (int32_t o = 0; o < ops; o++) at[o + 2] += at[o + 1];
    copy = arena_array(memory, (size_t)at[ops + 1] + 1, sizeof *copy);
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (p->transfers[i].ahead > 0) copy[at[lx_issue_tick(&p->transfers[i]) + 1]++] = i;
    return (struct early_copies){at, copy};
}

struct plan_program plan_program_of_draft(const struct draft *x, const int64_t *address,
                                          const struct lx_transfer *transfers, int32_t transfer_count)
{
    return (struct plan_program){.layouts = x->layouts,
                                 .divisions = x->divisions,
                                 .work = x->work,
                                 .nests = x->how.nests,
                                 .nest_count = x->how.nest_count,
                                 .stays = x->stays,
                                 .buffers = x->problem.buffers,
                                 .address = address,
                                 .stay_count = x->problem.count,
                                 .accesses = x->accesses,
                                 .access_at = x->access_at,
                                 .transfers = transfers,
                                 .transfer_count = transfer_count,
                                 .pulls = x->pulls,
                                 .memory = x->memory,
                                 .bundle_of = x->bundle_of,
                                 .bundle_count = x->bundle_count};
}
