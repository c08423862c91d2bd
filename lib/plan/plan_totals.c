/* The sums of a plan: what it moves, what the same graph moves with nothing on chip,
 * and what nothing avoids. */
#include "plan/planner.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdlib.h>

/* With evictions a tensor can be on chip for any of its accesses that some view allows: what is left are the
 * accesses that no stay can serve, one load of what arrives in HBM and one store of what
 * leaves through it. */
static int64_t with_any_cut(const struct draft *x)
{
    int64_t sum = 0;
    for (int32_t t = 0; t < x->graph->tensor_count; t++) {
        int64_t off = 0, served = 0, written = 0, whole = tensor_bytes(x->layouts, t);
        for (int32_t k = x->tensor_at[t]; k < x->tensor_at[t + 1]; k++) {
            const struct lx_access *a = &x->accesses[x->tensor_access[k]];
            enum lx_bar bar = a->stay < 0 ? LX_BAR_PARTIAL : x->stays[a->stay].bar;
            /* A cut may free what a mismatch or the lack of a second read keeps off chip. */
            bool freed = bar == LX_BAR_NONE || bar == LX_BAR_DIVISION || bar == LX_BAR_NO_GAIN;
            if (!freed)
                off += a->bytes;
            else if (a->writes)
                written += a->bytes;
            else
                served += a->bytes;
        }
        enum lx_role role = x->graph->tensors[t].role;
        if (role == LX_OUTPUT) off += min_i64(written, whole);
        if (role == LX_INPUT || role == LX_WEIGHT) off += min_i64(served, whole);
        sum += off;
    }
    return sum;
}

static bool with_all_placed(const struct draft *x, int64_t *bytes)
{
    int64_t *address = malloc(((size_t)x->problem.count + 1) * sizeof *address);
    if (!address) return false;
    for (int32_t i = 0; i < x->problem.count; i++) address[i] = x->stays[i].bar ? LX_OFF_CHIP : 0;
    traffic_count(x, address, bytes);
    free(address);
    return true;
}

/* Of the graph before anything was cut or taken apart. The heuristic copies inputs also where that costs more
 * than it saves, so what nothing goes below is that of the copies that pay. */
static bool find_perfect(const struct lx_plan *p, int64_t *bytes, lx_status *st)
{
    struct arena scratch = {0};
    struct decisions how = {.passes = p->draft->how.passes};
    struct draft x;
    if (how.passes.clone == LX_CLONE_HEURISTIC) how.passes.clone = LX_CLONE_AUTO;
    bool ok = draft_make(p->divisions, &how, &scratch, &x, st);
    if (ok && !with_all_placed(&x, bytes)) ok = status_no_memory(st);
    if (ok && how.passes.evict) *bytes = min_i64(*bytes, with_any_cut(&x));
    arena_free(&scratch);
    return ok;
}

static bool graph_totals(struct lx_plan *p, lx_status *st)
{
    struct traffic t;
    p->traffic = arena_array(p->memory, (size_t)p->layouts->graph->op_count, sizeof *p->traffic);
    if (!p->traffic) return status_no_memory(st);
    if (!traffic_list(p->draft, p->answer.address, p->memory, &t, p->traffic, st) ||
        !find_perfect(p, &p->perfect_hbm_bytes, st))
        return false;
    p->transfers = t.transfers;
    p->transfer_count = t.transfer_count;
    p->hbm_bytes = t.hbm_bytes;
    p->ring_bytes = t.ring_bytes;
    traffic_count(p->draft, NULL, &p->baseline_hbm_bytes);
    p->spill_bytes = p->hbm_bytes - p->perfect_hbm_bytes;
    p->predicted_us = predict_times(p->draft, p->answer.address, p->transfers, p->transfer_count, p->traffic);
    return true;
}

static void list_totals(struct lx_plan *p)
{
    p->hbm_bytes = p->baseline_hbm_bytes = 0;
    for (int32_t i = 0; i < p->problem.count; i++) {
        p->baseline_hbm_bytes += p->problem.buffers[i].spill_cost;
        if (p->answer.address[i] < 0) p->hbm_bytes += p->problem.buffers[i].spill_cost;
    }
    p->spill_bytes = p->hbm_bytes;
    p->perfect_hbm_bytes = 0;
}

bool plan_totals(struct lx_plan *p, lx_status *st)
{
    p->height_bytes = 0;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0)
            p->height_bytes = max_i64(p->height_bytes, p->answer.address[i] + p->problem.buffers[i].size);
    if (!p->graph->is_list) return graph_totals(p, st);
    list_totals(p);
    return true;
}
