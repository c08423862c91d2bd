/* Losses of ONNX: what is left to the right class, and softmax before it. */
#include "model/layers.h"

#include <string.h>

/* [N,d..] of numbers where a class counts, else 0. */
static int32_t counts(struct layer *l, int32_t target, int32_t *held)
{
    const struct model_attr *ignored = model_attr_find(&l->op->attrs, "ignore_index");
    *held = target;
    if (!ignored) return -1;
    int32_t is = layer_by(l, "Equal", target, (double)ignored->number);
    *held = layer_part(l, "Where", 3, (int32_t[]){is, layer_number(l, layer_element(l, target), 0), target});
    return layer_one(l, "Not", is);
}

/* -x of the class, by its weight: [N,d..], then their sum or mean. */
static int32_t lost(struct layer *l, int32_t x)
{
    const char *how = model_attr_word(&l->op->attrs, "reduction", "mean");
    const struct model_type *t = layer_type(l, x), *classes = layer_type(l, layer_in(l, 1));
    int64_t open[MODEL_MAX_RANK], axes[MODEL_MAX_RANK];
    int32_t held, counted = counts(l, layer_in(l, 1), &held);
    if (!l->ok || t->count < 2 || classes->count != t->count - 1) return layer_fail(l), -1;
    for (int d = 0; d < t->count; d++) open[d] = d == 1 ? 1 : t->extent[d];
    for (int d = 0; d < classes->count; d++) axes[d] = d;
    int32_t index = layer_reshape(l, held, t->count, open);
    layer_put(l, "axis", 1);
    int32_t y = layer_one(l, "Neg", layer_two(l, "GatherElements", x, index)), weight = -1;
    y = layer_reshape(l, y, classes->count, classes->extent);
    if (layer_has(l, 2)) weight = layer_two(l, "Gather", layer_in(l, 2), held);
    if (counted >= 0) {
        int32_t is = layer_cast(l, counted, t->element);
        weight = weight < 0 ? is : layer_two(l, "Mul", weight, is);
    }
    if (weight >= 0) y = layer_two(l, "Mul", y, weight);
    if (strcmp(how, "none") == 0) return y;
    bool mean = strcmp(how, "mean") == 0;
    int32_t sum =
        layer_reduce(l, mean && weight < 0 ? "ReduceMean" : "ReduceSum", y, classes->count, axes, false);
    if (!mean || weight < 0) return sum;
    return layer_two(l, "Div", sum, layer_reduce(l, "ReduceSum", weight, classes->count, axes, false));
}

static void likelihood(struct layer *l)
{
    layer_result(l, 0, lost(l, layer_in(l, 0)));
}

static void cross_entropy(struct layer *l)
{
    layer_put(l, "axis", 1);
    int32_t logs = layer_one(l, "LogSoftmax", layer_in(l, 0));
    layer_result(l, 0, lost(l, logs));
    layer_result(l, 1, logs);
}

/* clang-format off */
const struct layer_row layers_losses[] = {
    {{NULL, NULL, "NegativeLogLikelihoodLoss"}, likelihood},
    {{NULL, NULL, "SoftmaxCrossEntropyLoss"}, cross_entropy},
    {{NULL}, NULL},
};
/* clang-format on */
