/* The sums of a plan: traffic, traffic with everything off chip, and times. */
#include "plan/plan_make.h"
#include "search/time.h"

int64_t all_off_chip(const struct draft *x)
{
    int64_t sum = 0;
    for (int32_t o = 0; o < x->graph->op_count; o++)
        for (int i = 0; i < op_operand_count(&x->graph->ops[o]); i++)
            sum += access_once_bytes(x->layouts, o, i);
    return sum;
}

/* Marks the bundles behind which something on chip lives on. A life covers the copies of its ticks. */
static void mark_non_terminal(const struct lx_plan *p, struct lx_bundle *bundles)
{
    for (int32_t b = 0; b + 1 < p->draft->bundle_count; b++)
        for (int32_t i = 0; i < p->problem.count && !bundles[b].non_terminal; i++) {
            const struct lx_buffer *x = &p->problem.buffers[i];
            bundles[b].non_terminal =
                p->answer.address[i] >= 0 && x->start < bundles[b + 1].first && x->end > bundles[b + 1].first;
        }
}

static void graph_totals(struct lx_plan *p)
{
    struct traffic t;
    p->traffic = arena_array(p->memory, (size_t)p->layouts->graph->op_count, sizeof *p->traffic);
    traffic_list(p->draft, p->answer.address, p->memory, &t, p->traffic);
    traffic_on_chip(p->draft, p->answer.address, p->traffic);
    p->transfers = t.transfers;
    p->transfer_count = t.transfer_count;
    p->figures.hbm_bytes = t.hbm_bytes;
    p->figures.ring_bytes = t.ring_bytes;
    p->figures.baseline_hbm_bytes = all_off_chip(p->draft);
    p->figures.spill_bytes = p->figures.hbm_bytes - p->figures.perfect_hbm_bytes;
    struct lx_bundle *bundles = arena_array(p->memory, (size_t)p->draft->bundle_count, sizeof *bundles);
    predict_times(p->draft, p->answer.address, &t, p->traffic, bundles);
    mark_non_terminal(p, bundles);
    p->bundles = bundles;
    p->bundle_count = p->draft->bundle_count;
    p->figures.device_us = p->figures.end_to_end_us = 0;
    for (int32_t i = 0; i < p->bundle_count; i++) {
        p->figures.device_us += bundles[i].device_us;
        p->figures.end_to_end_us += bundles[i].end_to_end_us;
    }
    plan_sync(p);
    p->figures.sync_times = plan_sync_times(p);
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++)
        p->traffic[o].cores = p->divisions->at[o].cores_used;
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
        int64_t cost; /* with linked costs; an illegal answer counts only buffers off chip */
        if (lx_check_places(&p->problem, p->answer.pool, p->answer.address, &cost, &rule, &why))
            p->figures.hbm_bytes = cost;
    }
    p->figures.spill_bytes = p->figures.hbm_bytes;
    p->figures.perfect_hbm_bytes = 0;
}

int64_t plan_height(const struct lx_plan *p)
{
    int64_t height = 0;
    for (int32_t pool = 0; pool < lx_pool_count(&p->problem); pool++) {
        int64_t top = 0;
        for (int32_t i = 0; i < p->problem.count; i++)
            if (p->answer.address[i] >= 0 && (!p->answer.pool || p->answer.pool[i] == pool))
                top = max_i64(top, p->answer.address[i] + p->problem.buffers[i].size);
        for (int32_t i = 0; p->problem.pool_count && i < p->problem.pools[pool].reserved_count; i++)
            top = max_i64(top, p->problem.pools[pool].reserved[i].to);
        height += top;
    }
    return height;
}

void plan_totals(struct lx_plan *p)
{
    p->figures.height_bytes = plan_height(p);
    if (p->graph->list)
        plan_totals_list_totals(p);
    else
        graph_totals(p);
}
