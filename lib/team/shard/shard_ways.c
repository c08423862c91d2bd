/* The ways in which a grid can split an op, and the states of its results, from its index map alone. */
#include "team/shard/shard_search.h"

struct way_maker {
    const struct lx_graph *g;
    const struct lx_team_grid *grid;
    const struct lx_op *op;
    struct op_index x;
    unsigned alone; /* inputs that may be read as partial sums, one at a time; one bit each */
    bool together;  /* all inputs together may be read as partial sums */
    shard_ways *out;
};

/* Whether every device along the axis has a part, or no other variable is long enough either. The owner of a
 * position does its insertion. */
static bool shard_ways_long_enough(const struct way_maker *k, const struct shard_state *var, int axis)
{
    int v = var->at[axis];
    if (op_is_insert(k->op) || k->x.extent[v] >= lx_team_blocks(k->grid, var->at, v)) return true;
    for (int other = 0; other < k->x.var_count; other++)
        if (team_may_shard(k->op, &k->x, other) && k->x.extent[other] >= k->grid->size[axis]) return false;
    return true;
}

/* Adds every combination of variables and partial-sum inputs for the axes. An axis of one device shards
 * nothing. */
static void shard_ways_add(struct way_maker *k, struct shard_state var, int axis)
{
    while (axis < k->grid->axes && k->grid->size[axis] < 2) axis++;
    if (axis >= LX_TEAM_AXES || axis >= k->grid->axes) {
        struct shard_way way = {var, var};
        for (int a = 0; a < LX_TEAM_AXES; a++) {
            int v = var.at[a], dim = v < 0 ? -1 : op_index_dim(&k->x, k->x.output, v);
            way.out.at[a] = v == -1 ? -1 : dim < 0 ? LX_TEAM_PARTIAL : dim;
        }
        VEC_PUSH(k->out, way);
        return;
    }
    for (int v = -1; v < (k->x.known ? k->x.var_count : 0); v++) {
        var.at[axis] = v;
        if (v < 0 || (team_may_shard(k->op, &k->x, v) && shard_ways_long_enough(k, &var, axis)))
            shard_ways_add(k, var, axis + 1);
    }
    for (int i = 0; i < k->op->input_count; i++) {
        var.at[axis] = LX_TEAM_PARTIAL - i;
        if ((k->alone >> i & 1) || (i == 0 && k->together)) shard_ways_add(k, var, axis + 1);
    }
}

static void shard_ways_find_readable(struct way_maker *k, const bool *partial)
{
    unsigned one = 0, there = 0;
    bool all = true;
    for (int i = 0; i < k->op->input_count; i++) {
        if (partial[k->op->inputs[i]]) there |= 1u << i;
        all = all && partial[k->op->inputs[i]];
    }
    if (!k->x.known || !team_linear(k->g, k->op, &one)) return;
    k->together = !one && all && k->op->input_count > 0;
    k->alone = one & there;
}

void shard_ways_of(const struct lx_graph *g, const struct lx_team_grid *grid, int32_t o, const bool *partial,
                   shard_ways *out)
{
    struct way_maker k = {.g = g, .grid = grid, .op = &g->ops[o], .out = out};
    out->count = 0;
    op_index_of(g, k.op, &k.x);
    shard_ways_find_readable(&k, partial);
    shard_ways_add(&k, shard_replicated, 0);
}

/* Whether the op makes partial sums: from a summed variable that may be sharded, or linearly from partial
 * sums. */
static bool shard_ways_makes_partial(const struct lx_graph *g, const struct lx_op *op, const bool *partial)
{
    struct way_maker k = {.g = g, .op = op};
    unsigned one;
    bool sums = false;
    op_index_of(g, op, &k.x);
    for (int v = 0; k.x.known && v < k.x.var_count; v++)
        sums |= op_index_reduced(&k.x, v) && team_may_shard(op, &k.x, v);
    shard_ways_find_readable(&k, partial);
    return (sums && !team_picks(op) && team_linear(g, op, &one)) || k.together || k.alone;
}

void shard_find_partial(const struct lx_graph *g, const bool *joined, bool *may_be_partial)
{
    for (int32_t t = 0; t < g->tensor_count; t++) may_be_partial[t] = false;
    for (int32_t o = 0; o < g->op_count; o++) {
        int32_t t = g->ops[o].output;
        may_be_partial[t] = !(joined && joined[t]) && shard_ways_makes_partial(g, &g->ops[o], may_be_partial);
    }
    /* If a tensor is changed later, it is unclear which partial sums a read means. */
    for (int32_t o = 0; o < g->op_count; o++)
        if (op_keeps_rest(&g->ops[o])) may_be_partial[g->ops[o].output] = false;
}

bool shard_is_partial(struct shard_state s)
{
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (s.at[a] <= LX_TEAM_PARTIAL) return true;
    return false;
}

bool shard_shares(struct shard_state made, struct shard_state joined)
{
    for (int a = 0; a < LX_TEAM_AXES; a++)
        for (int b = 0; b < LX_TEAM_AXES; b++)
            if (made.at[a] <= LX_TEAM_PARTIAL && joined.at[a] >= 0 && joined.at[a] == made.at[b]) return true;
    return false;
}

/* Exactly the axes of the partial sums must be read as partial sums. */
bool shard_takes_partial(const struct lx_op *op, int i, struct shard_state var, struct shard_state made)
{
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (team_reads_partial_along(op, var.at[a], i) != (made.at[a] <= LX_TEAM_PARTIAL)) return false;
    return true;
}

/* Lets each axis of partial sums shard the result along `dim`, after the axes that shard it already. */
static bool shard_ways_scatter(const struct lx_tensor *t, const struct lx_team_grid *grid,
                               struct shard_state *s, int dim)
{
    const struct shard_state made = *s;
    for (int a = 0; a < grid->axes; a++) {
        bool sums = made.at[a] <= LX_TEAM_PARTIAL;
        for (int b = a + 1; sums && b < grid->axes; b++)
            if (made.at[b] == dim) return false;
        if (sums) s->at[a] = dim;
    }
    return t->shape[dim] >= lx_team_blocks(grid, s->at, dim);
}

int shard_joins_of(const struct lx_tensor *t, const struct lx_team_grid *grid, struct shard_state made,
                   struct shard_state out[SHARD_JOINS])
{
    int count = 1;
    out[0] = made;
    if (!shard_is_partial(made)) return 1;
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (out[0].at[a] <= LX_TEAM_PARTIAL) out[0].at[a] = -1;
    for (int d = 0; d < t->rank; d++) {
        out[count] = made;
        count += shard_ways_scatter(t, grid, &out[count], d);
    }
    return count;
}

struct shard_state shard_need_of(const struct op_index *x, const struct lx_op *op, int input,
                                 struct shard_state var)
{
    struct shard_state need = shard_replicated;
    for (int a = 0; a < LX_TEAM_AXES; a++) {
        int v = var.at[a];
        if (v < 0 || (op_index_shifted(x, input) && !op->map)) continue;
        for (int i = 0; input == 0 && i < x->window_count;
             i++) /* under a window: the first input's variable */
            if (x->windows[i].out == var.at[a]) {
                v = x->windows[i].in;
                break;
            }
        need.at[a] = op_index_dim(x, input, v);
    }
    return need;
}
