/* Addresses of parts; see operand_starts.h. The parts are those that the device has (device/memory/stick_box.h). */
#include "export/operand_starts.h"
#include "base/checked.h"
#include "device/memory/stick_box.h"

struct op_starts op_starts_of(const struct lx_plan *p, int32_t op)
{
    struct op_starts s = {.plan = p, .op = op, .launch = &p->launches[op]};
    int32_t nest = nest_of_op(p->nests, p->nest_count, op);
    s.nest = nest < 0 ? NULL : &p->nests[nest];
    op_index_of(p->layouts->graph, &p->layouts->graph->ops[op], &s.x);
    nest_tile_index(p->nests, p->nest_count, op, &s.x);
    return s;
}

bool core_works(const struct op_starts *x, int64_t core)
{
    return x->launch->launch ? lx_op_launch_turns(x->launch, core) > 0 : core == 0;
}

/* The indices of the loops: all at their first, but for one. */
static int64_t index_of_level(int level, int moved)
{
    return level == moved;
}

/* The values of each variable in the first turn of the core. */
static bool first_piece(const struct op_starts *x, int64_t core, int moved, struct lx_launch_piece *out)
{
    if (!x->x.known || !x->launch->launch || !lx_op_launch_piece(x->launch, &x->x, core, 0, out))
        return false;
    const struct lx_launch *l = x->launch->launch;
    for (int k = 0; k < l->level_count; k++) {
        int v = l->level[k].var;
        if (v < 0 || v >= x->x.var_count) continue;
        out->from[v] += l->level[k].step * index_of_level(k, moved);
        out->to[v] += l->level[k].step * index_of_level(k, moved);
    }
    return true;
}

/* Of a window the input begins where the first tap of the first output is. */
static int64_t window_from(const struct op_starts *x, int v, const struct lx_launch_piece *piece)
{
    for (int w = 0; w < x->x.window_count; w++) {
        const struct lx_window *one = &x->x.windows[w];
        if (one->in != v) continue;
        int64_t at = one->stride * piece->from[one->out] + one->dilation * piece->from[one->tap] - one->pad;
        return at <= 0 ? 0 : ceil_div_i64(at, one->hole > 0 ? one->hole : 1);
    }
    return piece->from[v];
}

/* The first index of host dimension h that is touched; -1: none is. */
static int64_t first_index(const struct op_starts *x, const struct lx_layout *l, int operand, int h,
                           const struct lx_launch_piece *piece)
{
    int v = x->x.var[operand][h];
    int64_t offset = op_index_offset(&x->x, operand, h), stride = op_index_stride(&x->x, operand, h);
    int64_t from = window_from(x, v, piece);
    if (offset + stride * from < 0 && stride > 0) from = ceil_div_i64(-offset, stride);
    int64_t index = offset + stride * from;
    return from < piece->to[v] && index >= 0 && index < l->host_shape[h] ? index : -1;
}

/* The device position of the first stick; false: there is none. */
static bool first_position(const struct op_starts *x, int operand, const struct lx_launch_piece *piece,
                           const struct lx_layout *l, int64_t *position)
{
    for (int k = 0; k + 1 < l->rank; k++) {
        int64_t index = l->host_dim[k] < 0 ? 0 : first_index(x, l, operand, l->host_dim[k], piece);
        if (index < 0) return false;
        position[k] = index / max_i64(l->step[k], 1);
    }
    return true;
}

/* The part of a core of what a buffer holds, with loop `moved` one further. */
static struct box part_of_stay(const struct lx_plan *p, const struct lx_stay *s, int64_t core, int moved)
{
    const struct lx_layout *l = &p->layouts->layouts[s->tensor];
    struct lx_core_view v = lx_division_held(p->divisions, s->view_op, s->view_operand, s->hold);
    int32_t nest = s->hold > 0 ? nest_of_op(p->nests, p->nest_count, s->view_op) : -1;
    int64_t begin[LX_MAX_DEVICE_RANK] = {0};
    struct nest_tensor t = {0};
    if (nest >= 0) t = nest_tensor_of(p->layouts, &p->nests[nest], s->tensor);
    for (int level = 0; nest >= 0 && level < s->hold; level++)
        for (int k = 0; k + 1 < l->rank; k++)
            if (t.dim[level] >= 0 && l->host_dim[k] == t.dim[level])
                begin[k] = l->size[k] / max_i64(v.tiles[k], 1) * index_of_level(level, moved);
    return box_of_slice(l, &v, begin, core);
}

int64_t operand_start(const struct op_starts *x, int operand, int64_t core, int level)
{
    const struct lx_plan *p = x->plan;
    int32_t tensor = p->accesses[p->access_at[x->op] + operand].tensor;
    int32_t stay = lx_plan_place(p, x->op, operand);
    const struct lx_layout *l = &p->layouts->layouts[tensor];
    int64_t base = stay >= 0 ? p->answer.address[stay] : p->hbm_address[tensor];
    int64_t position[LX_MAX_DEVICE_RANK];
    struct lx_launch_piece piece;
    if (l->rank == 0 || operand >= x->x.operand_count || !first_piece(x, core, level, &piece)) return base;
    if (!first_position(x, operand, &piece, l, position)) return -1;
    struct box b = stay >= 0 ? part_of_stay(p, &p->stays[stay], core, level) : box_whole(l);
    int64_t stick = box_stick(&b, position);
    return stick < 0 ? base : base + stick * l->stick_bytes;
}
