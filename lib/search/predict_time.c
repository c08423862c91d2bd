/* Predicted times of a placement: each op by its division's cost with its HBM operands, plus the copies on
 * its tick; then each bundle end to end, shared out over its ops. In nests each op is launched alone in every
 * iteration. */
#include "search/time.h"
#include "base/checked.h"
#include "cost/op.h"
#include "base/memory.h"

#include <math.h>

struct kernel_run kernel_run_at(const struct lx_nest *nests, int32_t nest_count, int32_t first, int32_t end)
{
    struct kernel_run k = {first, first + 1, nest_runs(nests, nest_count, first)};
    if (nest_of_op(nests, nest_count, first) >= 0) return k;
    while (k.end < end && nest_of_op(nests, nest_count, k.end) < 0) k.end++;
    return k;
}

struct clockwork {
    const struct draft *x;
    const int64_t *address;
    const struct traffic *t;
    int32_t next; /* next transfer */
    struct lx_op_traffic *ops;
    int32_t *seen; /* per tensor: 1 + the last bundle that had it in HBM */
};

static void predict_time_through_hbm(struct clockwork *k, struct lx_bundle *b, int32_t tensor)
{
    int32_t mark = k->x->bundle_of[b->first] + 1;
    b->operands++;
    b->tensors += k->seen[tensor] != mark;
    k->seen[tensor] = mark;
}

static void predict_time_op(struct clockwork *k, int32_t o, struct lx_bundle *b, struct cost_bundle *sum)
{
    const struct draft *x = k->x;
    double share[LX_MAX_OPERANDS];
    for (int i = 0; i < op_operand_count(&x->graph->ops[o]); i++) {
        const struct lx_access *a = &x->accesses[x->access_at[o] + i];
        int64_t all = operand_bytes(x->divisions, o, i);
        bool on_chip = a->stay >= 0 && k->address[a->stay] >= 0;
        share[i] = on_chip || all <= 0 ? 0 : (double)a->bytes / (double)all;
        if (!on_chip) predict_time_through_hbm(k, b, a->tensor), sum->operands += sum->times;
    }
    struct lx_op_time t = lx_division_time(x->divisions, o, share);
    k->ops[o].device_us = t.device_us;
    sum->busy_us += t.busy_us;
    sum->hbm_bytes += (double)(k->ops[o].hbm_read + k->ops[o].hbm_written);
    sum->cores = max_i64(sum->cores, x->divisions->at[o].cores_used);
}

static void predict_time_transfer(struct clockwork *k, const struct lx_transfer *t, struct lx_bundle *b,
                                  struct cost_bundle *sum)
{
    const struct draft *x = k->x;
    int32_t tensor = x->stays[t->stay].tensor;
    if (lx_through_hbm(t->kind)) {
        predict_time_through_hbm(k, b, tensor);
        sum->operands += stay_fills(x, t->stay);
        k->ops[t->tick].device_us += cost_copy(&x->graph->device, t->bytes);
        return;
    }
    struct lx_core_view from = stay_view(x, t->source), to = stay_view(x, t->stay);
    double us = t->kind == LX_MOVE
                    ? cost_local_copy(&x->graph->device, view_part_bytes(x->layouts, tensor, &to))
                    : view_ring_us(x->layouts, tensor, &from, &to);
    us *= (double)stay_fills(x, t->stay);
    k->ops[t->tick].device_us += us;
    sum->busy_us += us;
}

/* Sets the times of the run's ops; returns its end-to-end time. */
static double predict_time_run(struct clockwork *k, const struct kernel_run *run, struct lx_bundle *b)
{
    struct cost_bundle sum = {.times = run->times};
    for (int32_t o = run->first; o < run->end; o++) predict_time_op(k, o, b, &sum);
    for (; k->next < k->t->transfer_count && k->t->transfers[k->next].tick < run->end; k->next++)
        predict_time_transfer(k, &k->t->transfers[k->next], b, &sum);
    for (int32_t o = run->first; o < run->end; o++) sum.device_us += k->ops[o].device_us;
    b->device_us += sum.device_us;
    b->cores = max_i64(b->cores, sum.cores);
    /* A call off the device is not a kernel launch. */
    double us = b->is_extern ? sum.device_us : cost_end_to_end(&k->x->graph->device, &sum);
    /* If the ops take no time, they get equal shares. */
    for (int32_t o = run->first; o < run->end; o++)
        k->ops[o].end_to_end_us =
            sum.device_us > 0 ? us * k->ops[o].device_us / sum.device_us : us / (run->end - run->first);
    return us;
}

void predict_times(const struct draft *x, const int64_t *address, const struct traffic *t,
                   struct lx_op_traffic *ops, struct lx_bundle *bundles)
{
    struct clockwork k = {.x = x, .address = address, .t = t, .ops = ops};
    k.seen = mem_zeroed((size_t)x->graph->tensor_count + 1, sizeof *k.seen);
    for (int32_t o = x->graph->op_count - 1; o >= 0; o--) {
        struct lx_bundle *b = &bundles[x->bundle_of[o]];
        b->first = o;
        b->count++;
        b->is_extern = x->graph->ops[o].kind->traits & LX_WIPES;
    }
    for (int32_t i = 0; i < x->bundle_count; i++) {
        const struct decisions *how = &k.x->how;
        int32_t end = bundles[i].first + bundles[i].count;
        for (int32_t o = bundles[i].first; o < end;) {
            struct kernel_run run = kernel_run_at(how->nests, how->nest_count, o, end);
            bundles[i].end_to_end_us += predict_time_run(&k, &run, &bundles[i]);
            o = run.end;
        }
    }
    mem_free(k.seen);
}

struct clocks bundle_clocks(const struct lx_bundle *bundles, int32_t count)
{
    struct clocks sum = {0};
    for (int32_t i = 0; i < count; i++) {
        sum.device_us += bundles[i].device_us;
        sum.end_to_end_us += bundles[i].end_to_end_us;
    }
    return sum;
}

void draft_bundle_times(const struct draft *x, const int64_t *address, struct lx_bundle *bundles)
{
    struct arena scratch = {0};
    struct traffic t;
    struct lx_op_traffic *ops = mem_zeroed((size_t)x->graph->op_count + 1, sizeof *ops);
    traffic_list(x, address, &scratch, &t, ops);
    predict_times(x, address, &t, ops, bundles);
    mem_free(ops);
    arena_free(&scratch);
}

struct clocks draft_clocks(const struct draft *x, const int64_t *address)
{
    struct lx_bundle *bundles = mem_zeroed((size_t)x->bundle_count + 1, sizeof *bundles);
    draft_bundle_times(x, address, bundles);
    struct clocks sum = bundle_clocks(bundles, x->bundle_count);
    mem_free(bundles);
    return sum;
}

/* The value in time of a buffer on chip: the accesses that it saves minus the copies that it needs. It
 * depends on the bottleneck of the bundle: launches, HBM, or ops slower than HBM. */

struct pricing {
    const struct draft *x;
    enum price clock;
    double operand_us; /* launch time per operand */
    double *off_us;    /* per stay: time of its accesses through HBM */
};

/* The time of the copies that the stay needs on chip. */
static double copies_us(const struct pricing *p, int32_t stay)
{
    const struct draft *x = p->x;
    const struct lx_stay *s = &x->stays[stay];
    int64_t bytes = x->copy_bytes[stay], once = stay_load_bytes(x, stay);
    double ring = 0, fills = (double)stay_fills(x, stay);
    if (s->ring_source >= 0) {
        struct lx_core_view from = stay_view(x, s->ring_source), to = stay_view(x, stay);
        ring = view_ring_us(x->layouts, s->tensor, &from, &to) * fills;
        bytes = 0;
    }
    if (p->clock == PRICE_LAUNCH)
        return once > 0 ? p->operand_us * fills * round((double)bytes / (double)once) : 0;
    return ring + (p->clock == PRICE_DEVICE ? cost_copy(&x->graph->device, bytes) : 0);
}

/* Prices are in nanoseconds, plus one if bytes are saved: of two equal times the plan that moves less is
 * better. */
void price_buffers(const struct draft *x, enum price clock, struct lx_buffer *out)
{
    const struct lx_device *d = &x->graph->device;
    struct pricing p = {.x = x, .clock = clock, .operand_us = cost_launch(d, 1, 1) - cost_launch(d, 0, 1)};
    p.off_us = mem_zeroed((size_t)x->problem.count + 1, sizeof *p.off_us);
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        double memory[LX_MAX_OPERANDS] = {0}, slow[LX_MAX_OPERANDS] = {0};
        double launches = (double)nest_runs(x->how.nests, x->how.nest_count, o);
        if (clock != PRICE_LAUNCH) lx_division_least(x->divisions, o, memory, slow);
        for (int i = 0; i < op_operand_count(&x->graph->ops[o]); i++) {
            const struct lx_access *a = &x->accesses[x->access_at[o] + i];
            int64_t all = operand_bytes(x->divisions, o, i);
            double share = all > 0 ? (double)a->bytes / (double)all : 0;
            if (a->stay < 0) continue;
            p.off_us[a->stay] += clock == PRICE_LAUNCH   ? p.operand_us * launches
                                 : clock == PRICE_DEVICE ? memory[i] * share
                                                         : slow[i] * share;
        }
    }
    for (int32_t i = 0; i < x->problem.count; i++) {
        struct lx_buffer *b = &out[i];
        double ns = 1e3 * (p.off_us[i] - copies_us(&p, i));
        *b = x->problem.buffers[i];
        if (b->reason) continue;
        if (ns < -0.5)
            b->reason = "on chip it would take longer", b->spill_cost = 0;
        else
            b->spill_cost = (int64_t)fmin(round(ns), 0x1p50) + (b->spill_cost > 0);
    }
    mem_free(p.off_us);
}
