/* A blend over tiles is a running average: what the tiles before have made of it counts 1 - (the sum of the
 * weights of this one), which is an error of so many roundings of 1 + (the sum of their sizes). */
#include "device/reference/evaluate.h"

#include <math.h>

/* Where the weights of the row of an element of the output begin. */
static int64_t blend_left_row_of(const struct evaluation *e, int64_t at)
{
    int64_t row = 0;
    for (int k = e->kept_vars - 1; k >= 0; k--) {
        row += at % e->extent[k] * e->step[0][k];
        at /= e->extent[k];
    }
    return row;
}

/* Steps of the summed variables, the last one fastest. */
static int64_t term_of(const struct evaluation *e, int64_t n)
{
    int64_t at = 0;
    for (int k = e->vars - 1; k >= e->kept_vars; k--) {
        at += n % e->extent[k] * e->step[0][k];
        n /= e->extent[k];
    }
    return at;
}

static void row_left(const struct evaluation *e, int64_t row, double *left, double *size)
{
    double weight[JUDGED_MOST];
    int64_t run = e->vars > e->kept_vars ? e->extent[e->vars - 1] : 1;
    int64_t step = e->vars > e->kept_vars ? e->step[0][e->vars - 1] : 0;
    *left = *size = 1;
    for (int64_t n = 0; n < e->terms; n += run)
        for (int64_t i = 0; i < run; i += JUDGED_MOST) {
            int64_t some = run - i < JUDGED_MOST ? run - i : JUDGED_MOST;
            operand_row(&e->in[0], row + term_of(e, n) + i * step, step, some, weight);
            for (int64_t k = 0; k < some; k++) *left -= weight[k], *size += fabs(weight[k]);
        }
}

void blend_left(const struct evaluation *e, int64_t at, int64_t count, double *left, double *size)
{
    int64_t last = -1;
    for (int64_t j = 0; j < count; j++) {
        int64_t row = e->op->kind->id == LX_KIND_BLEND ? blend_left_row_of(e, at + j) : -1;
        if (row < 0)
            left[j] = size[j] = 1;
        else if (row == last)
            left[j] = left[j - 1], size[j] = size[j - 1];
        else
            row_left(e, row, &left[j], &size[j]);
        last = row;
    }
}
