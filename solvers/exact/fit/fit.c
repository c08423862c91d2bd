/* The Fit engine: scale, split, try cheap orders, then search the rest in interleaved runs.
 *
 * Parts share no tick, so each is solved alone; they take turns, so that a part which proves that there is no
 * answer is not kept waiting by a hard one. Runs of the search end after a number of dead ends that follows
 * Luby's sequence; a run that ends by itself decides its part. */
#include "exact/fit/fit.h"

#include "base/checked.h"
#include "base/memory.h"
#include "exact/fit/fit_core.h"
#include "exact/fit/fit_search.h"

#include <stdlib.h>

enum { DEAD_ENDS_A_TURN = 150, FIRST_FIT_PASSES = 3 };

/* 1 1 2 1 1 2 4 1 1 2 ... */
static int64_t luby(int64_t i)
{
    for (;;) {
        int64_t power = 1;
        while (power - 1 < i + 1) power *= 2;
        if (power - 1 == i + 1) return power / 2;
        i -= power / 2 - 1;
    }
}

struct part_run {
    struct fit_search search;
    bool open, done;
    int64_t run;
};

static enum fit_result fit_search_all(const struct fit_scaled *scaled, const struct fit_limits *limits,
                                      struct part_run *runs, int64_t *base, struct fit_stats *stats)
{
    int32_t open = 0;
    for (int32_t i = 0; i < scaled->part_count; i++) {
        if (!runs[i].done && !scaled->parts[i].near) return FIT_LIMIT;
        open += !runs[i].done;
    }
    while (open > 0) {
        for (int32_t i = 0; i < scaled->part_count; i++) {
            struct part_run *r = &runs[i];
            if (r->done) continue;
            if (!r->open) fit_search_open(&r->search, &scaled->parts[i], limits->seed + (uint64_t)i);
            r->open = true;
            int64_t nodes = limits->nodes ? limits->nodes - stats->nodes : INT64_MAX / 4;
            int64_t before = r->search.nodes;
            if (nodes <= 0) return FIT_LIMIT;
            fit_branch_prepare(&r->search, r->run);
            enum fit_result result = fit_search_run(&r->search, nodes, luby(r->run++) * DEAD_ENDS_A_TURN,
                                                    limits->stop, limits->context);
            stats->nodes += r->search.nodes - before;
            stats->restarts++;
            if (result == FIT_LIMIT) {
                if (limits->stop && limits->stop(limits->context)) return FIT_LIMIT;
                continue;
            }
            if (result != FIT_YES) return result;
            int64_t unit = scaled->unit;
            for (int32_t k = 0; k < r->search.part->count; k++)
                base[r->search.part->origin[k]] = r->search.base[k] * unit;
            r->done = true;
            open--;
        }
    }
    return FIT_YES;
}

enum fit_result fit_solve(const struct fit_problem *p, const struct fit_limits *limits, int64_t *base,
                          struct fit_stats *stats)
{
    struct fit_scaled scaled;
    *stats = (struct fit_stats){0};
    for (int32_t i = 0; i < p->item_count; i++) base[i] = p->items[i].fixed >= 0 ? p->items[i].fixed : 0;
    fit_scale(p, !limits->dense, &scaled);
    enum fit_result result = FIT_NO;
    if (!scaled.impossible) {
        struct part_run *runs = mem_zeroed((size_t)scaled.part_count + 1, sizeof *runs);
        /* Cheap orders first. Marks the parts that are done. */
        for (int32_t i = 0; i < scaled.part_count; i++) {
            const struct fit_part *part = &scaled.parts[i];
            int64_t passes = FIRST_FIT_PASSES;
            if (limits->nodes)
                passes = max_i64(1, min_i64(passes, (limits->nodes - stats->nodes) / part->count));
            fit_unit excess = FIT_FAR, *trial = mem_alloc((size_t)part->count * sizeof *trial);
            struct fit_heuristic_run run = {0, limits->stop, limits->context, &stats->nodes};
            if (!part->near) fit_skyline(part, &run, trial, &excess);
            if (excess > 0)
                fit_first_fit(part, (int)passes, 0, limits->stop, limits->context, trial, &excess,
                              &stats->nodes);
            if (excess <= 0) {
                runs[i].done = true;
                for (int32_t k = 0; k < part->count; k++) base[part->origin[k]] = trial[k] * scaled.unit;
            }
            mem_free(trial);
        }
        result = fit_search_all(&scaled, limits, runs, base, stats);
        for (int32_t i = 0; i < scaled.part_count; i++)
            if (runs[i].open) fit_search_close(&runs[i].search);
        if (result == FIT_YES) fit_place_peeled(&scaled, base);
        mem_free(runs);
    }
    fit_scaled_free(&scaled);
    return result;
}
