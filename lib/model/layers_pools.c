/* Pools and their like that are averages of something else, or say where something was. */
#include "model/layers.h"
#include "model/onnx.h"
#include "model/windows.h"

#include <math.h>
#include <string.h>

enum { MOST_TAPS = 64 };

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

/* ---- places of the largest ---- */

/* What each window has at tap number `tap`: [N,C,out..,1] of what is padded already. */
static int32_t at_tap(struct layer *l, int32_t x, const struct model_window *w, int count, int64_t tap)
{
    int64_t begin[MODEL_MAX_WINDOWS], end[MODEL_MAX_WINDOWS], axis[MODEL_MAX_WINDOWS],
        step[MODEL_MAX_WINDOWS], shape[MODEL_MAX_WINDOWS + 3];
    const struct model_type *t = layer_type(l, x);
    for (int i = count - 1; i >= 0; i--) {
        begin[i] = tap % w[i].size * w[i].dilation;
        tap /= w[i].size;
        end[i] = begin[i] + (w[i].out - 1) * w[i].stride + 1;
        axis[i] = 2 + i;
        step[i] = w[i].stride;
        shape[2 + i] = w[i].out;
    }
    shape[0] = t->extent[0];
    shape[1] = t->extent[1];
    shape[count + 2] = 1;
    int32_t parts[] = {x, layer_list(l, count, begin), layer_list(l, count, end), layer_list(l, count, axis),
                       layer_list(l, count, step)};
    return layer_reshape(l, layer_part(l, "Slice", 5, parts), count + 3, shape);
}

/* Beyond the operand nothing is the largest, as far as any window reaches. */
static int32_t padded(struct layer *l, const struct model_window *w, int count)
{
    int64_t pads[2 * (MODEL_MAX_WINDOWS + 2)] = {0}, any = 0;
    int32_t x = layer_in(l, 0), least = layer_number(l, layer_element(l, x), -INFINITY);
    for (int i = 0; i < count; i++) {
        int64_t reach =
            (w[i].out - 1) * w[i].stride + w[i].dilation * (w[i].size - 1) + 1 - w[i].low - w[i].in;
        any |= pads[2 + i] = w[i].low;
        any |= pads[count + 4 + i] = reach > 0 ? reach : 0;
    }
    return any ? layer_part(l, "Pad", 3, (int32_t[]){x, layer_list(l, 2 * count + 4, pads), least}) : x;
}

/* first, first + step, .. along one dimension of the result */
static int32_t counted(struct layer *l, int rank, int axis, int64_t first, int64_t step, int64_t n)
{
    int64_t list[MODEL_MAX_KNOWN];
    if (n > MODEL_MAX_KNOWN) return layer_fail(l), -1;
    for (int64_t i = 0; i < n; i++) list[i] = first + step * i;
    return layer_channels(l, layer_list(l, (int)n, list), rank, axis);
}

/* Which element of the whole operand the first of the largest is: where its window begins, and its tap in there. */
static int32_t places(struct layer *l, const struct model_window *w, int count, int64_t taps)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    int64_t inner = 1, offset[MOST_TAPS] = {0};
    int32_t values[MOST_TAPS], x = padded(l, w, count), begin = -1;
    for (int64_t k = 0; k < taps; k++) values[k] = at_tap(l, x, w, count, k);
    int32_t all = layer_concat(l, count + 2, (int)taps, values);
    layer_put(l, "axis", count + 2);
    layer_put(l, "keepdims", 0);
    int32_t first = layer_one(l, "ArgMax", all);
    for (int d = t->count - 1, of = 1; d >= 0; inner *= t->extent[d--]) {
        const struct model_window *a = d > 1 ? &w[d - 2] : NULL;
        for (int64_t k = 0; a && k < taps; k++) offset[k] += k / of % a->size * a->dilation * inner;
        of *= a ? (int)a->size : 1;
        int32_t line = a ? counted(l, t->count, d, -a->low * inner, a->stride * inner, a->out)
                         : counted(l, t->count, d, 0, inner, t->extent[d]);
        begin = begin < 0 ? line : layer_two(l, "Add", begin, line);
    }
    int32_t tap = layer_two(l, "Gather", layer_list(l, (int)taps, offset), first);
    return layer_two(l, "Add", tap, begin);
}

/* The importer has the largest; here: and where they are. */
static void max_pool(struct layer *l)
{
    struct model_window w[MODEL_MAX_WINDOWS];
    int64_t taps = 0;
    bool wanted = l->op->result_count == 2 && l->op->results[1] >= 0;
    int count = wanted ? windows_of(l, w, &taps) : 0;
    bool real = model_element_row(layer_element(l, layer_in(l, 0)))->number == MODEL_FLOAT;
    if (count < 1 || taps < 2 || taps > MOST_TAPS || !real || layer_int(l, "storage_order", 0) != 0) {
        layer_fail(l);
        return;
    }
    same_windows(l);
    if (l->op->results[0] >= 0) layer_result(l, 0, layer_one(l, "MaxPool", layer_in(l, 0)));
    l->attr_count = 0;
    layer_result(l, 1, places(l, w, count, taps));
}

/* Zeros, with each element where it was. */
static void unpool(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0)), *y = model_type_of(l->m, l->op->results[0]);
    if (!layer_has(l, 1) || layer_type(l, layer_in(l, 1))->elements != t->elements) {
        layer_fail(l);
        return;
    }
    int32_t zeros = layer_expand_to(l, layer_number(l, t->element, 0), 1, &y->elements);
    int32_t parts[] = {zeros, layer_reshape(l, layer_in(l, 1), 1, &t->elements),
                       layer_reshape(l, layer_in(l, 0), 1, &t->elements)};
    layer_result(l, 0, layer_part(l, "ScatterElements", 3, parts));
}

/* clang-format off */
const struct layer_row layers_pools[] = {
    {{NULL, NULL, "LpPool"}, lp_pool},
    {{NULL, NULL, "AveragePool"}, average_pool},
    {{NULL, NULL, "LRN"}, local_response},
    {{NULL, NULL, "MaxPool"}, max_pool},
    {{NULL, NULL, "MaxUnpool"}, unpool},
    {{NULL}, NULL},
};
/* clang-format on */
