/* Shapes of contractions and of windows that slide: MatMul, Gemm, Conv, pools. */
#include "import/read/onnx.h"
#include "import/types/windows.h"
#include "base/checked.h"

#include <string.h>

enum { MOST = MODEL_MAX_RANK };

/* A product of `t` read as a matrix with leading dimensions; `turned`: its last two are exchanged. */
static enum shaped product(struct shaper *x, enum model_element e, const struct model_type *a,
                           const struct model_type *b, bool turn_a, bool turn_b)
{
    int64_t extent[MOST], rest[MOST];
    int rank = 0;
    if (a->count < 1 || b->count < 1 || a->count > MOST - 2 || b->count > MOST - 2)
        return shaper_wrong(x, "a product of a scalar");
    bool row = a->count == 1, column = b->count == 1;
    int64_t m = row ? 1 : a->extent[a->count - (turn_a ? 1 : 2)],
            k = a->extent[a->count - (turn_a && !row ? 2 : 1)];
    int64_t n = column ? 1 : b->extent[b->count - (turn_b ? 2 : 1)];
    int64_t k2 = b->extent[b->count - (turn_b || column ? 1 : 2)];
    if (k != k2)
        return shaper_wrong(x, "the rows have %lld elements, the columns %lld", (long long)k, (long long)k2);
    rank = row ? 0 : a->count - 2;
    memcpy(extent, a->extent, (size_t)rank * sizeof *extent);
    struct model_type outer = {.count = column ? 0 : b->count - 2, .extent = rest};
    memcpy(rest, b->extent, (size_t)outer.count * sizeof *rest);
    if (!shaper_broadcast(extent, &rank, &outer))
        return shaper_wrong(x, "leading dimensions do not broadcast");
    if (!row) extent[rank++] = m;
    if (!column) extent[rank++] = n;
    return shaper_set(x, 0, e, rank, extent);
}

/* What a Gemm adds is repeated to rows and columns, never the other way round. */
static bool added(struct shaper *x, const struct model_type *a, const struct model_type *b)
{
    const struct model_type *c = shaper_in(x, 2);
    if (a->count != 2 || b->count != 2) return shaper_wrong(x, "its operands are no matrices"), false;
    int64_t mine[2] = {a->extent[shaper_int(x, "transA", 0) != 0],
                       b->extent[shaper_int(x, "transB", 0) == 0]};
    bool fits = !c || c->count <= 2;
    for (int d = 0; c && fits && d < c->count; d++) {
        int64_t n = c->extent[c->count - 1 - d];
        fits = n == 1 || n == mine[1 - d];
    }
    if (!fits)
        shaper_wrong(x, "what is added is not repeated to [%lld,%lld]", (long long)mine[0],
                     (long long)mine[1]);
    return fits;
}

static enum shaped matmul(struct shaper *x)
{
    const struct model_type *a = shaper_in(x, 0), *b = shaper_in(x, 1);
    if (!a || !b) return SHAPE_UNKNOWN;
    if (strcmp(x->op->kind, "Gemm") == 0 && x->opset >= 7 && !added(x, a, b)) return SHAPE_WRONG;
    return product(x, a->element, a, b, shaper_int(x, "transA", 0) != 0, shaper_int(x, "transB", 0) != 0);
}

static void list_of(const struct model_op *op, const char *key, int64_t *out, int count, int64_t otherwise)
{
    int n;
    const int64_t *list = model_attr_ints(&op->attrs, key, &n);
    for (int i = 0; i < count; i++) out[i] = i < n ? list[i] : otherwise;
}

static int64_t within(int64_t v)
{
    return v > LX_INT_MAX ? LX_INT_MAX : v < -LX_INT_MAX ? -LX_INT_MAX : v;
}

/* SAME: the result has ceil(n / stride) positions, an odd pad at the end (upper) or the begin. */
static void same_pads(struct model_window *w, bool upper)
{
    int64_t out = ceil_div_i64(w->in, w->stride);
    int64_t all = max_i64(0, (out - 1) * w->stride + w->dilation * (w->size - 1) + 1 - w->in);
    w->low = upper ? all / 2 : all - all / 2;
    w->high = all - w->low;
}

int onnx_windows(const struct model_op *op, const struct model_type *x, const int64_t *size, int count,
                 struct model_window *w)
{
    int64_t stride[MODEL_MAX_WINDOWS], dilation[MODEL_MAX_WINDOWS], pads[2 * MODEL_MAX_WINDOWS];
    const char *mode = model_attr_word(&op->attrs, "auto_pad", "NOTSET");
    bool ceil = model_attr_int(&op->attrs, "ceil_mode", 0) != 0;
    if (count > MODEL_MAX_WINDOWS || x->count != count + 2) return -1;
    list_of(op, "strides", stride, count, 1);
    list_of(op, "dilations", dilation, count, 1);
    list_of(op, "pads", pads, 2 * count, 0);
    for (int i = 0; i < count; i++) {
        w[i] = (struct model_window){
            .in = x->extent[2 + i], .size = size[i], .stride = within(stride[i]), .hole = 1};
        w[i].dilation = within(dilation[i]);
        w[i].low = within(pads[i]);
        w[i].high = within(pads[count + i]);
        if (w[i].stride < 1 || w[i].dilation < 1 || w[i].size < 1 || w[i].size > (1 << 20) ||
            w[i].dilation > (1 << 20))
            return -1;
        if (strcmp(mode, "VALID") == 0) w[i].low = w[i].high = 0;
        if (strncmp(mode, "SAME", 4) == 0) same_pads(&w[i], strcmp(mode, "SAME_UPPER") == 0);
        w[i].out = window_out(&w[i], ceil);
    }
    return count;
}

static enum shaped slid(struct shaper *x, enum model_element e, int64_t channels, const int64_t *size,
                        int count)
{
    const struct model_type *t = shaper_in(x, 0);
    struct model_window w[MODEL_MAX_WINDOWS];
    int64_t extent[MODEL_MAX_WINDOWS + 2] = {t->extent[0], channels};
    if (onnx_windows(x->op, t, size, count, w) < 0)
        return shaper_wrong(x, "a window that does not fit its operand");
    for (int i = 0; i < count; i++) extent[2 + i] = w[i].out;
    if (strcmp(x->op->kind, "MaxPool") == 0 && shaper_set(x, 1, MODEL_I64, count + 2, extent) != SHAPED)
        return SHAPE_WRONG;
    return shaper_set(x, 0, e, count + 2, extent);
}

/* "kernel_shape", where it is stated, says once more what the weight is. */
static bool is_of_weight(struct shaper *x, const struct model_type *w)
{
    int64_t size[MODEL_MAX_WINDOWS];
    int count;
    bool same = shaper_ints(x, "kernel_shape", -1, size, MODEL_MAX_WINDOWS, &count) &&
                (count < 0 || count == w->count - 2);
    int i = 0;
    while (same && i < count && size[i] == w->extent[2 + i]) i++;
    if (same && i >= count) return true;
    if (!same)
        shaper_wrong(x, "\"kernel_shape\" does not have the dimensions of the weight");
    else
        shaper_wrong(x, "\"kernel_shape\" says %lld in dimension %d, the weight has %lld", (long long)size[i],
                     i, (long long)w->extent[2 + i]);
    return false;
}

static enum shaped convolve(struct shaper *x, const struct model_type *w, enum model_element e)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t group = shaper_int(x, "group", 1);
    if (!t || !w) return SHAPE_UNKNOWN;
    if (t->count < 3 || w->count != t->count || group < 1 || w->extent[1] > INT32_MAX || group > INT32_MAX ||
        w->extent[1] * group != t->extent[1])
        return shaper_wrong(x, "the weight does not have the channels of its operand");
    if (w->extent[0] % group != 0)
        return shaper_wrong(x, "%lld groups do not divide the %lld channels of the result", (long long)group,
                            (long long)w->extent[0]);
    if (!is_of_weight(x, w)) return SHAPE_WRONG;
    return slid(x, e, w->extent[0], w->extent + 2, w->count - 2);
}

static enum shaped conv(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    return t ? convolve(x, shaper_in(x, 1), t->element) : SHAPE_UNKNOWN;
}

static enum shaped pool(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t size[MODEL_MAX_WINDOWS];
    int count;
    if (!t) return SHAPE_UNKNOWN;
    if (!shaper_ints(x, "kernel_shape", -1, size, MODEL_MAX_WINDOWS, &count) || count != t->count - 2 ||
        count < 1)
        return shaper_wrong(x, "\"kernel_shape\" does not have the dimensions of its operand");
    return slid(x, t->element, t->extent[1], size, count);
}

static enum shaped global_pool(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST];
    if (!t) return SHAPE_UNKNOWN;
    for (int d = 0; d < t->count; d++) extent[d] = d < 2 ? t->extent[d] : 1;
    return shaper_set(x, 0, t->element, t->count, extent);
}

onnx_shape_of *onnx_shape_window(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {
        {"MatMul", matmul}, {"Gemm", matmul}, {"Conv", conv}, {"MaxPool", pool}, {"AveragePool", pool},
        {"GlobalAveragePool", global_pool}, {"GlobalMaxPool", global_pool}, {NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
