/* Do the states of tensors follow from how ops are shared out: cut, whole, or in parts of sums? */
#include "team/team_checker.h"
#include "base/fail.h"

#include <string.h>

bool check_bounds(const struct checker *c)
{
    const struct lx_graph *g = c->p->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_team_tensor *x = &c->p->tensors[t];
        for (int a = 0; a < c->p->grid.axes; a++) {
            int dim = x->shard[a], blocks = lx_team_blocks(&c->p->grid, x->shard, dim);
            if (dim >= 0 && (x->bound[dim][0] != 0 || x->bound[dim][blocks] != g->tensors[t].shape[dim]))
                return status_set(c->st, LX_E_NO, "tensor %s: its blocks are not all of it",
                                  g->tensors[t].name);
        }
    }
    return true;
}

static bool same_range(struct lx_team_range a, struct lx_team_range b)
{
    return (a.begin == b.begin && a.end == b.end) || (a.end <= a.begin && b.end <= b.begin);
}

/* The range of a variable on the devices whose block it is; false: they do not agree. */
static bool range_of_part(const struct checker *c, int32_t o, int loop, int part, struct lx_team_range *range)
{
    const struct lx_team_op *how = &c->p->ops[o];
    bool found = false;
    for (int m = 0; m < c->p->devices; m++) {
        if (lx_team_block(&c->p->grid, how->var, how->space[m].var[loop], m) != part) continue;
        if (found && !same_range(*range, how->space[m].range[loop])) return false;
        *range = how->space[m].range[loop];
        found = true;
    }
    return found;
}

/* Does every value of a summed variable run in one part? In the order of the parts, or nowhere. */
static bool covers(const struct checker *c, int32_t o, int loop, int64_t extent)
{
    int64_t at = 0;
    int parts = lx_team_blocks(&c->p->grid, c->p->ops[o].var, c->p->ops[o].space[0].var[loop]);
    for (int b = 0; b < parts; b++) {
        struct lx_team_range range;
        if (!range_of_part(c, o, loop, b, &range)) return false;
        if (range.end <= range.begin) continue;
        if (range.begin != at) return false;
        at = range.end;
    }
    return at == extent;
}

/* Does op `o` make parts along an axis? */
static bool check_states_parts_along(const struct checker *c, int32_t o, int axis)
{
    struct op_index x;
    op_index_of(c->p->graph, &c->p->graph->ops[o], &x);
    return team_shards_sum(&x, c->p->ops[o].var, axis);
}

/* Input `i` is read as parts along an axis: are there such, of a sum, and along the same axes as they are read? */
static bool check_part_of(const struct checker *c, int32_t o, int i)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    int32_t w = c->writer[op->inputs[i]];
    unsigned one;
    bool ok = w >= 0 && c->p->ops[o].exchange[i] < 0 && !team_picks(&c->p->graph->ops[w]) &&
              team_linear(c->p->graph, &c->p->graph->ops[w], &one);
    for (int a = 0; ok && a < c->p->grid.axes; a++)
        ok = team_reads_partial_along(op, c->p->ops[o].var[a], i) == check_states_parts_along(c, w, a);
    return ok ? true
              : status_set(c->st, LX_E_NO, "op %s reads parts of %s that there are not", op->name,
                           c->p->graph->tensors[op->inputs[i]].name);
}

/* The op works on parts along an axis: is it linear in them? */
static bool check_parts(const struct checker *c, int32_t o, int axis)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    int input = LX_TEAM_PARTIAL - c->p->ops[o].var[axis];
    unsigned one = 0;
    bool linear = team_linear(c->p->graph, op, &one) && input < op->input_count;
    if (!linear || (one ? !(one >> input & 1) : input != 0))
        return status_set(c->st, LX_E_NO, "op %s is not linear in what it reads as parts", op->name);
    for (int i = 0; i < op->input_count; i++)
        if (team_reads_partial_along(op, c->p->ops[o].var[axis], i) && !check_part_of(c, o, i)) return false;
    return true;
}

/* What one axis does to the op and to what that writes. */
static bool check_axis(const struct checker *c, int32_t o, const struct op_index *x, int axis)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_tensor *out = &c->p->tensors[op->output];
    int var = c->p->ops[o].var[axis];
    if (var <= LX_TEAM_PARTIAL) return check_parts(c, o, axis);
    if (var < 0 && out->shard[axis] >= 0)
        return status_set(c->st, LX_E_NO, "op %s writes all of %s on every device, but that is cut", op->name,
                          c->p->graph->tensors[op->output].name);
    if (var < 0) return true;
    if (!team_may_shard(op, x, var)) return status_set(c->st, LX_E_NO, "op %s cannot be cut there", op->name);
    if (!op_index_reduced(x, var))
        return out->shard[axis] == op_index_dim(x, x->output, var)
                   ? true
                   : status_set(c->st, LX_E_NO, "op %s is not split as %s is", op->name,
                                c->p->graph->tensors[op->output].name);
    int loop = team_loop_of(&c->p->ops[o].space[0], var);
    if (loop >= 0 && covers(c, o, loop, x->extent[var])) return true;
    return status_set(c->st, LX_E_NO, "op %s: its parts are not each value of a summed variable once",
                      op->name);
}

/* Of the axes that cut a sum, all leave the result whole or all cut it, further than others do. */
static bool check_scatter(const struct checker *c, int32_t o, const struct op_index *x)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_tensor *out = &c->p->tensors[op->output];
    const int *var = c->p->ops[o].var;
    bool scatters = team_scatters(&c->p->grid, x, var, out);
    for (int a = 0; a < c->p->grid.axes; a++) {
        bool sums = team_shards_sum(x, var, a), late = true;
        for (int b = a + 1; b < c->p->grid.axes; b++)
            late = late && (out->shard[b] != out->shard[a] || team_shards_sum(x, var, b));
        if (sums && ((out->shard[a] >= 0) != scatters || (scatters && !late)))
            return status_set(c->st, LX_E_NO, "op %s: its partial results do not become %s as that is cut",
                              op->name, c->p->graph->tensors[op->output].name);
    }
    return true;
}

/* All results of an op are shared out alike; whole ones may have several shapes. */
static bool check_results(const struct checker *c, int32_t o)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_tensor *first = &c->p->tensors[op->output];
    for (int r = op->input_count + 1; r < op_operand_count(op); r++) {
        const struct lx_team_tensor *t = &c->p->tensors[op_operand(op, r)];
        bool same = memcmp(first->shard, t->shard, sizeof t->shard) == 0;
        if (lx_team_is_replicated(first) && lx_team_is_replicated(t)) continue;
        for (int m = 0; same && m < c->p->devices; m++) {
            struct lx_team_box a = lx_team_own(c->p, op->output, m),
                               b = lx_team_own(c->p, op_operand(op, r), m);
            same = lx_team_box_equal(&a, &b);
        }
        if (!same) return status_set(c->st, LX_E_NO, "op %s: its results are not cut alike", op->name);
    }
    return true;
}

/* Who computes a part of the output owns it, or has it in common with those with whom it adds up. */
static bool check_space(const struct checker *c, int32_t o, const struct op_index *x, int m)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_op *how = &c->p->ops[o];
    const struct lx_team_tensor *out = &c->p->tensors[op->output];
    for (int l = 0; l < how->space[m].loops; l++) {
        int var = how->space[m].var[l], dim = op_index_dim(x, x->output, var);
        if (dim < 0) continue;
        int further =
            lx_team_blocks(&c->p->grid, out->shard, dim) / lx_team_blocks(&c->p->grid, how->var, var);
        int first = lx_team_block(&c->p->grid, how->var, var, m) * further;
        struct lx_team_range block = {out->bound[dim][first], out->bound[dim][first + further]};
        if (!same_range(how->space[m].range[l], team_range_of_block(x, var, block)))
            return status_set(c->st, LX_E_NO, "op %s: device %d does not compute what it owns", op->name, m);
    }
    return true;
}

/* Are parts left as they are: along every axis that they were made along? */
static bool check_left(const struct checker *c, int32_t o, const struct op_index *x)
{
    const struct lx_team_tensor *out = &c->p->tensors[c->p->graph->ops[o].output];
    bool parts = false;
    for (int a = 0; a < c->p->grid.axes; a++) {
        if ((out->shard[a] == LX_TEAM_PARTIAL) != team_shards_sum(x, c->p->ops[o].var, a)) return false;
        parts |= out->shard[a] == LX_TEAM_PARTIAL;
    }
    return parts;
}

/* Only what an op makes as parts, and nobody is given, is in parts. */
bool check_partial(const struct checker *c)
{
    const struct lx_graph *g = c->p->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        if (!lx_team_is_partial(&c->p->tensors[t])) continue;
        bool made = c->writer[t] >= 0 && c->p->ops[c->writer[t]].mode == LX_TEAM_KEPT_PARTIAL;
        if (!made || lx_role_leaves(g->tensors[t].role))
            return status_set(c->st, LX_E_NO, "tensor %s is in parts that nobody makes, or joins",
                              g->tensors[t].name);
    }
    return true;
}

bool check_mode(const struct checker *c, int32_t o)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_op *how = &c->p->ops[o];
    struct op_index x;
    op_index_of(c->p->graph, op, &x);
    bool cut = false, sums = false, parts = check_left(c, o, &x);
    for (int a = 0; a < c->p->grid.axes; a++) {
        cut |= how->var[a] >= 0;
        sums |= team_shards_sum(&x, how->var, a);
        if (!check_axis(c, o, &x, a)) return false;
    }
    if (how->mode != (parts  ? LX_TEAM_KEPT_PARTIAL
                      : sums ? LX_TEAM_COMBINE
                      : cut  ? LX_TEAM_SPLIT
                             : LX_TEAM_REPLICATED))
        return status_set(c->st, LX_E_NO, "op %s is not computed as its mode says", op->name);
    if (!check_scatter(c, o, &x) || !check_results(c, o)) return false;
    for (int m = 0; m < c->p->devices; m++)
        if (!check_space(c, o, &x, m)) return false;
    return true;
}
