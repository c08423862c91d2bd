/* Classes of variables by union and find over (op, variable) and (tensor, dimension). */
#include "nests/axes.h"
#include "base/checked.h"
#include "layout/op_index.h"

#include <string.h>

/* One op of the run. */
struct run_op {
    struct op_index x;
    int32_t var_at; /* number of its first variable among the nodes */
};

struct axis_run {
    const struct lx_layouts *l;
    struct arena *memory;
    int32_t first, count, most;
    struct run_op *ops;
    int32_t *parent;          /* per node: a variable of an op, or behind `dim_at` a dimension of a tensor */
    int32_t nodes, node_room; /* nodes of variables */
    int32_t dim_at;
};

static int32_t axes_find(struct axis_run *r, int32_t node)
{
    while (r->parent[node] != node) node = r->parent[node] = r->parent[r->parent[node]];
    return node;
}

static int32_t axes_root_of(const struct axis_run *r, int32_t node)
{
    while (r->parent[node] != node) node = r->parent[node];
    return node;
}

struct axis_run *axis_run_begin(const struct lx_layouts *l, int32_t first, struct arena *memory)
{
    struct axis_run *r = arena_array(memory, 1, sizeof *r);
    *r = (struct axis_run){.l = l, .memory = memory, .first = first, .most = l->graph->op_count - first};
    r->node_room = r->dim_at = r->most * LX_MAX_VARS;
    size_t nodes = (size_t)r->dim_at + (size_t)l->graph->tensor_count * LX_MAX_RANK;
    r->ops = arena_array(memory, (size_t)r->most, sizeof *r->ops);
    r->parent = arena_array(memory, nodes, sizeof *r->parent);
    for (size_t i = 0; i < nodes; i++) r->parent[i] = (int32_t)i;
    return r;
}

int32_t axis_run_last(const struct axis_run *r)
{
    return r->first + r->count - 1;
}

/* The variable of an op in a class; -1: none, -2: several. */
static int var_in_class(const struct axis_run *r, const struct run_op *o, int32_t class)
{
    int found = -1;
    for (int v = 0; v < o->x.var_count; v++)
        if (axes_root_of(r, o->var_at + v) == class) found = found == -1 ? v : -2;
    return found;
}

/* Could a longer run still have it: does no op have two variables of it? */
static bool may_be_axis(const struct axis_run *r, int32_t class)
{
    for (int32_t i = 0; i < r->count; i++) {
        /* None of them, or one that can be tiled. */
        int v = var_in_class(r, &r->ops[i], class);
        if (v == -2 || (v >= 0 && !op_index_tileable(&r->ops[i].x, v))) return false;
    }
    return true;
}

bool axis_run_grow(struct axis_run *r)
{
    const struct lx_graph *g = r->l->graph;
    if (r->count == r->most) return false;
    const struct lx_op *op = &g->ops[r->first + r->count];
    struct run_op *o = &r->ops[r->count];
    if (!nest_takes_op(r->l, r->first + r->count)) return false;
    op_index_of(g, op, &o->x);
    o->var_at = r->nodes;
    r->nodes += o->x.var_count;
    r->count++;
    for (int i = 0; i < o->x.operand_count; i++)
        for (int d = 0; d < o->x.rank[i]; d++) {
            int32_t a = o->var_at + o->x.var[i][d];
            int32_t b = r->dim_at + op_operand(op, i) * LX_MAX_RANK + d;
            a = axes_find(r, a);
            b = axes_find(r, b);
            if (a != b) r->parent[a > b ? a : b] = a > b ? b : a;
        }
    for (int v = 0; v < r->ops[0].x.var_count; v++)
        if (may_be_axis(r, axes_root_of(r, r->ops[0].var_at + v))) return true;
    return false;
}

/* What the tiles of a variable of an op must divide. */
static int64_t axes_divides(const struct lx_layouts *l, int32_t op, const struct op_index *x, int v)
{
    if (lx_var_nature(&l->graph->ops[op], v) != LX_ITERATED) return 1;
    int64_t all = x->extent[v];
    for (int i = 0; i < x->operand_count; i++)
        all = gcd_i64(all,
                      nest_tile_basis(&l->layouts[op_operand(&l->graph->ops[op], i)], op_index_dim(x, i, v)));
    return all;
}

/* Is the class an axis of the run? */
static bool take_class(const struct axis_run *r, int32_t class, struct axis_found *out, struct arena *memory)
{
    out->var = arena_array(memory, (size_t)r->count, sizeof *out->var);
    out->divides = 0;
    for (int32_t i = 0; i < r->count; i++) {
        int v = var_in_class(r, &r->ops[i], class);
        if (v < 0 || !op_index_tileable(&r->ops[i].x, v)) return false;
        out->var[i] = (signed char)v;
        out->divides = gcd_i64(out->divides, axes_divides(r->l, r->first + i, &r->ops[i].x, v));
    }
    return out->divides > 1;
}

int axis_run_axes(const struct axis_run *r, struct axis_found out[MOST_AXES], struct arena *memory)
{
    int count = 0;
    for (int v = 0; v < r->ops[0].x.var_count && count < MOST_AXES; v++) {
        int32_t class = axes_root_of(r, r->ops[0].var_at + v);
        count += take_class(r, class, &out[count], memory);
    }
    return count;
}
