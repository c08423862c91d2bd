/* What ops that make tensors as a whole mean, written apart from how the device makes them. */
#include "device/reference/evaluate.h"

#include <math.h>

bool made_known(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_IOTA || op->kind->id == LX_KIND_CONSTANT || op->kind->id == LX_KIND_SCAN;
}

/* The axis of a tensor: elements from one index to the next, and how many there are. */
struct axis {
    int64_t step, length, count;
};

/* From the start on by steps; where neither has a fraction every one is exact. */
static wide_number made_values_counted(const struct number_type *t, const struct lx_op_params *p,
                                       int64_t index)
{
    double start = p ? p->start : 0, step = p ? p->step : 1;
    if (!t->integer) return (wide_number)(start + step * (double)index);
    if (start != rint(start) || step != rint(step))
        return number_wrapped(t, number_whole(truncl((wide_number)(start + step * (double)index))));
    whole_number steps = (whole_number)index * number_whole((wide_number)step);
    return number_wrapped(t, steps + number_whole((wide_number)start));
}

/* Each is the one before it and its own term; `before` is where that is. Then, where its own does not count,
 * all go on by one. */
static void running_sums(const struct number_type *t, const struct axis *a, const struct lx_op_params *p,
                         const struct operand *in, wide_number *value, double *size)
{
    int64_t before = p->reverse ? a->step : -a->step, end = p->reverse ? a->length - 1 : 0;
    for (int64_t k = 0; k < a->count; k++) {
        int64_t n = p->reverse ? a->count - 1 - k : k;
        bool begins = n / a->step % a->length == end;
        wide_number x;
        operand_wide_row(in, n, 1, 1, &x);
        wide_number sum = begins ? 0 : value[n + before];
        value[n] = t->integer ? number_wrapped(t, number_whole(sum) + number_whole(x))
                              : (wide_number)((double)sum + (double)x);
        size[n] = (begins ? 0 : size[n + before]) + fabs((double)x);
    }
    for (int64_t k = 0; p->exclusive && k < a->count; k++) {
        int64_t n = p->reverse ? k : a->count - 1 - k;
        bool begins = n / a->step % a->length == end;
        value[n] = begins ? 0 : value[n + before];
    }
}

void made_values(const struct lx_graph *g, const struct lx_op *op, const struct operand *in,
                 wide_number *value, double *slack)
{
    const struct lx_tensor *t = &g->tensors[op->output];
    const struct number_type *type = &number_types[t->dtype];
    const struct lx_op_params *p = op->params;
    int which = p ? (int)p->axis : -1;
    struct axis a = {.step = 1, .length = which >= 0 ? t->shape[which] : 1, .count = 1};
    for (int k = 0; k < t->rank; k++) {
        if (which >= 0 && k > which) a.step *= t->shape[k];
        if (which < 0) a.length *= t->shape[k];
        a.count *= t->shape[k];
    }
    for (int64_t n = 0; n < a.count; n++) {
        slack[n] = 0;
        int64_t nth = op->data && op->data->count > 1 ? n : 0;
        if (op->kind->id == LX_KIND_CONSTANT)
            value[n] = number_stated(op->data->numbers[nth], op->data->wholes[nth]);
        if (op->kind->id == LX_KIND_IOTA) value[n] = made_values_counted(type, p, n / a.step % a.length);
    }
    if (op->kind->id != LX_KIND_SCAN) return;
    running_sums(type, &a, p, in, value, slack);
    double stored = t->dtype == LX_FP32 ? 0x1p-24 : 0; /* bounds of fp32 count on sums that it makes itself */
    for (int64_t n = 0; n < a.count; n++)
        slack[n] =
            type->integer ? 0 : slack[n] * (double)a.length * 0x1p-51 + stored * fabs((double)value[n]);
}
