/* Element-wise functions without a pattern kind, chains of two-operand kinds, and ops that depend on the
 * element type. */
#include "import/layers/layers.h"

/* max(x, low), then min(., high), for the bounds given as operands or attributes. */
bool derive_clip(struct layer *l)
{
    int32_t y = layer_in(l, 0);
    if (layer_in(l, 1) >= 0) y = layer_two(l, "Max", y, layer_in(l, 1));
    if (model_attr_find(&l->op->attrs, "min")) y = layer_by(l, "Max", y, layer_real(l, "min", 0));
    if (layer_in(l, 2) >= 0) y = layer_two(l, "Min", y, layer_in(l, 2));
    if (model_attr_find(&l->op->attrs, "max")) y = layer_by(l, "Min", y, layer_real(l, "max", 0));
    return layer_result(l, 0, y);
}

/* clamp(alpha x + beta, 0, 1) */
static int32_t point_hard(struct layer *l, double alpha, double beta)
{
    int32_t y = layer_by(l, "Add", layer_by(l, "Mul", layer_in(l, 0), alpha), beta);
    return layer_by(l, "Min", layer_by(l, "Max", y, 0), 1);
}

static bool point_is(const struct layer *l, const char *ttir, const char *onnx)
{
    return strcmp(l->op->kind, ttir) == 0 || strcmp(l->op->kind, onnx) == 0;
}

/* Softplus as max(x, 0) + log1p(exp(-|x|)) does not overflow. */
bool derive_activation(struct layer *l)
{
    int32_t x = layer_in(l, 0), y = -1;
    double alpha = layer_real(l, "alpha", 1);
    if (point_is(l, "relu6", "")) y = layer_by(l, "Min", layer_one(l, "Relu", x), 6);
    if (point_is(l, "hardsigmoid", "HardSigmoid")) {
        alpha = layer_real(l, "alpha", l->m->format == MODEL_ONNX ? 0.2 : 1.0 / 6);
        y = point_hard(l, alpha, layer_real(l, "beta", 0.5));
    }
    if (point_is(l, "hardswish", "HardSwish")) y = layer_two(l, "Mul", x, point_hard(l, 1.0 / 6, 0.5));
    if (point_is(l, "silu", "Swish"))
        y = layer_two(l, "Mul", x, layer_one(l, "Sigmoid", alpha == 1 ? x : layer_by(l, "Mul", x, alpha)));
    if (point_is(l, "leaky_relu", "LeakyRelu")) {
        alpha = layer_real(l, "alpha", layer_real(l, "parameter", 0.01));
        int32_t negative = layer_by(l, "Less", x, 0), parts[] = {negative, layer_by(l, "Mul", x, alpha), x};
        y = layer_part(l, "Where", 3, parts);
    }
    if (point_is(l, "softplus", "Softplus")) {
        int32_t small = layer_one(l, "Exp", layer_one(l, "Neg", layer_one(l, "Abs", x)));
        y = layer_two(l, "Add", layer_one(l, "Relu", x), layer_one(l, "lxplan:Log1p", small));
    }
    return layer_result(l, 0, y);
}

/* Max, Min and Sum of any number of operands, one after the other. The mapping takes Max and Min of two. */
bool derive_chain(struct layer *l)
{
    const char *kind = strcmp(l->op->kind, "Sum") == 0 ? "Add" : l->op->kind;
    int32_t y = layer_in(l, 0);
    if (l->op->operand_count == 2 && kind == l->op->kind) return false;
    for (int i = 1; i < l->op->operand_count; i++) y = layer_two(l, kind, y, layer_in(l, i));
    return layer_result(l, 0, y);
}

/* One number everywhere: zeros, empty, ones, full. */
bool derive_full(struct layer *l)
{
    const struct model_type *y = layer_out(l);
    if (strcmp(l->op->kind, "full") == 0 && !model_attr_find(&l->op->attrs, "fill_value")) return false;
    double number = strcmp(l->op->kind, "ones") == 0 ? 1 : layer_real(l, "fill_value", 0);
    return layer_result(l, 0, layer_expand_to(l, layer_number(l, y->element, number), y->count, y->extent));
}

/* The first operand in the result's type; placement and layout do not matter. */
bool derive_identity(struct layer *l)
{
    return layer_result(l, 0, layer_in(l, 0));
}

/* Dropout in inference, with the mask that it did not apply. */
bool derive_dropout(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    return l->op->result_count > 1 && l->op->results[1] >= 0 && derive_identity(l) &&
           layer_result(l, 1, layer_expand_to(l, layer_number(l, MODEL_BOOL, 1), t->count, t->extent));
}

/* Before version 7 the second operand begins at dimension `axis` of the first. */
bool derive_aligned(struct layer *l)
{
    const struct model_type *a = layer_type(l, layer_in(l, 0)), *b = layer_type(l, layer_in(l, 1));
    int64_t extent[MODEL_MAX_RANK], axis = layer_int(l, "axis", a->count - b->count);
    if (l->opset >= 7 || axis < 0 || axis + b->count > a->count || b->count == a->count) return false;
    for (int d = 0; d < a->count; d++) extent[d] = d >= axis && d < axis + b->count ? b->extent[d - axis] : 1;
    int32_t second = layer_reshape(l, layer_in(l, 1), a->count, extent);
    return layer_result(l, 0, layer_two(l, l->op->kind, layer_in(l, 0), second));
}

/* The remainder of a / b toward zero, plus b if its sign differs from b's; unsigned numbers have one sign. */
bool derive_modulo(struct layer *l)
{
    int32_t a = layer_in(l, 0), b = layer_in(l, 1);
    if (layer_int(l, "fmod", 0) != 0 ||
        model_element_row(layer_type(l, a)->element)->number == MODEL_UNSIGNED)
        return false;
    layer_put(l, "fmod", 1);
    int32_t rest = layer_two(l, "Mod", a, b);
    int32_t other = layer_two(l, "Xor", layer_by(l, "Less", rest, 0), layer_by(l, "Less", b, 0));
    int32_t some = layer_cast(l, rest, MODEL_BOOL);
    int32_t parts[] = {layer_two(l, "And", other, some), layer_two(l, "Add", rest, b), rest};
    return layer_result(l, 0, layer_part(l, "Where", 3, parts));
}

/* logical_* of integers tests for != 0; the kinds alone would combine bits. */
bool derive_logic(struct layer *l)
{
    static const char *const kinds[][2] = {
        {"logical_and", "And"}, {"logical_or", "Or"}, {"logical_xor", "Xor"}, {"logical_not", "Not"}};
    int32_t in[2] = {-1, -1};
    int count = l->op->operand_count;
    bool whole = false;
    if (strncmp(l->op->kind, "logical_", 8) != 0) return derive_aligned(l);
    for (int i = 0; i < count && i < 2; i++) {
        enum model_element e = layer_type(l, layer_in(l, i))->element;
        enum model_number n = model_element_row(e)->number;
        whole |= e != MODEL_BOOL && (n == MODEL_SIGNED || n == MODEL_UNSIGNED);
    }
    if (!whole || count > 2) return false;
    for (int i = 0; i < count; i++) in[i] = layer_cast(l, layer_in(l, i), MODEL_BOOL);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k][0], l->op->kind) == 0) layer_result(l, 0, layer_part(l, kinds[k][1], count, in));
    return l->ok;
}

/* Larger numbers saturate at the largest fp8 value, unless the file states otherwise. */
bool derive_saturated(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    enum model_element to = layer_out(l)->element;
    const struct model_element_row *from = model_element_row(layer_type(l, x)->element);
    double most = to == MODEL_F8E4M3FN                           ? 448
                  : to == MODEL_F8E4M3FNUZ                       ? 240
                  : to == MODEL_F8E5M2 || to == MODEL_F8E5M2FNUZ ? 57344
                                                                 : 0;
    if (l->m->format != MODEL_ONNX || most == 0 || layer_int(l, "saturate", 1) == 0 ||
        from->number != MODEL_FLOAT || from->bits < 16)
        return false;
    x = layer_by(l, "Min", layer_by(l, "Max", x, -most), most);
    layer_put(l, "saturate", 0);
    return layer_result(l, 0, layer_cast(l, x, to));
}
