/* Launches of the ops, from division, places of operands, and options. A plan read from a file keeps the
 * file's launches. */
#include "plan/plan_make.h"
#include "plan/launch_options.h"

struct lx_op_launch *lx_plan_launch(const struct lx_plan *p, int32_t op,
                                    const struct lx_launch_options *options, lx_status *st)
{
    bool on_chip[LX_MAX_OPERANDS];
    if (!p->layouts)
        return status_set(st, LX_E_USAGE, "a bare list of buffers has no ops, so nothing to launch"), NULL;
    for (int i = 0; i < op_operand_count(&p->layouts->graph->ops[op]); i++)
        on_chip[i] = lx_plan_place(p, op, i) >= 0;
    return lx_launch_of(p->divisions, op, on_chip, options ? options : &p->launch, st);
}

/* Some global launch must have as many tiles as the list. */
static bool list_is_used(const struct lx_plan *p, const struct lx_op_launch *launches, lx_status *st)
{
    int64_t other = 0;
    if (!p->launch.list) return true;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        const struct lx_launch *l = launches[o].launch;
        if (!l || l->mode != LX_PARTITION_GLOBAL) continue;
        if (launches[o].tile_count == p->launch.list_count) return true;
        other = l->batch * l->mt * l->nt;
    }
    if (other == 0)
        return status_set(st, LX_E_USAGE, "no op has a global launch, whose tiles %s could order",
                          p->launch.by);
    return status_set(st, LX_E_USAGE,
                      "%s lists %lld tiles, but no global launch of the plan has so many; one has %lld",
                      p->launch.by, (long long)p->launch.list_count, (long long)other);
}

bool plan_launch_ops(struct lx_plan *p, lx_status *st)
{
    int32_t count = p->layouts->graph->op_count;
    struct lx_op_launch *launches = arena_array(p->memory, (size_t)count, sizeof *launches);
    if (!launch_list_read(&p->launch, p->memory, st)) return false;
    for (int32_t o = 0; o < count; o++) {
        lx_status why = {0};
        struct lx_op_launch *made = lx_plan_launch(p, o, NULL, &why);
        if (!made) {
            /* An op that cannot be launched makes the plan an error: nothing could run it. */
            const char *name = p->layouts->graph->ops[o].name;
            bool too_large = why.code == LX_E_LAUNCH_TILE_BYTES;
            if (too_large && p->launch.tile[0])
                return status_set(st, LX_E_USAGE,
                                  "op %s: %s; use smaller tiles inside: --tiles %lldx%lld/RxC", name,
                                  why.text, (long long)p->launch.tile[0], (long long)p->launch.tile[1]);
            return status_set(st, why.code, "op %s: %s%s", name, why.text,
                              too_large ? "; give the device smaller tiles, or --tiles RxC" : "");
        }
        struct lx_op_launch *to = &launches[o];
        *to = *made;
        if (made->launch) { /* deep copy into the plan's memory */
            struct lx_launch *l = arena_copy_array(p->memory, made->launch, 1, sizeof *l);
            l->cores = arena_copy_array(p->memory, l->cores, (size_t)l->core_count, sizeof *l->cores);
            to->launch = l;
            to->sum = arena_copy_array(p->memory, made->sum, (size_t)made->sum_count, sizeof *to->sum);
            if (made->tiles)
                to->tiles =
                    arena_copy_array(p->memory, made->tiles, (size_t)made->tile_count, sizeof *to->tiles);
        }
        lx_op_launch_free(made);
    }
    p->launches = launches;
    return list_is_used(p, launches, st);
}
