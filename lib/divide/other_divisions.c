/* Other divisions of an op that one of its tensors could gain by: the quickest that cuts it as a neighbour
 * does, and the quickest of which a core holds less. */
#include "base/fail.h"
#include "divide/priced_candidates.h"

#include <math.h>
#include <string.h>

/* Predicted with all operands through HBM. */
static double other_divisions_time_of(const struct division_menu *m, int32_t c)
{
    double memory = 0;
    for (int i = 0; i < m->operand_count; i++) memory += m->memory_us[(int64_t)c * m->operand_count + i];
    return fmax(fmax(m->parts[c].compute_us, m->parts[c].port_us), memory) + m->parts[c].extra_us;
}

static bool is_present(const struct division_menu *m, int32_t c, const struct lx_division *now)
{
    for (int i = 0; i < m->split_count; i++)
        if (m->splits[(int64_t)c * m->split_count + i] != now->splits[i].split) return false;
    return true;
}

static int32_t quickest(const struct division_menu *m, const struct lx_division *now, int operand,
                        const struct lx_core_view *like, int64_t below)
{
    int32_t best = -1;
    for (int32_t c = 0; c < m->count; c++) {
        /* Does choice c do what is asked for? */
        int64_t at = (int64_t)c * m->operand_count + operand;
        if ((like ? lx_core_views_match(&m->views[at], like) : m->core_bytes[at] < below) &&
            !is_present(m, c, now) &&
            (best < 0 || other_divisions_time_of(m, c) < other_divisions_time_of(m, best)))
            best = c;
    }
    return best;
}

static void other_divisions_take(const struct division_menu *m, int32_t c, bool agrees,
                                 struct lx_other_divisions *out)
{
    if (c < 0) return;
    struct lx_other_division *x = &out->at[out->count];
    *x = (struct lx_other_division){.agrees = agrees, .predicted_us = other_divisions_time_of(m, c)};
    memcpy(x->splits, &m->splits[(int64_t)c * m->split_count], (size_t)m->split_count * sizeof *x->splits);
    if (out->count == 1 && memcmp(x->splits, out->at[0].splits, sizeof x->splits) == 0) return;
    out->count++;
}

void lx_divisions_for_operand(const struct lx_divisions *d, int32_t op, int operand,
                              const struct lx_core_view *like, struct lx_other_divisions *out)
{
    struct arena memory = {0};
    struct division_menu m;
    const struct lx_division *now = &d->at[op];
    *out = (struct lx_other_divisions){0};
    if (now->kind != LX_DIVIDED) return;
    division_menu_make(d, op, &memory, &m);
    if (m.operand_count > operand) {
        if (like) other_divisions_take(&m, quickest(&m, now, operand, like, 0), true, out);
        other_divisions_take(&m, quickest(&m, now, operand, NULL, now->operands[operand].core_bytes), false,
                             out);
    }
    arena_free(&memory);
}
