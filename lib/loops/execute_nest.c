/* The reference executor: the nest as it is written, in double, no cleverness.
 *
 * Loops run from the outermost in, whatever their execution: shared and primitive loops are loops. Only k
 * loops narrow what is a first and a last access to an output element: an element is touched first where all
 * k indices are 0, and last where all are at their end. The innermost loop is written out, since a call an
 * element would be ten times slower; nothing else is done for speed. */
#include "loops/nest.h"

struct run {
    const struct lx_loops *nest;
    const double *in0, *in1;
    double *out;
};

/* Where the operands are. */
struct at {
    int64_t in0, in1, out;
};

static double relu(double x)
{
    return x > 0 ? x : 0;
}

/* A touch of the output alone: a copy of it to itself changes nothing. */
static void execute_nest_touch(double *out, enum lx_touch how)
{
    if (how == LX_TOUCH_ZERO)
        *out = 0;
    else if (how == LX_TOUCH_RELU)
        *out = relu(*out);
}

static void execute_nest_body(const struct run *r, struct at at)
{
    switch (r->nest->main) {
    case LX_TOUCH_GEMM:
    case LX_TOUCH_BRGEMM:
        r->out[at.out] += r->in0[at.in0] * r->in1[at.in1];
        break;
    case LX_TOUCH_ZERO:
        r->out[at.out] = 0;
        break;
    case LX_TOUCH_COPY:
        r->out[at.out] = r->in0[at.in0];
        break;
    case LX_TOUCH_RELU:
        r->out[at.out] = relu(r->in0[at.in0]);
        break;
    default:
        break;
    }
}

static struct at execute_nest_step(struct at at, const struct lx_loop *loop)
{
    return (struct at){at.in0 + loop->stride[LX_LOOP_IN0], at.in1 + loop->stride[LX_LOOP_IN1],
                       at.out + loop->stride[LX_LOOP_OUT]};
}

/* The innermost loop. Over k it walks on one output element, else on as many as it has turns. */
static void innermost(const struct run *r, const struct lx_loop *loop, struct at at, bool first, bool last)
{
    const struct lx_loops *l = r->nest;
    bool is_k = loop->type == LX_DIM_K;
    first = first && l->first != LX_TOUCH_NONE;
    last = last && l->last != LX_TOUCH_NONE;
    if (lx_touch_contracts(l->main) && ((!first && !last) || is_k)) {
        if (loop->size == 0) return;
        if (first) execute_nest_touch(r->out + at.out, l->first);
        const double *a = r->in0 + at.in0, *b = r->in1 + at.in1;
        double *c = r->out + at.out;
        int64_t sa = loop->stride[LX_LOOP_IN0], sb = loop->stride[LX_LOOP_IN1],
                sc = loop->stride[LX_LOOP_OUT];
        for (int64_t i = 0; i < loop->size; i++) c[i * sc] += a[i * sa] * b[i * sb];
        if (last) execute_nest_touch(r->out + at.out + (loop->size - 1) * loop->stride[LX_LOOP_OUT], l->last);
        return;
    }
    for (int64_t i = 0; i < loop->size; i++, at = execute_nest_step(at, loop)) {
        if (first && (!is_k || i == 0)) execute_nest_touch(r->out + at.out, l->first);
        execute_nest_body(r, at);
        if (last && (!is_k || i == loop->size - 1)) execute_nest_touch(r->out + at.out, l->last);
    }
}

static void execute_nest_walk(const struct run *r, int level, struct at at, bool first, bool last)
{
    const struct lx_loop *loop = &r->nest->loop[level];
    if (level == r->nest->count - 1) {
        innermost(r, loop, at, first, last);
        return;
    }
    bool is_k = loop->type == LX_DIM_K;
    for (int64_t i = 0; i < loop->size; i++, at = execute_nest_step(at, loop))
        execute_nest_walk(r, level + 1, at, first && (!is_k || i == 0),
                          last && (!is_k || i == loop->size - 1));
}

void lx_loops_execute(const struct lx_loops *l, const double *in0, const double *in1, double *out)
{
    struct run r = {l, in0, in1, out};
    if (l->count > 0 && lx_loops_work(l) > 0) execute_nest_walk(&r, 0, (struct at){0, 0, 0}, true, true);
}
