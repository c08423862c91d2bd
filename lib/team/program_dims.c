/* Classes of dimensions, and where they are cut so that what devices do together goes dimension by dimension. */
#include "team/program_dims.h"
#include "base/fail.h"

#include <string.h>

static int32_t program_dims_root_of(const struct program_dims *d, int32_t i)
{
    while (d->parent[i] != i) i = d->parent[i] = d->parent[d->parent[i]];
    return i;
}

static struct dim_class *program_dims_class_of(const struct program_dims *d, int32_t tensor, int dim)
{
    return &d->classes[program_dims_root_of(d, d->first[tensor] + dim)];
}

static void program_dims_unite(const struct program_dims *d, int32_t a, int32_t b)
{
    a = program_dims_root_of(d, a);
    b = program_dims_root_of(d, b);
    d->classes[a].rigid |= d->classes[b].rigid;
    d->parent[b] = a;
}

static bool works_together(const struct lx_op *op)
{
    return op->params && op->params->group;
}

struct operand_parts program_parts(const struct lx_graph *g, const struct lx_op *op, bool output)
{
    enum lx_kind_id kind = op->kind->id;
    bool takes = kind == LX_KIND_REDUCE_SCATTER || kind == LX_KIND_DEVICE_PART,
         swaps = kind == LX_KIND_ALL_TO_ALL, puts = kind == LX_KIND_ALL_GATHER;
    struct operand_parts p = {1, 1};
    if (!(swaps || (output ? puts : takes))) return p;
    const struct lx_tensor *t = &g->tensors[output ? op->output : op->inputs[0]];
    int64_t axis = swaps ? (op->params->axis_count == 2 ? op->params->axes[output] : -1) : op->params->axis;
    for (int i = 0; i < op->params->group_count; i++) p.parts *= g->grid[op->params->group[i]];
    if (axis < 0 || axis >= t->rank) return (struct operand_parts){0, 0};
    for (int d = (int)axis; d < t->rank; d++) p.inner *= t->shape[d];
    if (p.inner % p.parts != 0) return (struct operand_parts){0, 0};
    p.inner /= p.parts; /* the parts may go on over the dimensions behind it */
    return p;
}

/* Variables of an op that are walked index by index, without steps, keep their dimensions alike. */
static void unite_op(struct program_dims *d, const struct lx_op *op)
{
    struct op_index x;
    op_index_of(d->g, op, &x);
    for (int i = 0; i < op_operand_count(op); i++) {
        int32_t t = op_operand(op, i);
        for (int k = 0; k < d->g->tensors[t].rank; k++) {
            int v = x.known ? x.var[i][k] : -1;
            bool plain = v >= 0 && lx_var_nature(op, v) == LX_ITERATED && !op_index_slides(&x, v) &&
                         op_index_offset(&x, i, k) == 0 && op_index_stride(&x, i, k) == 1 &&
                         x.extent[v] == d->g->tensors[t].shape[k];
            if (op->kind->id == LX_KIND_CONSTANT || op->kind->id == LX_KIND_RESHAPE)
                continue; /* in order anyhow */
            if (!plain) program_dims_class_of(d, t, k)->rigid = true;
            for (int j = 0; plain && j < i; j++)
                for (int l = 0; l < d->g->tensors[op_operand(op, j)].rank; l++)
                    if (x.var[j][l] == v)
                        program_dims_unite(d, d->first[op_operand(op, j)] + l, d->first[t] + k);
        }
    }
}

static void add_point(struct cut_points *p, int64_t c)
{
    int i = 0;
    while (i < p->count && p->at[i] > c) i++;
    if (i < p->count && p->at[i] == c) return;
    if (p->count == PROGRAM_CUTS) return;
    memmove(p->at + i + 1, p->at + i, (size_t)(p->count - i) * sizeof *p->at);
    p->at[i] = c;
    p->count++;
}

int program_split(const struct program_dims *d, int32_t tensor, int dim, int64_t *extent)
{
    const struct dim_class *c = program_dims_class_of(d, tensor, dim);
    int64_t all = d->g->tensors[tensor].shape[dim];
    for (int i = 0; i < c->cuts; i++) {
        extent[i] = all / c->inner[i];
        all = c->inner[i];
    }
    extent[c->cuts] = all;
    return c->cuts + 1;
}

struct cut_points program_points(const struct program_dims *d, int32_t tensor)
{
    const struct lx_tensor *t = &d->g->tensors[tensor];
    struct cut_points p = {1, {1}};
    int64_t trail = 1;
    for (int k = t->rank - 1; k >= 0; k--) {
        const struct dim_class *c = program_dims_class_of(d, tensor, k);
        for (int i = 0; i < c->cuts; i++) add_point(&p, trail * c->inner[i]);
        trail *= t->shape[k];
        add_point(&p, trail);
    }
    return p;
}

/* Points of what has parts, as points of one part. */
static void add_common(struct cut_points *to, const struct cut_points *from, struct operand_parts p)
{
    for (int i = 0; i < from->count; i++) {
        if (from->at[i] <= p.inner || p.parts == 1) add_point(to, from->at[i]);
        if (p.parts > 1 && from->at[i] >= p.inner * p.parts) add_point(to, from->at[i] / p.parts);
    }
}

bool program_apart(const struct program_dims *d, const struct lx_op *op, bool output)
{
    return d->apart[2 * (op - d->g->ops) + output];
}

struct cut_points program_common(const struct program_dims *d, const struct lx_op *op)
{
    struct cut_points all = {0};
    for (int output = 0; output < 2; output++) {
        struct cut_points own = program_points(d, output ? op->output : op->inputs[0]);
        struct operand_parts p = program_parts(d->g, op, output);
        if (program_apart(d, op, output)) own = (struct cut_points){2, {own.at[0], 1}};
        add_common(&all, &own, p);
        if (p.parts > 1) add_point(&all, p.inner);
    }
    return all;
}

/* 1: the tensor has got a new point; 0: it had it; -1: it cannot have it. */
static int program_dims_cut_at(struct program_dims *d, int32_t tensor, int64_t point)
{
    const struct lx_tensor *t = &d->g->tensors[tensor];
    int64_t trail = 1;
    for (int k = t->rank - 1; k >= 0; trail *= t->shape[k--]) {
        if (point <= trail || point >= trail * t->shape[k]) continue;
        struct dim_class *c = program_dims_class_of(d, tensor, k);
        int64_t inner = point / trail, before = t->shape[k];
        int i = 0;
        while (i < c->cuts && c->inner[i] > inner) before = c->inner[i++];
        if (i < c->cuts && c->inner[i] == inner) return 0;
        int64_t behind = i < c->cuts ? c->inner[i] : 1;
        if (c->rigid || point % trail || before % inner || inner % behind || c->cuts == LX_MAX_RANK)
            return -1;
        memmove(c->inner + i + 1, c->inner + i, (size_t)(c->cuts - i) * sizeof *c->inner);
        c->inner[i] = inner;
        c->cuts++;
        return 1;
    }
    return 0;
}

/* Every point of one part, and the borders of parts, also between the axes of a group. */
static int program_dims_cut_operand(struct program_dims *d, const struct lx_op *op, bool output,
                                    const struct cut_points *common)
{
    struct operand_parts p = program_parts(d->g, op, output);
    int32_t t = output ? op->output : op->inputs[0];
    int changed = 0;
    for (int i = 0; i < common->count; i++) {
        int64_t c = common->at[i], other = p.parts == 1 || c < p.inner ? c : c * p.parts;
        int now = program_dims_cut_at(d, t, other);
        if (now == 0 && p.parts > 1 && c == p.inner) now = program_dims_cut_at(d, t, c);
        if (now < 0) return -1;
        changed |= now;
    }
    int64_t point = p.inner;
    for (int i = op->params->group_count - 1; p.parts > 1 && i >= 0; i--) {
        int now = program_dims_cut_at(d, t, point);
        if (now < 0) return -1;
        changed |= now;
        point *= d->g->grid[op->params->group[i]];
    }
    return changed;
}

/* Has anything changed? What cannot be cut stays as it is, and is copied. */
static bool program_dims_cut_op(struct program_dims *d, const struct lx_op *op)
{
    struct cut_points common = program_common(d, op);
    bool changed = false;
    for (int output = 0; output < 2; output++) {
        if (program_apart(d, op, output)) continue;
        int now = program_dims_cut_operand(d, op, output, &common);
        if (now < 0) d->apart[2 * (op - d->g->ops) + output] = true;
        changed |= now != 0;
    }
    return changed;
}

static int64_t elements_of(const struct lx_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n *= t->shape[d];
    return n;
}

static bool program_dims_check_op(const struct lx_graph *g, const struct lx_op *op, lx_status *st)
{
    bool ok = op->input_count == 1 && op_operand_count(op) == 2 && g->tensors[op->inputs[0]].rank >= 0 &&
              g->tensors[op->output].rank >= 0;
    for (int i = 0; ok && i < op->params->group_count; i++)
        ok = op->params->group[i] < g->grid_axes &&
             (i == 0 || op->params->group[i] > op->params->group[i - 1]);
    struct operand_parts in = ok ? program_parts(g, op, false) : (struct operand_parts){0, 0},
                         out = ok ? program_parts(g, op, true) : in;
    if (ok && in.parts > 0 && out.parts > 0 &&
        elements_of(&g->tensors[op->inputs[0]]) / in.parts ==
            elements_of(&g->tensors[op->output]) / out.parts)
        return true;
    return status_set_at(st, LX_E_SHAPE, g->file, op->line, 0,
                         "op %s (%s): axis, group and shapes do not go together; \"group\" lists axes of the "
                         "grid in order, and what is shared out is a multiple of their devices",
                         op->name, op->kind->name);
}

/* Until nothing changes: what is cut for one op may be what another puts together. */
static void cut_all(struct program_dims *d)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t o = 0; o < d->g->op_count; o++)
            if (works_together(&d->g->ops[o]) && d->g->ops[o].input_count > 0)
                changed |= program_dims_cut_op(d, &d->g->ops[o]);
    }
}

bool program_dims_make(struct program_dims *d, const struct lx_graph *g, lx_status *st)
{
    int32_t count = 0;
    *d = (struct program_dims){.g = g};
    d->first = arena_array(&d->memory, (size_t)g->tensor_count + 1, sizeof *d->first);
    for (int32_t t = 0; d->first && t < g->tensor_count; t++) {
        d->first[t] = count;
        count += g->tensors[t].rank > 0 ? g->tensors[t].rank : 0;
    }
    d->parent = arena_array(&d->memory, (size_t)count + 1, sizeof *d->parent);
    d->classes = arena_array(&d->memory, (size_t)count + 1, sizeof *d->classes);
    d->apart = arena_array(&d->memory, 2 * (size_t)g->op_count + 1, sizeof *d->apart);
    if (!d->first || !d->parent || !d->classes || !d->apart) return status_no_memory(st);
    memset(d->apart, 0, 2 * (size_t)g->op_count + 1);
    for (int32_t i = 0; i < count; i++) d->parent[i] = i;
    memset(d->classes, 0, ((size_t)count + 1) * sizeof *d->classes);
    for (int32_t o = 0; o < g->op_count; o++) {
        if (!works_together(&g->ops[o]))
            unite_op(d, &g->ops[o]);
        else if (g->ops[o].input_count > 0 && !program_dims_check_op(g, &g->ops[o], st))
            return false;
    }
    cut_all(d);
    return true;
}

void program_dims_free(struct program_dims *d)
{
    arena_free(&d->memory);
}
