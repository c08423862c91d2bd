/* What ONNX nodes take: how many operands, which of them have one element type, what must be said. A node that breaks
 * this says nothing that could be believed; the message has the rule. Kinds without a row are taken at their word, and
 * where versions differ the widest of them counts. */
#include "import/read/onnx.h"
#include "base/fail.h"

#include <string.h>

enum {
    ALL = -1, /* operands that have the type of the first */
    MANY = 1 << 20,
};

struct signature {
    const char *kind;
    int least, most;
    int same;    /* bits of operands that have one type; the lowest of them says which */
    int truths;  /* bits of operands that are truths */
    int indices; /* bits of operands that are int32 or int64 */
};

#define UNARY(kind)                                                                                          \
    {                                                                                                        \
        kind, 1, 1, 0, 0, 0                                                                                  \
    }
#define BINARY(kind)                                                                                         \
    {                                                                                                        \
        kind, 2, 2, ALL, 0, 0                                                                                \
    }
#define LOGICAL(kind)                                                                                        \
    {                                                                                                        \
        kind, 2, 2, 0, 3, 0                                                                                  \
    }
#define CHAIN(kind)                                                                                          \
    {                                                                                                        \
        kind, 1, MANY, ALL, 0, 0                                                                             \
    }
#define REDUCED(kind)                                                                                        \
    {                                                                                                        \
        kind, 1, 2, 0, 0, 2                                                                                  \
    }

/* clang-format off */
static const struct signature rows[] = {
    BINARY("Add"), BINARY("Sub"), BINARY("Mul"), BINARY("Div"), BINARY("Mod"), BINARY("MatMul"), BINARY("Equal"),
    BINARY("Less"), BINARY("Greater"), BINARY("LessOrEqual"), BINARY("GreaterOrEqual"), BINARY("BitwiseAnd"),
    BINARY("BitwiseOr"), BINARY("BitwiseXor"), BINARY("BitShift"), {"Pow", 2, 2, 0, 0, 0}, BINARY("PRelu"),
    LOGICAL("And"), LOGICAL("Or"), LOGICAL("Xor"), {"Not", 1, 1, 0, 1, 0},
    CHAIN("Sum"), CHAIN("Max"), CHAIN("Min"), CHAIN("Mean"), CHAIN("Concat"), CHAIN("Einsum"),
    {"Where", 3, 3, 6, 1, 0}, {"Clip", 1, 3, ALL, 0, 0}, {"Gemm", 2, 3, ALL, 0, 0}, {"Conv", 2, 3, ALL, 0, 0},
    {"ConvTranspose", 2, 3, ALL, 0, 0}, {"ConvInteger", 2, 4, 0, 0, 0}, {"MatMulInteger", 2, 4, 0, 0, 0},
    {"QLinearConv", 8, 9, 0, 0, 0}, {"QLinearMatMul", 8, 8, 0, 0, 0}, {"QuantizeLinear", 2, 3, 0, 0, 0},
    {"DequantizeLinear", 2, 3, 0, 0, 0}, UNARY("DynamicQuantizeLinear"), {"BatchNormalization", 5, 5, 0, 0, 0},
    {"LayerNormalization", 2, 3, 0, 0, 0}, {"InstanceNormalization", 3, 3, 0, 0, 0}, {"GroupNormalization", 3, 3, 0, 0, 0},
    {"Gather", 2, 2, 0, 0, 2}, {"GatherElements", 2, 2, 0, 0, 2}, {"GatherND", 2, 2, 0, 0, 2},
    {"ScatterElements", 3, 3, 5, 0, 2}, {"Scatter", 3, 3, 5, 0, 2}, {"ScatterND", 3, 3, 5, 0, 2},
    {"Expand", 2, 2, 0, 0, 2}, {"Tile", 2, 3, 0, 0, 0}, {"Reshape", 1, 2, 0, 0, 2}, {"Squeeze", 1, 2, 0, 0, 2},
    {"Unsqueeze", 1, 2, 0, 0, 2}, {"Split", 1, 2, 0, 0, 2}, {"Slice", 1, 5, 0, 0, 30}, {"Pad", 1, 4, 0, 0, 10},
    {"TopK", 1, 2, 0, 0, 2}, {"OneHot", 3, 3, 0, 0, 0}, {"Range", 3, 3, ALL, 0, 0}, {"CumSum", 2, 2, 0, 0, 2},
    {"Trilu", 1, 2, 0, 0, 2}, {"ConstantOfShape", 1, 1, 0, 0, 1}, {"Constant", 0, 0, 0, 0, 0}, {"Dropout", 1, 3, 0, 0, 0},
    {"LSTM", 3, 8, 0, 0, 0}, {"GRU", 3, 6, 0, 0, 0}, {"RNN", 3, 6, 0, 0, 0}, {"If", 1, 1, 0, 1, 0},
    {"Resize", 1, 4, 0, 0, 0}, {"Upsample", 1, 2, 0, 0, 0},
    REDUCED("ReduceSum"), REDUCED("ReduceMean"), REDUCED("ReduceMax"), REDUCED("ReduceMin"), REDUCED("ReduceProd"),
    REDUCED("ReduceL1"), REDUCED("ReduceL2"), REDUCED("ReduceLogSum"), REDUCED("ReduceLogSumExp"),
    REDUCED("ReduceSumSquare"), UNARY("ArgMax"), UNARY("ArgMin"),
    UNARY("Relu"), UNARY("Sigmoid"), UNARY("Tanh"), UNARY("Exp"), UNARY("Log"), UNARY("Sqrt"), UNARY("Erf"), UNARY("Neg"),
    UNARY("Abs"), UNARY("Floor"), UNARY("Ceil"), UNARY("Round"), UNARY("Sign"), UNARY("Cos"), UNARY("Sin"), UNARY("Tan"),
    UNARY("Reciprocal"), UNARY("Softmax"), UNARY("LogSoftmax"), UNARY("Hardmax"), UNARY("LeakyRelu"), UNARY("Elu"),
    UNARY("Selu"), UNARY("HardSigmoid"), UNARY("HardSwish"), UNARY("Mish"), UNARY("Softplus"), UNARY("Softsign"),
    UNARY("Gelu"), UNARY("Identity"), UNARY("BitwiseNot"), UNARY("IsNaN"), UNARY("IsInf"), UNARY("Cast"),
    {"CastLike", 2, 2, 0, 0, 0}, UNARY("Transpose"), UNARY("Flatten"), UNARY("Shape"), UNARY("Size"), UNARY("MaxPool"),
    UNARY("AveragePool"), UNARY("GlobalAveragePool"), UNARY("GlobalMaxPool"), UNARY("DepthToSpace"), UNARY("SpaceToDepth")};
/* clang-format on */

static const struct signature *row_of(const char *kind)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].kind, kind) == 0) return &rows[i];
    return NULL;
}

static bool bit(int bits, int operand)
{
    return operand < 31 ? bits >> operand & 1 : bits < 0;
}

static const char *word(const struct model_type *t)
{
    return model_element_word(MODEL_ONNX, t->element);
}

/* The attribute, or the operand that has it in newer versions. */
static bool says(const struct shaper *x, const char *key, int operand)
{
    return model_attr_find(&x->op->attrs, key) || shaper_has(x, operand);
}

/* Attributes that have no value unless they are said. */
static bool complete(struct shaper *x)
{
    static const struct {
        const char *kind, *key;
        int operand;        /* instead */
        int64_t from_opset; /* there was a value before */
    } needs[] = {{"Concat", "axis", MANY, 4},
                 {"Slice", "starts", 1, 1},
                 {"Slice", "ends", 2, 1},
                 {"Einsum", "equation", MANY, 1},
                 {"OneHot", "axis", 0, 1},
                 {"MaxPool", "kernel_shape", MANY, 1},
                 {"AveragePool", "kernel_shape", MANY, 1},
                 {"BitShift", "direction", MANY, 1},
                 {"DepthToSpace", "blocksize", MANY, 1},
                 {"SpaceToDepth", "blocksize", MANY, 1}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strcmp(needs[i].kind, x->op->kind) == 0 && x->opset >= needs[i].from_opset &&
            !says(x, needs[i].key, needs[i].operand))
            return shaper_schema(x, "it needs \"%s\"", needs[i].key), false;
    return true;
}

static bool counted(struct shaper *x, const struct signature *s)
{
    int count = x->op->operand_count;
    bool all = count >= s->least && count <= s->most;
    for (int i = 0; all && i < s->least; i++) all = shaper_has(x, i);
    if (all) return true;
    if (s->most == MANY) return shaper_schema(x, "%d operands; it takes %d or more", count, s->least), false;
    if (s->most == s->least) return shaper_schema(x, "%d operands; it takes %d", count, s->least), false;
    return shaper_schema(x, "%d operands; it takes %d to %d", count, s->least, s->most), false;
}

static bool typed(struct shaper *x, const struct signature *s)
{
    const struct model_type *first = NULL;
    for (int i = 0; i < x->op->operand_count; i++) {
        const struct model_type *t = shaper_in(x, i);
        if (!t) continue;
        if (bit(s->truths, i) && t->element != MODEL_BOOL)
            return shaper_wrong(x, "operand %d is %s; the rule of its kind: a truth (i1)", i, word(t)), false;
        if (bit(s->indices, i) && t->element != MODEL_I64 && t->element != MODEL_I32)
            return shaper_wrong(x, "operand %d is %s; the rule of its kind: int32 or int64", i, word(t)),
                   false;
        if (!bit(s->same, i)) continue;
        if (first && first->element != t->element)
            return shaper_wrong(x, "operand %d is %s beside %s; the rule of its kind: one type", i, word(t),
                                word(first)),
                   false;
        if (!first) first = t;
    }
    return true;
}

bool onnx_check_node(struct shaper *x)
{
    const struct signature *s = row_of(x->op->kind);
    return !s || (counted(x, s) && complete(x) && typed(x, s));
}

bool onnx_check_declared(struct shaper *x, const struct model_value *v)
{
    if (!row_of(x->op->kind) || v->type->element == v->declared->element) return true;
    return shaper_wrong(x, "%.60s is %s, but the file declares %s", v->name, word(v->type),
                        word(v->declared)),
           false;
}
