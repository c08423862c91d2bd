/* What ops that make tensors as a whole mean, written apart from how the device makes them. */
#include "device/reference/made_values.h"

#include <math.h>

bool made_known(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_IOTA || op->kind->id == LX_KIND_CONSTANT || op->kind->id == LX_KIND_SCAN;
}

/* The axis of a tensor: elements from one index to the next, and how many there are. */
struct axis {
    int64_t step, length, count;
};

static struct axis axis_of(const struct lx_tensor *t, const struct lx_op_params *p)
{
    int which = p ? (int)p->axis : -1;
    struct axis a = {.step = 1, .length = which >= 0 ? t->shape[which] : 1, .count = 1};
    for (int d = 0; d < t->rank; d++) {
        if (which >= 0 && d > which) a.step *= t->shape[d];
        if (which < 0) a.length *= t->shape[d];
        a.count *= t->shape[d];
    }
    return a;
}

static double in_range(const struct number_type *t, double x)
{
    return t->integer ? number_wrapped(t, (int64_t)x) : x;
}

/* Each is the one before it and its own term; `before` is where that is. Then, where its own does not count, all go on
 * by one. */
static void running_sums(const struct number_type *t, const struct axis *a, const struct lx_op_params *p,
                         const struct operand *in, double *value, double *size)
{
    int64_t before = p->reverse ? a->step : -a->step, end = p->reverse ? a->length - 1 : 0;
    for (int64_t k = 0; k < a->count; k++) {
        int64_t n = p->reverse ? a->count - 1 - k : k;
        bool begins = n / a->step % a->length == end;
        double x;
        operand_row(in, n, 1, 1, &x);
        value[n] = in_range(t, (begins ? 0 : value[n + before]) + x);
        size[n] = (begins ? 0 : size[n + before]) + fabs(x);
    }
    for (int64_t k = 0; p->exclusive && k < a->count; k++) {
        int64_t n = p->reverse ? k : a->count - 1 - k;
        bool begins = n / a->step % a->length == end;
        value[n] = begins ? 0 : value[n + before];
    }
}

void made_values(const struct lx_graph *g, const struct lx_op *op, const struct operand *in, double *value,
                 double *slack)
{
    const struct lx_tensor *t = &g->tensors[op->output];
    const struct number_type *type = &number_types[t->dtype];
    const struct lx_op_params *p = op->params;
    struct axis a = axis_of(t, p);
    for (int64_t n = 0; n < a.count; n++) {
        slack[n] = 0;
        if (op->kind->id == LX_KIND_CONSTANT) value[n] = op->data->numbers[op->data->count == 1 ? 0 : n];
        if (op->kind->id == LX_KIND_IOTA)
            value[n] =
                in_range(type, (p ? p->start : 0) + (p ? p->step : 1) * (double)(n / a.step % a.length));
    }
    if (op->kind->id != LX_KIND_SCAN) return;
    running_sums(type, &a, p, in, value, slack);
    double stored = t->dtype == LX_FP32 ? 0x1p-24 : 0; /* bounds of fp32 count on sums that it makes itself */
    for (int64_t n = 0; n < a.count; n++)
        slack[n] = type->integer ? 0 : slack[n] * (double)a.length * 0x1p-51 + stored * fabs(value[n]);
}
