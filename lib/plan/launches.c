/* How the ops of a plan are launched: by their divisions, and by where the plan keeps their operands. */
#include "plan/planner.h"
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

/* The launch with all that belongs to it, in the plan's memory. */
static bool keep(const struct lx_op_launch *from, struct arena *memory, struct lx_op_launch *out)
{
    *out = *from;
    if (!from->launch) return true;
    struct lx_launch *l = arena_copy_array(memory, from->launch, 1, sizeof *l);
    if (!l) return false;
    l->cores = arena_copy_array(memory, l->cores, (size_t)l->core_count, sizeof *l->cores);
    out->sum = arena_copy_array(memory, from->sum, (size_t)from->sum_count, sizeof *out->sum);
    out->launch = l;
    return l->cores && out->sum;
}

/* An op that cannot be launched does not keep a graph from being planned and looked at; its launch says why. */
static bool refuse(int32_t op, const char *why, struct arena *memory, struct lx_op_launch *out)
{
    *out = (struct lx_op_launch){
        .op = op, .kind = LX_LAUNCH_REFUSED, .why = arena_string(memory, why), .k_slices = 1};
    return out->why != NULL;
}

const struct lx_op_launch *plan_launches(const struct lx_plan *p, struct arena *memory)
{
    int32_t count = p->layouts->graph->op_count;
    struct lx_op_launch *launches = arena_array(memory, (size_t)count, sizeof *launches);
    bool ok = launches != NULL;
    for (int32_t o = 0; ok && o < count; o++) {
        lx_status why = {0};
        struct lx_op_launch *made = lx_plan_launch(p, o, NULL, &why);
        ok = made ? keep(made, memory, &launches[o])
                  : why.code != LX_E_MEMORY && refuse(o, why.text, memory, &launches[o]);
        lx_op_launch_free(made);
    }
    return ok ? launches : NULL;
}
