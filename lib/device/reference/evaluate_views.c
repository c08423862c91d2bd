/* Slices, shifts, copies and inserts: a row of the output at a time, nothing is computed. */
#include "device/reference/evaluate.h"
#include "device/reference/values.h"

enum { BLOCK = JUDGED_MOST };

/* Index i of dimension d of the smaller tensor, in the other one. */
static int64_t evaluate_views_viewed(const struct lx_op *op, int d, int64_t i)
{
    return (op->offset ? op->offset[d] : 0) + (op->stride ? op->stride[d] : 1) * i;
}

/* Offset in the input of the row of output element n; -1: the row is outside. */
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

/* insert: the value before, with the input at its place. */
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

/* Ops that put elements of their inputs at other places, element by element of the output: each is found in
 * the inputs from its indices alone. */

/* Index of the output along variable v for element n. */
static int64_t index_along(const struct evaluation *e, int64_t n, int v)
{
    const struct lx_tensor *out = &e->g->tensors[e->op->output];
    const signed char *index = e->op->map->index[e->op->input_count];
    for (int d = out->rank - 1; d >= 0; d--) {
        if (index[d] == v) return n % out->shape[d];
        n /= out->shape[d];
    }
    return 0;
}

/* Offset of output element n in input i; -1: the input lacks it. */
static int64_t placing_place_in(const struct evaluation *e, int i, int64_t n)
{
    const struct lx_tensor *in = &e->g->tensors[e->op->inputs[i]];
    const struct lx_walk *w = &e->op->map->walks[i];
    int64_t place = 0;
    for (int d = 0; d < in->rank; d++) {
        int64_t at = index_along(e, n, e->op->map->index[i][d]);
        if (w->offset) {
            at = w->first[d] + w->by[d] * at;
            if (at < 0 || at % w->hole[d] != 0) return -1;
            at /= w->hole[d];
        }
        if (at >= in->shape[d]) return -1;
        place = place * in->shape[d] + at;
    }
    return place;
}

/* The input of a concat with element n. */
static int placing_part_of(const struct evaluation *e, int64_t n)
{
    const struct lx_op *op = e->op;
    int joined = op->map->index[op->input_count][op->params->axis], i = 0;
    int64_t at = index_along(e, n, joined);
    for (; i + 1 < op->input_count; i++) {
        int64_t length = 1;
        for (int d = 0; d < op->map->rank[i]; d++)
            if (op->map->index[i][d] == joined) length = e->g->tensors[op->inputs[i]].shape[d];
        if (at < length) break;
        at -= length;
    }
    return i;
}

/* Is element n outside the input of a pad, in a padded dimension that the input lacks? */
static bool misses(const struct evaluation *e, int64_t n)
{
    const struct lx_tensor *out = &e->g->tensors[e->op->output], *in = &e->g->tensors[e->op->inputs[0]];
    const struct lx_op_params *a = e->op->params;
    for (int d = 0; a && d < out->rank; d++) {
        int v = e->op->map->index[e->op->input_count][d];
        bool there = false, padded = (a->low && a->low[d]) || (a->high && a->high[d]);
        for (int k = 0; k < in->rank; k++) there |= e->op->map->index[0][k] == v;
        if (!there && padded && index_along(e, n, v) != (a->low ? a->low[d] : 0)) return true;
    }
    return false;
}

void placing_block(const struct evaluation *e, int worker, int64_t from, int64_t to)
{
    wide_number exact[BLOCK];
    for (int64_t n = from, count; n < to; n += count) {
        count = to - n < BLOCK ? to - n : BLOCK;
        for (int64_t i = 0; i < count; i++) {
            int input = e->op->kind->id == LX_KIND_CONCAT ? placing_part_of(e, n + i) : 0;
            bool missing = e->op->kind->id == LX_KIND_PAD && misses(e, n + i);
            int64_t at = missing ? -1 : placing_place_in(e, input, n + i);
            exact[i] = e->numbers == NUMBERS_FP32 ? (wide_number)(float)e->op->value : op_constant(e->op);
            if (at < 0 && e->op->input_count > 1) at = placing_place_in(e, input = 1, n + i);
            if (at >= 0) operand_wide_row(&e->in[input], at, 1, 1, &exact[i]);
        }
        e->take(e->context, worker, n, &(struct expected){.count = count, .exact = exact});
    }
}
