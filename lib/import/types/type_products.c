/* Rules of result types: contractions and windows that slide. */
#include "import/types/typing.h"
#include "import/types/windows.h"

#include <string.h>

/* Batch, free of the left, free of the right; what is contracted is equally long. */
enum typed type_of_dot(struct typing *t)
{
    static const char *const keys[2][4] = {
        {"batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs"},
        {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"}};
    bool used[2][MODEL_MAX_RANK] = {{false}};
    const int64_t *list[4];
    int count[4];
    for (int i = 0; i < 4; i++) {
        list[i] = model_attr_ints(&t->op->attrs, keys[t->dialect == MODEL_HLO][i], &count[i]);
        for (int k = 0; k < count[i]; k++) {
            if (list[i][k] < 0 || list[i][k] >= t->in[i % 2]->count || used[i % 2][list[i][k]])
                return typing_wrong(t, "its batch and contracted dimensions are none, or stand twice");
            used[i % 2][list[i][k]] = true;
        }
    }
    if (count[0] != count[1] || count[2] != count[3])
        return typing_schema(t, "as many dimensions of the left as of the right");
    for (int i = 0; i < 4; i += 2)
        for (int k = 0; k < count[i]; k++) {
            int64_t a = t->in[0]->extent[list[i][k]], b = t->in[1]->extent[list[i + 1][k]];
            if (i == 0) typing_want(t, a);
            if (a != b) return TYPE_WRONG;
        }
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < t->in[s]->count; d++)
            if (!used[s][d]) typing_want(t, t->in[s]->extent[d]);
    return TYPED;
}

/* A vector on the left is a row, on the right a column, that the result lacks. Leading dimensions
 * broadcast. */
enum typed type_of_matmul(struct typing *t)
{
    const struct model_type *a = t->in[0], *b = t->in[1], *c = t->in[2];
    bool onnx = t->dialect == MODEL_ONNX;
    bool turn_a = typing_int(t, onnx ? "transA" : "transpose_a", 0) && a->count > 1,
         turn_b = typing_int(t, onnx ? "transB" : "transpose_b", 0) && b->count > 1;
    if (a->count < 1 || b->count < 1) return typing_wrong(t, "a product of a scalar");
    if (a->extent[a->count - (turn_a ? 2 : 1)] != b->extent[b->count - (turn_b || b->count == 1 ? 1 : 2)])
        return TYPE_WRONG;
    if ((a->count > 2 && !typing_spread(t, a->count - 2, a->extent)) ||
        (b->count > 2 && !typing_spread(t, b->count - 2, b->extent)))
        return typing_wrong(t, "leading dimensions do not broadcast");
    if (a->count > 1) typing_want(t, a->extent[a->count - (turn_a ? 1 : 2)]);
    if (b->count > 1) typing_want(t, b->extent[b->count - (turn_b ? 2 : 1)]);
    if (!onnx || strcmp(t->op->kind, "Gemm") != 0 || t->opset < 7) return TYPED;
    if (a->count != 2 || b->count != 2) return typing_wrong(t, "its operands are no matrices");
    return !c || typing_fits(t, c->count, c->extent, false)
               ? TYPED
               : typing_wrong(t, "the third operand is not broadcast to rows and columns");
}

enum typed type_of_convolution(struct typing *t)
{
    const struct model_type *x = t->in[0], *w = t->in[1];
    struct model_conv c;
    int64_t all;
    int count;
    const int64_t *kernel = model_attr_ints(&t->op->attrs, "kernel_shape", &count);
    if (t->dialect == MODEL_HLO && !model_attr_find(&t->op->attrs, "dim_labels"))
        return typing_schema(t, "it needs dim_labels");
    if (!op_conv(t->dialect, t->op, x, w, &c))
        return t->dialect == MODEL_ONNX ? typing_wrong(t, "a window that does not fit its operand")
                                        : TYPE_OPEN;
    int64_t b = conv_extent(x, c.batch), f = conv_extent(x, c.channel), i = conv_extent(w, c.in_channel),
            o = conv_extent(w, c.out_channel);
    if (b < 0 || f < 0 || i < 0 || o < 0 || c.y_batch < 0 || c.y_channel < 0 || c.y_batch >= x->count ||
        c.y_channel >= x->count)
        return typing_schema(t, "dim_labels that name batch, feature, i and o once each");
    if (c.groups < 1 || c.batch_groups < 1 || b % c.batch_groups || o % c.groups || o % c.batch_groups ||
        __builtin_mul_overflow(c.groups, i, &all) || all != f)
        return typing_wrong(
            t, "channels of the operand are group count times those of the weight, whose outputs "
               "they divide");
    for (int k = 0; t->dialect == MODEL_ONNX && k < count; k++)
        if (count != c.count || kernel[k] != w->extent[2 + k])
            return typing_wrong(t, "\"kernel_shape\" is not that of the weight");
    typing_like(t, x);
    t->want[c.y_batch] = b / c.batch_groups;
    t->want[c.y_channel] = o;
    for (int k = 0; k < c.count; k++) {
        if (c.y[k] < 0 || c.y[k] >= t->rank || c.window[k].in < 0)
            return typing_schema(t, "dim_labels that name each dimension");
        if (c.window[k].in == 0) return TYPE_OPEN;
        t->want[c.y[k]] = c.window[k].out;
    }
    return TYPED;
}

enum typed type_of_pool(struct typing *t)
{
    struct model_window w[MODEL_MAX_WINDOWS];
    int at[MODEL_MAX_WINDOWS], count = op_pool(t->dialect, t->op, t->in[0], w, at);
    bool onnx = t->dialect == MODEL_ONNX;
    if (onnx && !model_attr_find(&t->op->attrs, "kernel_shape"))
        return typing_schema(t, "it needs \"kernel_shape\"");
    if (onnx && count < 1)
        return typing_wrong(t, "\"kernel_shape\" does not have the dimensions of its operand");
    if (count < 0 || (t->dialect == MODEL_HLO && t->op->operand_count != 2)) return TYPE_OPEN;
    typing_like(t, t->in[0]);
    for (int i = 0; i < count; i++) {
        if (w[i].in == 0) return TYPE_OPEN;
        t->want[at[i]] = w[i].out;
    }
    typing_result(t, 1, MODEL_I64, t->rank, t->want);
    return TYPED;
}

enum typed type_of_global_pool(struct typing *t)
{
    typing_like(t, t->in[0]);
    for (int d = 2; d < t->rank; d++) t->want[d] = 1;
    return TYPED;
}
