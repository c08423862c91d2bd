/* The axes of a set of ops are found by union and find over (op, variable) and (tensor, dimension), as
 * those of a run are. Why nothing here is less than what a nest can do: a nest that has the ops has them
 * and perhaps more. With more ops classes of variables only grow, so that a class which names an op's
 * variables twice here does so there; tile counts divide what each op lets them divide; and a sum over
 * the axis that one of these ops makes and another reads is there as well. An op that the class does not
 * reach here may be reached there through others, but only if one of its variables can be of the class:
 * if some op has a variable of that variable's class beside one of the axis, the two are never one. */
#include "nests/axes.h"
#include "base/checked.h"
#include "layout/op_index.h"

enum { MOST_KEPT = 256, MOST_LOOKED_AT = 64 };

struct reach_op {
    int32_t op;
    struct op_index x;
};

struct axis_reach {
    const struct lx_layouts *l;
    int32_t *var_at;  /* per op: its first node */
    int32_t dim_at;   /* the first node of a tensor's dimension */
    int32_t *parent;  /* per node, where `stamp` is that of now */
    int32_t *stamp;   /* per node */
    int32_t *read_by; /* per tensor: the stamp of now if an op of the set reads it */
    int16_t *writers; /* per tensor: 0, 1, or 2 for more */
    int32_t now, tensor;
    int32_t count, most; /* ops of the set; those behind the last kept one bind nothing */
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
    if (r->count >= r->most) return true; /* to leave an op out asks less of a nest */
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

/* How many variables of an op are of a class, and one of them. */
static int vars_in(struct axis_reach *r, const struct reach_op *o, int32_t class, int *var)
{
    int count = 0;
    for (int v = 0; v < o->x.var_count; v++)
        if (axis_reach_root_of(r, r->var_at[o->op] + v) == class) count++, *var = v;
    r->steps += o->x.var_count;
    return count;
}

/* Does some op have variables of both? */
static bool stand_apart(struct axis_reach *r, int32_t one, int32_t two)
{
    int var;
    for (int32_t i = 0; i < r->count; i++)
        if (vars_in(r, &r->ops[i], one, &var) && vars_in(r, &r->ops[i], two, &var)) return true;
    return false;
}

/* May an op that the class does not reach be reached by a nest of more ops? */
static bool may_be_reached(struct axis_reach *r, const struct reach_op *o, int32_t class)
{
    if (r->count > MOST_LOOKED_AT) return true;
    for (int v = 0; v < o->x.var_count; v++)
        if (!stand_apart(r, axis_reach_root_of(r, r->var_at[o->op] + v), class)) return true;
    return false;
}

/* Does an op of the set read one of its results? */
static bool is_read(const struct axis_reach *r, const struct lx_op *op)
{
    bool read = false;
    for (int i = op->input_count; i < op_operand_count(op); i++)
        read |= r->read_by[op_operand(op, i)] == r->now;
    return read;
}

/* The most tiles of an axis; 1: it is none. */
static int64_t axis_reach_tiles_of(struct axis_reach *r, int32_t class)
{
    int64_t most = 0;
    for (int32_t i = 0; i < r->count; i++) {
        const struct reach_op *o = &r->ops[i];
        int v = 0, count = vars_in(r, o, class, &v);
        if (count > 1 || (count == 0 && !may_be_reached(r, o, class))) return 1;
        if (count == 0) continue;
        if (!op_index_tileable(&o->x, v)) return 1;
        /* A running sum may be read; by whom is not asked here. */
        bool waits = op_index_reduced(&o->x, v) && r->l->graph->ops[o->op].kind->id != LX_KIND_LOGSUMEXP;
        if (waits && is_read(r, &r->l->graph->ops[o->op])) return 1;
        /* What tile counts of an op's variable divide. */
        const struct lx_op *op = &r->l->graph->ops[o->op];
        int64_t all = lx_var_nature(op, v) == LX_ITERATED ? o->x.extent[v] : 1;
        for (int k = 0; k < o->x.operand_count; k++)
            all = gcd_i64(all, nest_tile_basis(&r->l->layouts[op_operand(op, k)], op_index_dim(&o->x, k, v)));
        most = gcd_i64(most, all);
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
