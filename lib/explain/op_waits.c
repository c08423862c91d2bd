/* Times each op by its division and its copies, then shares out the bundle's end-to-end time: if that is
 * longer, the ops wait for the launch; if shorter, the launch covers HBM time. */
#include "explain/op_waits.h"
#include "base/checked.h"
#include "cost/op.h"
#include "search/time.h"
#include "stays/draft.h"

#include <math.h>

const char *lx_wait_word(enum lx_wait w)
{
#define LX_WAIT_WORD(id, word) [id] = word,
    static const char *const words[] = {LX_WAITS(LX_WAIT_WORD)};
#undef LX_WAIT_WORD
    return (int)w >= 0 && w < LX_WAIT_COUNT ? words[w] : "?";
}

/* A smaller relative difference of a bundle's time is rounding. */
#define ROUNDING 1e-9

/* Sums over the ops of one bundle. */
struct bundle_sum {
    struct cost_bundle cost;
    double hidden_us; /* sum of covered_us: the most that a launch may cover */
};

void lx_plan_hbm_shares(const struct lx_plan *p, int32_t o, double *share)
{
    for (int i = 0; i < op_operand_count(&p->layouts->graph->ops[o]); i++) {
        const struct lx_access *a = &p->accesses[p->access_at[o] + i];
        int64_t all = operand_bytes(p->divisions, o, i);
        bool on_chip = a->stay >= 0 && p->answer.address[a->stay] >= 0;
        share[i] = on_chip || all <= 0 ? 0 : (double)a->bytes / (double)all;
    }
}

static void op_waits_time_op(const struct lx_plan *p, int32_t o, struct bundle_sum *sum,
                             struct lx_op_wait *out)
{
    double share[LX_MAX_OPERANDS];
    lx_plan_hbm_shares(p, o, share);
    struct lx_op_time t = lx_division_time(p->divisions, o, share);
    *out = (struct lx_op_wait){.us = {[LX_WAIT_HBM] = t.hbm_us,
                                      [LX_WAIT_LX] = t.lx_us,
                                      [LX_WAIT_RING] = t.ring_us,
                                      [LX_WAIT_COMPUTE] = t.compute_us},
                               /* upper limit; op_waits_time_run sets the real value */
                               .covered_us = t.device_us - t.busy_us,
                               .device_us = t.device_us,
                               .flops = t.flops};
    if (t.hbm_us > 0) {
        /* HBM time by operand. */
        double us = t.hbm_us;
        double memory[LX_MAX_OPERANDS] = {0}, slow[LX_MAX_OPERANDS], all = 0;
        int n = op_operand_count(&p->layouts->graph->ops[o]);
        lx_division_least(p->divisions, o, memory, slow);
        for (int i = 0; i < n; i++) all += share[i] * memory[i];
        for (int i = 0; i < n; i++) {
            int32_t tensor = p->accesses[p->access_at[o] + i].tensor;
            double part = all > 0 ? share[i] * memory[i] / all : 1.0 / n;
            out->of_hbm_us[lx_tensor_bytes_for(p->layouts, tensor)] += us * part;
        }
    }
    for (int i = 0; i < op_operand_count(&p->layouts->graph->ops[o]); i++) {
        const struct lx_access *a = &p->accesses[p->access_at[o] + i];
        if (a->stay < 0 || p->answer.address[a->stay] < 0) sum->cost.operands += sum->cost.times;
        /* Bytes of the operand in all iterations, without padding. */
        const struct lx_tensor *tensor = &p->layouts->graph->tensors[a->tensor];
        double bytes = lx_dtype_bits(tensor->dtype) / 8.0,
               padded = (double)tensor_bytes(p->layouts, a->tensor);
        for (int d = 0; d < tensor->rank; d++) bytes *= (double)tensor->shape[d];
        double times = padded > 0 ? (double)operand_bytes(p->divisions, o, i) / padded : 1;
        out->hbm_bytes += share[i] * (times * (tensor->rank < 0 ? padded : fmin(bytes, padded)));
    }
    sum->cost.busy_us += t.busy_us;
    sum->cost.hbm_bytes += (double)(p->traffic[o].hbm_read + p->traffic[o].hbm_written);
    sum->cost.cores = max_i64(sum->cost.cores, p->divisions->at[o].cores_used);
}

static struct lx_core_view op_waits_view_of(const struct lx_plan *p, int32_t stay)
{
    return lx_division_held(p->divisions, p->stays[stay].view_op, p->stays[stay].view_operand,
                            p->stays[stay].hold);
}

static void op_waits_time_transfer(const struct lx_plan *p, const struct lx_transfer *t,
                                   struct bundle_sum *sum, struct lx_op_wait *out)
{
    int32_t tensor = p->stays[t->stay].tensor;
    const struct lx_device *d = &p->layouts->graph->device;
    double us;
    double fills =
        (double)nest_fills(p->nests, p->nest_count, p->stays[t->stay].view_op, p->stays[t->stay].hold);
    if (lx_through_hbm(t->kind)) {
        us = cost_copy(d, t->bytes);
        sum->cost.operands += (int64_t)fills;
        out->us[LX_WAIT_HBM] += us;
        out->of_hbm_us[lx_tensor_bytes_for(p->layouts, tensor)] += us;
        out->covered_us += us;
        out->device_us += us;
        out->hbm_bytes += (double)t->bytes;
        return;
    }
    struct lx_core_view to = op_waits_view_of(p, t->stay),
                        from = t->source >= 0 ? op_waits_view_of(p, t->source) : to;
    us = t->kind == LX_MOVE ? cost_local_copy(d, view_part_bytes(p->layouts, tensor, &to))
                            : view_ring_us(p->layouts, tensor, &from, &to);
    us *= fills;
    /* A relayout of no bytes moves only within each core. */
    out->us[t->kind == LX_MOVE || t->bytes == 0 ? LX_WAIT_LX : LX_WAIT_RING] += us;
    out->device_us += us;
    sum->cost.busy_us += us;
}

static void op_waits_time_run(const struct lx_plan *p, const struct kernel_run *run, bool is_extern,
                              int32_t *next, struct lx_op_wait *ops)
{
    struct bundle_sum sum = {.cost = {.times = run->times}};
    for (int32_t o = run->first; o < run->end; o++) op_waits_time_op(p, o, &sum, &ops[o]);
    for (; *next < p->transfer_count && p->transfers[*next].tick < run->end; ++*next) {
        const struct lx_transfer *t = &p->transfers[*next];
        if (t->tick >= run->first && (unsigned)t->kind < LX_TRANSFER_KINDS && t->stay >= 0 &&
            t->stay < p->problem.count && t->source < p->problem.count)
            op_waits_time_transfer(p, t, &sum, &ops[t->tick]);
    }
    for (int32_t o = run->first; o < run->end; o++) {
        sum.cost.device_us += ops[o].device_us;
        sum.hidden_us += ops[o].covered_us;
    }
    double longer =
        is_extern ? 0 : cost_end_to_end(&p->layouts->graph->device, &sum.cost) - sum.cost.device_us;
    if (fabs(longer) <= ROUNDING * sum.cost.device_us) longer = 0; /* the sums differ in order only */
    for (int32_t o = run->first; o < run->end; o++) {              /* each op gets its share */
        struct lx_op_wait *w = &ops[o];
        double could = w->covered_us, hbm = w->us[LX_WAIT_HBM];
        w->covered_us = longer < 0 && sum.hidden_us > 0 ? fmin(-longer * could / sum.hidden_us, hbm) : 0;
        w->us[LX_WAIT_HBM] = hbm - w->covered_us;
        for (int k = 0; k < LX_BYTE_KIND_COUNT && hbm > 0; k++) w->of_hbm_us[k] *= w->us[LX_WAIT_HBM] / hbm;
        if (longer > 0)
            w->us[LX_WAIT_LAUNCH] = longer * (sum.cost.device_us > 0 ? w->device_us / sum.cost.device_us
                                                                     : 1.0 / (run->end - run->first));
    }
}

void lx_plan_waits(const struct lx_plan *p, struct lx_op_wait *ops)
{
    int32_t next = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) ops[o] = (struct lx_op_wait){0};
    for (int32_t i = 0; i < p->bundle_count; i++) {
        int32_t end = p->bundles[i].first + p->bundles[i].count;
        for (int32_t o = p->bundles[i].first; o < end;) {
            struct kernel_run run = kernel_run_at(p->nests, p->nest_count, o, end);
            op_waits_time_run(p, &run, p->bundles[i].is_extern, &next, ops);
            o = run.end;
        }
    }
}

struct lx_op_wait lx_waits_sum(const struct lx_op_wait *ops, int32_t count)
{
    struct lx_op_wait sum = {0};
    for (int32_t o = 0; o < count; o++) {
        for (int k = 0; k < LX_WAIT_COUNT; k++) sum.us[k] += ops[o].us[k];
        for (int k = 0; k < LX_BYTE_KIND_COUNT; k++) sum.of_hbm_us[k] += ops[o].of_hbm_us[k];
        sum.covered_us += ops[o].covered_us;
        sum.device_us += ops[o].device_us;
        sum.flops += ops[o].flops;
        sum.hbm_bytes += ops[o].hbm_bytes;
    }
    return sum;
}

double lx_wait_us(const struct lx_op_wait *w)
{
    double us = 0;
    for (int k = 0; k < LX_WAIT_COUNT; k++) us += w->us[k];
    return us;
}

enum lx_wait lx_wait_longest(const struct lx_op_wait *w)
{
    int best = 0;
    for (int k = 1; k < LX_WAIT_COUNT; k++)
        if (w->us[k] > w->us[best]) best = k;
    return (enum lx_wait)best;
}

struct lx_roofs lx_device_roofs(const struct lx_device *d)
{
    double cores = (double)d->cores;
    return (struct lx_roofs){.hbm_gb_per_s = cost_rate(d, COST_ONE_WAY),
                             .lx_gb_per_s = cost_rate(d, COST_LX_PORT) * cores,
                             .gflop_per_s = 2 * cost_rate(d, COST_MACS) * cores * 1e-3};
}

/* Every HBM byte of a plan belongs to an access or a copy, each of these to a stay, and a stay to a
 * tensor. */

const char *lx_byte_kind_word(enum lx_byte_kind k)
{
#define LX_BYTE_KIND_WORD(id, word) [id] = word,
    static const char *const words[] = {LX_BYTE_KINDS(LX_BYTE_KIND_WORD)};
#undef LX_BYTE_KIND_WORD
    return (int)k >= 0 && k < LX_BYTE_KIND_COUNT ? words[k] : "?";
}

enum lx_byte_kind lx_tensor_bytes_for(const struct lx_layouts *l, int32_t tensor)
{
    switch (l->graph->tensors[tensor].role) {
    case LX_WEIGHT:
        return LX_BYTES_WEIGHTS;
    case LX_INPUT:
    case LX_STATE:
        return LX_BYTES_INPUTS;
    case LX_OUTPUT:
        return LX_BYTES_OUTPUTS;
    case LX_INTERMEDIATE:
    case LX_ROLE_COUNT:
        break;
    }
    /* Only restickify ops that the planner inserted count; the pattern's own do not. */
    for (int32_t i = 0; i < l->restickify_count; i++)
        if (l->restickifies[i].to == tensor) return LX_BYTES_RELAYOUTS;
    return LX_BYTES_INTERMEDIATES;
}

void lx_plan_moved(const struct lx_plan *p, int64_t *moved)
{
    for (int32_t i = 0; i < p->problem.count; i++)
        moved[i] = p->layouts || p->answer.address[i] >= 0 ? 0 : p->problem.buffers[i].spill_cost;
    if (!p->layouts) return;
    const struct lx_graph *g = p->layouts->graph;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++) {
            const struct lx_access *a = &p->accesses[p->access_at[o] + i];
            if (a->stay < 0 || p->answer.address[a->stay] < 0)
                moved[a->stay < 0 ? a->tensor : a->stay] += a->bytes;
        }
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (lx_through_hbm(p->transfers[i].kind) && p->transfers[i].stay >= 0 &&
            p->transfers[i].stay < p->problem.count)
            moved[p->transfers[i].stay] += p->transfers[i].bytes;
}

struct lx_byte_sums lx_plan_byte_sums(const struct lx_plan *p, const int64_t *moved)
{
    struct lx_byte_sums sums = {{0}};
    int64_t all = 0;
    for (int32_t i = 0; i < p->problem.count; i++) {
        all += moved[i];
        if (moved[i])
            sums.bytes[p->layouts ? lx_tensor_bytes_for(p->layouts, p->stays[i].tensor) : LX_BYTES_SPILLS] +=
                moved[i];
    }
    if (!p->layouts) sums.bytes[LX_BYTES_LINKED] = p->figures.hbm_bytes - all;
    return sums;
}
