/* The ways in which a grid may share out an op, and what its results can become: by its index map alone. */
#include "team/shard/shard_search.h"

struct way_maker {
    const struct lx_graph *g;
    const struct lx_team_grid *grid;
    const struct lx_op *op;
    struct op_index x;
    unsigned alone; /* inputs of which parts may be read, the others standing; a bit each */
    bool together;  /* parts of all may be read */
    shard_ways *out;
    bool ok;
};

static int shard_ways_blocks_of(const struct lx_team_grid *grid, const struct shard_state *s, int what)
{
    int blocks = 1;
    for (int a = 0; a < grid->axes; a++)
        if (s->at[a] == what) blocks *= grid->size[a];
    return blocks;
}

/* An axis along which every device has some of it, while there is a variable of that kind. What an insertion
 * does is for who owns the place. */
static bool shard_ways_long_enough(const struct way_maker *k, const struct shard_state *var, int axis)
{
    int v = var->at[axis];
    if (op_is_insert(k->op)) return true;
    if (k->x.extent[v] >= shard_ways_blocks_of(k->grid, var, v)) return true;
    for (int other = 0; other < k->x.var_count; other++)
        if (team_may_shard(k->op, &k->x, other) && k->x.extent[other] >= k->grid->size[axis]) return false;
    return true;
}

/* The state in which the result is made. */
static void shard_ways_add_way(struct way_maker *k, const struct shard_state *var)
{
    struct shard_way way = {*var, *var};
    for (int a = 0; a < LX_TEAM_AXES; a++) {
        int v = var->at[a], dim = v < 0 ? -1 : op_index_dim(&k->x, k->x.output, v);
        way.out.at[a] = (signed char)(v == -1 ? -1 : dim < 0 ? LX_TEAM_PARTIAL : dim);
    }
    k->ok = k->ok && VEC_PUSH(k->out, way);
}

static void shard_ways_add_ways(struct way_maker *k, struct shard_state var, int axis);

static void add_with(struct way_maker *k, struct shard_state var, int axis, int what)
{
    var.at[axis] = (signed char)what;
    shard_ways_add_ways(k, var, axis + 1);
}

/* Every variable for every axis, and parts of what is read. An axis of one device cuts nothing. */
static void shard_ways_add_ways(struct way_maker *k, struct shard_state var, int axis)
{
    while (axis < k->grid->axes && k->grid->size[axis] < 2) axis++;
    if (axis >= LX_TEAM_AXES || axis >= k->grid->axes) {
        shard_ways_add_way(k, &var);
        return;
    }
    for (int v = -1; v < (k->x.known ? k->x.var_count : 0); v++) {
        var.at[axis] = (signed char)v;
        if (v < 0 || (team_may_shard(k->op, &k->x, v) && shard_ways_long_enough(k, &var, axis)))
            add_with(k, var, axis, v);
    }
    if (k->together) add_with(k, var, axis, LX_TEAM_PARTIAL);
    for (int i = 0; i < k->op->input_count; i++)
        if (k->alone >> i & 1) add_with(k, var, axis, LX_TEAM_PARTIAL - i);
}

static void find_readable(struct way_maker *k, const bool *parts)
{
    unsigned one = 0, there = 0;
    bool all = true;
    for (int i = 0; i < k->op->input_count; i++) {
        if (parts[k->op->inputs[i]]) there |= 1u << i;
        all = all && parts[k->op->inputs[i]];
    }
    if (!k->x.known || !team_linear(k->g, k->op, &one)) return;
    k->together = !one && all && k->op->input_count > 0;
    k->alone = one & there;
}

bool shard_ways_of(const struct lx_graph *g, const struct lx_team_grid *grid, int32_t o, const bool *parts,
                   shard_ways *out)
{
    struct way_maker k = {.g = g, .grid = grid, .op = &g->ops[o], .out = out, .ok = true};
    out->count = 0;
    op_index_of(g, k.op, &k.x);
    find_readable(&k, parts);
    shard_ways_add_ways(&k, (struct shard_state){{-1, -1, -1}}, 0);
    return k.ok;
}

/* Sums of which some variable may be cut, and what linear ops make of them; what is written once. */
static bool shard_ways_makes_parts(const struct lx_graph *g, const struct lx_op *op, const bool *parts)
{
    struct way_maker k = {.g = g, .op = op};
    unsigned one;
    bool sums = false;
    op_index_of(g, op, &k.x);
    for (int v = 0; k.x.known && v < k.x.var_count; v++)
        sums |= op_index_reduced(&k.x, v) && team_may_shard(op, &k.x, v);
    find_readable(&k, parts);
    return (sums && !team_picks(op) && team_linear(g, op, &one)) || k.together || k.alone;
}

void shard_find_partial(const struct lx_graph *g, const bool *joined, bool *may_be_parts)
{
    for (int32_t t = 0; t < g->tensor_count; t++) may_be_parts[t] = false;
    for (int32_t o = 0; o < g->op_count; o++)
        may_be_parts[g->ops[o].output] =
            !(joined && joined[g->ops[o].output]) && shard_ways_makes_parts(g, &g->ops[o], may_be_parts);
    for (int32_t o = 0; o < g->op_count;
         o++) /* of what is changed later, nobody knows which parts are meant */
        if (op_keeps_rest(&g->ops[o])) may_be_parts[g->ops[o].output] = false;
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

bool shard_reads_partial(const struct lx_op *op, int i, struct shard_state var)
{
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (var.at[a] <= LX_TEAM_PARTIAL && team_reads_partial_along(op, var.at[a], i)) return true;
    return false;
}

/* Along just the axes that it has parts along. */
bool shard_takes_partial(const struct lx_op *op, int i, struct shard_state var, struct shard_state made)
{
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (team_reads_partial_along(op, var.at[a], i) != (made.at[a] <= LX_TEAM_PARTIAL)) return false;
    return true;
}

/* Each axis of parts cuts the result along `dim`, after the axes that cut it already. */
static bool shard_ways_scatter(const struct lx_tensor *t, const struct lx_team_grid *grid,
                               struct shard_state *s, int dim)
{
    const struct shard_state made = *s;
    for (int a = 0; a < grid->axes; a++) {
        bool sums = made.at[a] <= LX_TEAM_PARTIAL;
        for (int b = a + 1; sums && b < grid->axes; b++)
            if (made.at[b] == dim) return false;
        if (sums) s->at[a] = (signed char)dim;
    }
    return t->shape[dim] >= shard_ways_blocks_of(grid, s, dim);
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

/* The variable of an input that a cut one goes with: under a window, that of the first input. */
static int read_along(const struct op_index *x, int input, int v)
{
    for (int i = 0; input == 0 && i < x->window_count; i++)
        if (x->windows[i].out == v) return x->windows[i].in;
    return v;
}

struct shard_state shard_need_of(const struct op_index *x, const struct lx_op *op, int input,
                                 struct shard_state var)
{
    struct shard_state need = {{-1, -1, -1}};
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (var.at[a] >= 0 && (!op_index_shifted(x, input) || op->map))
            need.at[a] = (signed char)op_index_dim(x, input, read_along(x, input, var.at[a]));
    return need;
}
