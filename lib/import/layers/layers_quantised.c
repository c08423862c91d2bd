/* QuantizeLinear and DequantizeLinear: scales and zero points in the open. */
#include "import/layers/layers.h"

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
