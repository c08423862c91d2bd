/* The innermost work of ops without nests: rows of elements, and rows that become one number. */
#include "device/execute/execute.h"

int64_t rows_width(const struct chunk *c, int v)
{
    return c->slice.to[v] - c->slice.from[v];
}

struct rows *rows_make(struct chunk *c)
{
    struct rows *r = mem_zeroed(1, sizeof *r);
    int64_t size[LX_MAX_VARS];
    int out = c->w->out;
    r->c = c;
    r->odometer.arrays = c->w->operands;
    for (int v = 0; v < c->w->x.var_count; v++) size[v] = rows_width(c, v);
    dense_part(&c->strip->layout, size, &r->strides[0]);
    for (int i = 0; i < out; i++) dense_part(&c->layout[i], size, &r->strides[i + 1]);
    for (int v = 0; v < c->w->x.var_count; v++)
        r->first += (c->slice.from[v] - c->strip->slice.from[v]) * r->strides[0].element[v];
    return r;
}

void odometer_add(const struct rows *r, struct odometer *o, int v)
{
    int k = o->count++;
    o->arrays = r->c->w->operands;
    o->extent[k] = rows_width(r->c, v);
    for (int a = 0; a < o->arrays; a++) o->step[a][k] = r->strides[a].element[v];
}

bool odometer_next(struct odometer *o)
{
    for (int k = o->count - 1; k >= 0; k--) {
        for (int a = 0; a < o->arrays; a++) o->offset[a] += o->step[a][k];
        if (++o->at[k] < o->extent[k]) return true;
        for (int a = 0; a < o->arrays; a++) o->offset[a] -= o->step[a][k] * o->extent[k];
        o->at[k] = 0;
    }
    return false;
}

void leaf_pointwise(struct chunk *c)
{
    const struct lx_op *op = c->w->op;
    const struct op_index *x = &c->w->x;
    int out = c->w->out, rank = x->rank[out], last = rank > 0 ? x->var[out][rank - 1] : -1;
    /* If all operands have all variables, and the chunk is the whole strip: one long row. */
    bool whole = true;
    for (int i = 0; i < op->input_count; i++) {
        whole &= x->rank[i] == rank;
        for (int k = 0; k < rank; k++) whole &= op_index_dim(x, i, x->var[out][k]) >= 0;
    }
    for (int v = 0; v < x->var_count; v++)
        whole &= rows_width(c, v) == c->strip->slice.to[v] - c->strip->slice.from[v];
    int64_t row = whole ? c->strip->layout.floats : last >= 0 ? rows_width(c, last) : 1;
    OWNED struct rows *r = rows_make(c);
    OWNED float *same = mem_alloc((size_t)max_i64(row, 1) * 3 * sizeof *same);
    for (int h = 0; !whole && h < rank - 1; h++) odometer_add(r, &r->odometer, x->var[out][h]);
    if (op->has_value)
        for (int64_t i = 0; i < row; i++) same[row * 2 + i] = (float)op->value;
    do {
        const float *operand[4] = {same, same, same, same};
        for (int i = 0; i < op->input_count && i < 3; i++) {
            const float *at = c->operand[i] + r->odometer.offset[i + 1];
            operand[i] = at;
            if (whole || row == 1 || (last >= 0 && r->strides[i + 1].element[last] != 0)) continue;
            /* One element for the whole row. */
            for (int64_t k = 0; k < row; k++) same[i * row + k] = *at;
            operand[i] = same + i * row;
        }
        if (op->has_value) operand[op->input_count] = same + row * 2;
        (c->w->row ? c->w->row : c->w->arith->row)(c->strip->out + r->first + r->odometer.offset[0],
                                                   operand[0], operand[1], operand[2], row);
    } while (odometer_next(&r->odometer));
}

void leaf_reduction(struct chunk *c)
{
    const struct op_index *x = &c->w->x;
    OWNED struct rows *r = rows_make(c);
    int64_t row = 1;
    for (int h = 0; h < x->rank[c->w->out]; h++) odometer_add(r, &r->odometer, x->var[c->w->out][h]);
    for (int v = 0; v < x->var_count; v++)
        if (op_index_reduced(x, v)) row *= rows_width(c, v);
    do
        c->strip->out[r->first + r->odometer.offset[0]] =
            c->w->arith->sum->row(c->operand[0] + r->odometer.offset[1], row);
    while (odometer_next(&r->odometer));
}

/* The innermost work of ops that put elements of their inputs at other places: rows of a concat come from one
 * part after the other, rows of a pad from its input and its surroundings. Inputs are packed like others,
 * along the variables of the output; positions outside of the tensor are packed too, and not used. */

struct placing {
    const struct chunk *c;
    struct dense_strides strides[LX_MAX_OPERANDS]; /* the output's, then the inputs' */
    int rank;                                      /* of the output */
    int64_t at[LX_MAX_RANK];                       /* indices of the first element of a row in the output */
    float *to; /* the first element of the chunk; wide_to for numbers beyond fp32 */
    wide_number *wide_to;
    int64_t begin[LX_MAX_OPERANDS]; /* concat: first index of each part, and the end */
};

static int var_at(const struct placing *p, int dim)
{
    return p->c->w->x.var[p->c->w->out][dim];
}

static int64_t from_of(const struct placing *p, int dim)
{
    return p->c->slice.from[var_at(p, dim)];
}

/* Offset of the row in the output (0) or in input i (i + 1). */
static int64_t row_offset(const struct placing *p, int array)
{
    int64_t offset = 0;
    for (int d = 0; d < p->rank; d++)
        offset += (p->at[d] - from_of(p, d)) * p->strides[array].element[var_at(p, d)];
    return offset;
}

static void copy_run(const struct placing *p, int input, int64_t first, int64_t count)
{
    int last = p->rank > 0 ? var_at(p, p->rank - 1) : 0;
    int64_t step = p->rank > 0 ? p->strides[input + 1].element[last] : 0;
    int64_t out_step = p->rank > 0 ? p->strides[0].element[last] : 0;
    int64_t from = row_offset(p, input + 1) + first * step, to = row_offset(p, 0) + first * out_step;
    for (int64_t i = 0; i < count && p->wide_to; i++)
        p->wide_to[to + i * out_step] = p->c->wide[input][from + i * step];
    for (int64_t i = 0; i < count && p->to; i++)
        p->to[to + i * out_step] = p->c->operand[input][from + i * step];
}

/* Does the input of a pad have the element with index v of output dimension `dim`? */
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

void leaf_places(struct chunk *c)
{
    OWNED struct placing *p = mem_zeroed(1, sizeof *p);
    const struct op_work *w = c->w;
    int64_t size[LX_MAX_VARS], first = 0;
    p->c = c;
    p->rank = w->x.rank[w->out];
    for (int v = 0; v < w->x.var_count; v++) size[v] = c->slice.to[v] - c->slice.from[v];
    dense_part(&c->strip->layout, size, &p->strides[0]);
    for (int i = 0; i < w->op->input_count; i++) dense_part(&c->layout[i], size, &p->strides[i + 1]);
    for (int v = 0; v < w->x.var_count; v++)
        first += (c->slice.from[v] - c->strip->slice.from[v]) * p->strides[0].element[v];
    if (w->wide)
        p->wide_to = c->strip->wide + first;
    else
        p->to = c->strip->out + first;
    for (int k = 0; k < p->rank; k++) p->at[k] = from_of(p, k);
    bool concat = w->op->kind->id == LX_KIND_CONCAT;
    for (int i = 0; concat && i < w->op->input_count; i++) {
        int k = op_index_dim(&w->x, i, var_at(p, (int)w->op->params->axis));
        p->begin[i + 1] = p->begin[i] + (k < 0 ? 1 : w->m->graph->tensors[w->op->inputs[i]].shape[k]);
    }
    int last = p->rank - 1, outer;
    int64_t row = last >= 0 ? c->slice.to[var_at(p, last)] - from_of(p, last) : 1;
    int64_t step = last >= 0 ? p->strides[0].element[var_at(p, last)] : 0;
    do {
        if (concat) {
            int axis = (int)w->op->params->axis;
            bool along = axis == p->rank - 1;
            int64_t done = 0;
            for (int i = 0; i < w->op->input_count && done < row; i++) {
                int64_t at = p->at[axis] + (along ? done : 0);
                if (at >= p->begin[i + 1]) continue;
                int64_t count = along ? min_i64(row - done, p->begin[i + 1] - at) : row;
                copy_run(p, i, done, count);
                done += count;
            }
        } else {
            const struct lx_op *op = w->op;
            bool there = true;
            for (int d = 0; d < p->rank - 1; d++) there = there && place_leaf_inside(p, d, p->at[d]);
            int64_t to = row_offset(p, 0);
            for (int64_t i = 0; i < row; i++) {
                bool own =
                    there && (p->rank == 0 || place_leaf_inside(p, p->rank - 1, p->at[p->rank - 1] + i));
                if (own || op->input_count > 1)
                    copy_run(p, own ? 0 : 1, i, 1);
                else if (p->wide_to)
                    p->wide_to[to + i * step] = op_constant(op);
                else
                    p->to[to + i * step] = (float)op->value;
            }
        }
        for (outer = p->rank - 2; outer >= 0; outer--) {
            if (++p->at[outer] < c->slice.to[var_at(p, outer)]) break;
            p->at[outer] = from_of(p, outer);
        }
    } while (outer >= 0);
}
