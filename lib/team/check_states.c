/* Checks that the state of each tensor (sharded, replicated or partial sums) follows from the split of its
 * op. */
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

/* Whether every value of a summed variable runs in exactly one block, in block order, on all devices of that
 * block. */
static bool check_states_cover(const struct checker *c, int32_t o, int loop, int64_t extent)
{
    const struct lx_team_op *how = &c->p->ops[o];
    int var = how->space[0].var[loop], blocks = lx_team_blocks(&c->p->grid, how->var, var);
    int64_t at = 0;
    for (int b = 0; b < blocks; b++) {
        struct lx_team_range range = {0, 0};
        bool found = false;
        for (int m = 0; m < c->p->devices; m++) {
            if (lx_team_block(&c->p->grid, how->var, how->space[m].var[loop], m) != b) continue;
            if (found && !same_range(range, how->space[m].range[loop])) return false;
            range = how->space[m].range[loop];
            found = true;
        }
        if (!found) return false;
        if (range.end <= range.begin) continue;
        if (range.begin != at) return false;
        at = range.end;
    }
    return at == extent;
}

/* For an op that reads partial sums along an axis: it must be linear in them, and their writer must make
 * them along the same axes. */
static bool check_states_reads(const struct checker *c, int32_t o, int axis)
{
    const struct lx_graph *g = c->p->graph;
    const struct lx_op *op = &g->ops[o];
    const int *var = c->p->ops[o].var;
    int input = LX_TEAM_PARTIAL - var[axis];
    unsigned one = 0;
    bool linear = team_linear(g, op, &one) && input < op->input_count;
    if (!linear || (one ? !(one >> input & 1) : input != 0))
        return status_set(c->st, LX_E_NO, "op %s is not linear in the partial sums that it reads", op->name);
    for (int i = 0; i < op->input_count; i++) {
        if (!team_reads_partial_along(op, var[axis], i)) continue;
        int32_t w = c->writer[op->inputs[i]];
        struct op_index x;
        bool ok = w >= 0 && c->p->ops[o].exchange[i] < 0 && !team_picks(&g->ops[w]) &&
                  team_linear(g, &g->ops[w], &one);
        if (ok) op_index_of(g, &g->ops[w], &x);
        for (int a = 0; ok && a < c->p->grid.axes; a++)
            ok = team_reads_partial_along(op, var[a], i) == team_shards_sum(&x, c->p->ops[w].var, a);
        if (!ok)
            return status_set(c->st, LX_E_NO, "op %s reads partial sums of %s that there are not", op->name,
                              g->tensors[op->inputs[i]].name);
    }
    return true;
}

/* Checks one axis of the op and its results. */
static bool check_axis(const struct checker *c, int32_t o, const struct op_index *x, int axis)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_tensor *out = &c->p->tensors[op->output];
    int var = c->p->ops[o].var[axis];
    if (var <= LX_TEAM_PARTIAL) return check_states_reads(c, o, axis);
    if (var < 0 && out->shard[axis] >= 0)
        return status_set(c->st, LX_E_NO, "op %s writes all of %s on every device, but that is sharded",
                          op->name, c->p->graph->tensors[op->output].name);
    if (var < 0) return true;
    if (!team_may_shard(op, x, var))
        return status_set(c->st, LX_E_NO, "op %s cannot be sharded there", op->name);
    if (!op_index_reduced(x, var))
        return out->shard[axis] == op_index_dim(x, x->output, var)
                   ? true
                   : status_set(c->st, LX_E_NO, "op %s is not split as %s is", op->name,
                                c->p->graph->tensors[op->output].name);
    int loop = team_loop_of(&c->p->ops[o].space[0], var);
    if (loop >= 0 && check_states_cover(c, o, loop, x->extent[var])) return true;
    return status_set(c->st, LX_E_NO, "op %s: its partial sums are not each value of a summed variable once",
                      op->name);
}

/* The axes that shard a sum must all replicate the result, or all shard it, as its last axes. */
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
            return status_set(c->st, LX_E_NO, "op %s: its partial sums do not become %s as that is sharded",
                              op->name, c->p->graph->tensors[op->output].name);
    }
    return true;
}

/* A device must own the part of the output it computes, or share its ownership with the devices it adds up
 * with. */
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

/* Partial sums must be made by an op and must not be an output. */
bool check_partial(const struct checker *c)
{
    const struct lx_graph *g = c->p->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        if (!lx_team_is_partial(&c->p->tensors[t])) continue;
        bool made = c->writer[t] >= 0 && c->p->ops[c->writer[t]].mode == LX_TEAM_KEPT_PARTIAL;
        if (!made || lx_role_leaves(g->tensors[t].role))
            return status_set(c->st, LX_E_NO, "tensor %s is partial sums that nobody makes, or joins",
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
    bool split = false, sums = false, partial = false, kept = true; /* kept: along all axes of partial sums */
    for (int a = 0; a < c->p->grid.axes; a++) {
        bool makes = team_shards_sum(&x, how->var, a),
             has = c->p->tensors[op->output].shard[a] == LX_TEAM_PARTIAL;
        split |= how->var[a] >= 0;
        sums |= makes;
        partial |= has;
        kept = kept && has == makes;
        if (!check_axis(c, o, &x, a)) return false;
    }
    if (how->mode != (partial && kept ? LX_TEAM_KEPT_PARTIAL
                      : sums          ? LX_TEAM_COMBINE
                      : split         ? LX_TEAM_SPLIT
                                      : LX_TEAM_REPLICATED))
        return status_set(c->st, LX_E_NO, "op %s is not computed as its mode says", op->name);
    if (!check_scatter(c, o, &x)) return false;
    /* All results of an op must be sharded alike; replicated ones may differ in shape. */
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
        if (!same) return status_set(c->st, LX_E_NO, "op %s: its results are not sharded alike", op->name);
    }
    for (int m = 0; m < c->p->devices; m++)
        if (!check_space(c, o, &x, m)) return false;
    return true;
}
