/* How the ops of a plan are launched: by their divisions, and by where the plan keeps their operands. */
#include "plan/plan.h"
#include "base/fail.h"

struct lx_op_launch *lx_plan_launch(const struct lx_plan *p, int32_t op,
                                    const struct lx_launch_options *options, lx_status *st)
{
    bool on_chip[LX_MAX_INPUTS + 1];
    if (!p->layouts)
        return status_set(st, LX_E_USAGE, "a bare list of buffers has no ops, so nothing to launch"), NULL;
    for (int i = 0; i <= p->layouts->graph->ops[op].input_count; i++)
        on_chip[i] = lx_plan_place(p, op, i) >= 0;
    return lx_launch_of(p->divisions, op, on_chip, options, st);
}
