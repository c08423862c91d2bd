/* Axes by union-find over (op, variable) and (tensor, dimension). */
#include "nests/axes.h"
#include "layout/op_index.h"

struct run_op {
    struct op_index x;
    int32_t var_at; /* node of its first variable */
};

struct axis_run {
    const struct lx_layouts *l;
    int32_t first, count, most;
    struct run_op *ops;
    int32_t *parent;       /* per node: a variable of an op; from `dim_at` on a dimension of a tensor */
    int32_t nodes, dim_at; /* nodes: variable nodes in use */
};

struct axis_run *axis_run_begin(const struct lx_layouts *l, int32_t first, struct arena *memory)
{
    struct axis_run *r = arena_array(memory, 1, sizeof *r);
    *r = (struct axis_run){.l = l, .first = first, .most = l->graph->op_count - first};
    r->dim_at = r->most * LX_MAX_VARS;
    size_t nodes = (size_t)r->dim_at + (size_t)l->graph->tensor_count * LX_MAX_RANK;
    r->ops = arena_array(memory, (size_t)r->most, sizeof *r->ops);
    r->parent = arena_array(memory, nodes, sizeof *r->parent);
    sets_begin(r->parent, (int32_t)nodes);
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
        if (sets_root(r->parent, o->var_at + v) == class) found = found == -1 ? v : -2;
    return found;
}

bool axis_run_grow(struct axis_run *r)
{
    const struct lx_graph *g = r->l->graph;
    if (r->count == r->most) return false;
    const struct lx_op *op = &g->ops[r->first + r->count];
    struct run_op *o = &r->ops[r->count];
    if (nest_never_takes(r->l, r->first + r->count)) return false;
    op_index_of(g, op, &o->x);
    o->var_at = r->nodes;
    r->nodes += o->x.var_count;
    r->count++;
    for (int i = 0; i < o->x.operand_count; i++)
        for (int d = 0; d < o->x.rank[i]; d++)
            sets_join(r->parent, o->var_at + o->x.var[i][d], r->dim_at + op_operand(op, i) * LX_MAX_RANK + d);
    /* Could a longer run still have an axis: a class with at most one variable of each op, all tileable? */
    bool any = false;
    for (int v = 0; v < r->ops[0].x.var_count && !any; v++) {
        any = true;
        for (int32_t i = 0; i < r->count && any; i++) {
            int its = var_in_class(r, &r->ops[i], sets_root(r->parent, r->ops[0].var_at + v));
            any = its == -1 || (its >= 0 && op_index_tileable(&r->ops[i].x, its));
        }
    }
    return any;
}

/* The number that the tile count of a variable must divide. */
static int64_t axes_divides(const struct lx_layouts *l, int32_t op, const struct op_index *x, int v)
{
    if (lx_var_nature(&l->graph->ops[op], v) != LX_ITERATED) return 1;
    int64_t all = x->extent[v];
    for (int i = 0; i < x->operand_count; i++)
        all = gcd_i64(all,
                      nest_tile_basis(&l->layouts[op_operand(&l->graph->ops[op], i)], op_index_dim(x, i, v)));
    return all;
}

const char *axis_run_misses(const struct axis_run *r, int v, int32_t *op)
{
    for (int32_t i = 0; i < r->count; i++) {
        const struct run_op *o = &r->ops[i];
        int its = var_in_class(r, o, sets_root(r->parent, r->ops[0].var_at + v));
        *op = r->first + i;
        if (its == -1) return "no tensor of the run brings it there";
        if (its == -2) return "it is two variables there";
        if (!op_index_tileable(&o->x, its)) return "it is that of a window, or summed beside one";
        if (lx_var_nature(&r->l->graph->ops[*op], its) != LX_ITERATED) return "the op takes it as a whole";
        if (axes_divides(r->l, *op, &o->x, its) <= 1)
            return "a tensor has one stick there, or the last one is not full";
    }
    return NULL;
}

int axis_run_axes(const struct axis_run *r, struct axis_found out[MOST_AXES], struct arena *memory)
{
    int count = 0;
    for (int v = 0; v < r->ops[0].x.var_count && count < MOST_AXES; v++) {
        struct axis_found *axis = &out[count];
        bool is = true;
        *axis = (struct axis_found){arena_array(memory, (size_t)r->count, sizeof *axis->var), 0};
        for (int32_t i = 0; i < r->count && is; i++) {
            int its = var_in_class(r, &r->ops[i], sets_root(r->parent, r->ops[0].var_at + v));
            is = its >= 0 && op_index_tileable(&r->ops[i].x, its);
            axis->var[i] = (signed char)its;
            if (is)
                axis->divides = gcd_i64(axis->divides, axes_divides(r->l, r->first + i, &r->ops[i].x, its));
        }
        count += is && axis->divides > 1;
    }
    return count;
}

/* --- Reach: the axes of a set of ops, as an upper bound for every nest that contains them. More ops only
 * make classes larger; tile counts still divide the limit of each op; a sum over the axis that another op
 * reads stays in the nest. --- */

enum { MOST_KEPT = 256, MOST_LOOKED_AT = 64 };

struct reach_op {
    int32_t op;
    struct op_index x;
};

struct axis_reach {
    const struct lx_layouts *l;
    int32_t *var_at;  /* per op: node of its first variable */
    int32_t dim_at;   /* first node of a tensor's dimension */
    int32_t *parent;  /* per node; valid if `stamp` equals `now` */
    int32_t *stamp;   /* per node */
    int32_t *read_by; /* per tensor: equals `now` if an op of the set reads it */
    int16_t *writers; /* per tensor: 0, 1, or 2 for more */
    int32_t now, tensor;
    int32_t count, most; /* ops of the set; ops beyond `most` are not kept */
    struct reach_op *ops;
    int64_t steps;
};

struct axis_reach *axis_reach_new(const struct lx_layouts *l, struct arena *memory)
{
    struct axis_reach *r = arena_array(memory, 1, sizeof *r);
    size_t tensors = (size_t)l->graph->tensor_count;
    *r = (struct axis_reach){.l = l, .most = l->graph->op_count < MOST_KEPT ? l->graph->op_count : MOST_KEPT};
    r->var_at = arena_array(memory, (size_t)l->graph->op_count, sizeof *r->var_at);
    r->writers = arena_array(memory, tensors, sizeof *r->writers);
    r->read_by = arena_array(memory, tensors, sizeof *r->read_by);
    r->ops = arena_array(memory, (size_t)r->most, sizeof *r->ops);
    const struct lx_graph *g = r->l->graph;
    for (int32_t o = 0; o < g->op_count; o++) {
        struct op_index x;
        op_index_of(g, &g->ops[o], &x);
        r->var_at[o] = r->dim_at;
        r->dim_at += x.known ? x.var_count : 0;
        for (int i = 0; i < g->ops[o].output_count; i++) {
            int16_t *writers = &r->writers[g->ops[o].outputs[i]];
            if (*writers < 2) ++*writers;
        }
    }
    size_t nodes = (size_t)r->dim_at + tensors * LX_MAX_RANK;
    r->parent = arena_array(memory, nodes, sizeof *r->parent);
    r->stamp = arena_array(memory, nodes, sizeof *r->stamp);
    return r;
}

void axis_reach_begin(struct axis_reach *r, int32_t tensor)
{
    r->now++;
    r->tensor = tensor;
    r->count = 0;
}

static int32_t axis_reach_root_of(struct axis_reach *r, int32_t node)
{
    if (r->stamp[node] != r->now) {
        r->stamp[node] = r->now;
        r->parent[node] = node;
    }
    while (r->parent[node] != node) node = r->parent[node] = r->parent[r->parent[node]];
    return node;
}

static int32_t dim_node(const struct axis_reach *r, int32_t tensor, int dim)
{
    return r->dim_at + tensor * LX_MAX_RANK + dim;
}

bool axis_reach_add(struct axis_reach *r, int32_t op)
{
    const struct lx_graph *g = r->l->graph;
    const struct lx_op *o = &g->ops[op];
    r->steps++;
    if (!nest_walks_op(r->l, op)) return false;
    for (int i = o->input_count; i < op_operand_count(o); i++)
        if (r->writers[op_operand(o, i)] > 1) return false;
    if (r->count >= r->most) return true; /* leaving out an op keeps the bound valid */
    struct reach_op *to = &r->ops[r->count++];
    to->op = op;
    op_index_of(g, o, &to->x);
    for (int i = 0; i < to->x.operand_count; i++) {
        int32_t tensor = op_operand(o, i);
        if (i < o->input_count) r->read_by[tensor] = r->now;
        for (int d = 0; d < to->x.rank[i]; d++) {
            int32_t a = axis_reach_root_of(r, r->var_at[op] + to->x.var[i][d]),
                    b = axis_reach_root_of(r, dim_node(r, tensor, d));
            r->parent[a] = b;
        }
    }
    return true;
}

/* Counts the variables of an op in a class; *var is one of them. */
static int vars_in(struct axis_reach *r, const struct reach_op *o, int32_t class, int *var)
{
    int count = 0;
    for (int v = 0; v < o->x.var_count; v++)
        if (axis_reach_root_of(r, r->var_at[o->op] + v) == class) count++, *var = v;
    r->steps += o->x.var_count;
    return count;
}

/* True if a nest of more ops may join the op to the class. False if each of the op's classes already occurs
 * together with this class in some op. */
static bool may_be_reached(struct axis_reach *r, const struct reach_op *o, int32_t class)
{
    int var;
    bool may = r->count > MOST_LOOKED_AT;
    for (int v = 0; v < o->x.var_count && !may; v++) {
        int32_t one = axis_reach_root_of(r, r->var_at[o->op] + v);
        may = true;
        for (int32_t i = 0; i < r->count && may; i++)
            may = !(vars_in(r, &r->ops[i], one, &var) && vars_in(r, &r->ops[i], class, &var));
    }
    return may;
}

/* An upper bound on the tiles of an axis; 1: no axis. */
static int64_t axis_reach_tiles_of(struct axis_reach *r, int32_t class)
{
    int64_t most = 0;
    for (int32_t i = 0; i < r->count; i++) {
        const struct reach_op *o = &r->ops[i];
        int v = 0, count = vars_in(r, o, class, &v);
        if (count > 1 || (count == 0 && !may_be_reached(r, o, class))) return 1;
        if (count == 0) continue;
        if (!op_index_tileable(&o->x, v)) return 1;
        /* The running sum of a logsumexp may be read; the reader is not checked here. */
        bool waits = op_index_reduced(&o->x, v) && r->l->graph->ops[o->op].kind->id != LX_KIND_LOGSUMEXP;
        const struct lx_op *op = &r->l->graph->ops[o->op];
        for (int k = op->input_count; waits && k < op_operand_count(op); k++)
            if (r->read_by[op_operand(op, k)] == r->now) return 1;
        most = gcd_i64(most, axes_divides(r->l, o->op, &o->x, v));
    }
    return max_i64(most, 1);
}

int64_t axis_reach_tiles(struct axis_reach *r)
{
    int64_t best[LX_MAX_LEVELS] = {1, 1, 1};
    int32_t seen[LX_MAX_RANK];
    int dims = (int)r->l->graph->tensors[r->tensor].rank;
    for (int d = 0; d < dims; d++) {
        bool again = false;
        seen[d] = axis_reach_root_of(r, dim_node(r, r->tensor, d));
        for (int k = 0; k < d; k++) again |= seen[k] == seen[d];
        int64_t tiles = again ? 1 : axis_reach_tiles_of(r, seen[d]);
        for (int k = 0; k < LX_MAX_LEVELS; k++)
            if (tiles > best[k]) {
                int64_t less = best[k];
                best[k] = tiles;
                tiles = less;
            }
    }
    return best[0] * best[1] * best[2];
}

int64_t axis_reach_steps(const struct axis_reach *r)
{
    return r->steps;
}
