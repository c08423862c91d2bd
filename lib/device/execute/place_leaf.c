/* The innermost work of ops that put elements of their inputs at other places: rows of a concat come from
 * one part after the other, those of a pad from its input and from what surrounds it. Inputs are packed as
 * others are, along the variables of the output; what of them is outside of the tensor is there, too, and is
 * not taken. */
#include "device/execute/execute.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

struct placing {
    const struct chunk *c;
    struct dense_strides strides[LX_MAX_OPERANDS]; /* the output's, then the inputs' */
    int rank;                                      /* of the output */
    int64_t at[LX_MAX_RANK];                       /* indices of the output, of the first element of a row */
    float *to; /* of the first element of the chunk; or, of numbers that fp32 does not have, the next */
    wide_number *wide_to;
    int64_t begin[LX_MAX_OPERANDS]; /* of a concat: of each part, and the end */
};

static int var_at(const struct placing *p, int dim)
{
    return p->c->w->x.var[p->c->w->out][dim];
}

static int64_t from_of(const struct placing *p, int dim)
{
    return p->c->slice.from[var_at(p, dim)];
}

static void place_leaf_find_parts(struct placing *p)
{
    const struct op_work *w = p->c->w;
    if (w->op->kind->id != LX_KIND_CONCAT) return;
    int joined = var_at(p, (int)w->op->params->axis);
    for (int i = 0; i < w->op->input_count; i++) {
        int d = op_index_dim(&w->x, i, joined);
        p->begin[i + 1] = p->begin[i] + (d < 0 ? 1 : w->m->graph->tensors[w->op->inputs[i]].shape[d]);
    }
}

static struct placing *placing_make(const struct chunk *c)
{
    struct placing *p = mem_zeroed(1, sizeof *p);
    const struct op_work *w = c->w;
    int64_t size[LX_MAX_VARS];
    p->c = c;
    p->rank = w->x.rank[w->out];
    for (int v = 0; v < w->x.var_count; v++) size[v] = c->slice.to[v] - c->slice.from[v];
    dense_part(&c->strip->layout, size, &p->strides[0]);
    for (int i = 0; i < w->op->input_count; i++) dense_part(&c->layout[i], size, &p->strides[i + 1]);
    int64_t first = 0;
    for (int v = 0; v < w->x.var_count; v++)
        first += (c->slice.from[v] - c->strip->slice.from[v]) * p->strides[0].element[v];
    if (w->wide)
        p->wide_to = c->strip->wide + first;
    else
        p->to = c->strip->out + first;
    for (int d = 0; d < p->rank; d++) p->at[d] = from_of(p, d);
    place_leaf_find_parts(p);
    return p;
}

/* Place of the row in the output (0) or in input i (i + 1). */
static int64_t row_offset(const struct placing *p, int array)
{
    int64_t offset = 0;
    for (int d = 0; d < p->rank; d++)
        offset += (p->at[d] - from_of(p, d)) * p->strides[array].element[var_at(p, d)];
    return offset;
}

static int64_t row_step(const struct placing *p, int array)
{
    return p->rank > 0 ? p->strides[array].element[var_at(p, p->rank - 1)] : 0;
}

static void copy_run(const struct placing *p, int input, int64_t first, int64_t count)
{
    int64_t step = row_step(p, input + 1), out_step = row_step(p, 0);
    int64_t from = row_offset(p, input + 1) + first * step, to = row_offset(p, 0) + first * out_step;
    for (int64_t i = 0; i < count && p->wide_to; i++)
        p->wide_to[to + i * out_step] = p->c->wide[input][from + i * step];
    for (int64_t i = 0; i < count && p->to; i++)
        p->to[to + i * out_step] = p->c->operand[input][from + i * step];
}

/* Does the input of a pad have index v of the output's variable in its dimension? */
static bool place_leaf_inside(const struct placing *p, int dim, int64_t v)
{
    const struct op_work *w = p->c->w;
    int d = op_index_dim(&w->x, 0, var_at(p, dim));
    const struct lx_op_params *a = w->op->params;
    int64_t low = a && a->low ? a->low[dim] : 0, high = a && a->high ? a->high[dim] : 0;
    if (d < 0) return (low == 0 && high == 0) || v == low; /* repeated, or one element */
    const struct lx_walk *k = &w->op->map->walks[0];
    int64_t at = k->first[d] + k->by[d] * v;
    return at >= 0 && at % k->hole[d] == 0 &&
           at / k->hole[d] < w->m->graph->tensors[w->op->inputs[0]].shape[d];
}

static bool place_leaf_next_row(struct placing *p)
{
    for (int d = p->rank - 2; d >= 0; d--) {
        if (++p->at[d] < p->c->slice.to[var_at(p, d)]) return true;
        p->at[d] = from_of(p, d);
    }
    return false;
}

void leaf_places(struct chunk *c)
{
    struct placing *p = placing_make(c);
    int last = p->rank - 1;
    int64_t row = last >= 0 ? c->slice.to[var_at(p, last)] - from_of(p, last) : 1;
    do
        if (c->w->op->kind->id == LX_KIND_CONCAT) {
            int axis = (int)p->c->w->op->params->axis;
            bool along = axis == p->rank - 1;
            int64_t done = 0;
            for (int i = 0; i < p->c->w->op->input_count && done < row; i++) {
                int64_t at = p->at[axis] + (along ? done : 0);
                if (at >= p->begin[i + 1]) continue;
                int64_t count = along ? min_i64(row - done, p->begin[i + 1] - at) : row;
                copy_run(p, i, done, count);
                done += count;
            }
        } else {
            const struct lx_op *op = p->c->w->op;
            bool there = true;
            for (int d = 0; d < p->rank - 1; d++) there = there && place_leaf_inside(p, d, p->at[d]);
            int64_t to = row_offset(p, 0);
            for (int64_t i = 0; i < row; i++) {
                bool own =
                    there && (p->rank == 0 || place_leaf_inside(p, p->rank - 1, p->at[p->rank - 1] + i));
                if (own || op->input_count > 1)
                    copy_run(p, own ? 0 : 1, i, 1);
                else if (p->wide_to)
                    p->wide_to[to + i * row_step(p, 0)] = op_constant(op);
                else
                    p->to[to + i * row_step(p, 0)] = (float)op->value;
            }
        }
    while (place_leaf_next_row(p));
    mem_free(p);
}
