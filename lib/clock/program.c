/* Views of drafts as programs. */
#include "clock/program.h"
#include "stays/draft.h"

struct plan_program plan_program_of_draft(const struct draft *x, const int64_t *address,
                                          const struct lx_transfer *transfers, int32_t transfer_count)
{
    return (struct plan_program){.layouts = x->layouts,
                                 .divisions = x->divisions,
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
                                 .bundle_of = x->bundle_of,
                                 .bundle_count = x->bundle_count};
}
