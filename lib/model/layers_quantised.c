/* Quantised kinds: scales and zero points in the open, products of whole numbers in int32. */
#include "model/quantised_parts.h"

static void quantize(struct layer *l)
{
    enum model_element to = layer_element(l, l->op->results[0]);
    layer_result(
        l, 0, quantised_to(l, layer_in(l, 0), layer_in(l, 1), layer_in(l, 2), layer_int(l, "axis", 1), to));
}

static void dequantize(struct layer *l)
{
    layer_result(l, 0,
                 quantised_back(l, layer_in(l, 0), layer_in(l, 1), layer_in(l, 2), layer_int(l, "axis", 1)));
}

/* x, its scale and zero point, those of the result */
static void requantize(struct layer *l)
{
    int64_t axis = layer_int(l, "axis", 1);
    if (l->op->operand_count != 5) {
        layer_fail(l);
        return;
    }
    int32_t y = quantised_back(l, layer_in(l, 0), layer_in(l, 1), layer_in(l, 2), axis);
    enum model_element to = layer_element(l, l->op->results[0]);
    layer_result(l, 0, quantised_to(l, y, layer_in(l, 3), layer_in(l, 4), axis, to));
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
    layer_result(l, 0, quantised_to(l, x, scale, zero, 1, MODEL_U8));
    layer_result(l, 1, scale);
    layer_result(l, 2, zero);
}

/* a, b, zero of a?, zero of b? */
static void matmul_integer(struct layer *l)
{
    int32_t a = quantised_shifted(l, layer_in(l, 0), layer_in(l, 2), -2),
            b = quantised_shifted(l, layer_in(l, 1), layer_in(l, 3), -1);
    layer_result(l, 0, layer_two(l, "MatMul", a, b));
}

static void conv_integer(struct layer *l)
{
    int32_t x = quantised_shifted(l, layer_in(l, 0), layer_in(l, 2), 1),
            w = quantised_shifted(l, layer_in(l, 1), layer_in(l, 3), 0);
    layer_result(l, 0, quantised_conv(l, x, w));
}

/* The sum in int32, by the product of the scales over that of the result. */
static int32_t requantised(struct layer *l, int32_t sum, int32_t scale, int32_t y_scale, int32_t y_zero)
{
    int32_t y = layer_two(l, "Mul", layer_cast(l, sum, layer_element(l, scale)), scale);
    return quantised_to(l, y, y_scale, y_zero, 1, layer_element(l, l->op->results[0]));
}

/* a, scale, zero, b, scale, zero, scale and zero of the result */
static void qlinear_matmul(struct layer *l)
{
    if (l->op->operand_count < 8) {
        layer_fail(l);
        return;
    }
    int32_t a = quantised_shifted(l, layer_in(l, 0), layer_in(l, 2), -2),
            b = quantised_shifted(l, layer_in(l, 3), layer_in(l, 5), -1);
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
    int32_t x = quantised_shifted(l, layer_in(l, 0), layer_in(l, 2), 1),
            w = quantised_shifted(l, layer_in(l, 3), layer_in(l, 5), 0);
    int32_t y = quantised_conv(l, x, w), scale = layer_two(l, "Mul", layer_in(l, 1), layer_in(l, 4));
    int rank = layer_type(l, y)->count;
    if (l->ok && layer_type(l, scale)->elements > 1) scale = layer_channels(l, scale, rank, 1);
    if (layer_has(l, 8)) y = layer_two(l, "Add", y, layer_channels(l, layer_in(l, 8), rank, 1));
    layer_result(l, 0, requantised(l, y, scale, layer_in(l, 6), layer_in(l, 7)));
}

/* a, b, scale of a, scale of b, zero of a?, zero of b?, bias? */
static void matmul_to_float(struct layer *l)
{
    int32_t a = quantised_shifted(l, layer_in(l, 0), layer_in(l, 4), -2),
            b = quantised_shifted(l, layer_in(l, 1), layer_in(l, 5), -1);
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
    int32_t a = quantised_shifted(l, quantised_to(l, x, scale, zero, 1, MODEL_U8), zero, -2);
    int32_t b = quantised_shifted(l, layer_in(l, 1), layer_in(l, 3), -1);
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
