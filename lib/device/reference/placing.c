/* Ops that put elements of their inputs at other places, element by element of the output: each is looked
 * for in the inputs, from its indices alone. */
#include "device/reference/evaluate.h"

enum { BLOCK = JUDGED_MOST };

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

/* Where input i has element n of the output; -1: it does not have it. */
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

/* The input of a concat that element n comes from. */
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

/* Dimensions of a pad that its input lacks: it is at one index of them, if they are padded at all. */
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

static wide_number placing_placed(const struct evaluation *e, int64_t n)
{
    wide_number value = e->numbers == NUMBERS_FP32 ? (wide_number)(float)e->op->value : op_constant(e->op);
    int i = e->op->kind->id == LX_KIND_CONCAT ? placing_part_of(e, n) : 0;
    int64_t at = e->op->kind->id == LX_KIND_PAD && misses(e, n) ? -1 : placing_place_in(e, i, n);
    if (at < 0 && e->op->input_count > 1) at = placing_place_in(e, i = 1, n);
    if (at >= 0) operand_wide_row(&e->in[i], at, 1, 1, &value);
    return value;
}

void placing_block(const struct evaluation *e, int worker, int64_t from, int64_t to)
{
    wide_number exact[BLOCK];
    for (int64_t n = from, count; n < to; n += count) {
        count = to - n < BLOCK ? to - n : BLOCK;
        for (int64_t i = 0; i < count; i++) exact[i] = placing_placed(e, n + i);
        e->take(e->context, worker, n, &(struct expected){.count = count, .exact = exact});
    }
}
