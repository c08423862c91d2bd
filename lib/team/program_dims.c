/* Classes of dimensions, split so that collectives work on whole dimensions. */
#include "team/program_maker.h"

static struct dim_class *program_dims_class_of(const struct program *p, int32_t tensor, int dim)
{
    return &p->classes[sets_root(p->parent, p->first[tensor] + dim)];
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
    p.inner /= p.parts; /* the parts may extend over the dimensions behind it */
    return p;
}

/* Dimensions that an op iterates with one variable, index by index, are one class. */
static void program_dims_unite(struct program *p, const struct lx_op *op)
{
    struct op_index x;
    op_index_of(p->g, op, &x);
    /* elements keep their order */
    if (op->kind->id == LX_KIND_CONSTANT || op->kind->id == LX_KIND_RESHAPE) return;
    for (int i = 0; i < op_operand_count(op); i++) {
        int32_t t = op_operand(op, i);
        for (int k = 0; k < p->g->tensors[t].rank; k++) {
            int v = x.known ? x.var[i][k] : -1;
            bool plain = v >= 0 && lx_var_nature(op, v) == LX_ITERATED && !op_index_slides(&x, v) &&
                         op_index_offset(&x, i, k) == 0 && op_index_stride(&x, i, k) == 1 &&
                         x.extent[v] == p->g->tensors[t].shape[k];
            if (!plain) p->classes[p->first[t] + k].rigid = true;
            for (int j = 0; plain && j < i; j++)
                for (int l = 0; l < p->g->tensors[op_operand(op, j)].rank; l++)
                    if (x.var[j][l] == v)
                        sets_join(p->parent, p->first[op_operand(op, j)] + l, p->first[t] + k);
        }
    }
}

static void program_dims_add_point(struct cut_points *to, int64_t c)
{
    int i = 0;
    while (i < to->count && to->at[i] > c) i++;
    if ((i < to->count && to->at[i] == c) || to->count == PROGRAM_CUTS) return;
    memmove(to->at + i + 1, to->at + i, (size_t)(to->count - i) * sizeof *to->at);
    to->at[i] = c;
    to->count++;
}

int program_split(const struct program *p, int32_t tensor, int dim, int64_t *extent)
{
    const struct dim_class *c = program_dims_class_of(p, tensor, dim);
    int64_t all = p->g->tensors[tensor].shape[dim];
    for (int i = 0; i < c->cuts; i++) {
        extent[i] = all / c->inner[i];
        all = c->inner[i];
    }
    extent[c->cuts] = all;
    return c->cuts + 1;
}

bool program_apart(const struct program *p, const struct lx_op *op, bool output)
{
    return p->apart[2 * (op - p->g->ops) + output];
}

struct cut_points program_common(const struct program *p, const struct lx_op *op)
{
    struct cut_points all = {0};
    for (int output = 0; output < 2; output++) {
        /* The cut points of a tensor, from its classes. */
        int32_t tensor = output ? op->output : op->inputs[0];
        const struct lx_tensor *t = &p->g->tensors[tensor];
        struct cut_points own = {1, {1}};
        int64_t trail = 1;
        for (int k = t->rank - 1; k >= 0; k--) {
            const struct dim_class *c = program_dims_class_of(p, tensor, k);
            for (int i = 0; i < c->cuts; i++) program_dims_add_point(&own, trail * c->inner[i]);
            trail *= t->shape[k];
            program_dims_add_point(&own, trail);
        }
        struct operand_parts x = program_parts(p->g, op, output);
        if (program_apart(p, op, output)) own = (struct cut_points){2, {own.at[0], 1}};
        for (int i = 0; i < own.count; i++) { /* cut points of an operand, as points of one part */
            if (own.at[i] <= x.inner || x.parts == 1) program_dims_add_point(&all, own.at[i]);
            if (x.parts > 1 && own.at[i] >= x.inner * x.parts)
                program_dims_add_point(&all, own.at[i] / x.parts);
        }
        if (x.parts > 1) program_dims_add_point(&all, x.inner);
    }
    return all;
}

/* Returns 1 if the tensor got a new cut point, 0 if it had the point, -1 if it cannot have it. */
static int program_dims_cut_at(struct program *p, int32_t tensor, int64_t point)
{
    const struct lx_tensor *t = &p->g->tensors[tensor];
    int64_t trail = 1;
    for (int k = t->rank - 1; k >= 0; trail *= t->shape[k--]) {
        if (point <= trail || point >= trail * t->shape[k]) continue;
        struct dim_class *c = program_dims_class_of(p, tensor, k);
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

/* Cuts an operand at every point of one part, and at the borders of parts, also between the axes of a
 * group. */
static int program_dims_cut_operand(struct program *p, const struct lx_op *op, bool output,
                                    const struct cut_points *common)
{
    struct operand_parts x = program_parts(p->g, op, output);
    int32_t t = output ? op->output : op->inputs[0];
    int changed = 0;
    for (int i = 0; i < common->count; i++) {
        int64_t c = common->at[i], other = x.parts == 1 || c < x.inner ? c : c * x.parts;
        int now = program_dims_cut_at(p, t, other);
        if (now == 0 && x.parts > 1 && c == x.inner) now = program_dims_cut_at(p, t, c);
        if (now < 0) return -1;
        changed |= now;
    }
    int64_t point = x.inner;
    for (int i = op->params->group_count - 1; x.parts > 1 && i >= 0; i--) {
        int now = program_dims_cut_at(p, t, point);
        if (now < 0) return -1;
        changed |= now;
        point *= p->g->grid[op->params->group[i]];
    }
    return changed;
}

/* Returns whether a cut was added. An operand that cannot be cut stays unchanged, and is copied. */
static bool program_dims_cut_op(struct program *p, const struct lx_op *op)
{
    struct cut_points common = program_common(p, op);
    bool changed = false;
    for (int output = 0; output < 2; output++) {
        if (program_apart(p, op, output)) continue;
        int now = program_dims_cut_operand(p, op, output, &common);
        if (now < 0) p->apart[2 * (op - p->g->ops) + output] = true;
        changed |= now != 0;
    }
    return changed;
}

/* The number of dimensions with one element. */
static int program_dims_units(const struct lx_tensor *t)
{
    int n = 0;
    for (int d = 0; d < t->rank; d++) n += t->shape[d] == 1;
    return n;
}

/* Such dimensions have a letter in both index strings: if one operand has more of them, as where each device
 * keeps or gives one element, operands are copied. Copies to more dimensions need not. */
static void program_dims_match_units(struct program *p, const struct lx_op *op)
{
    enum lx_kind_id id = op->kind->id;
    int in = program_dims_units(&p->g->tensors[op->inputs[0]]),
        out = program_dims_units(&p->g->tensors[op->output]);
    bool more = in > out || (in < out && (id == LX_KIND_REDUCE_SCATTER || id == LX_KIND_DEVICE_PART));
    p->apart[2 * (op - p->g->ops)] = more && in > 0;
    p->apart[2 * (op - p->g->ops) + 1] = more && out > 0;
}

static int64_t program_dims_elements(const struct lx_tensor *t)
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
        program_dims_elements(&g->tensors[op->inputs[0]]) / in.parts ==
            program_dims_elements(&g->tensors[op->output]) / out.parts)
        return true;
    return status_set_at(st, LX_E_SHAPE, g->file, op->line, 0,
                         "op %s (%s): axis, group and shapes do not go together; \"group\" lists axes of the "
                         "grid in order, and what is shared out is a multiple of their devices",
                         op->name, op->kind->name);
}

bool program_dims_make(struct program *p)
{
    const struct lx_graph *g = p->g;
    int32_t count = 0;
    p->first = arena_array(&p->memory, (size_t)g->tensor_count + 1, sizeof *p->first);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        p->first[t] = count;
        count += g->tensors[t].rank > 0 ? g->tensors[t].rank : 0;
    }
    p->parent = arena_array(&p->memory, (size_t)count + 1, sizeof *p->parent);
    p->classes = arena_array(&p->memory, (size_t)count + 1, sizeof *p->classes);
    p->apart = arena_array(&p->memory, 2 * (size_t)g->op_count + 1, sizeof *p->apart);
    sets_begin(p->parent, count);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        if (!op->params || !op->params->group)
            program_dims_unite(p, op);
        else if (op->input_count > 0 && !program_dims_check_op(g, op, p->st))
            return false;
        else if (op->input_count > 0)
            program_dims_match_units(p, op);
    }
    for (int32_t i = 0; i < count; i++)
        if (p->classes[i].rigid) p->classes[sets_root(p->parent, i)].rigid = true;
    for (bool changed = true; changed;) { /* a dimension cut for one op may be joined by another */
        changed = false;
        for (int32_t o = 0; o < g->op_count; o++)
            if (g->ops[o].params && g->ops[o].params->group && g->ops[o].input_count > 0)
                changed |= program_dims_cut_op(p, &g->ops[o]);
    }
    return true;
}
