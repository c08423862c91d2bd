/* The bounds of the blocks, and with them the range of each op on each member.
 *
 * Inputs and outputs have the default partition. Targets are propagated backwards from where results go: what
 * is inserted into a tensor is cut where the owners of that tensor begin, and what is combined element by
 * element into a tensor is cut like it, so that a chain from slices to an insertion moves nothing in between.
 * Propagation stops at what is sliced, at inputs and at insertions. The last reader of a tensor decides;
 * other readers then get theirs by an exchange. */
#include "team/team_private.h"
#include "base/fail.h"

#include <stdlib.h>

static bool default_bounds(struct team_draft *d, int32_t t, lx_status *st)
{
    const struct lx_tensor *x = &d->g->tensors[t];
    int cut = d->tensors[t].cut;
    int64_t *bound = arena_array(d->memory, (size_t)d->members + 1, sizeof *bound);
    if (!bound) return status_no_memory(st);
    for (int m = 0; m < d->members; m++)
        bound[m] = lx_team_array_make(d->members, m, x->rank, x->shape, cut).offset[cut];
    /* An empty block stands where the next begins. */
    bound[d->members] = x->shape[cut];
    d->tensors[t].bound = bound;
    return true;
}

static bool op_ranges(struct team_draft *d, int32_t o, const struct op_index *x, lx_status *st)
{
    struct lx_team_op *how = &d->ops[o];
    const struct lx_team_tensor *out = &d->tensors[d->g->ops[o].output];
    struct lx_team_range *range = arena_array(d->memory, (size_t)d->members, sizeof *range);
    if (!range) return status_no_memory(st);
    how->range = range;
    for (int m = 0; m < d->members; m++) {
        range[m] = (struct lx_team_range){0, 1};
        if (how->mode == LX_TEAM_SPLIT)
            range[m] =
                team_range_of_block(x, how->var, (struct lx_team_range){out->bound[m], out->bound[m + 1]});
    }
    return true;
}

/* The dimensions of an input that a variable walks, a bit each. */
static unsigned dims_of_var(const struct op_index *x, int input, int var)
{
    unsigned dims = 0;
    for (int k = 0; k < x->rank[input]; k++) dims |= (unsigned)(x->var[input][k] == var) << k;
    return dims;
}

/* The part of a sum that a member computes is what it owns of the first input that is cut along it; if none
 * is, an equal share. */
static struct lx_team_range share_of_sum(const struct team_draft *d, int32_t o, const struct op_index *x,
                                         int m)
{
    const struct lx_op *op = &d->g->ops[o];
    int var = d->ops[o].var;
    for (int i = 0; i < op->input_count; i++) {
        const struct lx_team_tensor *t = &d->tensors[op->inputs[i]];
        struct lx_team_array in = team_own_array(&d->g->tensors[op->inputs[i]], t, m);
        bool combine;
        struct lx_team_box own = lx_team_reduction_of(&in, dims_of_var(x, i, var), &combine);
        if (combine) return (struct lx_team_range){own.offset[t->cut], own.offset[t->cut] + own.size[t->cut]};
    }
    struct lx_team_box b = lx_team_default_partition(d->members, m, 1, &x->extent[var], 0);
    return (struct lx_team_range){b.offset[0], b.offset[0] + b.size[0]};
}

static bool combine_ranges(struct team_draft *d, int32_t o, const struct op_index *x, lx_status *st)
{
    struct lx_team_range *range = arena_array(d->memory, (size_t)d->members, sizeof *range);
    if (!range) return status_no_memory(st);
    for (int m = 0; m < d->members; m++) range[m] = share_of_sum(d, o, x, m);
    d->ops[o].range = range;
    return true;
}

/* Input `i` of a split op is read where the op's variable runs: let its blocks be the op's ranges. */
static bool suggest(struct team_draft *d, int32_t o, const struct op_index *x, int i, lx_status *st)
{
    const struct lx_op *op = &d->g->ops[o];
    const struct lx_team_op *how = &d->ops[o];
    int32_t t = op->inputs[i];
    const struct lx_tensor *tensor = &d->g->tensors[t];
    struct lx_team_tensor *in = &d->tensors[t];
    if (in->bound || in->cut < 0 || tensor->role != LX_INTERMEDIATE || how->mode != LX_TEAM_SPLIT)
        return true;
    if (x->var[i][in->cut] != how->var || (op_index_shifted(x, i) && !team_is_shift(op))) return true;
    int64_t *bound = arena_array(d->memory, (size_t)d->members + 1, sizeof *bound);
    if (!bound) return status_no_memory(st);
    for (int m = 0; m < d->members; m++) bound[m] = how->range[m].begin;
    bound[d->members] = tensor->shape[in->cut];
    in->bound = bound;
    return true;
}

bool team_settle_bounds(struct team_draft *d, lx_status *st)
{
    struct op_index x;
    for (int32_t t = 0; t < d->g->tensor_count; t++) {
        bool fixed = d->how->plain || d->g->tensors[t].role != LX_INTERMEDIATE;
        if (fixed && d->tensors[t].cut >= 0 && !default_bounds(d, t, st)) return false;
    }
    for (int32_t o = d->g->op_count; o-- > 0;) {
        const struct lx_op *op = &d->g->ops[o];
        struct lx_team_tensor *out = &d->tensors[op->output];
        op_index_of(d->g, op, &x);
        if (out->cut >= 0 && !out->bound && !default_bounds(d, op->output, st)) return false;
        if (!op_ranges(d, o, &x, st)) return false;
        for (int i = 0; i < op->input_count; i++)
            if (!suggest(d, o, &x, i, st)) return false;
    }
    for (int32_t o = 0; o < d->g->op_count; o++)
        if (d->ops[o].mode == LX_TEAM_COMBINE) {
            op_index_of(d->g, &d->g->ops[o], &x);
            if (!combine_ranges(d, o, &x, st)) return false;
        }
    return true;
}
