/* Ops on whole numbers: exact, and brought into the range of the result's type in the end. Elements,
 * reductions and contractions are one loop: over the output, and inside over the terms. */
#include "device/reference/evaluate.h"

enum { BLOCK = 256 };

struct whole_op {
    const struct evaluation *e;
    const struct whole_meaning *m;
    const struct number_type *type;
    int width; /* of the result, 0 for a truth */
    int inputs;
    int64_t run; /* terms along the last summed variable */
};

/* Adds the offsets in the inputs of index `n` over the variables first .. last - 1. */
static void evaluate_integers_add_offsets(const struct evaluation *e, int first, int last, int64_t n,
                                          int64_t *offset)
{
    for (int k = last - 1; k >= first; k--) {
        for (int i = 0; i < 3; i++) offset[i] += n % e->extent[k] * e->step[i][k];
        n /= e->extent[k];
    }
}

/* `count` elements from these offsets on, along variable `v` (-1: only one). */
static void evaluate_integers_elements(const struct whole_op *w, const int64_t *at, int v, int64_t count,
                                       whole_number *to)
{
    wide_number x[3][BLOCK] = {{0}};
    for (int i = 0; i < w->inputs; i++)
        operand_wide_row(&w->e->in[i], at[i], v < 0 ? 0 : w->e->step[i][v], count, x[i]);
    for (int64_t k = 0; w->e->op->has_value && k < count; k++) x[w->inputs][k] = op_constant(w->e->op);
    for (int64_t k = 0; k < count; k++) {
        whole_number a = w->e->op->kind->id == LX_KIND_WHERE ? x[0][k] != 0 : number_whole(x[0][k]),
                     b = number_whole(x[1][k]), c = number_whole(x[2][k]);
        bool plain = w->e->op->reduces && !(w->e->op->kind->traits & LX_CONTRACTS);
        to[k] = plain ? a : w->m->element(a, b, c, w->width);
    }
}

static whole_number evaluate_integers_folded(const struct whole_op *w, int64_t n, const int64_t *at)
{
    const struct evaluation *e = w->e;
    int last = e->vars > e->kept_vars ? e->vars - 1 : -1;
    bool first = w->m->from_first;
    whole_number total = w->m->start, term[BLOCK];
    wide_number before;
    if (e->before.items) {
        operand_wide_row(&e->before, n, 1, 1, &before);
        total = number_whole(before);
        first = false;
    }
    for (int64_t j = 0, count; j < e->terms; j += count) {
        int64_t from[3] = {at[0], at[1], at[2]}, left = w->run - j % w->run;
        count = left < BLOCK ? left : BLOCK;
        evaluate_integers_add_offsets(e, e->kept_vars, e->vars, j, from);
        evaluate_integers_elements(w, from, last, count, term);
        for (int64_t k = 0; k < count; k++, first = false)
            total = first ? term[k] : w->m->fold(total, term[k], 0, w->width);
    }
    return total;
}

void integer_block(const struct evaluation *e, int worker, int64_t from, int64_t to)
{
    const struct number_type *t = op_number_type(e->g, e->op, e->op->input_count);
    struct whole_op w = {.e = e, .m = whole_meaning_of(e->op->kind), .type = t, .inputs = e->op->input_count};
    bool folds = e->op->reduces || e->op->kind->traits & LX_CONTRACTS;
    w.width = t == &number_types[LX_BOOL] ? 0 : t->bits;
    int64_t row = e->kept_vars > 0 ? e->extent[e->kept_vars - 1] : 1;
    w.run = e->vars > e->kept_vars ? e->extent[e->vars - 1] : 1;
    for (int64_t n = from, count; n < to; n += count) {
        int64_t at[3] = {0};
        whole_number result[BLOCK];
        wide_number exact[BLOCK];
        count = min_i64(run_from(n, to, row), BLOCK);
        evaluate_integers_add_offsets(e, 0, e->kept_vars, n, at);
        if (!folds) evaluate_integers_elements(&w, at, e->kept_vars - 1, count, result);
        for (int64_t k = 0; k < count; k++) {
            int64_t here[3] = {0};
            if (folds) {
                evaluate_integers_add_offsets(e, 0, e->kept_vars, n + k, here);
                result[k] = evaluate_integers_folded(&w, n + k, here);
            }
            exact[k] = number_wrapped(t, result[k]);
        }
        e->take(e->context, worker, n, &(struct expected){.count = count, .exact = exact});
    }
}

void long_move_block(const struct evaluation *e, int worker, int64_t from, int64_t to)
{
    int last = e->kept_vars - 1;
    int64_t row = last >= 0 ? e->extent[last] : 1;
    for (int64_t n = from, count; n < to; n += count) {
        int64_t at[3] = {0};
        wide_number exact[BLOCK];
        count = min_i64(run_from(n, to, row), BLOCK);
        evaluate_integers_add_offsets(e, 0, e->kept_vars, n, at);
        operand_wide_row(&e->in[0], at[0], last >= 0 ? e->step[0][last] : 0, count, exact);
        e->take(e->context, worker, n, &(struct expected){.count = count, .exact = exact});
    }
}

/* The place of the largest or the least: the first of equal ones; a NaN before all. Exact. */

void pick_block(const struct evaluation *e, int worker, int64_t from, int64_t to)
{
    wide_number exact[BLOCK];
    for (int64_t n = from, count; n < to; n += count) {
        count = to - n < BLOCK ? to - n : BLOCK;
        for (int64_t k = 0; k < count; k++) {
            int64_t at[3] = {0}, found = 0;
            wide_number best = 0;
            evaluate_integers_add_offsets(e, 0, e->kept_vars, n + k, at);
            for (int64_t j = 0; j < e->terms; j++) {
                wide_number x;
                int64_t term[3] = {at[0], at[1], at[2]};
                evaluate_integers_add_offsets(e, e->kept_vars, e->vars, j, term);
                operand_wide_row(&e->in[0], term[0], 1, 1, &x);
                bool better = isnan(best) || isnan(x)             ? isnan(x) && !isnan(best)
                              : e->op->kind->id == LX_KIND_ARGMAX ? x > best
                                                                  : x < best;
                if (j > 0 && !better) continue;
                best = x;
                found = j;
            }
            exact[k] = number_wrapped(&number_types[e->g->tensors[e->op->output].dtype], found);
        }
        e->take(e->context, worker, n, &(struct expected){.count = count, .exact = exact});
    }
}

/* The meaning of ops that make tensors as a whole, written apart from the device's. */

bool made_known(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_IOTA || op->kind->id == LX_KIND_CONSTANT || op->kind->id == LX_KIND_SCAN;
}

/* The axis of a tensor: elements from one index to the next, and the number of indices. */
struct axis {
    int64_t step, length, count;
};

/* The start plus `index` steps; exact if neither has a fraction. */
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

/* Each sum is the one before plus its own term; `before` is the distance to that one. An exclusive scan then
 * shifts all by one. */
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
