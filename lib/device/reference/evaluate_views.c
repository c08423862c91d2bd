/* Slices, shifts, copies and inserts: a row of the output at a time, nothing is computed. */
#include "device/reference/evaluate.h"
#include "device/reference/values.h"

enum { BLOCK = JUDGED_MOST };

/* Where index i of dimension d of the smaller tensor is in the other one. */
static int64_t evaluate_views_viewed(const struct lx_op *op, int d, int64_t i)
{
    return (op->offset ? op->offset[d] : 0) + (op->stride ? op->stride[d] : 1) * i;
}

/* Where the row of output element n begins in the input; -1: all of it is outside. */
static int64_t row_in_input(const struct evaluation *e, int64_t n)
{
    const struct lx_tensor *in = &e->g->tensors[e->op->inputs[0]], *out = &e->g->tensors[e->op->output];
    int64_t at = 0, step = 1;
    int last = out->rank - 1;
    bool keeps = op_keeps(e->op);
    for (int d = last; d >= 0; d--) {
        int64_t i = n % out->shape[d];
        n /= out->shape[d];
        if (d < last && keeps) {
            int64_t stride = e->op->stride ? e->op->stride[d] : 1;
            i -= e->op->offset ? e->op->offset[d] : 0;
            if (i % stride != 0) return -1;
            i /= stride;
        } else if (d < last)
            i = evaluate_views_viewed(e->op, d, i);
        if (d < last && (i < 0 || i >= in->shape[d])) return -1;
        if (d < last) at += i * step;
        step *= in->shape[d];
    }
    return at;
}

/* slice, shift, restickify: element by element from the input, 0 outside. */
static void fetch_view(const struct evaluation *e, int64_t row_at, int64_t first, int64_t count,
                       wide_number *value)
{
    const struct lx_tensor *in = &e->g->tensors[e->op->inputs[0]];
    int last = in->rank - 1;
    int64_t width = last >= 0 ? in->shape[last] : 1;
    for (int64_t i = 0; i < count; i++) value[i] = 0;
    int64_t from = 0, to = count;
    if (last < 0) last = 0;
    while (from < to && row_at >= 0 && evaluate_views_viewed(e->op, last, first + from) < 0) from++;
    while (from < to && row_at >= 0 && evaluate_views_viewed(e->op, last, first + to - 1) >= width) to--;
    if (row_at >= 0 && from < to)
        operand_wide_row(&e->in[0], row_at + evaluate_views_viewed(e->op, last, first + from),
                         e->op->stride ? e->op->stride[last] : 1, to - from, value + from);
}

/* insert: what was there, and the input where it goes. */
static void fetch_insert(const struct evaluation *e, int64_t n, int64_t row_at, int64_t first, int64_t count,
                         wide_number *value)
{
    const struct lx_tensor *in = &e->g->tensors[e->op->inputs[0]];
    int last = in->rank - 1;
    int64_t width = last >= 0 ? in->shape[last] : 1;
    wide_number row[BLOCK];
    operand_wide_row(&e->kept, n, 1, count, value);
    for (int64_t i = 0; row_at >= 0 && i < width; i += BLOCK) {
        int64_t some = width - i < BLOCK ? width - i : BLOCK;
        operand_wide_row(&e->in[0], row_at + i, 1, some, row);
        for (int64_t k = 0; k < some; k++) {
            int64_t place = (last >= 0 ? evaluate_views_viewed(e->op, last, i + k) : 0) - first;
            if (place >= 0 && place < count) value[place] = row[k];
        }
    }
}

void view_block(const struct evaluation *e, int worker, int64_t from, int64_t to)
{
    const struct lx_tensor *out = &e->g->tensors[e->op->output];
    int64_t width = out->rank > 0 ? out->shape[out->rank - 1] : 1, count;
    wide_number value[BLOCK];
    for (int64_t n = from; n < to; n += count) {
        count = run_from(n, to, width);
        int64_t row_at = row_in_input(e, n);
        if (op_keeps(e->op))
            fetch_insert(e, n, row_at, n % width, count, value);
        else
            fetch_view(e, row_at, n % width, count, value);
        e->take(e->context, worker, n, &(struct expected){.count = count, .exact = value});
    }
}
