/* Multiply-adds of ops as their file has them. */
#include "import/facts.h"
#include "import/types/windows.h"

#include <string.h>

/* How many are added up for each element of a product. */
static int64_t work_contracted(const struct model_op *op, enum model_format dialect,
                               const struct model_type *left, bool dot)
{
    int count;
    const int64_t *dims = model_attr_ints(
        &op->attrs, dialect == MODEL_HLO ? "lhs_contracting_dims" : "contract_dims_lhs", &count);
    int back = model_attr_int(&op->attrs, dialect == MODEL_ONNX ? "transA" : "transpose_a", 0) ? 2 : 1;
    int64_t k = 1;
    if (!dot) return left->count < 1 ? 1 : left->extent[left->count > 1 ? left->count - back : 0];
    for (int i = 0; i < count; i++) {
        int64_t d = dims[i] < 0 ? dims[i] + left->count : dims[i];
        if (d >= 0 && d < left->count) k = fact_times(k, left->extent[d]);
    }
    return k;
}

static struct op_work work_of_conv(const struct model_op *op, enum model_format dialect,
                                   const struct model_type *x, const struct model_type *w,
                                   const struct model_type *y)
{
    struct model_conv c;
    struct op_work work = {0};
    if (y->elements < 1 || !op_conv(dialect, op, x, w, &c)) return work;
    int64_t out = conv_extent(w, c.out_channel), in = conv_extent(w, c.in_channel), rest = y->elements;
    if (out < 1 || in < 0) return work;
    work.macs = fact_times(y->elements, w->elements / out);
    work.macs_valid = in;
    for (int i = 0; i < c.count; i++) {
        c.window[i].out = conv_extent(y, c.y[i]);
        if (c.window[i].out < 1) return work;
        rest /= c.window[i].out;
        work.macs_valid = fact_times(work.macs_valid, window_valid_taps(&c.window[i]));
    }
    work.macs_valid = fact_times(work.macs_valid, rest);
    return work;
}

struct op_work op_work(const struct lx_model *m, enum model_format dialect, const struct model_op *op)
{
    enum { DOT, MATMUL, LINEAR, CONV, LSTM, GROUP_QUERY, KINDS };
    static const char *const kinds[KINDS][3] = {
        [DOT] = {"dot_general", "dot", NULL},
        [MATMUL] = {"matmul", NULL, "MatMul"},
        [LINEAR] = {"linear", NULL, "Gemm"},
        [CONV] = {"conv2d", "convolution", "Conv"},
        [LSTM] = {NULL, NULL, "LSTM"},
        [GROUP_QUERY] = {NULL, NULL, "com.microsoft:GroupQueryAttention"}};
    const struct model_type *in[3] = {NULL}, *y, *more;
    struct op_work work = {0};
    int kind = 0;
    while (kind < KINDS && (!kinds[kind][dialect] || strcmp(kinds[kind][dialect], op->kind) != 0)) kind++;
    if (kind == KINDS || op->operand_count < 2 || op->result_count < 1 || op->results[0] < 0) return work;
    for (int i = 0; i < op->operand_count && i < 3; i++) in[i] = model_type_of(m, op->operands[i]);
    y = model_type_of(m, op->results[0]);
    more = op->result_count > 1 ? model_type_of(m, op->results[1]) : NULL;
    if (!in[0] || !in[1] || in[0]->element == MODEL_TUPLE || in[1]->element == MODEL_TUPLE ||
        y->element == MODEL_TUPLE)
        return work;
    if (kind == CONV) return work_of_conv(op, dialect, in[0], in[1], y);
    if (kind <= LINEAR)
        work.flops = fact_times(2, fact_times(y->elements, work_contracted(op, dialect, in[0], kind == DOT)));
    if (kind == LSTM && in[2] && in[0]->count == 3) /* X W' and h R' in each step, all gates and directions */
        work.macro_flops =
            fact_times(2 * in[0]->extent[0] * in[0]->extent[1], fact_plus(in[1]->elements, in[2]->elements));
    if (kind == GROUP_QUERY && y->count == 3 && (!more || more->count == 4)) /* over all rows of the cache */
        work.macro_flops = fact_times(fact_times(4, y->elements), more ? more->extent[2] : y->extent[1]);
    return work;
}
