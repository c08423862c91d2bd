/* Block bounds of all tensors, and with them the ranges of each op on each device.
 *
 * Inputs and outputs have the default partition. Bounds are propagated backwards from results: an inserted
 * tensor takes the block bounds of the insertion's output, and operands of element-wise ops take the bounds
 * of their result, so that a chain from slices to an insertion needs no exchange in between. Propagation
 * stops at slices, inputs and insertions. The last reader of a tensor decides; other readers get their part
 * by an exchange. */
#include "team/team_private.h"

/* Sets default bounds for all sharded dimensions without bounds. */
static void block_bounds_default(struct team_draft *d, int32_t t)
{
    const struct lx_tensor *x = &d->g->tensors[t];
    for (int a = 0; a < d->grid.axes; a++) {
        int dim = d->tensors[t].shard[a];
        if (dim < 0 || d->tensors[t].bound[dim]) continue;
        int blocks = lx_team_blocks(&d->grid, d->tensors[t].shard, dim);
        int64_t *bound = arena_array(d->memory, (size_t)blocks + 1, sizeof *bound);
        for (int b = 0; b < blocks; b++)
            bound[b] = lx_team_array_make(blocks, b, x->rank, x->shape, dim).offset[dim];
        bound[blocks] = x->shape[dim];
        d->tensors[t].bound[dim] = bound;
    }
}

/* Sets the loops over output variables; loops over summed variables stay unset. Axes that shard a sum may
 * shard an output dimension further, after the loop's own axes. */
static void block_bounds_spaces(struct team_draft *d, int32_t o, const struct op_index *x)
{
    struct lx_team_op *how = &d->ops[o];
    const struct lx_team_tensor *out = &d->tensors[d->g->ops[o].output];
    struct lx_team_space *space = arena_array(d->memory, (size_t)d->devices, sizeof *space);
    how->space = d->spaces[o] = space;
    for (int m = 0; m < d->devices; m++)
        for (int a = 0; a < d->grid.axes; a++) {
            int var = how->var[a], l = space[m].loops;
            if (var < 0 || team_loop_of(&space[m], var) >= 0) continue;
            space[m].var[space[m].loops++] = var;
            if (op_index_reduced(x, var)) continue;
            int dim = op_index_dim(x, x->output, var);
            int further = lx_team_blocks(&d->grid, out->shard, dim) / lx_team_blocks(&d->grid, how->var, var);
            int first = lx_team_block(&d->grid, how->var, var, m) * further;
            struct lx_team_range block = {out->bound[dim][first], out->bound[dim][first + further]};
            space[m].range[l] = team_range_of_block(x, var, block);
        }
}

/* Whether the same axes shard the dimension and the variable. */
static bool block_bounds_alike(const struct team_draft *d, int32_t t, int dim, const int var[LX_TEAM_AXES],
                               int v)
{
    for (int a = 0; a < d->grid.axes; a++)
        if ((d->tensors[t].shard[a] == dim) != (var[a] == v)) return false;
    return true;
}

/* The part of a sum that device `m` computes: its block of the first input that is sharded along the sum; an
 * equal share if there is none. */
static struct lx_team_range block_bounds_of_sum(const struct team_draft *d, int32_t o,
                                                const struct op_index *x, int var, int m)
{
    const struct lx_op *op = &d->g->ops[o];
    const int *vars = d->ops[o].var;
    for (int n = 0; n < 2 * op->input_count; n++) { /* partial sums cannot be exchanged: they come first */
        int i = n % op->input_count, dim = op_index_dim(x, i, var);
        if ((n < op->input_count && !team_reads_partial(op, vars, i)) || dim < 0 ||
            !block_bounds_alike(d, op->inputs[i], dim, vars, var))
            continue;
        const struct lx_tensor *t = &d->g->tensors[op->inputs[i]];
        struct lx_team_box own = team_own_box(&d->grid, t, &d->tensors[op->inputs[i]], m);
        struct lx_team_array in = lx_team_array_of_box(t->rank, t->shape, dim, &own);
        bool combine;
        own = lx_team_reduction_of(&in, 1u << dim, &combine);
        return (struct lx_team_range){own.offset[dim], own.offset[dim] + own.size[dim]};
    }
    int blocks = lx_team_blocks(&d->grid, vars, var), block = lx_team_block(&d->grid, vars, var, m);
    struct lx_team_box b = lx_team_default_partition(blocks, block, 1, &x->extent[var], 0);
    return (struct lx_team_range){b.offset[0], b.offset[0] + b.size[0]};
}

/* Gives an input without bounds the loop's ranges as blocks. */
static void block_bounds_suggest(struct team_draft *d, int32_t o, const struct op_index *x, int i, int dim)
{
    const struct lx_op *op = &d->g->ops[o];
    const struct lx_team_op *how = &d->ops[o];
    int32_t t = op->inputs[i];
    struct lx_team_tensor *in = &d->tensors[t];
    int var = x->known ? x->var[i][dim] : -1, loop = var < 0 ? -1 : team_loop_of(&how->space[0], var);
    if (in->bound[dim] || loop < 0 || op_index_reduced(x, var) ||
        !block_bounds_alike(d, t, dim, how->var, var) || (op_index_shifted(x, i) && !team_is_shift(op)))
        return;
    int blocks = lx_team_blocks(&d->grid, in->shard, dim);
    int64_t *bound = arena_array(d->memory, (size_t)blocks + 1, sizeof *bound);
    for (int m = 0; m < d->devices; m++)
        bound[lx_team_block(&d->grid, in->shard, dim, m)] = how->space[m].range[loop].begin;
    bound[blocks] = d->g->tensors[t].shape[dim];
    in->bound[dim] = bound;
}

void team_settle_bounds(struct team_draft *d)
{
    const struct lx_graph *g = d->g;
    struct op_index x;
    for (int32_t o = 0; o < g->op_count; o++) {
        /* Results of one op have one partition. Partial sums keep the partition of the input. */
        const struct lx_op *op = &d->g->ops[o];
        bool fixed = op->output_count > 1;
        for (int i = 0; i < op->input_count; i++) {
            if (!team_reads_partial(op, d->ops[o].var, i)) continue;
            fixed = true;
            block_bounds_default(d, op->inputs[i]);
        }
        for (int r = op->input_count; fixed && r < op_operand_count(op); r++)
            block_bounds_default(d, op_operand(op, r));
    }
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (d->how->plain || g->tensors[t].role != LX_INTERMEDIATE) block_bounds_default(d, t);
    for (int32_t o = g->op_count; o-- > 0;) {
        const struct lx_op *op = &g->ops[o];
        op_index_of(g, op, &x);
        block_bounds_default(d, op->output);
        block_bounds_spaces(d, o, &x);
        for (int i = 0; i < op->input_count; i++)
            for (int a = 0; a < d->grid.axes && g->tensors[op->inputs[i]].role == LX_INTERMEDIATE; a++) {
                int dim = d->tensors[op->inputs[i]].shard[a];
                if (dim >= 0) block_bounds_suggest(d, o, &x, i, dim);
            }
    }
    for (int32_t t = 0; t < g->tensor_count; t++) block_bounds_default(d, t);
    for (int32_t o = 0; o < g->op_count; o++) {
        op_index_of(g, &g->ops[o], &x);
        for (int m = 0; m < d->devices; m++)
            for (int l = 0; l < d->spaces[o][m].loops; l++)
                if (op_index_reduced(&x, d->spaces[o][m].var[l]))
                    d->spaces[o][m].range[l] = block_bounds_of_sum(d, o, &x, d->spaces[o][m].var[l], m);
    }
}
