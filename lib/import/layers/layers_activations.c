/* Functions of one element that no kind of ours has, and chains of kinds that take two operands. */
#include "import/layers/layers.h"
#include "import/read/onnx.h"

#include <string.h>

/* max(x, low), then min(., high), where there are bounds; below 11 they are attributes. */
void derive_clip(struct layer *l)
{
    const struct model_attr *low = model_attr_find(&l->op->attrs, "min"),
                            *high = model_attr_find(&l->op->attrs, "max");
    int32_t y = layer_in(l, 0);
    if (layer_has(l, 1)) y = layer_two(l, "Max", y, layer_in(l, 1));
    if (low) y = layer_by(l, "Max", y, layer_real(l, "min", 0));
    if (layer_has(l, 2)) y = layer_two(l, "Min", y, layer_in(l, 2));
    if (high) y = layer_by(l, "Min", y, layer_real(l, "max", 0));
    if (y == layer_in(l, 0)) y = layer_one(l, "Identity", y);
    layer_result(l, 0, y);
}

/* clamp(alpha x + beta, 0, 1) */
static int32_t activation_hard(struct layer *l, int32_t x, double alpha, double beta)
{
    int32_t y = layer_by(l, "Add", layer_by(l, "Mul", x, alpha), beta);
    return layer_by(l, "Min", layer_by(l, "Max", y, 0), 1);
}

void derive_hard_sigmoid(struct layer *l)
{
    bool onnx = l->m->format == MODEL_ONNX;
    layer_result(l, 0,
                 activation_hard(l, layer_in(l, 0), layer_real(l, "alpha", onnx ? 0.2 : 1.0 / 6),
                                 layer_real(l, "beta", 0.5)));
}

void derive_hard_swish(struct layer *l)
{
    layer_result(l, 0, layer_two(l, "Mul", layer_in(l, 0), activation_hard(l, layer_in(l, 0), 1.0 / 6, 0.5)));
}

void derive_leaky_relu(struct layer *l)
{
    double alpha = layer_real(l, "alpha", layer_real(l, "parameter", 0.01));
    int32_t x = layer_in(l, 0), negative = layer_by(l, "Less", x, 0);
    layer_result(l, 0, layer_part(l, "Where", 3, (int32_t[]){negative, layer_by(l, "Mul", x, alpha), x}));
}

/* max(x, 0) + log1p(exp(-|x|)), which does not overflow */
void derive_softplus(struct layer *l)
{
    int32_t x = layer_in(l, 0), small = layer_one(l, "Exp", layer_one(l, "Neg", layer_one(l, "Abs", x)));
    layer_result(l, 0, layer_two(l, "Add", layer_one(l, "Relu", x), layer_one(l, "lxplan:Log1p", small)));
}

/* x * sigmoid(alpha x) */
void derive_swish(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    double alpha = layer_real(l, "alpha", 1);
    int32_t y = alpha == 1 ? x : layer_by(l, "Mul", x, alpha);
    layer_result(l, 0, layer_two(l, "Mul", x, layer_one(l, "Sigmoid", y)));
}

void derive_relu6(struct layer *l)
{
    layer_result(l, 0, layer_by(l, "Min", layer_one(l, "Relu", layer_in(l, 0)), 6));
}

/* Max, Min and Sum of any number of operands: one after the other. The mapping has Max and Min of two. */
void derive_chain(struct layer *l)
{
    const char *kind = strcmp(l->op->kind, "Sum") == 0 ? "Add" : l->op->kind;
    int32_t y = layer_in(l, 0);
    int count = l->op->operand_count;
    if (count == 2 && kind == l->op->kind) {
        layer_fail(l);
        return;
    }
    for (int i = 1; i < count; i++) y = layer_two(l, kind, y, layer_in(l, i));
    layer_result(l, 0, count == 1 ? layer_one(l, "Identity", y) : y);
}

void derive_cast_like(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    enum model_element e = layer_element(l, layer_in(l, 1));
    layer_result(l, 0, layer_element(l, x) == e ? layer_one(l, "Identity", x) : layer_cast(l, x, e));
}

/* Dropout of inference with the mask that it did not apply. */
void derive_dropout(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    if (l->op->result_count < 2 || l->op->results[1] < 0) {
        layer_fail(l);
        return;
    }
    layer_result(l, 0, layer_one(l, "Identity", layer_in(l, 0)));
    layer_result(l, 1, layer_expand_to(l, layer_number(l, MODEL_BOOL, 1), t->count, t->extent));
}

/* Before 7 the second operand begins at dimension `axis` of the first. */
void derive_aligned(struct layer *l)
{
    const struct model_type *a = layer_type(l, layer_in(l, 0)), *b = layer_type(l, layer_in(l, 1));
    int64_t extent[MODEL_MAX_RANK], axis = layer_int(l, "axis", a->count - b->count);
    if (l->m->format != MODEL_ONNX || l->m->bodies.at[l->m->values.at[l->op->results[0]].body].derived ||
        onnx_opset(l->m, l->op->kind) >= 7 || axis < 0 || axis + b->count > a->count ||
        b->count == a->count) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < a->count; d++) extent[d] = d >= axis && d < axis + b->count ? b->extent[d - axis] : 1;
    layer_result(
        l, 0, layer_two(l, l->op->kind, layer_in(l, 0), layer_reshape(l, layer_in(l, 1), a->count, extent)));
}
