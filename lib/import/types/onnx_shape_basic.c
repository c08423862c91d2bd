/* Shapes of element by element kinds, of reductions, and of what keeps the shape of its operand. */
#include "import/read/onnx.h"

#include <string.h>

static enum shaped as(struct shaper *x, int result, enum model_element e, const struct model_type *like)
{
    return shaper_set(x, result, e, like->count, like->extent);
}

static enum shaped same(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    return t ? as(x, 0, t->element, t) : SHAPE_UNKNOWN;
}

static enum shaped same_bool(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    return t ? as(x, 0, MODEL_BOOL, t) : SHAPE_UNKNOWN;
}

static enum shaped spread(struct shaper *x, enum model_element e)
{
    int64_t extent[MODEL_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < x->op->operand_count; i++) {
        const struct model_type *t = shaper_in(x, i);
        if (!t) return SHAPE_UNKNOWN;
        if (!shaper_broadcast(extent, &rank, t))
            return shaper_wrong(x, "operand %d does not broadcast with those before it", i);
    }
    return shaper_set(x, 0, e, rank, extent);
}

/* Before 7 the second operand was aligned by `axis`: the first has the shape. */
static enum shaped aligned(struct shaper *x, enum model_element e)
{
    const struct model_type *t = shaper_in(x, 0);
    return t && x->opset < 7 && !strchr(x->op->kind, ':') ? as(x, 0, e, t) : spread(x, e);
}

static enum shaped binary(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    return t ? aligned(x, t->element) : SHAPE_UNKNOWN;
}

static enum shaped comparison(struct shaper *x)
{
    return aligned(x, MODEL_BOOL);
}

static enum shaped where(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 1);
    return t ? spread(x, t->element) : SHAPE_UNKNOWN;
}

static enum shaped cast(struct shaper *x)
{
    static const struct {
        const char *word;
        enum model_element element;
    } words[] = {{"FLOAT", MODEL_F32},  {"DOUBLE", MODEL_F64}, {"FLOAT16", MODEL_F16}, {"BOOL", MODEL_BOOL},
                 {"INT64", MODEL_I64},  {"INT32", MODEL_I32},  {"INT16", MODEL_I16},   {"INT8", MODEL_I8},
                 {"UINT64", MODEL_U64}, {"UINT32", MODEL_U32}, {"UINT16", MODEL_U16},  {"UINT8", MODEL_U8}};
    const struct model_type *t = shaper_in(x, 0);
    enum model_element e = model_element_of_onnx(shaper_int(x, "to", 0));
    const char *word = model_attr_word(&x->op->attrs, "to", NULL); /* below 6 */
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) e = words[i].element;
    if (e == MODEL_ELEMENT_COUNT) return shaper_wrong(x, "\"to\" is no element type that has a size");
    return t ? as(x, 0, e, t) : SHAPE_UNKNOWN;
}

static enum shaped cast_like(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *like = shaper_in(x, 1);
    return t && like ? as(x, 0, like->element, t) : SHAPE_UNKNOWN;
}

static enum shaped quantize(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *zero = shaper_in(x, 2);
    enum model_element stated = model_element_of_onnx(shaper_int(x, "output_dtype", 0));
    if (!t) return SHAPE_UNKNOWN;
    return as(x, 0, zero ? zero->element : stated != MODEL_ELEMENT_COUNT ? stated : MODEL_U8, t);
}

static enum shaped dropout(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    if (!t) return SHAPE_UNKNOWN;
    return as(x, 0, t->element, t) == SHAPED ? as(x, 1, MODEL_BOOL, t) : SHAPE_WRONG;
}

/* What belongs to channels has their shape: results beyond the first in training. */
static enum shaped batch_norm(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *scale = shaper_in(x, 1);
    if (!t || !scale) return SHAPE_UNKNOWN;
    if (t->count < 1 || (t->count > 1 && scale->elements != t->extent[1]))
        return shaper_wrong(x, "the scale does not have the channels of dimension 1");
    for (int r = 1; r < x->op->result_count; r++)
        if (as(x, r, scale->element, scale) != SHAPED) return SHAPE_WRONG;
    return as(x, 0, t->element, t);
}

/* Scale and bias are repeated to the operand; each extent that they have is 1 or the operand's. */
static bool scales(struct shaper *x, const struct model_type *t)
{
    for (int i = 1; i < 3; i++) {
        const struct model_type *s = shaper_in(x, i);
        bool fits = !s || s->count <= t->count;
        for (int d = 0; s && fits && d < s->count; d++) {
            int64_t n = s->extent[s->count - 1 - d];
            fits = n == 1 || n == t->extent[t->count - 1 - d];
        }
        if (!fits) return shaper_wrong(x, "operand %d is not repeated to the first", i), false;
    }
    return true;
}

/* The axis is one of the operand's. */
static enum shaped along(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t axis = shaper_int(x, "axis", 0);
    if (t && t->count > 0 && shaper_axis(axis, t->count) < 0 && !(x->opset < 13 && axis == t->count))
        return shaper_wrong(x, "there is no axis %lld", (long long)axis);
    return same(x);
}

/* Mean and spread have an extent of 1 where it was averaged. */
static enum shaped layer_norm(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MODEL_MAX_RANK];
    if (!t) return SHAPE_UNKNOWN;
    bool skip = strncmp(x->op->kind, "com.microsoft:Skip", 18) == 0;
    int axis = shaper_axis(shaper_int(x, "axis", -1), t->count);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    if (strcmp(x->op->kind, "LayerNormalization") == 0 && !scales(x, t)) return SHAPE_WRONG;
    for (int d = 0; d < t->count; d++) extent[d] = d >= axis ? 1 : t->extent[d];
    for (int r = 1; r < 3; r++)
        if (shaper_set(x, r, MODEL_F32, t->count, extent) != SHAPED) return SHAPE_WRONG;
    if (skip && as(x, 3, t->element, t) != SHAPED) return SHAPE_WRONG;
    return as(x, 0, t->element, t);
}

/* Extents that stay, with 1 for the others if they are kept. */
static enum shaped reduced(struct shaper *x, enum model_element e, const bool *goes, bool keep)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MODEL_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < t->count; d++)
        if (!goes[d] || keep) extent[rank++] = goes[d] ? 1 : t->extent[d];
    return shaper_set(x, 0, e, rank, extent);
}

static enum shaped reduce(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t axes[MODEL_MAX_RANK];
    bool goes[MODEL_MAX_RANK] = {false};
    int count;
    if (!t || !shaper_ints(x, "axes", 1, axes, MODEL_MAX_RANK, &count)) return SHAPE_UNKNOWN;
    bool all = count < 0 || (count == 0 && !shaper_int(x, "noop_with_empty_axes", 0));
    for (int d = 0; d < t->count; d++)
        goes[d] = all && !(count < 0 && shaper_int(x, "noop_with_empty_axes", 0));
    for (int i = 0; i < count; i++) {
        int axis = shaper_axis(axes[i], t->count);
        if (axis < 0) return shaper_wrong(x, "there is no axis %lld", (long long)axes[i]);
        goes[axis] = true;
    }
    return reduced(x, t->element, goes, shaper_int(x, "keepdims", 1) != 0);
}

static enum shaped arg_reduce(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    bool goes[MODEL_MAX_RANK] = {false};
    if (!t) return SHAPE_UNKNOWN;
    int axis = shaper_axis(shaper_int(x, "axis", 0), t->count);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    goes[axis] = true;
    return reduced(x, MODEL_I64, goes, shaper_int(x, "keepdims", 1) != 0);
}

onnx_shape_of *onnx_shape_basic(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {
        {"Relu", same}, {"Sigmoid", same}, {"Tanh", same}, {"Exp", same}, {"Log", same}, {"Sqrt", same}, {"Erf", same},
        {"Neg", same}, {"Abs", same}, {"Floor", same}, {"Ceil", same}, {"Round", same}, {"Sign", same}, {"Cos", same},
        {"Sin", same}, {"Tan", same}, {"Acos", same}, {"Asin", same}, {"Atan", same}, {"Cosh", same}, {"Sinh", same},
        {"Acosh", same}, {"Asinh", same}, {"Atanh", same}, {"Reciprocal", same}, {"Softmax", along},
        {"LogSoftmax", along}, {"Hardmax", along}, {"Clip", same}, {"LeakyRelu", same}, {"Elu", same}, {"Selu", same},
        {"Celu", same}, {"HardSigmoid", same}, {"HardSwish", same}, {"Mish", same}, {"Softplus", same},
        {"Softsign", same}, {"ThresholdedRelu", same}, {"Gelu", same}, {"Swish", same}, {"PRelu", same}, {"Identity", same}, {"Not", same},
        {"BitwiseNot", same}, {"InstanceNormalization", same}, {"GroupNormalization", same}, {"LRN", same},
        {"LpNormalization", same}, {"MeanVarianceNormalization", same}, {"CumSum", same}, {"Trilu", same},
        {"ScatterND", same}, {"ScatterElements", same}, {"Scatter", same}, {"ReverseSequence", same}, {"Shrink", same},
        {"Affine", same}, {"ImageScaler", same}, {"ParametricSoftplus", same}, {"ScaledTanh", same}, {"RMSNormalization", same},
        {"Inverse", same}, {"com.microsoft:FastGelu", same}, {"com.microsoft:Gelu", same}, {"com.microsoft:BiasGelu", same},
        {"com.microsoft:QuickGelu", same}, {"com.microsoft:RotaryEmbedding", same}, {"RotaryEmbedding", same},
        {"lxplan:Rsqrt", same}, {"lxplan:Log1p", same}, {"lxplan:Expm1", same}, {"lxplan:Atan2", binary}, {"lxplan:DynamicInsert", same},
        {"SimplifiedLayerNormalization", layer_norm}, {"IsNaN", same_bool}, {"IsInf", same_bool},
        {"Add", binary}, {"Sub", binary}, {"Mul", binary}, {"Div", binary}, {"Pow", binary}, {"Mod", binary},
        {"Max", binary}, {"Min", binary}, {"Sum", binary}, {"Mean", binary}, {"And", binary}, {"Or", binary},
        {"Xor", binary}, {"BitShift", binary}, {"BitwiseAnd", binary}, {"BitwiseOr", binary}, {"BitwiseXor", binary},
        {"Equal", comparison}, {"Less", comparison}, {"Greater", comparison}, {"LessOrEqual", comparison},
        {"GreaterOrEqual", comparison}, {"Where", where}, {"Cast", cast}, {"CastLike", cast_like},
        {"QuantizeLinear", quantize}, {"com.microsoft:QuantizeLinear", quantize},
        {"DequantizeLinear", cast_like}, {"com.microsoft:DequantizeLinear", cast_like},
{"Dropout", dropout}, {"BatchNormalization", batch_norm},
        {"LayerNormalization", layer_norm}, {"com.microsoft:SkipLayerNormalization", layer_norm},
        {"com.microsoft:SkipSimplifiedLayerNormalization", layer_norm},
        {"ReduceSum", reduce}, {"ReduceMean", reduce}, {"ReduceMax", reduce}, {"ReduceMin", reduce},
        {"ReduceProd", reduce}, {"ReduceL1", reduce}, {"ReduceL2", reduce}, {"ReduceLogSum", reduce},
        {"ReduceLogSumExp", reduce}, {"ReduceSumSquare", reduce}, {"ArgMax", arg_reduce}, {"ArgMin", arg_reduce},
        {NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
