/* The bounds of the blocks, and with them where each op runs on each device.
 *
 * Inputs and outputs have the default partition. Targets are propagated backwards from where results go: what
 * is inserted into a tensor is cut where the owners of that tensor begin, and what is combined element by
 * element into a tensor is cut like it, so that a chain from slices to an insertion moves nothing in between.
 * Propagation stops at what is sliced, at inputs and at insertions. The last reader of a tensor decides;
 * other readers then get theirs by an exchange. */
#include "team/team_private.h"
#include "base/fail.h"

#include <stdlib.h>

static bool default_bounds(struct team_draft *d, int32_t t, int dim, lx_status *st)
{
    const struct lx_tensor *x = &d->g->tensors[t];
    int blocks = lx_team_blocks(&d->grid, d->tensors[t].shard, dim);
    int64_t *bound = arena_array(d->memory, (size_t)blocks + 1, sizeof *bound);
    if (!bound) return status_no_memory(st);
    for (int b = 0; b < blocks; b++)
        bound[b] = lx_team_array_make(blocks, b, x->rank, x->shape, dim).offset[dim];
    /* An empty block stands where the next begins. */
    bound[blocks] = x->shape[dim];
    d->tensors[t].bound[dim] = bound;
    return true;
}

/* Of all dimensions that are cut and have no bounds yet. */
static bool rest_by_default(struct team_draft *d, int32_t t, lx_status *st)
{
    for (int a = 0; a < d->grid.axes; a++) {
        int dim = d->tensors[t].shard[a];
        if (dim >= 0 && !d->tensors[t].bound[dim] && !default_bounds(d, t, dim, st)) return false;
    }
    return true;
}

/* The block of the output that a loop writes. Axes that cut a sum may cut the dimension further, after the loop's own. */
static struct lx_team_range block_of_loop(const struct team_draft *d, int32_t o, const struct op_index *x,
                                          int var, int device)
{
    const struct lx_team_tensor *out = &d->tensors[d->g->ops[o].output];
    int dim = op_index_dim(x, x->output, var), own = lx_team_blocks(&d->grid, d->ops[o].var, var);
    int further = lx_team_blocks(&d->grid, out->shard, dim) / own;
    int first = lx_team_block(&d->grid, d->ops[o].var, var, device) * further;
    return (struct lx_team_range){out->bound[dim][first], out->bound[dim][first + further]};
}

/* The loops of the output's variables; those of sums are open yet. */
static bool op_spaces(struct team_draft *d, int32_t o, const struct op_index *x, lx_status *st)
{
    struct lx_team_op *how = &d->ops[o];
    struct lx_team_space *space = arena_array(d->memory, (size_t)d->devices, sizeof *space);
    if (!space) return status_no_memory(st);
    how->space = d->spaces[o] = space;
    for (int m = 0; m < d->devices; m++)
        for (int a = 0; a < d->grid.axes; a++) {
            int var = how->var[a], l = space[m].loops;
            if (var < 0 || team_loop_of(&space[m], var) >= 0) continue;
            space[m].var[space[m].loops++] = var;
            if (!op_index_reduced(x, var))
                space[m].range[l] = team_range_of_block(x, var, block_of_loop(d, o, x, var, m));
        }
    return true;
}

/* Is the dimension of an input cut by just the axes that cut the variable? */
static bool cut_alike(const struct team_draft *d, int32_t t, int dim, const int var[LX_TEAM_AXES], int v)
{
    for (int a = 0; a < d->grid.axes; a++)
        if ((d->tensors[t].shard[a] == dim) != (var[a] == v)) return false;
    return true;
}

/* The part of a sum that a device computes is what it owns of the first input that is cut along it; if none
 * is, an equal share. */
static struct lx_team_range share_of_sum(const struct team_draft *d, int32_t o, const struct op_index *x,
                                         int var, int m)
{
    const struct lx_op *op = &d->g->ops[o];
    const int *vars = d->ops[o].var;
    for (int n = 0; n < 2 * op->input_count; n++) { /* parts cannot be brought: they come first */
        int i = n % op->input_count;
        if (n < op->input_count && !team_reads_partial(op, vars, i)) continue;
        const struct lx_tensor *t = &d->g->tensors[op->inputs[i]];
        int dim = op_index_dim(x, i, var);
        if (dim < 0 || !cut_alike(d, op->inputs[i], dim, vars, var)) continue;
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

static void spaces_of_sums(struct team_draft *d, int32_t o, const struct op_index *x,
                           struct lx_team_space *space)
{
    for (int m = 0; m < d->devices; m++)
        for (int l = 0; l < space[m].loops; l++)
            if (op_index_reduced(x, space[m].var[l]))
                space[m].range[l] = share_of_sum(d, o, x, space[m].var[l], m);
}

/* Input `i` of an op is read where a loop runs: let its blocks be the loop's ranges. */
static bool suggest(struct team_draft *d, int32_t o, const struct op_index *x, int i, int dim, lx_status *st)
{
    const struct lx_op *op = &d->g->ops[o];
    const struct lx_team_op *how = &d->ops[o];
    int32_t t = op->inputs[i];
    struct lx_team_tensor *in = &d->tensors[t];
    int var = x->known ? x->var[i][dim] : -1, loop = var < 0 ? -1 : team_loop_of(&how->space[0], var);
    if (in->bound[dim] || loop < 0 || op_index_reduced(x, var) || !cut_alike(d, t, dim, how->var, var) ||
        (op_index_shifted(x, i) && !team_is_shift(op)))
        return true;
    int blocks = lx_team_blocks(&d->grid, in->shard, dim);
    int64_t *bound = arena_array(d->memory, (size_t)blocks + 1, sizeof *bound);
    if (!bound) return status_no_memory(st);
    for (int m = 0; m < d->devices; m++)
        bound[lx_team_block(&d->grid, in->shard, dim, m)] = how->space[m].range[loop].begin;
    bound[blocks] = d->g->tensors[t].shape[dim];
    in->bound[dim] = bound;
    return true;
}

static bool suggest_all(struct team_draft *d, int32_t o, const struct op_index *x, lx_status *st)
{
    const struct lx_op *op = &d->g->ops[o];
    for (int i = 0; i < op->input_count; i++) {
        const struct lx_team_tensor *in = &d->tensors[op->inputs[i]];
        if (d->g->tensors[op->inputs[i]].role != LX_INTERMEDIATE) continue;
        for (int a = 0; a < d->grid.axes; a++)
            if (in->shard[a] >= 0 && !suggest(d, o, x, i, in->shard[a], st)) return false;
    }
    return true;
}

/* Results of one op have one partition. What is read in parts lies as it is read. */
static bool common_bounds(struct team_draft *d, int32_t o, lx_status *st)
{
    const struct lx_op *op = &d->g->ops[o];
    bool parts = false;
    for (int i = 0; i < op->input_count; i++) {
        if (!team_reads_partial(op, d->ops[o].var, i)) continue;
        parts = true;
        if (!rest_by_default(d, op->inputs[i], st)) return false;
    }
    for (int r = op->input_count; (parts || op->output_count > 1) && r < op_operand_count(op); r++)
        if (!rest_by_default(d, op_operand(op, r), st)) return false;
    return true;
}

bool team_settle_bounds(struct team_draft *d, lx_status *st)
{
    struct op_index x;
    for (int32_t o = 0; o < d->g->op_count; o++)
        if (!common_bounds(d, o, st)) return false;
    for (int32_t t = 0; t < d->g->tensor_count; t++) {
        bool fixed = d->how->plain || d->g->tensors[t].role != LX_INTERMEDIATE;
        if (fixed && !rest_by_default(d, t, st)) return false;
    }
    for (int32_t o = d->g->op_count; o-- > 0;) {
        op_index_of(d->g, &d->g->ops[o], &x);
        if (!rest_by_default(d, d->g->ops[o].output, st) || !op_spaces(d, o, &x, st) ||
            !suggest_all(d, o, &x, st))
            return false;
    }
    for (int32_t t = 0; t < d->g->tensor_count; t++)
        if (!rest_by_default(d, t, st)) return false;
    for (int32_t o = 0; o < d->g->op_count; o++) {
        op_index_of(d->g, &d->g->ops[o], &x);
        if (d->ops[o].mode == LX_TEAM_COMBINE || d->ops[o].mode == LX_TEAM_KEPT_PARTIAL)
            spaces_of_sums(d, o, &x, d->spaces[o]);
    }
    return true;
}
