/* The innermost work by class: rows of elements, rows that become one number, and matrix products. */
#include "device/execute/execute.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* An odometer over some variables, with the offsets that it means in several arrays. */
enum { MOST_ARRAYS = LX_MAX_INPUTS + 1 };

struct odometer {
    int count, arrays;
    int64_t extent[LX_MAX_VARS], at[LX_MAX_VARS];
    int64_t step[MOST_ARRAYS][LX_MAX_VARS];
    int64_t offset[MOST_ARRAYS];
};

static bool odometer_next(struct odometer *o)
{
    for (int k = o->count - 1; k >= 0; k--) {
        for (int a = 0; a < o->arrays; a++) o->offset[a] += o->step[a][k];
        if (++o->at[k] < o->extent[k]) return true;
        for (int a = 0; a < o->arrays; a++) o->offset[a] -= o->step[a][k] * o->extent[k];
        o->at[k] = 0;
    }
    return false;
}

static int64_t width(const struct chunk *c, int v)
{
    return c->slice.to[v] - c->slice.from[v];
}

/* The step of a variable in the output. */
static int64_t out_step(const struct chunk *c, int v)
{
    int h = op_index_dim(&c->w->x, c->w->operands - 1, v);
    return h < 0 ? 0 : c->core->out_strides[h];
}

static void odometer_add(struct odometer *o, const struct chunk *c, int v)
{
    int k = o->count++;
    o->extent[k] = width(c, v);
    o->step[0][k] = out_step(c, v);
    for (int i = 0; i + 1 < o->arrays; i++) o->step[i + 1][k] = c->var_stride[i][v];
}

/* All operands have all variables, and the chunk is all that the core has: one long row. */
static bool is_one_row(const struct chunk *c)
{
    const struct op_index *x = &c->w->x;
    for (int i = 0; i < c->w->op->input_count; i++)
        if (x->rank[i] != x->rank[c->w->operands - 1]) return false;
    for (int v = 0; v < x->var_count; v++)
        if (width(c, v) != c->core->slice.to[v] - c->core->slice.from[v]) return false;
    return true;
}

bool leaf_pointwise(struct chunk *c)
{
    const struct lx_op *op = c->w->op;
    const struct op_index *x = &c->w->x;
    int out = c->w->operands - 1, rank = x->rank[out], inputs = op->input_count;
    struct odometer *o = calloc(1, sizeof *o);
    bool whole = is_one_row(c);
    int last = rank > 0 ? x->var[out][rank - 1] : -1;
    int64_t row = whole ? c->core->out_count : last >= 0 ? width(c, last) : 1;
    float *same = malloc((size_t)max_i64(row, 1) * 3 * sizeof *same);
    bool ok = o && same;
    if (ok) o->arrays = inputs + 1;
    for (int h = 0; ok && !whole && h < rank - 1; h++) odometer_add(o, c, x->var[out][h]);
    if (ok && op->has_value)
        for (int64_t i = 0; i < row; i++) same[row * 2 + i] = (float)op->value;
    while (ok) {
        const float *operand[3] = {same, same, same};
        for (int i = 0; i < inputs && i < 3; i++) {
            const float *at = c->operand[i] + o->offset[i + 1];
            operand[i] = at;
            if (whole || (last >= 0 && c->var_stride[i][last] != 0) || row == 1) continue;
            /* One element for all of the row. */
            float *fill = same + (i < 2 ? i : 2) * row;
            for (int64_t k = 0; k < row; k++) fill[k] = *at;
            operand[i] = fill;
        }
        if (op->has_value) operand[inputs] = same + row * 2;
        c->w->arith->row(c->to + o->offset[0], operand[0], operand[1], operand[2], row);
        if (!odometer_next(o)) break;
    }
    free(o);
    free(same);
    return ok;
}

bool leaf_reduction(struct chunk *c)
{
    const struct op_index *x = &c->w->x;
    const struct reduction *r = c->w->arith->sum;
    int out = c->w->operands - 1;
    struct odometer *o = calloc(1, sizeof *o);
    if (!o) return false;
    int64_t row = 1;
    o->arrays = 2;
    for (int h = 0; h < x->rank[out]; h++) odometer_add(o, c, x->var[out][h]);
    for (int v = 0; v < x->var_count; v++)
        if (op_index_reduced(x, v)) row *= width(c, v);
    do c->to[o->offset[0]] = r->row(c->operand[0] + o->offset[1], row);
    while (odometer_next(o));
    free(o);
    return true;
}

/* Where a variable of a contraction stands. */
enum { BATCH, ROWS, COLUMNS, SUMMED };

static int part_of(const struct op_index *x, int v)
{
    bool a = op_index_dim(x, 0, v) >= 0, b = op_index_dim(x, 1, v) >= 0;
    if (op_index_reduced(x, v)) return SUMMED;
    return a && b ? BATCH : a ? ROWS : COLUMNS;
}

/* The innermost stride of the variables of one part in an operand: they stand together and in order. */
static int64_t part_stride(const struct chunk *c, int operand, int part)
{
    int64_t least = 0;
    for (int v = 0; v < c->w->x.var_count; v++) {
        int64_t s = c->var_stride[operand][v];
        if (part_of(&c->w->x, v) == part && s > 0 && (least == 0 || s < least)) least = s;
    }
    return least ? least : 1;
}

/* Rows, then columns, in the order of the output: the product as it stands. Its last variable is no part of
 * the odometer. */
static void put_product(const float *product, struct odometer *o, float *to)
{
    int last = o->count - 1;
    int64_t run = last >= 0 ? o->extent[last] : 1, step = last >= 0 ? o->step[0][last] : 1;
    if (last >= 0) o->count--;
    do {
        for (int64_t i = 0; i < run; i++) to[o->offset[0] + i * step] = product[i];
        product += run;
    } while (odometer_next(o));
    if (last >= 0) o->count++;
}

bool leaf_contraction(struct chunk *c)
{
    const struct op_index *x = &c->w->x;
    int out = c->w->operands - 1;
    int64_t size[4] = {1, 1, 1, 1};
    for (int v = 0; v < x->var_count; v++) size[part_of(x, v)] *= width(c, v);
    int64_t m = size[ROWS], n = size[COLUMNS], k = size[SUMMED];
    float *product = malloc((size_t)(m * n) * sizeof *product);
    struct odometer *batch = calloc(1, sizeof *batch), *inside = calloc(1, sizeof *inside);
    bool ok = product && batch && inside;
    struct gemm g = {.m = m,
                     .n = n,
                     .k = k,
                     .batch = 1,
                     .a_m = part_stride(c, 0, ROWS),
                     .a_k = part_stride(c, 0, SUMMED),
                     .b_k = part_stride(c, 1, SUMMED),
                     .b_n = part_stride(c, 1, COLUMNS),
                     .c_m = n,
                     .c_n = 1,
                     .first = GEMM_FIRST_ZERO};
    struct gemm_plan plan;
    struct pool *pool = c->w->inner_pool;
    if (ok) {
        gemm_prepare(&plan, &g, kernel_target_best(), pool_threads(pool));
        batch->arrays = 3;
        inside->arrays = 1;
        for (int h = 0; h < x->rank[out]; h++)
            if (part_of(x, x->var[out][h]) == BATCH) odometer_add(batch, c, x->var[out][h]);
        for (int part = ROWS; part <= COLUMNS; part++)
            for (int h = 0; h < x->rank[out]; h++)
                if (part_of(x, x->var[out][h]) == part) odometer_add(inside, c, x->var[out][h]);
    }
    while (ok) {
        struct gemm_operands operands = {
            .a = c->operand[0] + batch->offset[1], .b = c->operand[1] + batch->offset[2], .c = product};
        ok = gemm_run(&plan, &operands, pool);
        if (ok) put_product(product, inside, c->to + batch->offset[0]);
        if (!ok || !odometer_next(batch)) break;
    }
    free(product);
    free(batch);
    free(inside);
    return ok;
}
