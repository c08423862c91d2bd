/* The ways in which a grid may share out an op: by its index map alone. */
#include "team/cut_search.h"

struct way_maker {
    const struct lx_graph *g;
    const struct lx_team_grid *grid;
    const struct lx_op *op;
    const struct cut_state *wanted;
    struct op_index x;
    cut_ways *out;
    bool ok;
};

/* May some axis cut the variable at all? */
static bool may_cut(const struct way_maker *k, int v)
{
    return team_may_cut(k->op, &k->x, v);
}

static int blocks_of(const struct way_maker *k, const struct cut_state *s, int what)
{
    int blocks = 1;
    for (int a = 0; a < k->grid->axes; a++)
        if (s->at[a] == what) blocks *= k->grid->size[a];
    return blocks;
}

/* An axis along which every member has some of it, while there is a variable of that kind. What an insertion does is for
 * who owns the place. */
static bool long_enough(const struct way_maker *k, const struct cut_state *var, int axis)
{
    int v = var->at[axis];
    if (op_is_insert(k->op)) return true;
    if (k->x.extent[v] >= blocks_of(k, var, v)) return true;
    for (int other = 0; other < k->x.var_count; other++)
        if (may_cut(k, other) && k->x.extent[other] >= k->grid->size[axis]) return false;
    return true;
}

static bool is_wanted(const struct way_maker *k, const struct cut_state *out)
{
    return !k->wanted || cut_same(*k->wanted, *out);
}

/* Results of sums stay whole, or each axis cuts them along `dim`, after the axes that cut it already. */
static bool scatter(const struct way_maker *k, struct cut_way *way, int dim)
{
    const struct lx_tensor *t = &k->g->tensors[k->op->output];
    for (int a = 0; a < k->grid->axes; a++) {
        bool sums = way->var.at[a] >= 0 && op_index_reduced(&k->x, way->var.at[a]);
        for (int b = a + 1; sums && b < k->grid->axes; b++)
            if (way->out.at[b] == dim && !op_index_reduced(&k->x, way->var.at[b])) return false;
        if (sums) way->out.at[a] = (signed char)dim;
    }
    return t->shape[dim] >= blocks_of(k, &way->out, dim);
}

static void add_way(struct way_maker *k, const struct cut_state *var)
{
    struct cut_way way = {*var, *var};
    bool sums = false;
    for (int a = 0; a < LX_TEAM_AXES; a++) {
        int v = var->at[a];
        way.out.at[a] = v < 0 ? (signed char)-1 : (signed char)op_index_dim(&k->x, k->x.output, v);
        sums |= v >= 0 && way.out.at[a] < 0;
    }
    if (is_wanted(k, &way.out)) k->ok = k->ok && VEC_PUSH(k->out, way);
    for (int d = 0; sums && d < k->g->tensors[k->op->output].rank; d++) {
        struct cut_way cut = way;
        if (scatter(k, &cut, d) && is_wanted(k, &cut.out)) k->ok = k->ok && VEC_PUSH(k->out, cut);
    }
}

/* Every variable for every axis. */
static void add_ways(struct way_maker *k, struct cut_state var, int axis)
{
    if (axis >= LX_TEAM_AXES || axis == k->grid->axes) {
        add_way(k, &var);
        return;
    }
    for (int v = -1; v < (k->x.known ? k->x.var_count : 0); v++) {
        var.at[axis] = (signed char)v;
        if (v < 0 || (may_cut(k, v) && long_enough(k, &var, axis))) add_ways(k, var, axis + 1);
    }
}

bool cut_ways_of(const struct lx_graph *g, const struct lx_team_grid *grid, int32_t o,
                 const struct cut_state *wanted, cut_ways *out)
{
    struct way_maker k = {.g = g, .grid = grid, .op = &g->ops[o], .wanted = wanted, .out = out, .ok = true};
    out->count = 0;
    op_index_of(g, k.op, &k.x);
    add_ways(&k, (struct cut_state){{-1, -1, -1}}, 0);
    return k.ok;
}

/* The variable of an input that a cut one goes with: under a window, that of the first input. */
static int read_along(const struct op_index *x, int input, int v)
{
    for (int i = 0; input == 0 && i < x->window_count; i++)
        if (x->windows[i].out == v) return x->windows[i].in;
    return v;
}

struct cut_state cut_need_of(const struct op_index *x, const struct lx_op *op, int input,
                             struct cut_state var)
{
    struct cut_state need = {{-1, -1, -1}};
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (var.at[a] >= 0 && (!op_index_shifted(x, input) || op->map))
            need.at[a] = (signed char)op_index_dim(x, input, read_along(x, input, var.at[a]));
    return need;
}
