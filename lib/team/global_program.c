/* One program for all devices out of that of one.
 *
 * Compilers hand over what one device runs, with shapes of its parts and ops that several devices do together. Here each
 * tensor gets a dimension in front for every axis of the grid along which devices have different contents, cut by just that
 * axis: so every device computes what its program says, and the ops of several devices become sums, copies and shifts
 * along these dimensions, from whose cuts the exchanges follow like those of any graph:
 *
 *     all_reduce       sums over the dimension of the axis            [X, p] -> [p]
 *     all_gather       lets it be a part of another dimension         [X, p] -> [X p]
 *     reduce_scatter   sums, and a part of a dimension becomes it     [X, N p] -> [N, p]
 *     all_to_all       changes it for a part of a dimension           [X, N p] -> [N, X p]
 *     device_part      a part of a dimension becomes it               [N p] -> [N, p]
 *     device_permute   shifts along it, round the ring
 *     device_id        counts along it
 *
 * An input that states its cuts has the same contents along axes that do not cut it; any other has its own on every device. */
#include "team/global_program.h"
#include "base/fail.h"
#include "base/memory.h"
#include "team/program_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool team_is_device_program(const struct lx_graph *g)
{
    for (int32_t o = 0; o < g->op_count; o++)
        if (g->ops[o].params && g->ops[o].params->group_count > 0) return true;
    return false;
}

int program_bits(unsigned mask)
{
    int n = 0;
    for (; mask; mask &= mask - 1) n++;
    return n;
}

static bool is_together(const struct lx_op *op)
{
    return op->params && op->params->group_count > 0;
}

unsigned program_group(const struct program *p, const struct lx_op *op)
{
    unsigned mask = 0;
    for (int i = 0; i < op->params->group_count; i++) mask |= 1u << op->params->group[i];
    return mask & p->active;
}

static unsigned result_varies(const struct program *p, const struct lx_op *op)
{
    unsigned all = 0;
    for (int i = 0; i < op->input_count; i++) all |= p->varies[op->inputs[i]];
    if (!is_together(op)) return all;
    switch (op->kind->id) {
    case LX_KIND_ALL_REDUCE:
    case LX_KIND_ALL_GATHER:
        return all & ~program_group(p, op);
    case LX_KIND_DEVICE_PERMUTE: /* at the begin of an open row zeros come in */
        return op->params->exclusive ? all | program_group(p, op) : all;
    default:
        return all | program_group(p, op);
    }
}

static void find_varying(struct program *p)
{
    for (int a = 0; a < p->g->grid_axes; a++) p->active |= p->g->grid[a] > 1 ? 1u << a : 0;
    for (int32_t t = 0; t < p->g->tensor_count; t++) {
        const struct lx_tensor *x = &p->g->tensors[t];
        if (!lx_role_arrives(x->role)) continue;
        for (int a = 0; a < p->g->grid_axes; a++)
            if ((p->active >> a & 1) && (!x->cut_stated || x->cut[a] >= 0))
                p->varies[t] |= (unsigned char)(1u << a);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t o = 0; o < p->g->op_count; o++) {
            const struct lx_op *op = &p->g->ops[o];
            unsigned all = result_varies(p, op);
            for (int i = op->input_count; i < op_operand_count(op); i++) {
                unsigned char *v = &p->varies[op_operand(op, i)];
                changed |= (*v | all) != *v;
                *v |= (unsigned char)all;
            }
        }
    }
    for (int32_t o = 0; o < p->g->op_count; o++) {
        const struct lx_op *op = &p->g->ops[o];
        bool opaque = is_together(op) ? op->kind->id == LX_KIND_DEVICE_ID || program_apart(&p->dims, op, true)
                                      : !op->map && !op->offset;
        for (int i = op->input_count; opaque && i < op_operand_count(op); i++)
            if (p->varies[op_operand(op, i)]) p->free_cut[op_operand(op, i)] = true;
    }
}

int program_shape(const struct program *p, int32_t t, int64_t *extent)
{
    int n = 0;
    int64_t split[LX_MAX_RANK + 1];
    for (int a = 0; a < p->g->grid_axes; a++)
        if (p->varies[t] >> a & 1) extent[n++] = p->g->grid[a];
    for (int d = 0; d < p->g->tensors[t].rank; d++) {
        int parts = program_split(&p->dims, t, d, split);
        if (n + parts > LX_MAX_RANK) return -1;
        memcpy(extent + n, split, (size_t)parts * sizeof *split);
        n += parts;
    }
    return n;
}

static int32_t whole_program_add_tensor(struct program *p, int32_t t, const char *name, enum lx_role role)
{
    const struct lx_tensor *x = &p->g->tensors[t];
    int64_t extent[LX_MAX_RANK + LX_GRID_AXES];
    int rank = x->rank < 0 ? -1 : program_shape(p, t, extent);
    p->b.here = (struct place){x->line, x->column};
    if (x->rank < 0)
        return status_set_at(p->st, LX_E_UNSUPPORTED, p->g->file, x->line, x->column,
                             "tensor %s is known by its bytes only and cannot be distributed over a team; "
                             "give it a shape",
                             x->name),
               -1;
    if (rank < 0)
        return status_set_at(p->st, LX_E_LIMIT, p->g->file, x->line, x->column,
                             "tensor %s would have more than %d dimensions with those of the grid; plan the "
                             "graph for one device",
                             x->name, LX_MAX_RANK),
               -1;
    int32_t to = builder_tensor(&p->b, name, role, x->dtype, rank, extent, 0, p->st);
    if (to < 0) return -1;
    struct lx_tensor *made = &p->b.tensors.at[to];
    made->cut_stated = !p->free_cut[t];
    for (int a = 0, at = 0; a < LX_GRID_AXES; a++)
        made->cut[a] = (signed char)(p->varies[t] >> a & 1 ? at++ : -1);
    return to;
}

int32_t program_room(struct program *p, int32_t like, const char *of, char *name, size_t size)
{
    snprintf(name, size, "%.200s~%d", of, p->serial++);
    return whole_program_add_tensor(p, like, name, LX_INTERMEDIATE);
}

/* A letter per part of each variable, the same for all operands. `aligned`: all have the dimensions in front of the output. */
static void write_string(const struct program *p, const struct lx_op *op, bool aligned, struct string_of *s,
                         char first[LX_MAX_VARS])
{
    const struct lx_einsum *m = op->map;
    char part[LX_MAX_VARS][LX_MAX_RANK + 1] = {{0}};
    int64_t split[LX_MAX_RANK + 1];
    *s = program_string(p);
    for (int i = 0; i < m->operand_count; i++) {
        int32_t t = op_operand(op, i);
        if (i > 0 && i < op->input_count) program_put(s, ',');
        if (i == op->input_count) program_put(s, '-'), program_put(s, '>');
        if (i > op->input_count) program_put(s, ',');
        program_put_front(p, s, aligned ? op->output : t, s->axis);
        for (int d = 0; d < m->rank[i]; d++) {
            int v = m->index[i][d], parts = program_split(&p->dims, t, d, split);
            for (int k = 0; k < parts; k++) {
                if (!part[v][k]) part[v][k] = program_letter(s);
                program_put(s, part[v][k]);
            }
        }
    }
    for (int v = 0; v < m->var_count; v++) {
        if (!part[v][0]) part[v][0] = program_letter(s); /* a tap that no operand has */
        first[v] = part[v][0];
    }
    program_put(s, 0);
}

int32_t program_broadcast(struct program *p, const struct lx_op *op, int i)
{
    int32_t t = op->inputs[i];
    unsigned wanted = p->varies[op->output], own = p->varies[t];
    char name[256], string[64];
    if (own == wanted) return t;
    p->varies[t] = (unsigned char)wanted;
    int32_t to = program_room(p, t, op->name, name, sizeof name);
    p->varies[t] = (unsigned char)own;
    int64_t extent[LX_MAX_RANK + LX_GRID_AXES];
    int rank = program_shape(p, t, extent) - program_bits(own), n = 0;
    for (int side = 0; side < 2; side++) {
        for (int a = 0; a < p->g->grid_axes; a++)
            if ((side ? wanted : own) >> a & 1) string[n++] = "ABC"[a];
        for (int d = 0; d < rank; d++) string[n++] = (char)('a' + d);
        if (!side) string[n++] = '-', string[n++] = '>';
    }
    string[n] = 0;
    struct lx_op copy = {.name = name,
                         .kind = lx_kind_at(LX_KIND_CLONE),
                         .input_count = 1,
                         .inputs = &t,
                         .output = to,
                         .einsum = string};
    return to >= 0 && builder_op(&p->b, &copy, p->st) ? to : -1;
}

/* Numbers per dimension of `t`, with those in front and of cut dimensions: `usual`. */
static const int64_t *spread_numbers(struct program *p, int32_t t, const int64_t *at, int64_t usual)
{
    int64_t *out = at ? arena_array(p->b.memory, LX_MAX_RANK + LX_GRID_AXES, sizeof *out) : NULL,
            split[LX_MAX_RANK + 1];
    int n = program_bits(p->varies[t]);
    for (int i = 0; out && i < n; i++) out[i] = usual;
    for (int d = 0; out && d < p->g->tensors[t].rank; d++) {
        int parts = program_split(&p->dims, t, d, split);
        for (int k = 0; k < parts && n < LX_MAX_RANK; k++) out[n++] = parts == 1 ? at[d] : usual;
    }
    return out;
}

/* Where a dimension of `t` has gone. */
static int64_t moved_axis(const struct program *p, int32_t t, int64_t axis)
{
    int64_t split[LX_MAX_RANK + 1];
    int at = program_bits(p->varies[t]);
    for (int d = 0; d < axis && d < p->g->tensors[t].rank; d++) at += program_split(&p->dims, t, d, split);
    return at;
}

static bool spread_params(struct program *p, const struct lx_op *op, struct lx_op *to,
                          struct lx_op_params *params)
{
    bool chooses = op->kind->traits & LX_CHOOSES;
    int32_t t =
        chooses && op->input_count > 0 && !(op->kind->traits & LX_ALTERS) ? op->inputs[0] : op->output;
    if (!op->params) return true;
    *params = *op->params;
    if (params->axis >= 0) params->axis = moved_axis(p, t, params->axis);
    int64_t *axes = arena_array(p->b.memory, (size_t)params->axis_count + 1, sizeof *axes);
    if (!axes) return status_no_memory(p->st);
    for (int i = 0; i < params->axis_count; i++) axes[i] = moved_axis(p, t, params->axes[i]);
    if (params->axes) params->axes = axes;
    if (!chooses) {
        int rank = program_bits(p->varies[t]) + p->g->tensors[t].rank;
        params->low = spread_numbers(p, t, params->low, 0);
        params->high = spread_numbers(p, t, params->high, 0);
        params->interior = spread_numbers(p, t, params->interior, 0);
        if (params->low) params->low_count = rank;
        if (params->high) params->high_count = rank;
        if (params->interior) params->interior_count = rank;
    }
    to->params = params;
    return true;
}

/* How much of each dimension is read: of those in front and of cut ones all. */
static const int64_t *spread_sizes(struct program *p, int32_t t, const int64_t *size)
{
    int64_t all[LX_MAX_RANK + LX_GRID_AXES], split[LX_MAX_RANK + 1], *out;
    int n = program_shape(p, t, all), at = program_bits(p->varies[t]);
    if (!size || n < 0) return NULL;
    for (int d = 0; d < p->g->tensors[t].rank; d++) {
        int parts = program_split(&p->dims, t, d, split);
        if (parts == 1) all[at] = size[d];
        at += parts;
    }
    out = arena_copy_array(p->b.memory, all, (size_t)n, sizeof *out);
    return out;
}

static const struct lx_view *spread_views(struct program *p, const struct lx_op *op)
{
    struct lx_view *out = arena_array(p->b.memory, (size_t)op->input_count + 1, sizeof *out);
    for (int i = 0; out && i < op->input_count; i++) {
        int32_t t = op->inputs[i];
        out[i].offset = spread_numbers(p, t, op->views[i].offset, 0);
        out[i].stride = spread_numbers(p, t, op->views[i].stride, 1);
        out[i].size = spread_sizes(p, t, op->views[i].size);
    }
    return out;
}

/* An op of one device: the same on all of them. */
static bool add_alone(struct program *p, const struct lx_op *op)
{
    struct lx_op to = *op;
    struct lx_op_params params;
    struct string_of s;
    char first[LX_MAX_VARS];
    int32_t inputs[LX_MAX_INPUTS];
    struct lx_window *windows =
        arena_copy_array(p->b.memory, op->windows, (size_t)op->window_count, sizeof *windows);
    bool aligned = !op->map || (op->params && !(op->kind->traits & LX_CHOOSES));
    if (op->kind->traits & LX_EXTERN)
        return status_set_at(
            p->st, LX_E_UNSUPPORTED, p->g->file, op->line, 0,
            "op %s (%s): a team cannot do it; where devices do it together, say so with \"group\"", op->name,
            op->kind->name);
    for (int i = 0; i < op->input_count; i++)
        if ((inputs[i] = aligned ? program_broadcast(p, op, i) : op->inputs[i]) < 0) return false;
    to.inputs = inputs;
    to.hint_count = 0;
    to.einsum = NULL;
    if (op->map) {
        write_string(p, op, aligned, &s, first);
        if (s.failed)
            return status_set_at(p->st, LX_E_LIMIT, p->g->file, op->line, 0,
                                 "op %s would have more than %d indices with those of the grid", op->name,
                                 LX_MAX_VARS);
        to.einsum = s.text;
    }
    to.map = NULL;
    for (int i = 0; windows && i < op->window_count; i++) {
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
    to.offset = spread_numbers(p, larger, op->offset, 0);
    to.stride = spread_numbers(p, larger, op->stride, 1);
    p->varies[larger] = (unsigned char)own;
    if (op->views) to.views = spread_views(p, op);
    if ((op->window_count && !windows) || (op->offset && !to.offset) || (op->views && !to.views))
        return status_no_memory(p->st);
    return spread_params(p, op, &to, &params) && builder_op(&p->b, &to, p->st);
}

static bool whole_program_add_op(struct program *p, const struct lx_op *op)
{
    p->b.here = (struct place){op->line, 0};
    return is_together(op) ? program_together(p, op) : add_alone(p, op);
}

static const struct lx_graph *whole_program_build(struct program *p)
{
    const struct lx_graph *g = p->g;
    bool ok = true;
    builder_begin(&p->b, g->file, g->name);
    p->b.graph->device = g->device;
    p->b.graph->summary = arena_string(p->b.memory, g->summary);
    p->b.graph->grid_axes = g->grid_axes;
    memcpy(p->b.graph->grid, g->grid, sizeof g->grid);
    for (int32_t t = 0; ok && t < g->tensor_count; t++)
        ok = whole_program_add_tensor(p, t, g->tensors[t].name, g->tensors[t].role) == t;
    for (int32_t o = 0; ok && o < g->op_count; o++) ok = whole_program_add_op(p, &g->ops[o]);
    if (ok) return builder_finish(&p->b, p->st);
    builder_abandon(&p->b);
    return NULL;
}

const struct lx_graph *team_global_program(const struct lx_graph *g, lx_status *st)
{
    struct program p = {.g = g,
                        .st = st,
                        .varies = mem_zeroed((size_t)g->tensor_count + 1, sizeof *p.varies),
                        .free_cut = mem_zeroed((size_t)g->tensor_count + 1, sizeof *p.free_cut)};
    const struct lx_graph *whole = NULL;
    if (!p.varies || !p.free_cut)
        status_no_memory(st);
    else if (program_dims_make(&p.dims, g, st)) {
        find_varying(&p);
        whole = whole_program_build(&p);
    }
    program_dims_free(&p.dims);
    mem_free(p.varies);
    mem_free(p.free_cut);
    return whole;
}
