/* Ops of the table that work element by element. */
#include "import/map/import_steps.h"

#include <math.h>
#include <string.h>

static bool commutes(const char *ours)
{
    return strcmp(ours, "add") == 0 || strcmp(ours, "mul") == 0 || strcmp(ours, "max") == 0 ||
           strcmp(ours, "min") == 0;
}

/* Element by element. One operand that is a number for all elements goes into the op itself. */
bool import_pointwise(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    const struct lx_kind *kind = lx_kind_find(ours);
    struct sketch_operand operand[LX_MAX_INPUTS];
    struct import_value out;
    int dims[VIEW_MAX_RANK], count = 0, splat = -1;
    double number = 0;
    int64_t whole = 0;
    if (!kind || op->operand_count < kind->least_inputs || op->operand_count > kind->most_inputs ||
        type->count > VIEW_MAX_RANK)
        return import_generic(im, op, "kind");
    if (kind->takes_value && op->operand_count == 2) {
        if (import_splat_exact(import_in(im, op, 1), &number, &whole))
            splat = 1;
        else if (commutes(ours) && import_splat_exact(import_in(im, op, 0), &number, &whole))
            splat = 0;
    }
    for (int i = 0; i < op->operand_count; i++)
        if (i != splat && !import_aligned(im, *import_in(im, op, i), type->count, &operand[count++]))
            return false;
    for (int d = 0; d < type->count; d++) dims[d] = d;
    if (!import_sketch(im, ours, op, type->count, type->extent, operand, count, splat >= 0 ? &number : NULL,
                       type, dims, &out))
        return false;
    if (splat >= 0 && count > 0 && operand[0].storage >= 0)
        im->sketches.at[im->sketches.count - 1].whole = whole;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}

/* In the order of all floats only where they are floats: that of integers is one anyway. */
static bool compare(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const words[][2] = {{"GT", "greater"}, {"EQ", "eq"}, {"NE", "ne"},
                                           {"LT", "lt"},      {"LE", "le"}, {"GE", "ge"}};
    const char *direction = model_attr_word(&op->attrs, "direction", "");
    const struct model_type *t = model_type_of(im->m, op->operands[0]);
    bool all = strcmp(model_attr_word(&op->attrs, "type", ""), "TOTALORDER") == 0 &&
               model_element_row(t->element)->number == MODEL_FLOAT;
    (void)ours;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], direction) == 0)
            return all ? import_generic(im, op, "total order") : import_pointwise(im, op, words[i][1]);
    return import_generic(im, op, "kind");
}

/* Only of equal widths the bits stay in place. */
static bool bitcast(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *from = model_type_of(im->m, op->operands[0]), *to = import_type_out(im, op);
    bool same = model_element_row(from->element)->bits == model_element_row(to->element)->bits &&
                (from->element == MODEL_BOOL) == (to->element == MODEL_BOOL) && from->count == to->count;
    return same ? import_pointwise(im, op, ours) : import_generic(im, op, "width");
}

/* The formula that the op asks for. */
static bool gelu(struct import *im, const struct model_op *op, const char *ours)
{
    const char *how = model_attr_word(&op->attrs, "approximate", "none");
    return import_pointwise(im, op, strcmp(how, "tanh") == 0 ? "gelu" : ours);
}

/* clang-format off */
const struct op_row import_pointwise_rows[] = {
    {{"add", "add", "Add"}, "add", import_pointwise, 2},
    {{"subtract", "subtract", "Sub"}, "sub", import_pointwise, 2},
    {{"multiply", "multiply", "Mul"}, "mul", import_pointwise, 2},
    {{"div", "divide", "Div"}, "div", import_pointwise, 2},
    {{"pow", "power", "Pow"}, "pow", import_pointwise, 2},
    {{"maximum", "maximum", "Max"}, "max", import_pointwise, 2},
    {{"minimum", "minimum", "Min"}, "min", import_pointwise, 2},
    {{"remainder", "remainder", "Mod"}, "rem", import_pointwise, 2},
    {{"neg", "negate", "Neg"}, "neg", import_pointwise, 1},
    {{"abs", "abs", "Abs"}, "abs", import_pointwise, 1},
    {{"exp", "exponential", "Exp"}, "exp", import_pointwise, 1},
    {{"log", "log", "Log"}, "log", import_pointwise, 1},
    {{"sqrt", "sqrt", "Sqrt"}, "sqrt", import_pointwise, 1},
    {{"rsqrt", "rsqrt", "lxplan:Rsqrt"}, "rsqrt", import_pointwise, 1},
    {{"reciprocal", NULL, "Reciprocal"}, "reciprocal", import_pointwise, 1},
    {{"tanh", "tanh", "Tanh"}, "tanh", import_pointwise, 1},
    {{"sigmoid", "logistic", "Sigmoid"}, "sigmoid", import_pointwise, 1},
    {{"relu", NULL, "Relu"}, "relu", import_pointwise, 1},
    {{"cos", "cosine", "Cos"}, "cos", import_pointwise, 1},
    {{"sin", "sine", "Sin"}, "sin", import_pointwise, 1},
    {{"erf", "erf", "Erf"}, "erf", import_pointwise, 1},
    {{"log1p", "log-plus-one", "lxplan:Log1p"}, "log1p", import_pointwise, 1},
    {{"expm1", "exponential-minus-one", "lxplan:Expm1"}, "expm1", import_pointwise, 1},
    {{"cbrt", "cbrt", NULL}, "cbrt", import_pointwise, 1},
    {{"atan2", "atan2", "lxplan:Atan2"}, "atan2", import_pointwise, 2},
    {{"round", "round-nearest-even", "Round"}, "round", import_pointwise, 1},
    {{"floor", "floor", "Floor"}, "floor", import_pointwise, 1},
    {{"ceil", "ceil", "Ceil"}, "ceil", import_pointwise, 1},
    {{"sign", "sign", "Sign"}, "sign", import_pointwise, 1},
    {{"isfinite", "is-finite", NULL}, "is_finite", import_pointwise, 1},
    {{"gelu", NULL, "Gelu"}, "gelu_erf", gelu, 1},
    {{"gt", NULL, "Greater"}, "greater", import_pointwise, 2},
    {{"eq", NULL, "Equal"}, "eq", import_pointwise, 2},
    {{"ne", NULL, NULL}, "ne", import_pointwise, 2},
    {{"lt", NULL, "Less"}, "lt", import_pointwise, 2},
    {{"le", NULL, "LessOrEqual"}, "le", import_pointwise, 2},
    {{"ge", NULL, "GreaterOrEqual"}, "ge", import_pointwise, 2},
    {{NULL, "compare", NULL}, NULL, compare, 2},
    {{"logical_and", "and", "And"}, "and", import_pointwise, 2},
    {{"logical_or", "or", "Or"}, "or", import_pointwise, 2},
    {{"logical_xor", "xor", "Xor"}, "xor", import_pointwise, 2},
    {{"logical_not", "not", "Not"}, "not", import_pointwise, 1},
    {{"bitwise_and", NULL, "BitwiseAnd"}, "and", import_pointwise, 2},
    {{"bitwise_or", NULL, "BitwiseOr"}, "or", import_pointwise, 2},
    {{"bitwise_xor", NULL, "BitwiseXor"}, "xor", import_pointwise, 2},
    {{"bitwise_not", NULL, "BitwiseNot"}, "not", import_pointwise, 1},
    {{"silu", NULL, NULL}, "silu", import_pointwise, 1},
    {{"logical_left_shift", "shift-left", NULL}, "shl", import_pointwise, 2},
    {{"logical_right_shift", "shift-right-logical", NULL}, "shr", import_pointwise, 2},

    {{NULL, "shift-right-arithmetic", NULL}, "sar", import_pointwise, 2},
    {{"where", "select", "Where"}, "where", import_pointwise, 3},
    {{NULL, "clamp", NULL}, "clamp", import_pointwise, 3},
    {{"typecast", "convert", "Cast"}, "cast", import_pointwise, 1},
    {{"bitcast_convert", "bitcast-convert", NULL}, "bitcast", bitcast, 1},
    {.emit = NULL},
};
/* clang-format on */
