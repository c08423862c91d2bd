/* Functions of one element by others, so that nothing cancels where the argument is small. Kinds of ours are tan-1 of two
 * numbers, e^x - 1 and log(1 + x). */
#include "model/layers.h"

#include <math.h>
#include <string.h>

static int32_t root_of_rest(struct layer *l, int32_t x)
{
    int32_t one = layer_number(l, layer_element(l, x), 1);
    int32_t y = layer_two(l, "Mul", layer_two(l, "Sub", one, x), layer_by(l, "Add", x, 1));
    return layer_one(l, "Sqrt", y);
}

/* The angle of (sqrt(1 - x^2), x), and of (x, sqrt(1 - x^2)) */
static void arc_sine(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    layer_result(l, 0, layer_two(l, "lxplan:Atan2", x, root_of_rest(l, x)));
}

static void arc_cosine(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    layer_result(l, 0, layer_two(l, "lxplan:Atan2", root_of_rest(l, x), x));
}

static void arc_tangent(struct layer *l)
{
    layer_result(l, 0, layer_by(l, "lxplan:Atan2", layer_in(l, 0), 1));
}

/* 1 - erf x, in fp32 at least */
static void rest_of_erf(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    if (model_element_row(layer_element(l, x))->bits < 32) x = layer_cast(l, x, MODEL_F32);
    layer_result(l, 0, layer_two(l, "Sub", layer_number(l, layer_element(l, x), 1), layer_one(l, "Erf", x)));
}

static void tangent(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    layer_result(l, 0, layer_two(l, "Div", layer_one(l, "Sin", x), layer_one(l, "Cos", x)));
}

/* e = exp |x| - 1: (e + e / (e + 1)) / 2, with the sign of x */
static void hyperbolic_sine(struct layer *l)
{
    int32_t x = layer_in(l, 0), e = layer_one(l, "lxplan:Expm1", layer_one(l, "Abs", x));
    int32_t y = layer_two(l, "Add", e, layer_two(l, "Div", e, layer_by(l, "Add", e, 1)));
    layer_result(l, 0, layer_two(l, "Mul", layer_by(l, "Mul", y, 0.5), layer_one(l, "Sign", x)));
}

static void hyperbolic_cosine(struct layer *l)
{
    int32_t x = layer_in(l, 0), down = layer_one(l, "Exp", layer_one(l, "Neg", x));
    layer_result(l, 0, layer_by(l, "Mul", layer_two(l, "Add", layer_one(l, "Exp", x), down), 0.5));
}

/* a = |x|: log(1 + a + a / (1 / a + sqrt(1 + 1 / a^2))), with the sign of x */
static void area_sine(struct layer *l)
{
    int32_t x = layer_in(l, 0), a = layer_one(l, "Abs", x), r = layer_one(l, "Reciprocal", a);
    int32_t root = layer_one(l, "Sqrt", layer_by(l, "Add", layer_two(l, "Mul", r, r), 1));
    int32_t y = layer_two(l, "Add", a, layer_two(l, "Div", a, layer_two(l, "Add", r, root)));
    layer_result(l, 0, layer_two(l, "Mul", layer_one(l, "lxplan:Log1p", y), layer_one(l, "Sign", x)));
}

/* t = x - 1: log(1 + t + sqrt(t (t + 2))) */
static void area_cosine(struct layer *l)
{
    int32_t t = layer_by(l, "Sub", layer_in(l, 0), 1);
    int32_t root = layer_one(l, "Sqrt", layer_two(l, "Mul", t, layer_by(l, "Add", t, 2)));
    layer_result(l, 0, layer_one(l, "lxplan:Log1p", layer_two(l, "Add", t, root)));
}

/* (log(1 + x) - log(1 - x)) / 2 */
static void area_tangent(struct layer *l)
{
    int32_t x = layer_in(l, 0), up = layer_one(l, "lxplan:Log1p", x),
            down = layer_one(l, "lxplan:Log1p", layer_one(l, "Neg", x));
    layer_result(l, 0, layer_by(l, "Mul", layer_two(l, "Sub", up, down), 0.5));
}

static void square(struct layer *l)
{
    layer_result(l, 0, layer_two(l, "Mul", layer_in(l, 0), layer_in(l, 0)));
}

/* Toward zero */
static int32_t whole_part(struct layer *l, int32_t x)
{
    int32_t below = layer_by(l, "Less", x, 0);
    int32_t parts[] = {below, layer_one(l, "Ceil", x), layer_one(l, "Floor", x)};
    return layer_part(l, "Where", 3, parts);
}

static void truncated(struct layer *l)
{
    layer_result(l, 0, whole_part(l, layer_in(l, 0)));
}

/* Halves away from zero: one more than the whole part of |x| where a half or more is left, with the sign of x */
static void round_away(struct layer *l)
{
    int32_t x = layer_in(l, 0), a = layer_one(l, "Abs", x), whole = layer_one(l, "Floor", a);
    int32_t more = layer_by(l, "GreaterOrEqual", layer_two(l, "Sub", a, whole), 0.5);
    int32_t y = layer_two(l, "Add", whole, layer_cast(l, more, layer_element(l, x)));
    layer_result(l, 0, layer_two(l, "Mul", y, layer_one(l, "Sign", x)));
}

/* By the function: g (P(x) + x p(x)), p = exp(-x^2 / 2) / sqrt(2 pi), P = (1 + erf(x / sqrt 2)) / 2 */
static int32_t exact_slope(struct layer *l, int32_t x)
{
    int32_t p = layer_by(l, "Mul", layer_two(l, "Mul", x, x), -0.5);
    p = layer_by(l, "Mul", layer_one(l, "Exp", p), 0.3989422804014327);
    int32_t all = layer_one(l, "Erf", layer_by(l, "Mul", x, 0.7071067811865476));
    all = layer_by(l, "Mul", layer_by(l, "Add", all, 1), 0.5);
    return layer_two(l, "Add", all, layer_two(l, "Mul", x, p));
}

/* By the formula: t = tanh(c (x + k x^3)): (1 + t) / 2 + x (1 - t^2) c (1 + 3 k x^2) / 2 */
static int32_t formula_slope(struct layer *l, int32_t x)
{
    const double c = 0.7978845608028654, k = 0.044715;
    int32_t xx = layer_two(l, "Mul", x, x), one = layer_number(l, layer_element(l, x), 1);
    int32_t t = layer_two(l, "Mul", x, layer_by(l, "Add", layer_by(l, "Mul", xx, k), 1));
    t = layer_one(l, "Tanh", layer_by(l, "Mul", t, c));
    int32_t rest = layer_two(l, "Sub", one, layer_two(l, "Mul", t, t));
    int32_t steep = layer_by(l, "Mul", layer_by(l, "Add", layer_by(l, "Mul", xx, 3 * k), 1), 0.5 * c);
    int32_t y = layer_two(l, "Mul", layer_two(l, "Mul", x, rest), steep);
    return layer_two(l, "Add", layer_by(l, "Mul", layer_by(l, "Add", t, 1), 0.5), y);
}

/* What comes back, and the argument. */
static void gelu_back(struct layer *l)
{
    const char *how = model_attr_word(&l->op->attrs, "approximate", "none");
    if (l->op->operand_count != 2) {
        layer_fail(l);
        return;
    }
    int32_t x = layer_cast(l, layer_in(l, 1), MODEL_F32), back = layer_cast(l, layer_in(l, 0), MODEL_F32);
    int32_t slope = strcmp(how, "tanh") == 0 ? formula_slope(l, x) : exact_slope(l, x);
    layer_result(l, 0, layer_two(l, "Mul", back, slope));
}

/* clang-format off */
const struct layer_row layers_functions[] = {
    {{"acos", "acos", "Acos"}, arc_cosine},
    {{"asin", "asin", "Asin"}, arc_sine},
    {{"atan", "atan", "Atan"}, arc_tangent},
    {{"acosh", "acosh", "Acosh"}, area_cosine},
    {{"asinh", "asinh", "Asinh"}, area_sine},
    {{"atanh", "atanh", "Atanh"}, area_tangent},
    {{"sinh", "sinh", "Sinh"}, hyperbolic_sine},
    {{"cosh", "cosh", "Cosh"}, hyperbolic_cosine},
    {{"tan", "tan", "Tan"}, tangent},
    {{"square", NULL, NULL}, square},
    {{"trunc", NULL, NULL}, truncated},
    {{"erfc", "erfc", NULL}, rest_of_erf},
    {{NULL, "round-nearest-afz", NULL}, round_away},
    {{"gelu_bw", NULL, NULL}, gelu_back},
    {{"gelu_backward", NULL, NULL}, gelu_back},
    {{NULL}, NULL},
};
/* clang-format on */
