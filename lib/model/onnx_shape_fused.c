/* Shapes of kinds of com.microsoft that have the rules of plain kinds with operands at other places, or channels last. */
#include "model/onnx.h"
#include "model/windows.h"

#include <string.h>

enum { MOST = MODEL_MAX_RANK };

static enum shaped as(struct shaper *x, int result, enum model_element e, const struct model_type *like)
{
    return shaper_set(x, result, e, like->count, like->extent);
}

static enum shaped same(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    if (!t) return SHAPE_UNKNOWN;
    for (int r = 0; r < x->op->result_count; r++) {
        int32_t result = x->op->results[r];
        bool told =
            r > 0 && result >= 0 && x->m->values.at[result].declared; /* masks, as the file has them */
        if (!told && as(x, r, t->element, t) != SHAPED) return SHAPE_WRONG;
    }
    return SHAPED;
}

static enum shaped halved(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST];
    if (!t || t->count < 1) return SHAPE_UNKNOWN;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[t->count - 1] /= 2;
    return shaper_set(x, 0, t->element, t->count, extent);
}

/* Operands `first` and `second`, one repeated to the other. */
static enum shaped spread(struct shaper *x, int first, int second, int third)
{
    const struct model_type *a = shaper_in(x, first), *b = shaper_in(x, second),
                            *c = third < 0 ? a : shaper_in(x, third);
    int64_t extent[MOST];
    int rank = 0;
    if (!a || !b || !c) return SHAPE_UNKNOWN;
    if (!shaper_broadcast(extent, &rank, a) || !shaper_broadcast(extent, &rank, b) ||
        !shaper_broadcast(extent, &rank, c))
        return shaper_wrong(x, "operands do not broadcast");
    return shaper_set(x, 0, a->element, rank, extent);
}

static enum shaped two(struct shaper *x)
{
    return spread(x, 0, 3, -1);
}

/* In int32, whatever the operands are. */
static enum shaped two_wide(struct shaper *x)
{
    enum shaped s = spread(x, 0, 2, -1);
    return s == SHAPED && x->op->results[0] >= 0 ? as(x, 0, MODEL_I32, model_type_of(x->m, x->op->results[0]))
                                                 : s;
}

static enum shaped where(struct shaper *x)
{
    const struct model_type *a = shaper_in(x, 1);
    enum shaped s = spread(x, 0, 1, 4);
    if (s != SHAPED || !a || x->op->results[0] < 0) return s;
    return as(x, 0, a->element, model_type_of(x->m, x->op->results[0]));
}

/* A tensor whose channels are last, as if they were second. */
static struct model_type channels_second(const struct model_type *t, int64_t *extent)
{
    struct model_type y = *t;
    extent[0] = t->extent[0];
    extent[1] = t->extent[t->count - 1];
    for (int d = 2; d < t->count; d++) extent[d] = t->extent[d - 1];
    y.extent = extent;
    return y;
}

/* Windows of that size along what is between; `channels` come out. */
static enum shaped slid(struct shaper *x, bool last, enum model_element e, int64_t channels,
                        const int64_t *size, int count)
{
    const struct model_type *t = shaper_in(x, 0);
    struct model_window w[MODEL_MAX_WINDOWS];
    int64_t second[MOST], extent[MODEL_MAX_WINDOWS + 2] = {0};
    if (t->count < 3 || count != t->count - 2 || count > MODEL_MAX_WINDOWS)
        return shaper_wrong(x, "a window that does not fit its operand");
    struct model_type turned = last ? channels_second(t, second) : *t;
    if (onnx_windows(x->op, &turned, size, count, w) < 0)
        return shaper_wrong(x, "a window that does not fit its operand");
    extent[0] = t->extent[0];
    extent[last ? count + 1 : 1] = channels;
    for (int i = 0; i < count; i++) extent[(last ? 1 : 2) + i] = w[i].out;
    return shaper_set(x, 0, e, count + 2, extent);
}

static enum shaped pool(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    bool last = shaper_int(x, "channels_last", strstr(x->op->kind, "Nhwc") != NULL) != 0;
    int64_t size[MODEL_MAX_WINDOWS];
    int count;
    if (!t || !shaper_ints(x, "kernel_shape", -1, size, MODEL_MAX_WINDOWS, &count) || t->count < 3)
        return SHAPE_UNKNOWN;
    return slid(x, last, t->element, t->extent[last ? t->count - 1 : 1], size, count);
}

static enum shaped global_pool(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    bool last = shaper_int(x, "channels_last", 0) != 0;
    int64_t extent[MOST];
    if (!t || t->count < 3) return SHAPE_UNKNOWN;
    for (int d = 0; d < t->count; d++)
        extent[d] = d == 0 || d == (last ? t->count - 1 : 1) ? t->extent[d] : 1;
    return shaper_set(x, 0, t->element, t->count, extent);
}

/* The weight is [M, C / groups, taps..] whatever the order of the operand. */
static enum shaped conv(struct shaper *x)
{
    bool quantised = strstr(x->op->kind, "QLinear") != NULL, nhwc = strstr(x->op->kind, "Nhwc") != NULL;
    const struct model_type *t = shaper_in(x, 0), *w = shaper_in(x, quantised ? 3 : 1),
                            *zero = shaper_in(x, 7);
    bool last = shaper_int(x, "channels_last", nhwc) != 0;
    int64_t group = shaper_int(x, "group", 1);
    if (!t || !w || (quantised && !zero)) return SHAPE_UNKNOWN;
    if (t->count < 3 || w->count != t->count || group < 1 || group > INT32_MAX || w->extent[1] > INT32_MAX ||
        w->extent[1] * group != t->extent[last ? t->count - 1 : 1])
        return shaper_wrong(x, "the weight does not have the channels of its operand");
    return slid(x, last, quantised ? zero->element : t->element, w->extent[0], w->extent + 2, w->count - 2);
}

static enum shaped concat(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 2);
    int64_t extent[MOST];
    if (!t) return SHAPE_UNKNOWN;
    int axis = shaper_axis(shaper_int(x, "axis", 0), t->count);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    for (int i = 5; i < x->op->operand_count; i += 3) {
        const struct model_type *other = shaper_in(x, i);
        if (!other) return SHAPE_UNKNOWN;
        if (other->count != t->count) return shaper_wrong(x, "operand %d has another rank", i);
        if (__builtin_add_overflow(extent[axis], other->extent[axis], &extent[axis]))
            return shaper_wrong(x, "too many elements");
    }
    return shaper_set(x, 0, t->element, t->count, extent);
}

static enum shaped gemm(struct shaper *x)
{
    const struct model_type *a = shaper_in(x, 0), *b = shaper_in(x, 3), *zero = shaper_in(x, 8);
    bool turn_a = shaper_int(x, "transA", 0) != 0, turn_b = shaper_int(x, "transB", 0) != 0;
    if (!a || !b) return SHAPE_UNKNOWN;
    if (a->count != 2 || b->count != 2 || a->extent[!turn_a] != b->extent[turn_b])
        return shaper_wrong(x, "rows and columns of other lengths");
    return shaper_set(x, 0, zero ? zero->element : MODEL_F32, 2,
                      (int64_t[]){a->extent[turn_a], b->extent[!turn_b]});
}

/* As operand 0, and the buffers behind it as they were. */
static enum shaped decoder_head(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    if (!t) return SHAPE_UNKNOWN;
    for (int r = 0; r < x->op->result_count; r++) {
        const struct model_type *like = r == 0 ? t : shaper_in(x, r < 3 ? 4 + r : 0);
        if (!like) return SHAPE_UNKNOWN;
        if (as(x, r, like->element, like) != SHAPED) return SHAPE_WRONG;
    }
    return SHAPED;
}

/* table [buckets, H], lengths: [1, H, Q, K] */
static enum shaped position_bias(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t q, k;
    int n, m;
    if (!t || t->count != 2 || !shaper_ints(x, NULL, 1, &q, 1, &n) || !shaper_ints(x, NULL, 2, &k, 1, &m) ||
        n != 1 || m != 1)
        return SHAPE_UNKNOWN;
    return shaper_set(x, 0, t->element, 4, (int64_t[]){1, t->extent[1], q, k});
}

/* Rows of a table, one for each number. */
static enum shaped rows_of_table(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *i = shaper_in(x, 1);
    int64_t extent[MOST];
    if (!t || !i || t->count != 2 || i->count + 1 > MOST) return SHAPE_UNKNOWN;
    memcpy(extent, i->extent, (size_t)i->count * sizeof *extent);
    extent[i->count] = t->extent[1];
    return shaper_set(x, 0, t->element, i->count + 1, extent);
}

static enum shaped distances(struct shaper *x)
{
    const struct model_type *a = shaper_in(x, 0), *b = shaper_in(x, 1);
    if (!a || !b || a->count != 2 || b->count != 2) return SHAPE_UNKNOWN;
    return shaper_set(x, 0, a->element, 2, (int64_t[]){a->extent[0], b->extent[0]});
}

/* x [.., n] to [.., n / 2 + 1, 2], and back. */
static enum shaped real_fft(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    bool back = strstr(x->op->kind, "Irfft") != NULL;
    int64_t extent[MOST];
    if (!t || t->count < 1 + back || t->count + 1 > MOST || !shaper_int(x, "onesided", 1))
        return SHAPE_UNKNOWN;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    int last = back ? t->count - 2 : t->count - 1;
    extent[last] = back ? 2 * (t->extent[last] - 1) : t->extent[last] / 2 + 1;
    extent[last + 1] = 2;
    return shaper_set(x, 0, t->element, back ? t->count - 1 : t->count + 1, extent);
}

/* x [B,S,I], w [I,3 H], .., past? */
static enum shaped quantised_attention(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *w = shaper_in(x, 1), *bias = shaper_in(x, 2),
                            *past = shaper_in(x, 8);
    int64_t heads = shaper_int(x, "num_heads", 0);
    if (!t || !w || !bias || t->count != 3 || w->count != 2 || heads < 1) return SHAPE_UNKNOWN;
    int64_t width = w->extent[1] / 3, before = past && past->count == 5 ? past->extent[3] : 0;
    int64_t present[] = {2, t->extent[0], heads, before + t->extent[1], width / heads};
    if (shaper_set(x, 1, bias->element, 5, present) != SHAPED) return SHAPE_WRONG;
    return shaper_set(x, 0, bias->element, 3, (int64_t[]){t->extent[0], t->extent[1], width});
}

/* One more dimension of 1. */
static enum shaped opened(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], at;
    int n;
    if (!t || t->count + 1 > MOST || !shaper_ints(x, NULL, 1, &at, 1, &n) || n != 1) return SHAPE_UNKNOWN;
    int axis = shaper_axis(at, t->count + 1);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    for (int d = 0; d <= t->count; d++)
        extent[d] = d < axis ? t->extent[d] : d == axis ? 1 : t->extent[d - 1];
    return shaper_set(x, 0, t->element, t->count + 1, extent);
}

onnx_shape_of *onnx_shape_fused(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {
        {"com.microsoft:BiasAdd", same}, {"com.microsoft:BiasSoftmax", same}, {"com.microsoft:GroupNorm", same}, {"com.microsoft:SkipGroupNorm", same},
        {"com.microsoft:Trilu", same}, {"com.microsoft:MoE", same}, {"com.microsoft:QMoE", same}, {"com.microsoft:Inverse", same},
        {"com.microsoft:BiasSplitGelu", halved}, {"com.microsoft:QLinearAdd", two}, {"com.microsoft:QLinearMul", two}, {"com.microsoft:MulInteger", two_wide},
        {"com.microsoft:QLinearSigmoid", same}, {"com.microsoft:QLinearLeakyRelu", same}, {"com.microsoft:QLinearSoftmax", same},
        {"com.microsoft:QLinearWhere", where}, {"com.microsoft:QLinearConcat", concat}, {"com.microsoft:QLinearAveragePool", pool},
        {"com.microsoft:QLinearGlobalAveragePool", global_pool}, {"com.microsoft:NhwcMaxPool", pool}, {"com.microsoft:QGemm", gemm},
        {"com.microsoft:QLinearConv", conv}, {"com.microsoft:NhwcConv", conv}, {"com.microsoft:NhwcFusedConv", conv},
        {"com.microsoft:DecoderMaskedMultiHeadAttention", decoder_head}, {"com.microsoft:RelativePositionBias", position_bias},
        {"com.microsoft:TorchEmbedding", rows_of_table}, {"com.microsoft:CDist", distances}, {"com.microsoft:ComplexMul", same},
        {"com.microsoft:ComplexMulConj", same}, {"com.microsoft:Rfft", real_fft}, {"com.microsoft:Irfft", real_fft},
        {"com.microsoft:QAttention", quantised_attention}, {"com.microsoft:ExpandDims", opened}, {"com.microsoft:GeluGrad", same},
        {"com.microsoft:FastGeluGrad", same}, {"com.microsoft:SoftmaxGrad_13", same}, {"com.microsoft:YieldOp", same},
        {"com.microsoft:LongformerAttention", same}, {"com.microsoft:PackedMultiHeadAttention", same}, {"com.microsoft:BitmaskDropout", same},
        {"com.microsoft:BiasDropout", same}, {"com.microsoft:SampleOp", same}, {"TensorScatter", same},
        {"Scale", same}, {NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
