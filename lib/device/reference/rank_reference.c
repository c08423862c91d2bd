/* What ops that order elements mean, row by row: of each place the element that comes so far behind the
 * first. */
#include "device/reference/evaluate.h"
#include "base/memory.h"
#include "graph/choice.h"

#include <stdlib.h>

struct ranking {
    const struct evaluation *e;
    struct lx_ranking by;
    int64_t step[2][LX_MAX_VARS];
    int64_t at[LX_MAX_VARS];
    wide_number *row, *value;
    int64_t *order;
};

/* A heap with the last of all on top: what is taken from it goes to the end. */
static void rank_reference_sink(const struct ranking *k, int64_t i, int64_t n)
{
    for (int64_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        int64_t *o = k->order;
        if (child + 1 < n &&
            lx_ranks_before(&k->by, k->row[o[child]], o[child], k->row[o[child + 1]], o[child + 1]))
            child++;
        if (!lx_ranks_before(&k->by, k->row[o[i]], o[i], k->row[o[child]], o[child])) return;
        int64_t other = o[i];
        o[i] = o[child];
        o[child] = other;
        i = child;
    }
}

static void order(const struct ranking *k, int64_t n)
{
    for (int64_t i = 0; i < n; i++) k->order[i] = i;
    for (int64_t i = n / 2; i-- > 0;) rank_reference_sink(k, i, n);
    for (int64_t end = n - 1; end > 0; end--) {
        int64_t last = k->order[0];
        k->order[0] = k->order[end];
        k->order[end] = last;
        rank_reference_sink(k, 0, end);
    }
}

static bool rank_reference_next(struct ranking *k)
{
    const struct lx_einsum *map = k->e->op->map;
    for (int v = map->var_count - 1; v >= 0; v--) {
        if (v == k->by.from || v == k->by.to) continue;
        if (++k->at[v] < map->extent[v]) return true;
        k->at[v] = 0;
    }
    return false;
}

static void rank_reference_take_row(struct ranking *k)
{
    const struct lx_einsum *map = k->e->op->map;
    int64_t n = map->extent[k->by.from], most = k->by.to >= 0 ? map->extent[k->by.to] : 1, in = 0, out = 0;
    for (int v = 0; v < map->var_count; v++) in += k->at[v] * k->step[0][v], out += k->at[v] * k->step[1][v];
    for (int64_t i = 0; i < n; i += JUDGED_MOST)
        operand_wide_row(&k->e->in[0], in + i * k->step[0][k->by.from], k->step[0][k->by.from],
                         n - i < JUDGED_MOST ? n - i : JUDGED_MOST, k->row + i);
    order(k, n);
    for (int64_t i = 0; i < most; i++)
        k->value[out + (k->by.to >= 0 ? i * k->step[1][k->by.to] : 0)] =
            k->by.places ? (wide_number)k->order[i] : k->row[k->order[i]];
}

void evaluate_ranking(struct evaluation *e)
{
    struct ranking k = {.e = e};
    lx_ranking_of(e->op, &k.by);
    const struct lx_einsum *map = k.e->op->map;
    for (int i = 0; i < 2; i++) {
        int64_t n = 1;
        for (int d = map->rank[i] - 1; d >= 0; d--) {
            k.step[i][(int)map->index[i][d]] = n;
            n *= map->extent[(int)map->index[i][d]];
        }
    }
    size_t n = (size_t)e->op->map->extent[k.by.from];
    k.row = mem_alloc(n * sizeof *k.row);
    k.order = mem_alloc(n * sizeof *k.order);
    k.value = mem_alloc((size_t)(e->out_count + 1) * sizeof *k.value);
    do rank_reference_take_row(&k);
    while (rank_reference_next(&k));
    for (int64_t i = 0; i < e->out_count; i += JUDGED_MOST)
        e->take(e->context, 0, i,
                &(struct expected){.count = e->out_count - i < JUDGED_MOST ? e->out_count - i : JUDGED_MOST,
                                   .exact = k.value + i});
    mem_free(k.row);
    mem_free(k.order);
    mem_free(k.value);
}
