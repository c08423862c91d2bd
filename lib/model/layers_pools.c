/* Pools and their like that are averages of something else. */
#include "model/layers.h"
#include "model/onnx.h"
#include "model/windows.h"

#include <string.h>

/* Attributes of the op's windows go on to the next part. */
static void same_windows(struct layer *l)
{
    static const char *const keys[] = {"kernel_shape", "strides",  "dilations",
                                       "pads",         "auto_pad", "ceil_mode"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct model_attr *a = model_attr_find(&l->op->attrs, keys[i]);
        if (a && l->attr_count < LAYER_MAX_ATTRS) l->attr[l->attr_count++] = *a;
    }
}

static int windows_of(const struct layer *l, struct model_window *w, int64_t *taps)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0));
    int count;
    const int64_t *size = model_attr_ints(&l->op->attrs, "kernel_shape", &count);
    if (count < 1 || count > MODEL_MAX_WINDOWS || x->count != count + 2 ||
        onnx_windows(l->op, x, size, count, w) < 0)
        return 0;
    *taps = 1;
    for (int i = 0; i < count; i++)
        if (size[i] > 4096 || (*taps *= size[i]) > 1 << 24) return 0;
    return count;
}

/* (sum of |x| to the power p) to the power 1 / p: the sum is the mean, times all taps. */
static void lp_pool(struct layer *l)
{
    struct model_window w[MODEL_MAX_WINDOWS];
    int64_t taps, p = layer_int(l, "p", 2);
    int32_t x = layer_in(l, 0);
    if (!windows_of(l, w, &taps) || p < 1) {
        layer_fail(l);
        return;
    }
    if (p == 2)
        x = layer_two(l, "Mul", x, x);
    else
        x = layer_one(l, "Abs", x);
    if (p > 2) x = layer_by(l, "Pow", x, (double)p);
    same_windows(l);
    if (l->attr_count == LAYER_MAX_ATTRS) {
        layer_fail(l);
        return;
    }
    layer_put(l, "count_include_pad", 1);
    x = layer_by(l, "Mul", layer_one(l, "AveragePool", x), (double)taps);
    if (p == 2) x = layer_one(l, "Sqrt", x);
    if (p > 2) x = layer_by(l, "Pow", x, 1 / (double)p);
    layer_result(l, 0, x);
}

/* Where pads count but a last window goes beyond them, the pads are put there: then all that is there counts. */
static void average_pool(struct layer *l)
{
    struct model_window w[MODEL_MAX_WINDOWS];
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    int64_t taps, pads[2 * (MODEL_MAX_WINDOWS + 2)] = {0};
    static const char *const keys[] = {"kernel_shape", "strides", "dilations", "ceil_mode"};
    int count = windows_of(l, w, &taps);
    bool beyond = false;
    for (int i = 0; i < count; i++) {
        beyond |= (w[i].out - 1) * w[i].stride + w[i].dilation * (w[i].size - 1) + 1 >
                  w[i].in + w[i].low + w[i].high;
        pads[2 + i] = w[i].low;
        pads[t->count + 2 + i] = w[i].high;
    }
    if (!beyond || !layer_int(l, "count_include_pad", 0)) {
        layer_fail(l);
        return;
    }
    int32_t x = layer_two(l, "Pad", layer_in(l, 0), layer_list(l, 2 * t->count, pads));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct model_attr *a = model_attr_find(&l->op->attrs, keys[i]);
        if (a) l->attr[l->attr_count++] = *a;
    }
    layer_result(l, 0, layer_one(l, "AveragePool", x));
}

/* x / (bias + alpha * (mean of the squares of `size` channels around it)) to the power beta; beyond the channels it is 0. */
static void local_response(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    int64_t size = layer_int(l, "size", 0), low = (size - 1) / 2;
    if (t->count < 2 || size < 1 || size > 4096) {
        layer_fail(l);
        return;
    }
    int64_t shape[] = {t->extent[0], 1, t->extent[1], t->elements / t->extent[0] / t->extent[1]};
    int32_t q = layer_reshape(l, layer_two(l, "Mul", x, x), 4, shape);
    layer_put_list(l, "kernel_shape", 2, (int64_t[]){size, 1});
    layer_put_list(l, "pads", 4, (int64_t[]){low, 0, size - 1 - low, 0});
    layer_put(l, "count_include_pad", 1);
    q = layer_by(l, "Mul", layer_one(l, "AveragePool", q), layer_real(l, "alpha", 1e-4));
    q = layer_by(l, "Pow", layer_by(l, "Add", q, layer_real(l, "bias", 1)), layer_real(l, "beta", 0.75));
    layer_result(l, 0, layer_two(l, "Div", x, layer_reshape(l, q, t->count, t->extent)));
}

/* clang-format off */
const struct layer_row layers_pools[] = {
    {{NULL, NULL, "LpPool"}, lp_pool},
    {{NULL, NULL, "AveragePool"}, average_pool},
    {{NULL, NULL, "LRN"}, local_response},
    {{NULL}, NULL},
};
/* clang-format on */
