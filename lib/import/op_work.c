/* Multiply-adds of ops as their file has them. */
#include "import/facts.h"
#include "import/types/windows.h"

#include <string.h>

static int64_t work_times(int64_t a, int64_t b)
{
    int64_t p;
    return __builtin_mul_overflow(a, b, &p) ? INT64_MAX : p;
}

/* Two for each element of the result and each of what is contracted. */
static struct op_work work_of_dot(const struct model_op *op, enum model_format dialect,
                                  const struct model_type *left, const struct model_type *y)
{
    int count;
    const char *key = dialect == MODEL_HLO ? "lhs_contracting_dims" : "contract_dims_lhs";
    const int64_t *dims = model_attr_ints(&op->attrs, key, &count);
    int64_t k = 1;
    for (int i = 0; i < count; i++) {
        int64_t d = dims[i] < 0 ? dims[i] + left->count : dims[i];
        if (d >= 0 && d < left->count) k = work_times(k, left->extent[d]);
    }
    return (struct op_work){.flops = work_times(2, work_times(y->elements, k))};
}

static struct op_work work_of_matmul(const struct model_op *op, enum model_format dialect,
                                     const struct model_type *left, const struct model_type *y)
{
    const char *key = dialect == MODEL_ONNX ? "transA" : "transpose_a";
    int back = model_attr_int(&op->attrs, key, 0) && left->count > 1 ? 2 : 1;
    int64_t k = left->count >= back ? left->extent[left->count - back] : 1;
    return (struct op_work){.flops = work_times(2, work_times(y->elements, k))};
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
    work.macs = work_times(y->elements, w->elements / out);
    work.macs_valid = in;
    for (int i = 0; i < c.count; i++) {
        c.window[i].out = conv_extent(y, c.y[i]);
        if (c.window[i].out < 1) return work;
        rest /= c.window[i].out;
        work.macs_valid = work_times(work.macs_valid, window_valid_taps(&c.window[i]));
    }
    work.macs_valid = work_times(work.macs_valid, rest);
    return work;
}

/* X W' for all steps and h R' in each; gates and directions are in W and R. */
static struct op_work work_of_lstm(const struct model_type *x, const struct model_type *w,
                                   const struct model_type *r)
{
    int64_t rows = x->count == 3 ? work_times(2, x->extent[0] * x->extent[1]) : 0;
    return (struct op_work){.macro_flops = work_times(rows, w->elements + r->elements)};
}

/* Scores and the weighted sum, over a cache of `length` rows. */
static struct op_work work_of_group_query(const struct model_type *y, const struct model_type *cache)
{
    if (y->count != 3 || (cache && cache->count != 4)) return (struct op_work){0};
    int64_t length = cache ? cache->extent[2] : y->extent[1];
    return (struct op_work){.macro_flops = work_times(work_times(4, y->elements), length)};
}

struct op_work op_work(const struct lx_model *m, enum model_format dialect, const struct model_op *op)
{
    static const char *const dots[] = {"dot_general", "dot", NULL},
                             *const matmuls[] = {"matmul", NULL, "MatMul"},
                             *const others[] = {"linear", NULL, "Gemm"},
                             *const convs[] = {"conv2d", "convolution", "Conv"};
    const struct model_type *in[3] = {NULL}, *y;
    const char *kind = op->kind;
    if (op->operand_count < 2 || op->result_count < 1 || op->results[0] < 0) return (struct op_work){0};
    for (int i = 0; i < op->operand_count && i < 3; i++)
        in[i] = op->operands[i] < 0 ? NULL : model_type_of(m, op->operands[i]);
    y = model_type_of(m, op->results[0]);
    if (!in[0] || !in[1] || in[0]->element == MODEL_TUPLE || in[1]->element == MODEL_TUPLE ||
        y->element == MODEL_TUPLE)
        return (struct op_work){0};
    if (dots[dialect] && strcmp(kind, dots[dialect]) == 0) return work_of_dot(op, dialect, in[0], y);
    if (convs[dialect] && strcmp(kind, convs[dialect]) == 0)
        return work_of_conv(op, dialect, in[0], in[1], y);
    if ((matmuls[dialect] && strcmp(kind, matmuls[dialect]) == 0) ||
        (others[dialect] && strcmp(kind, others[dialect]) == 0))
        return work_of_matmul(op, dialect, in[0], y);
    if (dialect == MODEL_ONNX && strcmp(kind, "LSTM") == 0 && in[2]) return work_of_lstm(in[0], in[1], in[2]);
    if (dialect == MODEL_ONNX && strcmp(kind, "com.microsoft:GroupQueryAttention") == 0)
        return work_of_group_query(
            y, op->result_count > 1 && op->results[1] >= 0 ? model_type_of(m, op->results[1]) : NULL);
    return (struct op_work){0};
}
