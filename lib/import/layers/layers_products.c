/* Gemm and linear in matmuls, lookups, QuantizeLinear and DequantizeLinear. */
#include "import/layers/layers.h"

#include <string.h>

/* The last two dimensions swapped. */
static int32_t product_turned(struct layer *l, int32_t a, bool turn)
{
    int64_t perm[MODEL_MAX_RANK];
    int rank = layer_type(l, a)->count;
    if (!turn || !l->ok) return a;
    if (rank < 2) return layer_fail(l), -1;
    for (int d = 0; d < rank; d++) perm[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
    return layer_permute(l, a, rank, perm);
}

static int32_t product_scaled(struct layer *l, int32_t a, double by)
{
    return by == 1 ? a : layer_by(l, "Mul", a, by);
}

/* alpha * A' B' + beta * C; below 7 C is aligned by numbers too. */
void derive_gemm(struct layer *l)
{
    int32_t a = product_turned(l, layer_in(l, 0), layer_int(l, "transA", 0) != 0);
    int32_t b = product_turned(l, layer_in(l, 1), layer_int(l, "transB", 0) != 0);
    int32_t y = product_scaled(l, layer_two(l, "MatMul", a, b), layer_real(l, "alpha", 1));
    if (layer_has(l, 2) && layer_real(l, "beta", 1) != 0)
        y = layer_two(l, "Add", y, product_scaled(l, layer_in(l, 2), layer_real(l, "beta", 1)));
    if (strcmp(l->op->kind, "com.microsoft:GemmFastGelu") == 0) y = layer_one(l, "com.microsoft:FastGelu", y);
    layer_result(l, 0, y);
}

/* A (or x) W + b of TTIR. */
void derive_linear(struct layer *l)
{
    int32_t a = product_turned(l, layer_in(l, 0), layer_int(l, "transpose_a", 0) != 0);
    int32_t b = product_turned(l, layer_in(l, 1), layer_int(l, "transpose_b", 0) != 0);
    int32_t y = layer_two(l, "MatMul", a, b);
    if (layer_has(l, 2)) y = layer_two(l, "Add", y, layer_in(l, 2));
    layer_result(l, 0, y);
}

/* ---- What indices decide on: masks by counters, lookups and writes along a dimension in forms t ---- */

static int pick_axis_of(const struct layer *l, int64_t usual, int rank)
{
    int64_t axis = layer_int(l, "axis", usual);
    if (axis < 0) axis += rank;
    return axis < 0 || axis >= rank ? -1 : (int)axis;
}

/* From a dimension of one element: that one, as often as there are indices. */
void derive_gather(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x), *i = layer_type(l, layer_in(l, 1));
    int64_t open[2 * MODEL_MAX_RANK], full[2 * MODEL_MAX_RANK];
    int axis = pick_axis_of(l, 0, t->count), rank = 0;
    if (axis < 0 || t->extent[axis] != 1 || t->count + i->count > MODEL_MAX_RANK) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < t->count; d++) {
        for (int k = 0; d == axis && k < i->count; k++, rank++) open[rank] = 1, full[rank] = i->extent[k];
        if (d != axis) open[rank] = full[rank] = t->extent[d], rank++;
    }
    layer_result(l, 0, layer_expand_to(l, layer_reshape(l, x, rank, open), rank, full));
}

/* ---- QuantizeLinear and DequantizeLinear: scales and zero points in the open ---- */

/* A scale or zero point: one number, one a channel along `axis`, or one a block of it. */
static int32_t quantised_spread(struct layer *l, int32_t s, int32_t x, int64_t axis)
{
    const struct model_type *t = layer_type(l, x), *has = layer_type(l, s);
    int64_t open[MODEL_MAX_RANK], full[MODEL_MAX_RANK];
    if (axis < 0) axis += t->count;
    if (has->elements == 1 && has->count <= t->count) return s;
    if (axis < 0 || axis >= t->count || t->count + 1 > MODEL_MAX_RANK) return layer_fail(l), -1;
    if (has->count == 1 && has->elements == t->extent[axis]) return layer_channels(l, s, t->count, (int)axis);
    int64_t blocks = has->count == t->count ? has->extent[axis] : 0, block = layer_int(l, "block_size", 0);
    if (blocks < 1 || t->extent[axis] % blocks != 0 || block > t->extent[axis] / blocks)
        return layer_fail(l), -1;
    for (int d = 0; d <= t->count; d++) {
        int from = d <= axis ? d : d - 1;
        full[d] = d == axis + 1 ? t->extent[axis] / blocks : has->extent[from];
        open[d] = d == axis + 1 ? 1 : full[d];
    }
    s = layer_expand_to(l, layer_reshape(l, s, t->count + 1, open), t->count + 1, full);
    return layer_reshape(l, s, t->count, t->extent);
}

/* (x - z) * s */
void derive_dequantize(struct layer *l)
{
    int32_t x = layer_in(l, 0), scale = layer_in(l, 1), zero = layer_in(l, 2);
    int64_t axis = layer_int(l, "axis", 1);
    enum model_element f = layer_element(l, scale);
    int32_t y = layer_cast(l, x, f);
    if (zero >= 0) y = layer_two(l, "Sub", y, layer_cast(l, quantised_spread(l, zero, x, axis), f));
    layer_result(l, 0, layer_two(l, "Mul", y, quantised_spread(l, scale, x, axis)));
}

/* clamp(round(x / s) + z) */
void derive_quantize(struct layer *l)
{
    int32_t x = layer_in(l, 0), scale = layer_in(l, 1), zero = layer_in(l, 2);
    int64_t axis = layer_int(l, "axis", 1);
    enum model_element f = layer_element(l, scale), to = layer_element(l, l->op->results[0]);
    const struct model_element_row *row = model_element_row(to);
    int32_t y = layer_two(l, "Div", layer_cast(l, x, f), quantised_spread(l, scale, x, axis));
    if (row->number != MODEL_FLOAT) {
        bool is_signed = row->number == MODEL_SIGNED;
        double high = (double)((INT64_C(1) << (row->bits - is_signed)) - 1), low = is_signed ? -high - 1 : 0;
        y = layer_one(l, "Round", y);
        if (zero >= 0) y = layer_two(l, "Add", y, layer_cast(l, quantised_spread(l, zero, x, axis), f));
        y = layer_by(l, "Min", layer_by(l, "Max", y, low), high);
    }
    layer_result(l, 0, layer_cast(l, y, to));
}
