/* The sums of a plan: what it moves, what the same graph moves with nothing on chip,
 * and what nothing avoids. */
#include "search/planner.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdlib.h>

/* Passes may go below the best placement of the stays as they are. Where borders may be set, one can cut a stay as an eviction
 * does. */
static int64_t plan_totals_measure(const struct draft *x, bool borderless)
{
    int64_t bytes = x->least_bytes;
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        if (row->least && lx_pass_on(&x->how.passes, row)) bytes = min_i64(bytes, row->least(x));
    if (borderless) bytes = min_i64(bytes, evict_least(x));
    return bytes;
}

/* Is it what it would be in scratchpads without limit: nothing is decided about it, nothing too large, and these borders? */
static bool is_unlimited(const struct draft *x, const int32_t *borders)
{
    const struct decisions *how = &x->how;
    bool plain = how->cut_count == 0 && how->move_count == 0 && how->apart_count == 0 &&
                 how->loaded_count == 0 && !how->lax && how->nest_count == 0 &&
                 how->passes.clone != LX_CLONE_HEURISTIC && borders == how->borders;
    for (int32_t i = 0; plain && i < x->problem.count; i++) plain = x->buffers[i].size <= x->problem.capacity;
    return plain;
}

/* Of the graph in scratchpads without limit, before anything is cut. The heuristic copies inputs also where that costs
 * more than it saves, so what nothing goes below is that of the copies that pay. */
static bool unlimited_traffic(const struct draft *x, const int32_t *borders, int32_t border_count,
                              int64_t *bytes, lx_status *st)
{
    struct decisions how = {.passes = x->how.passes,
                            .order = x->how.order,
                            .divided = x->how.divided,
                            .borders = borders,
                            .border_count = border_count,
                            .unlimited = true};
    struct arena scratch = {0};
    struct draft plain = {0};
    bool borderless = borders && border_count == 0;
    if (is_unlimited(x, borders)) return *bytes = plan_totals_measure(x, borderless), true;
    if (how.passes.clone == LX_CLONE_HEURISTIC) how.passes.clone = LX_CLONE_AUTO;
    bool ok = draft_make(x->divided, &how, &scratch, &plain, st);
    if (ok) *bytes = plan_totals_measure(&plain, borderless);
    draft_free(&plain);
    arena_free(&scratch);
    return ok;
}

bool perfect_traffic(const struct draft *x, int64_t *bytes, lx_status *st)
{
    return unlimited_traffic(x, x->how.borders, x->how.border_count, bytes, st);
}

bool borderless_traffic(const struct draft *x, int64_t *bytes, lx_status *st)
{
    static const int32_t none[] = {0};
    return unlimited_traffic(x, none, 0, bytes, st);
}

int64_t all_off_chip(const struct draft *x)
{
    int64_t sum = 0;
    for (int32_t a = 0; a < x->access_at[x->graph->op_count]; a++)
        sum += x->accesses[a].bytes / held_access_bytes(x, a, 1);
    return sum;
}

static bool graph_totals(struct lx_plan *p, lx_status *st)
{
    struct traffic t;
    p->traffic = arena_array(p->memory, (size_t)p->layouts->graph->op_count, sizeof *p->traffic);
    if (!p->traffic) return status_no_memory(st);
    traffic_list(p->draft, p->answer.address, p->memory, &t, p->traffic);
    traffic_on_chip(p->draft, p->answer.address, p->traffic);
    p->transfers = t.transfers;
    p->transfer_count = t.transfer_count;
    p->figures.hbm_bytes = t.hbm_bytes;
    p->figures.ring_bytes = t.ring_bytes;
    p->figures.baseline_hbm_bytes = all_off_chip(p->draft);
    p->figures.spill_bytes = p->figures.hbm_bytes - p->figures.perfect_hbm_bytes;
    struct lx_bundle *bundles = arena_array(p->memory, (size_t)p->draft->bundle_count, sizeof *bundles);
    if (!bundles) return status_no_memory(st);
    if (!predict_times(p->draft, p->answer.address, &t, p->traffic, bundles, st)) return false;
    p->bundles = bundles;
    p->bundle_count = p->draft->bundle_count;
    struct clocks sum = bundle_clocks(bundles, p->bundle_count);
    p->figures.device_us = sum.device_us;
    p->figures.end_to_end_us = sum.end_to_end_us;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++)
        p->traffic[o].cores = p->divisions->at[o].cores_used;
    return true;
}

static void plan_totals_list_totals(struct lx_plan *p)
{
    p->figures.hbm_bytes = p->figures.baseline_hbm_bytes = 0;
    for (int32_t i = 0; i < p->problem.count; i++) {
        p->figures.baseline_hbm_bytes += p->problem.buffers[i].spill_cost;
        if (p->answer.address[i] < 0) p->figures.hbm_bytes += p->problem.buffers[i].spill_cost;
    }
    if (p->problem.objective == LX_SPILL && (p->problem.pool_count || lx_problem_needs(&p->problem))) {
        enum lx_rule rule;
        lx_status why;
        int64_t cost; /* with all that is linked; of what is no answer only what is off */
        if (lx_check_places(&p->problem, p->answer.pool, p->answer.address, &cost, &rule, &why))
            p->figures.hbm_bytes = cost;
    }
    p->figures.spill_bytes = p->figures.hbm_bytes;
    p->figures.perfect_hbm_bytes = 0;
}

/* The highest end of a placed buffer; of several pools, the sum of theirs, and reserved bytes count. */
static int64_t height_of_pool(const struct lx_plan *p, int32_t pool)
{
    int64_t top = 0;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0 && (!p->answer.pool || p->answer.pool[i] == pool))
            top = max_i64(top, p->answer.address[i] + p->problem.buffers[i].size);
    for (int32_t i = 0; p->problem.pool_count && i < p->problem.pools[pool].reserved_count; i++)
        top = max_i64(top, p->problem.pools[pool].reserved[i].to);
    return top;
}

bool plan_totals(struct lx_plan *p, lx_status *st)
{
    p->figures.height_bytes = 0;
    for (int32_t k = 0; k < lx_pool_count(&p->problem); k++) p->figures.height_bytes += height_of_pool(p, k);
    if (!p->graph->is_list) return graph_totals(p, st);
    plan_totals_list_totals(p);
    return true;
}
