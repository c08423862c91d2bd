/* The tables of what there is: element types, roles and kinds of ops. */
#include "graph/graph.h"

#include <string.h>

static const struct {
    const char *word;
    int bits;
} dtypes[LX_DTYPE_COUNT] = {
#define LX_DTYPE_ROW(id, word, bits) [id] = {word, bits},
    LX_DTYPES(LX_DTYPE_ROW)
#undef LX_DTYPE_ROW
};

static const char *const roles[LX_ROLE_COUNT] = {
    [LX_INPUT] = "input", [LX_WEIGHT] = "weight", [LX_INTERMEDIATE] = "intermediate", [LX_OUTPUT] = "output"};

enum {
    UNARY = LX_POINTWISE | LX_IN_PLACE,
    EITHER = LX_POINTWISE | LX_REDUCES |
             LX_IN_PLACE, /* two operands: pointwise; one with fewer indices: reduction */
};

static const struct lx_kind kinds[] = {
    {"add", UNARY, 1, 2, true, "a + b"},
    {"sub", UNARY, 1, 2, true, "a - b"},
    {"mul", UNARY, 1, 2, true, "a * b"},
    {"div", UNARY, 1, 2, true, "a / b"},
    {"pow", UNARY, 1, 2, true, "a to the power b"},
    {"max", EITHER, 1, 2, true, "the larger of two, or the largest along the indices that go"},
    {"min", EITHER, 1, 2, true, "the smaller of two, or the smallest along the indices that go"},
    {"sum", LX_REDUCES, 1, 1, false, "the sum along the indices that go"},
    {"mean", LX_REDUCES, 1, 1, false, "the mean along the indices that go"},
    {"neg", UNARY, 1, 1, false, "-a"},
    {"abs", UNARY, 1, 1, false, "|a|"},
    {"exp", UNARY, 1, 1, false, "e to the power a"},
    {"log", UNARY, 1, 1, false, "natural logarithm"},
    {"sqrt", UNARY, 1, 1, false, "square root"},
    {"rsqrt", UNARY, 1, 1, false, "1 / square root"},
    {"reciprocal", UNARY, 1, 1, false, "1 / a"},
    {"relu", UNARY, 1, 1, false, "max(a, 0)"},
    {"gelu", UNARY, 1, 1, false, "a * Phi(a), by the tanh formula"},
    {"silu", UNARY, 1, 1, false, "a * sigmoid(a)"},
    {"sigmoid", UNARY, 1, 1, false, "1 / (1 + exp(-a))"},
    {"tanh", UNARY, 1, 1, false, "hyperbolic tangent"},
    {"greater", UNARY, 1, 2, true, "1 where a > b, else 0"},
    {"where", UNARY, 3, 3, false, "b where a is not 0, else c"},
    {"clone", UNARY, 1, 1, false, "a copy; with fewer input indices a broadcast"},
    {"matmul", LX_CONTRACTS, 2, 2, false, "any contraction of two tensors"},
    {"restickify", LX_OPAQUE, 1, 1, false, "a copy with the stick along another dimension"},
    {"slice", LX_VIEW, 1, 1, false, "out[i] = in[offset + stride * i]"},
    {"shift", LX_VIEW, 1, 1, false, "out[i] = in[i + offset], 0 outside"},
    {"insert", LX_VIEW, 1, 1, false, "out[offset + stride * i] = in[i], the rest of out is kept"},
    {"generic", LX_OPAQUE | LX_IN_PLACE, 0, LX_MAX_INPUTS, false,
     "an op of which only the operands are known"},
    {"extern", LX_OPAQUE | LX_EXTERN, 0, LX_MAX_INPUTS, false, "a call off the device: HBM operands only"},
    {0},
};

const char *lx_dtype_word(enum lx_dtype d)
{
    return (unsigned)d < LX_DTYPE_COUNT ? dtypes[d].word : "unknown";
}

int lx_dtype_bits(enum lx_dtype d)
{
    return (unsigned)d < LX_DTYPE_COUNT ? dtypes[d].bits : 0;
}

enum lx_dtype lx_dtype_find(const char *word)
{
    int i = 0;
    while (i < LX_DTYPE_COUNT && strcmp(dtypes[i].word, word) != 0) i++;
    return (enum lx_dtype)i;
}

const char *lx_role_word(enum lx_role r)
{
    return (unsigned)r < LX_ROLE_COUNT ? roles[r] : "unknown";
}

const struct lx_kind *lx_kinds(void)
{
    return kinds;
}

const struct lx_kind *lx_kind_find(const char *name)
{
    for (const struct lx_kind *k = kinds; k->name; k++)
        if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

const char *lx_objective_word(enum lx_objective o)
{
    static const char *const words[] = {[LX_SPILL] = "spill", [LX_FIT] = "fit", [LX_HEIGHT] = "height"};
    return (unsigned)o < LX_OBJECTIVE_COUNT ? words[o] : "unknown";
}
