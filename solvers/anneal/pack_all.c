/* Fit by guided orders: the packing engine's search with restarts over perturbed orders, each item by itself. */
#include "anneal/pack_all.h"
#include "base/clock.h"
#include "base/memory.h"
#include "exact/fit/fit.h"

#include <stdlib.h>

struct ending {
    const struct lx_run *run;
    double deadline; /* 0: none */
};

static bool pack_all_stopped(void *context)
{
    const struct ending *e = context;
    return lx_run_stopped(e->run) || (e->deadline > 0 && clock_seconds() > e->deadline);
}

void pack_all(const struct items *it, const struct lx_run *run, int64_t nodes, int64_t *base, bool *found)
{
    size_t n = (size_t)it->count + 1;
    struct fit_item *items = mem_alloc(n * sizeof *items);
    struct fit_piece *pieces = mem_alloc(n * sizeof *pieces);
    int64_t *trial = mem_alloc(n * sizeof *trial);
    struct ending ending = {run, run->time_limit > 0 ? clock_seconds() + run->time_limit : 0};
    struct fit_limits limits = {
        .nodes = nodes, .seed = run->seed, .stop = pack_all_stopped, .context = &ending};
    struct fit_stats stats;
    for (int32_t i = 0; i < it->count; i++) {
        const struct item *b = &it->item[i];
        pieces[i] = (struct fit_piece){b->start, b->end, b->size};
        items[i] = (struct fit_item){i, 1, b->align, b->fixed};
    }
    struct fit_problem p = {.capacity = it->problem->capacity / it->problem->alignment,
                            .item_count = it->count,
                            .piece_count = it->count,
                            .items = items,
                            .pieces = pieces};
    enum fit_result result = fit_solve(&p, &limits, trial, &stats);
    *found = result == FIT_YES;
    for (int32_t i = 0; *found && i < it->count; i++) base[i] = trial[i];
    mem_free(items);
    mem_free(pieces);
    mem_free(trial);
}
