/* Quantised kinds: scales and zero points in the open, products of whole numbers in int32. */
#include "model/layers.h"

#include <string.h>

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
static int32_t spread(struct layer *l, int32_t s, int32_t x, int64_t axis)
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
static int32_t dequantised(struct layer *l, int32_t x, int32_t scale, int32_t zero, int64_t axis)
{
    enum model_element f = layer_element(l, scale);
    int32_t y = layer_cast(l, x, f);
    if (zero >= 0) y = layer_two(l, "Sub", y, layer_cast(l, spread(l, zero, x, axis), f));
    return layer_two(l, "Mul", y, spread(l, scale, x, axis));
}

/* clamp(round(x / s) + z) */
static int32_t quantised(struct layer *l, int32_t x, int32_t scale, int32_t zero, int64_t axis,
                         enum model_element to)
{
    enum model_element f = layer_element(l, scale);
    double low, high;
    int32_t y = layer_two(l, "Div", layer_cast(l, x, f), spread(l, scale, x, axis));
    if (model_element_row(to)->number == MODEL_FLOAT) return layer_cast(l, y, to);
    range_of(to, &low, &high);
    y = layer_one(l, "Round", y);
    if (zero >= 0) y = layer_two(l, "Add", y, layer_cast(l, spread(l, zero, x, axis), f));
    return layer_cast(l, layer_by(l, "Min", layer_by(l, "Max", y, low), high), to);
}

static void quantize(struct layer *l)
{
    enum model_element to = layer_element(l, l->op->results[0]);
    layer_result(l, 0,
                 quantised(l, layer_in(l, 0), layer_in(l, 1), layer_in(l, 2), layer_int(l, "axis", 1), to));
}

static void dequantize(struct layer *l)
{
    layer_result(l, 0,
                 dequantised(l, layer_in(l, 0), layer_in(l, 1), layer_in(l, 2), layer_int(l, "axis", 1)));
}

/* x, its scale and zero point, those of the result */
static void requantize(struct layer *l)
{
    int64_t axis = layer_int(l, "axis", 1);
    if (l->op->operand_count != 5) {
        layer_fail(l);
        return;
    }
    int32_t y = dequantised(l, layer_in(l, 0), layer_in(l, 1), layer_in(l, 2), axis);
    enum model_element to = layer_element(l, l->op->results[0]);
    layer_result(l, 0, quantised(l, y, layer_in(l, 3), layer_in(l, 4), axis, to));
}

/* Scale and zero point that cover all elements, and 0, with 8 bits. */
static void dynamic_scale(struct layer *l, int32_t x, int32_t *scale, int32_t *zero)
{
    int64_t axes[MODEL_MAX_RANK];
    int rank = layer_type(l, x)->count;
    for (int d = 0; d < rank; d++) axes[d] = d;
    int32_t high = layer_by(l, "Max", layer_reduce(l, "ReduceMax", x, rank, axes, false), 0);
    int32_t low = layer_by(l, "Min", layer_reduce(l, "ReduceMin", x, rank, axes, false), 0);
    *scale = layer_by(l, "Div", layer_two(l, "Sub", high, low), 255);
    int32_t z = layer_one(l, "Round", layer_two(l, "Div", layer_one(l, "Neg", low), *scale));
    *zero = layer_cast(l, layer_by(l, "Min", layer_by(l, "Max", z, 0), 255), MODEL_U8);
}

static void dynamic_quantize(struct layer *l)
{
    int32_t x = layer_in(l, 0), scale, zero;
    dynamic_scale(l, x, &scale, &zero);
    layer_result(l, 0, quantised(l, x, scale, zero, 1, MODEL_U8));
    layer_result(l, 1, scale);
    layer_result(l, 2, zero);
}

/* x - z in int32; `axis`: of zero points that are a vector. */
static int32_t shifted(struct layer *l, int32_t x, int32_t zero, int64_t axis)
{
    int32_t y = layer_cast(l, x, MODEL_I32);
    return zero < 0 ? y : layer_two(l, "Sub", y, layer_cast(l, spread(l, zero, x, axis), MODEL_I32));
}

/* a, b, zero of a?, zero of b? */
static void matmul_integer(struct layer *l)
{
    int32_t a = shifted(l, layer_in(l, 0), layer_in(l, 2), -2),
            b = shifted(l, layer_in(l, 1), layer_in(l, 3), -1);
    layer_result(l, 0, layer_two(l, "MatMul", a, b));
}

/* Attributes of a convolution go on to the one that does it. */
static int32_t conv_like(struct layer *l, int32_t x, int32_t w)
{
    static const char *const keys[] = {"pads", "strides", "dilations", "group", "auto_pad", "kernel_shape"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct model_attr *a = model_attr_find(&l->op->attrs, keys[i]);
        if (a && l->attr_count < LAYER_MAX_ATTRS) l->attr[l->attr_count++] = *a;
    }
    return layer_two(l, "Conv", x, w);
}

static void conv_integer(struct layer *l)
{
    int32_t x = shifted(l, layer_in(l, 0), layer_in(l, 2), 1),
            w = shifted(l, layer_in(l, 1), layer_in(l, 3), 0);
    layer_result(l, 0, conv_like(l, x, w));
}

/* The sum in int32, by the product of the scales over that of the result. */
static int32_t requantised(struct layer *l, int32_t sum, int32_t scale, int32_t y_scale, int32_t y_zero)
{
    int32_t y = layer_two(l, "Mul", layer_cast(l, sum, layer_element(l, scale)), scale);
    return quantised(l, y, y_scale, y_zero, 1, layer_element(l, l->op->results[0]));
}

/* a, scale, zero, b, scale, zero, scale and zero of the result */
static void qlinear_matmul(struct layer *l)
{
    if (l->op->operand_count < 8) {
        layer_fail(l);
        return;
    }
    int32_t a = shifted(l, layer_in(l, 0), layer_in(l, 2), -2),
            b = shifted(l, layer_in(l, 3), layer_in(l, 5), -1);
    int32_t scale = layer_two(l, "Mul", layer_in(l, 1), layer_in(l, 4));
    layer_result(l, 0, requantised(l, layer_two(l, "MatMul", a, b), scale, layer_in(l, 6), layer_in(l, 7)));
}

/* The same for a convolution, with a bias in int32. */
static void qlinear_conv(struct layer *l)
{
    if (l->op->operand_count < 8) {
        layer_fail(l);
        return;
    }
    int32_t x = shifted(l, layer_in(l, 0), layer_in(l, 2), 1),
            w = shifted(l, layer_in(l, 3), layer_in(l, 5), 0);
    int32_t y = conv_like(l, x, w), scale = layer_two(l, "Mul", layer_in(l, 1), layer_in(l, 4));
    int rank = layer_type(l, y)->count;
    if (l->ok && layer_type(l, scale)->elements > 1) scale = layer_channels(l, scale, rank, 1);
    if (layer_has(l, 8)) y = layer_two(l, "Add", y, layer_channels(l, layer_in(l, 8), rank, 1));
    layer_result(l, 0, requantised(l, y, scale, layer_in(l, 6), layer_in(l, 7)));
}

/* a, b, scale of a, scale of b, zero of a?, zero of b?, bias? */
static void matmul_to_float(struct layer *l)
{
    int32_t a = shifted(l, layer_in(l, 0), layer_in(l, 4), -2),
            b = shifted(l, layer_in(l, 1), layer_in(l, 5), -1);
    enum model_element f = layer_element(l, layer_in(l, 2));
    int32_t y = layer_cast(l, layer_two(l, "MatMul", a, b), f);
    y = layer_two(l, "Mul", y, layer_two(l, "Mul", layer_in(l, 2), layer_in(l, 3)));
    if (layer_has(l, 6)) y = layer_two(l, "Add", y, layer_in(l, 6));
    layer_result(l, 0, y);
}

/* a, b, scale of b, zero of b?, bias?: a is quantised on the way */
static void dynamic_matmul(struct layer *l)
{
    int32_t x = layer_in(l, 0), scale, zero;
    dynamic_scale(l, x, &scale, &zero);
    int32_t a = shifted(l, quantised(l, x, scale, zero, 1, MODEL_U8), zero, -2);
    int32_t b = shifted(l, layer_in(l, 1), layer_in(l, 3), -1);
    int32_t y = layer_cast(l, layer_two(l, "MatMul", a, b), MODEL_F32);
    y = layer_two(l, "Mul", y, layer_two(l, "Mul", scale, layer_in(l, 2)));
    if (layer_has(l, 4)) y = layer_two(l, "Add", y, layer_in(l, 4));
    layer_result(l, 0, y);
}

/* clang-format off */
const struct layer_row layers_quantised[] = {
    {{"quantize_unrolled", NULL, "QuantizeLinear"}, quantize},
    {{NULL, NULL, "com.microsoft:QuantizeLinear"}, quantize},
    {{"dequantize_unrolled", NULL, "DequantizeLinear"}, dequantize},
    {{"requantize_unrolled", NULL, NULL}, requantize},
    {{NULL, NULL, "com.microsoft:DequantizeLinear"}, dequantize},
    {{NULL, NULL, "DynamicQuantizeLinear"}, dynamic_quantize},
    {{NULL, NULL, "MatMulInteger"}, matmul_integer},
    {{NULL, NULL, "ConvInteger"}, conv_integer},
    {{NULL, NULL, "QLinearMatMul"}, qlinear_matmul},
    {{NULL, NULL, "QLinearConv"}, qlinear_conv},
    {{NULL, NULL, "com.microsoft:MatMulIntegerToFloat"}, matmul_to_float},
    {{NULL, NULL, "com.microsoft:DynamicQuantizeMatMul"}, dynamic_matmul},
    {{NULL}, NULL},
};
/* clang-format on */
