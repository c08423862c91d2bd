/* Scales and zero points in the open. */
#include "model/quantised_parts.h"

static void range_of(enum model_element e, double *low, double *high)
{
    int bits = model_element_row(e)->bits;
    bool is_signed = model_element_row(e)->number == MODEL_SIGNED;
    *high = (double)((INT64_C(1) << (bits - is_signed)) - 1);
    *low = is_signed ? -*high - 1 : 0;
}

/* Blocks that do not come out even: the last one is shorter. */
static int32_t spread_rest(struct layer *l, int32_t s, int64_t extent, int axis, int64_t block)
{
    int64_t from[MODEL_MAX_KNOWN];
    if (extent > MODEL_MAX_KNOWN || (extent - 1) / block >= layer_type(l, s)->extent[axis])
        return layer_fail(l), -1;
    for (int64_t i = 0; i < extent; i++) from[i] = i / block;
    return layer_gather(l, s, axis, extent, from);
}

/* A scale or zero point: one number, one a channel along `axis`, or one a block of it. */
int32_t quantised_spread(struct layer *l, int32_t s, int32_t x, int64_t axis)
{
    const struct model_type *t = layer_type(l, x), *has = layer_type(l, s);
    int64_t open[MODEL_MAX_RANK], full[MODEL_MAX_RANK];
    if (axis < 0) axis += t->count;
    if (has->elements == 1 && has->count <= t->count) return s;
    if (axis < 0 || axis >= t->count || t->count + 1 > MODEL_MAX_RANK) return layer_fail(l), -1;
    if (has->count == 1 && has->elements == t->extent[axis]) return layer_channels(l, s, t->count, (int)axis);
    int64_t blocks = has->count == t->count ? has->extent[axis] : 0, block = layer_int(l, "block_size", 0);
    if (blocks < 1) return layer_fail(l), -1;
    if (block > 0 && (block > t->extent[axis] / blocks || t->extent[axis] % blocks != 0))
        return spread_rest(l, s, t->extent[axis], (int)axis, block);
    if (t->extent[axis] % blocks != 0) return layer_fail(l), -1;
    for (int d = 0; d <= t->count; d++) {
        int from = d <= axis ? d : d - 1;
        full[d] = d == axis + 1 ? t->extent[axis] / blocks : has->extent[from];
        open[d] = d == axis + 1 ? 1 : full[d];
    }
    s = layer_expand_to(l, layer_reshape(l, s, t->count + 1, open), t->count + 1, full);
    return layer_reshape(l, s, t->count, t->extent);
}

/* (x - z) * s */
int32_t quantised_back(struct layer *l, int32_t x, int32_t scale, int32_t zero, int64_t axis)
{
    enum model_element f = layer_element(l, scale);
    int32_t y = layer_cast(l, x, f);
    if (zero >= 0) y = layer_two(l, "Sub", y, layer_cast(l, quantised_spread(l, zero, x, axis), f));
    return layer_two(l, "Mul", y, quantised_spread(l, scale, x, axis));
}

/* clamp(round(x / s) + z) */
int32_t quantised_to(struct layer *l, int32_t x, int32_t scale, int32_t zero, int64_t axis,
                     enum model_element to)
{
    enum model_element f = layer_element(l, scale);
    double low, high;
    int32_t y = layer_two(l, "Div", layer_cast(l, x, f), quantised_spread(l, scale, x, axis));
    if (model_element_row(to)->number == MODEL_FLOAT) return layer_cast(l, y, to);
    range_of(to, &low, &high);
    y = layer_one(l, "Round", y);
    if (zero >= 0) y = layer_two(l, "Add", y, layer_cast(l, quantised_spread(l, zero, x, axis), f));
    return layer_cast(l, layer_by(l, "Min", layer_by(l, "Max", y, low), high), to);
}

/* x - z in int32; `axis`: of zero points that are a vector. */
int32_t quantised_shifted(struct layer *l, int32_t x, int32_t zero, int64_t axis)
{
    int32_t y = layer_cast(l, x, MODEL_I32);
    return zero < 0 ? y
                    : layer_two(l, "Sub", y, layer_cast(l, quantised_spread(l, zero, x, axis), MODEL_I32));
}

/* Attributes of a convolution go on to the one that does it. */
int32_t quantised_conv(struct layer *l, int32_t x, int32_t w)
{
    static const char *const keys[] = {"pads", "strides", "dilations", "group", "auto_pad", "kernel_shape"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct model_attr *a = model_attr_find(&l->op->attrs, keys[i]);
        if (a && l->attr_count < LAYER_MAX_ATTRS) l->attr[l->attr_count++] = *a;
    }
    return layer_two(l, "Conv", x, w);
}

int32_t quantised_apart(struct layer *l, int32_t x, int64_t bits)
{
    const struct model_type *t = layer_type(l, x);
    int64_t one[MODEL_MAX_RANK], wide[MODEL_MAX_RANK];
    int32_t parts[8];
    int rank = t->count, per = bits == 2 ? 4 : 2;
    if (!l->ok || rank < 1 || rank + 1 > MODEL_MAX_RANK) return layer_fail(l), -1;
    for (int d = 0; d < rank; d++)
        one[d] = t->extent[d], wide[d] = d == rank - 1 ? per * t->extent[d] : t->extent[d];
    one[rank] = 1;
    for (int i = 0; i < per; i++) {
        int32_t y = x;
        if (i > 0) {
            int32_t by = layer_number(l, t->element, (double)(i * bits));
            l->attr[l->attr_count++] =
                (struct model_attr){.key = "direction", .form = ATTR_WORD, .text = "RIGHT"};
            y = layer_two(l, "BitShift", x, by);
        }
        if (i + 1 < per) y = layer_by(l, "BitwiseAnd", y, (double)((1 << bits) - 1));
        parts[i] = layer_reshape(l, y, rank + 1, one);
    }
    return layer_reshape(l, layer_concat(l, rank, per, parts), rank, wide);
}
