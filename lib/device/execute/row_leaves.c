/* The innermost work of ops that have no nest: rows of elements, and rows that become one number. */
#include "device/execute/execute.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

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

/* All operands have all variables, and the chunk is all of the strip: one long row. */
static bool is_one_row(const struct chunk *c)
{
    const struct op_index *x = &c->w->x;
    int out = c->w->out;
    for (int i = 0; i < c->w->op->input_count; i++) {
        if (x->rank[i] != x->rank[out]) return false;
        for (int d = 0; d < x->rank[out]; d++)
            if (op_index_dim(x, i, x->var[out][d]) < 0) return false;
    }
    for (int v = 0; v < x->var_count; v++)
        if (rows_width(c, v) != c->strip->slice.to[v] - c->strip->slice.from[v]) return false;
    return true;
}

/* The inputs of one row: their own elements, or one element for all of the row, spread out in `same`. */
static void row_operands(const struct rows *r, int last, int64_t row, bool whole, float *same,
                         const float **operand)
{
    const struct lx_op *op = r->c->w->op;
    for (int i = 0; i < op->input_count && i < 3; i++) {
        const float *at = r->c->operand[i] + r->odometer.offset[i + 1];
        operand[i] = at;
        if (whole || row == 1 || (last >= 0 && r->strides[i + 1].element[last] != 0)) continue;
        float *fill = same + i * row;
        for (int64_t k = 0; k < row; k++) fill[k] = *at;
        operand[i] = fill;
    }
    if (op->has_value) operand[op->input_count] = same + row * 2;
}

static row_function *row_leaves_row_of(const struct op_work *w)
{
    return w->row ? w->row : w->arith->row;
}

void leaf_pointwise(struct chunk *c)
{
    const struct lx_op *op = c->w->op;
    const struct op_index *x = &c->w->x;
    int out = c->w->out, rank = x->rank[out], last = rank > 0 ? x->var[out][rank - 1] : -1;
    bool whole = is_one_row(c);
    int64_t row = whole ? c->strip->layout.floats : last >= 0 ? rows_width(c, last) : 1;
    struct rows *r = rows_make(c);
    float *same = mem_alloc((size_t)max_i64(row, 1) * 3 * sizeof *same);
    for (int h = 0; !whole && h < rank - 1; h++) odometer_add(r, &r->odometer, x->var[out][h]);
    if (op->has_value)
        for (int64_t i = 0; i < row; i++) same[row * 2 + i] = (float)op->value;
    do {
        const float *operand[4] = {same, same, same, same};
        row_operands(r, last, row, whole, same, operand);
        row_leaves_row_of(c->w)(c->strip->out + r->first + r->odometer.offset[0], operand[0], operand[1],
                                operand[2], row);
    } while (odometer_next(&r->odometer));
    mem_free(r);
    mem_free(same);
}

void leaf_reduction(struct chunk *c)
{
    const struct op_index *x = &c->w->x;
    struct rows *r = rows_make(c);
    int64_t row = 1;
    for (int h = 0; h < x->rank[c->w->out]; h++) odometer_add(r, &r->odometer, x->var[c->w->out][h]);
    for (int v = 0; v < x->var_count; v++)
        if (op_index_reduced(x, v)) row *= rows_width(c, v);
    do
        c->strip->out[r->first + r->odometer.offset[0]] =
            c->w->arith->sum->row(c->operand[0] + r->odometer.offset[1], row);
    while (odometer_next(&r->odometer));
    mem_free(r);
}
