/* Where the largest or the least is: of equal ones the first, and the first that is no number before all.
 * Exact. */
#include "device/reference/evaluate.h"

#include <math.h>

enum { BLOCK = 256 };

static int64_t evaluate_picks_offset_of(const struct evaluation *e, int first, int last, int64_t n)
{
    int64_t offset = 0;
    for (int k = last - 1; k >= first; k--) {
        offset += n % e->extent[k] * e->step[0][k];
        n /= e->extent[k];
    }
    return offset;
}

/* Does `x` come before what was found so far? */
static bool evaluate_picks_is_better(const struct evaluation *e, wide_number x, wide_number best)
{
    if (isnan(best) || isnan(x)) return isnan(x) && !isnan(best);
    return e->op->kind->id == LX_KIND_ARGMAX ? x > best : x < best;
}

static int64_t evaluate_picks_place_of(const struct evaluation *e, int64_t n)
{
    int64_t at = evaluate_picks_offset_of(e, 0, e->kept_vars, n), found = 0;
    wide_number best = 0;
    for (int64_t j = 0; j < e->terms; j++) {
        wide_number x;
        operand_wide_row(&e->in[0], at + evaluate_picks_offset_of(e, e->kept_vars, e->vars, j), 1, 1, &x);
        if (j > 0 && !evaluate_picks_is_better(e, x, best)) continue;
        best = x;
        found = j;
    }
    return found;
}

void pick_block(const struct evaluation *e, int worker, int64_t from, int64_t to)
{
    wide_number exact[BLOCK];
    for (int64_t n = from, count; n < to; n += count) {
        count = to - n < BLOCK ? to - n : BLOCK;
        for (int64_t k = 0; k < count; k++)
            exact[k] = number_wrapped(&number_types[e->g->tensors[e->op->output].dtype],
                                      evaluate_picks_place_of(e, n + k));
        e->take(e->context, worker, n, &(struct expected){.count = count, .exact = exact});
    }
}
