/* Makes one program for all devices from the program of one device.
 *
 * Compilers hand over the program of one device, with shapes of its parts and with collectives. Here each
 * tensor gets a leading dimension for every grid axis along which its contents differ between devices,
 * sharded by that axis. Each device still computes its own program, and collectives become sums, copies and
 * shifts along these dimensions. Exchanges follow from the shards as in any graph:
 *
 *     all_reduce        sums over the dimension of the axis               [X, p] -> [p]
 *     all_gather        makes it a part of another dimension              [X, p] -> [X p]
 *     reduce_scatter    sums, and a part of a dimension replaces it       [X, N p] -> [N, p]
 *     all_to_all        exchanges it for a part of a dimension            [X, N p] -> [N, X p]
 *     device_part       a part of a dimension becomes it                  [N p] -> [N, p]
 *     device_permute    shifts along it, in a ring
 *     device_id         counts along it
 *
 * An input with stated shards is equal along axes that do not shard it; any other input differs on every
 * device. */
#include "graph/choice.h"
#include "team/program_maker.h"
#include "team/team_private.h"

static bool global_program_is_collective(const struct lx_op *op)
{
    return op->params && op->params->group_count > 0;
}

bool team_is_device_program(const struct lx_graph *g)
{
    for (int32_t o = 0; o < g->op_count; o++)
        if (global_program_is_collective(&g->ops[o])) return true;
    return false;
}

unsigned program_group(const struct program *p, const struct lx_op *op)
{
    unsigned mask = 0;
    for (int i = 0; i < op->params->group_count; i++) mask |= 1u << op->params->group[i];
    return mask & p->active;
}

char program_letter(struct string_of *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    s->failed |= s->used >= LX_MAX_VARS;
    return s->failed ? '?' : letters[s->used++];
}

void program_put(struct string_of *s, char c)
{
    if (s->length + 1 < sizeof s->text)
        s->text[s->length++] = c;
    else
        s->failed = true;
}

void program_put_front(const struct program *p, struct string_of *s, int32_t t, const char *axis)
{
    for (int a = 0; a < p->g->grid_axes; a++)
        if (p->varies[t] >> a & 1) program_put(s, axis[a]);
}

struct string_of program_string(const struct program *p)
{
    struct string_of s = {.length = 0};
    for (int a = 0; a < p->g->grid_axes; a++) s.axis[a] = program_letter(&s);
    return s;
}

void program_add(struct program *p, const struct lx_op *op)
{
    p->failed = p->failed || !builder_op(&p->b, op, p->st);
}

int32_t program_tensor(struct program *p, const char *name, enum lx_role role, enum lx_dtype dtype, int rank,
                       const int64_t *extent)
{
    int32_t t = p->failed ? -1 : builder_tensor(&p->b, name, role, dtype, rank, extent, 0, p->st);
    p->failed = t < 0;
    return t;
}

/* The axes along which an op's results differ. */
static unsigned global_program_result_varies(const struct program *p, const struct lx_op *op)
{
    unsigned all = 0;
    for (int i = 0; i < op->input_count; i++) all |= p->varies[op->inputs[i]];
    if (!global_program_is_collective(op)) return all;
    switch (op->kind->id) {
    case LX_KIND_ALL_REDUCE:
    case LX_KIND_ALL_GATHER: return all & ~program_group(p, op);
    case LX_KIND_DEVICE_PERMUTE: /* zeros enter at the begin of an open row */
        return op->params->exclusive ? all | program_group(p, op) : all;
    default: return all | program_group(p, op);
    }
}

static void global_program_find_varying(struct program *p)
{
    const struct lx_graph *g = p->g;
    for (int a = 0; a < g->grid_axes; a++) p->active |= g->grid[a] > 1 ? 1u << a : 0;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_tensor *x = &g->tensors[t];
        for (int a = 0; lx_role_arrives(x->role) && a < g->grid_axes; a++)
            if ((p->active >> a & 1) && (!x->cut_stated || x->cut[a] >= 0))
                p->varies[t] |= (unsigned char)(1u << a);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t o = 0; o < g->op_count; o++) {
            const struct lx_op *op = &g->ops[o];
            unsigned all = global_program_result_varies(p, op);
            for (int i = op->input_count; i < op_operand_count(op); i++) {
                unsigned char *v = &p->varies[op_operand(op, i)];
                changed |= (*v | all) != *v;
                *v |= (unsigned char)all;
            }
        }
    }
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        bool opaque = global_program_is_collective(op)
                          ? op->kind->id == LX_KIND_DEVICE_ID || program_apart(p, op, true)
                          : !op->map && !op->offset;
        for (int i = op->input_count; opaque && i < op_operand_count(op); i++)
            if (p->varies[op_operand(op, i)]) p->free_shard[op_operand(op, i)] = true;
    }
}

int program_front(const struct program *p, int32_t t, int64_t *extent)
{
    int n = 0;
    for (int a = 0; a < p->g->grid_axes; a++)
        if (p->varies[t] >> a & 1) extent[n++] = p->g->grid[a];
    return n;
}

int program_shape(const struct program *p, int32_t t, int64_t *extent)
{
    int n = program_front(p, t, extent);
    int64_t split[LX_MAX_RANK + 1];
    for (int d = 0; d < p->g->tensors[t].rank; d++) {
        int parts = program_split(p, t, d, split);
        if (n + parts > LX_MAX_RANK) return -1;
        memcpy(extent + n, split, (size_t)parts * sizeof *split);
        n += parts;
    }
    return n;
}

static int32_t global_program_add_tensor(struct program *p, int32_t t, const char *name, enum lx_role role)
{
    const struct lx_tensor *x = &p->g->tensors[t];
    int64_t extent[LX_MAX_RANK + LX_GRID_AXES];
    int rank = x->rank < 0 ? -1 : program_shape(p, t, extent);
    p->b.here = (struct place){x->line, x->column};
    if (rank < 0 && !p->failed) {
        p->failed = true;
        if (x->rank < 0)
            status_set_at(p->st, LX_E_UNSUPPORTED, p->g->file, x->line, x->column, TEAM_NO_SHAPE, x->name);
        else
            status_set_at(
                p->st, LX_E_LIMIT, p->g->file, x->line, x->column,
                "tensor %s would have more than %d dimensions with those of the grid; plan the graph "
                "for one device",
                x->name, LX_MAX_RANK);
    }
    int32_t to = program_tensor(p, name, role, x->dtype, rank, extent);
    if (to < 0) return -1;
    struct lx_tensor *made = &p->b.tensors.at[to];
    made->cut_stated = !p->free_shard[t];
    for (int a = 0, at = 0; a < LX_GRID_AXES; a++)
        made->cut[a] = (signed char)(p->varies[t] >> a & 1 ? at++ : -1);
    return to;
}

int32_t program_room(struct program *p, int32_t like, const char *of, char *name, size_t size)
{
    snprintf(name, size, "%.200s~%d", of, p->serial++);
    return global_program_add_tensor(p, like, name, LX_INTERMEDIATE);
}

/* Writes one letter per part of each variable, the same for all operands. Operands in the mask `aligned` have
 * the output's leading dimensions. */
static void global_program_write_string(const struct program *p, const struct lx_op *op, uint64_t aligned,
                                        struct string_of *s, char first[LX_MAX_VARS])
{
    const struct lx_einsum *m = op->map;
    char part[LX_MAX_VARS][LX_MAX_RANK + 1] = {{0}};
    int64_t split[LX_MAX_RANK + 1];
    *s = program_string(p);
    for (int i = 0; i <= op->input_count; i++) { /* further results have the letters of the first */
        int32_t t = op_operand(op, i);
        if (i == op->input_count)
            program_put(s, '-'), program_put(s, '>');
        else if (i > 0)
            program_put(s, ',');
        program_put_front(p, s, aligned >> i & 1 ? op->output : t, s->axis);
        for (int d = 0; d < m->rank[i]; d++) {
            int v = m->index[i][d], parts = program_split(p, t, d, split);
            for (int k = 0; k < parts; k++) {
                if (!part[v][k]) part[v][k] = program_letter(s);
                program_put(s, part[v][k]);
            }
        }
    }
    for (int v = 0; v < m->var_count; v++) {
        if (!part[v][0]) part[v][0] = program_letter(s); /* a tap without an operand */
        first[v] = part[v][0];
    }
    program_put(s, 0);
}

int32_t program_broadcast(struct program *p, const struct lx_op *op, int i, unsigned axes)
{
    int32_t t = op->inputs[i];
    unsigned own = p->varies[t];
    char name[256], string[64];
    if (own == axes) return t;
    p->varies[t] = (unsigned char)axes;
    int32_t to = program_room(p, t, op->name, name, sizeof name);
    p->varies[t] = (unsigned char)own;
    int64_t extent[LX_MAX_RANK + LX_GRID_AXES];
    int rank = program_shape(p, t, extent) - __builtin_popcount(own), n = 0;
    for (int side = 0; side < 2; side++) {
        for (int a = 0; a < p->g->grid_axes; a++)
            if ((side ? axes : own) >> a & 1) string[n++] = "ABC"[a];
        for (int d = 0; d < rank; d++) string[n++] = (char)('a' + d);
        if (!side) string[n++] = '-', string[n++] = '>';
    }
    string[n] = 0;
    struct lx_op copy = builder_plain(name, LX_KIND_CLONE, 1, &t, to);
    copy.einsum = string;
    program_add(p, &copy);
    return to;
}

/* Maps per-dimension numbers of `t` to its new dimensions. Leading and split dimensions get `usual`; if that
 * is -1, their extent. */
static const int64_t *global_program_spread(struct program *p, int32_t t, const int64_t *at, int64_t usual)
{
    int64_t split[LX_MAX_RANK + 1];
    if (!at) return NULL;
    int64_t *out = arena_array(p->b.memory, LX_MAX_RANK + LX_GRID_AXES, sizeof *out);
    int n = program_front(p, t, out);
    for (int i = 0; usual >= 0 && i < n; i++) out[i] = usual;
    for (int d = 0; d < p->g->tensors[t].rank; d++) {
        int parts = program_split(p, t, d, split);
        for (int k = 0; k < parts && n < LX_MAX_RANK; k++)
            out[n++] = parts == 1 ? at[d] : usual < 0 ? split[k] : usual;
    }
    return out;
}

/* The new index of a dimension of `t`. */
static int64_t global_program_moved_axis(const struct program *p, int32_t t, int64_t axis)
{
    int64_t split[LX_MAX_RANK + 1];
    int at = __builtin_popcount(p->varies[t]);
    for (int d = 0; d < axis && d < p->g->tensors[t].rank; d++) at += program_split(p, t, d, split);
    return at;
}

static void global_program_spread_params(struct program *p, const struct lx_op *op,
                                         struct lx_op_params *params)
{
    bool chooses = op->kind->traits & LX_CHOOSES;
    int32_t t =
        chooses && op->input_count > 0 && !(op->kind->traits & LX_ALTERS) ? op->inputs[0] : op->output;
    *params = *op->params;
    if (params->axis >= 0) params->axis = global_program_moved_axis(p, t, params->axis);
    int64_t *axes = arena_array(p->b.memory, (size_t)params->axis_count + 1, sizeof *axes);
    for (int i = 0; i < params->axis_count; i++) axes[i] = global_program_moved_axis(p, t, params->axes[i]);
    if (params->axes) params->axes = axes;
    if (chooses) return;
    int rank = __builtin_popcount(p->varies[t]) + p->g->tensors[t].rank;
    params->low = global_program_spread(p, t, params->low, 0);
    params->high = global_program_spread(p, t, params->high, 0);
    params->interior = global_program_spread(p, t, params->interior, 0);
    if (params->low) params->low_count = rank;
    if (params->high) params->high_count = rank;
    if (params->interior) params->interior_count = rank;
}

static const struct lx_view *global_program_spread_views(struct program *p, const struct lx_op *op)
{
    struct lx_view *out = arena_array(p->b.memory, (size_t)op->input_count + 1, sizeof *out);
    for (int i = 0; i < op->input_count; i++) {
        out[i].offset = global_program_spread(p, op->inputs[i], op->views[i].offset, 0);
        out[i].stride = global_program_spread(p, op->inputs[i], op->views[i].stride, 1);
        out[i].size = global_program_spread(p, op->inputs[i], op->views[i].size, -1);
    }
    return out;
}

static void global_program_refuse(struct program *p, const struct lx_op *op, enum lx_code code,
                                  const char *why)
{
    if (!p->failed)
        status_set_at(p->st, code, p->g->file, op->line, 0, "op %s (%s): %s", op->name, op->kind->name, why);
    p->failed = true;
}

/* Adds an op that is no collective. */
static void global_program_add_alone(struct program *p, const struct lx_op *op)
{
    struct lx_op to = *op;
    struct lx_op_params params;
    struct string_of s;
    char first[LX_MAX_VARS];
    int32_t inputs[LX_MAX_INPUTS];
    bool aligned = !op->map || (op->params && !(op->kind->traits & LX_CHOOSES));
    struct lx_choice c; /* rows that change a tensor have all its indices */
    uint64_t mask = aligned ? UINT64_MAX : lx_choice_of(op, &c) ? UINT64_C(1) << c.other : 0;
    if (op->kind->traits & LX_EXTERN)
        global_program_refuse(p, op, LX_E_UNSUPPORTED,
                              "a team cannot do it; where devices do it together, say so with \"group\"");
    for (int i = 0; i < op->input_count; i++)
        inputs[i] = mask >> i & 1 ? program_broadcast(p, op, i, p->varies[op->output]) : op->inputs[i];
    to.inputs = inputs;
    to.hint_count = 0;
    to.einsum = NULL;
    to.map = NULL;
    if (op->map) {
        global_program_write_string(p, op, mask, &s, first);
        if (s.failed)
            global_program_refuse(p, op, LX_E_LIMIT, "it would have too many indices with those of the grid");
        to.einsum = s.text;
    }
    struct lx_window *windows =
        arena_copy_array(p->b.memory, op->windows, (size_t)op->window_count, sizeof *windows);
    for (int i = 0; i < op->window_count; i++) {
        windows[i].in = (signed char)first[(int)windows[i].in];
        windows[i].out = (signed char)first[(int)windows[i].out];
        windows[i].tap = (signed char)first[(int)windows[i].tap];
    }
    to.windows = windows;
    int32_t larger = op->input_count > 0 && p->g->tensors[op->inputs[0]].rank > p->g->tensors[op->output].rank
                         ? op->inputs[0]
                         : op->output;
    unsigned own = p->varies[larger];
    if (aligned) p->varies[larger] = p->varies[op->output];
    to.offset = global_program_spread(p, larger, op->offset, 0);
    to.stride = global_program_spread(p, larger, op->stride, 1);
    p->varies[larger] = (unsigned char)own;
    if (op->views) to.views = global_program_spread_views(p, op);
    if (op->params) {
        global_program_spread_params(p, op, &params);
        to.params = &params;
    }
    program_add(p, &to);
}

const struct lx_graph *team_global_program(const struct lx_graph *g, lx_status *st)
{
    struct program p = {.g = g, .st = st};
    const struct lx_graph *all = NULL;
    p.varies = arena_array(&p.memory, (size_t)g->tensor_count + 1, sizeof *p.varies);
    p.free_shard = arena_array(&p.memory, (size_t)g->tensor_count + 1, sizeof *p.free_shard);
    if (program_dims_make(&p)) {
        global_program_find_varying(&p);
        team_begin_copy(&p.b, g);
        for (int32_t t = 0; t < g->tensor_count && !p.failed; t++)
            global_program_add_tensor(&p, t, g->tensors[t].name, g->tensors[t].role);
        for (int32_t o = 0; o < g->op_count && !p.failed; o++) {
            p.b.here = (struct place){g->ops[o].line, 0};
            if (global_program_is_collective(&g->ops[o]))
                program_together(&p, &g->ops[o]);
            else
                global_program_add_alone(&p, &g->ops[o]);
        }
        if (p.failed)
            builder_abandon(&p.b);
        else
            all = builder_finish(&p.b, st);
    }
    arena_free(&p.memory);
    return all;
}
