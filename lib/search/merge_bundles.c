/* Fewer bundles, if the device limits the tensors of a bundle. The rule of stays/decided.c also counts
 * tensors that may end up on chip. So borders are removed one at a time: a removal stands if the limit still
 * holds and the plan moves less, or as much in less time. */
#include "search/search_steps.h"
#include "search/time.h"

struct merging {
    struct search *search;
    VEC(int32_t) borders;
};

/* Lists the first ops of the draft's bundles, except op 0. */
static void list_borders(struct merging *m)
{
    const struct draft *x = &m->search->best.draft;
    m->borders.count = 0;
    for (int32_t o = 1; o < x->graph->op_count; o++)
        if (x->bundle_of[o] != x->bundle_of[o - 1]) VEC_PUSH(&m->borders, o);
}

/* Bundles beyond the device's limit; `*us`: the end-to-end time. */
static int32_t bundles_measure(const struct draft *x, const int64_t *address, double *us)
{
    OWNED struct lx_bundle *bundles = mem_zeroed((size_t)x->bundle_count + 1, sizeof *bundles);
    int32_t large = 0;
    *us = draft_times(x, address, bundles).end_to_end_us;
    for (int32_t i = 0; i < x->bundle_count; i++)
        large += bundles[i].count > 1 && bundles[i].tensors > x->graph->device.bundle_tensors;
    return large;
}

int32_t bundles_too_large(const struct draft *x, const int64_t *address)
{
    double us;
    return x->how.borders ? bundles_measure(x, address, &us) : 0;
}

static bool bundles_try_without(struct merging *m, size_t border, double *us, bool *better)
{
    struct search *search = m->search;
    struct decisions how = search->best.draft.how;
    struct attempt next;
    int32_t *left = mem_alloc((m->borders.count + 1) * sizeof *left);
    how.border_count = 0;
    for (size_t i = 0; i < m->borders.count; i++)
        if (i != border) left[how.border_count++] = m->borders.at[i];
    how.borders = left;
    bool ok = try_with(search, DRAFTS_FEW, &how, &next);
    mem_free(left);
    if (!ok) return false;
    double next_us;
    bool legal = !bundles_measure(&next.draft, next.answer.address, &next_us);
    ok = perfect_traffic(&next.draft, &next.perfect_bytes, search->st);
    bool less = asks_time(search) || search->best.hbm_bytes == next.hbm_bytes
                    ? next_us < *us
                    : next.hbm_bytes < search->best.hbm_bytes;
    *better = ok && legal && less;
    if (!*better) return attempt_free(&next), ok;
    replace_best(search, &next);
    *us = next_us;
    return true;
}

bool bundles_are_limited(const struct search *search)
{
    const struct draft *x = &search->best.draft;
    int32_t runs = x->graph->op_count > 0;
    for (int32_t o = 1; o < x->graph->op_count; o++)
        runs += ((x->graph->ops[o].kind->traits | x->graph->ops[o - 1].kind->traits) & LX_WIPES) != 0;
    return x->bundle_count > runs;
}

bool bundles_merge(struct search *search)
{
    struct merging m = {.search = search};
    bool ok = true;
    int64_t tries = max_i64(16, 20000 / (search->best.draft.problem.count + 1));
    double us;
    (void)bundles_measure(&search->best.draft, search->best.answer.address, &us);
    list_borders(&m);
    for (size_t i = 0; ok && i < m.borders.count && tries > 0 && !search_is_over(search);) {
        bool better = false;
        const struct lx_op *op = &search->best.draft.graph->ops[m.borders.at[i]];
        if (!((op->kind->traits | op[-1].kind->traits) & LX_WIPES)) {
            ok = bundles_try_without(&m, i, &us, &better);
            tries--;
        }
        if (better)
            list_borders(&m);
        else
            i++;
    }
    LOG(attempt, "%d bundles, HBM %" PRId64, (int)search->best.draft.bundle_count, search->best.hbm_bytes);
    VEC_FREE(&m.borders);
    return ok;
}
