/* Times of placed drafts by the clock, and prices of buffers in time. */
#include "search/time.h"
#include "search/search_steps.h"
#include "clock/syncs.h"
#include "cost/op.h"

void draft_weigh(struct draft *x)
{
    if (!x->pulls) x->pulls = arena_array(x->memory, (size_t)x->problem.count + 1, sizeof *x->pulls);
    if (x->work) return;
    x->work = arena_array(x->memory, (size_t)x->graph->op_count + 1, sizeof *x->work);
    for (int32_t o = 0; o < x->graph->op_count; o++) lx_division_work(x->divisions, o, &x->work[o]);
}

static void program_sync(struct plan_program *p, struct arena *memory)
{
    struct lx_syncs found;
    program_syncs(p, memory, &found);
    p->syncs = found.at;
    p->sync_count = found.count;
}

/* The program of a placed draft with the syncs that it needs. */
static struct plan_program synced_program(const struct draft *x, const int64_t *address,
                                          const struct traffic *t, struct arena *memory)
{
    struct plan_program p = plan_program_of_draft(x, address, t->transfers, t->transfer_count);
    program_sync(&p, memory);
    return p;
}

double program_us(struct plan_program p)
{
    SCOPED(arena_free) struct arena scratch = {0};
    program_sync(&p, &scratch);
    return clock_replay(&p, NULL).end_to_end_us;
}

void predict_times(const struct draft *x, const int64_t *address, const struct traffic *t,
                   struct lx_op_traffic *ops, struct lx_bundle *bundles)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct plan_program p = synced_program(x, address, t, &scratch);
    struct clock_op *moved = mem_zeroed((size_t)x->graph->op_count + 1, sizeof *moved);
    clock_replay(&p, &(struct clock_details){.ops = moved, .bundles = bundles});
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        ops[o].device_us = 0;
        for (int w = 0; w < LX_WAIT_LAUNCH; w++) ops[o].device_us += moved[o].us[w];
        ops[o].end_to_end_us = ops[o].device_us + moved[o].us[LX_WAIT_LAUNCH];
    }
    mem_free(moved);
}

struct clock_times draft_times(const struct draft *x, const int64_t *address, struct lx_bundle *bundles)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct traffic t;
    OWNED struct lx_op_traffic *ops = mem_zeroed((size_t)x->graph->op_count + 1, sizeof *ops);
    traffic_list(x, address, &scratch, &t, ops);
    struct plan_program p = synced_program(x, address, &t, &scratch);
    return clock_replay(&p, &(struct clock_details){.bundles = bundles});
}

double attempt_us(const struct search *search, const struct draft *x, const int64_t *address, double most)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct traffic t;
    OWNED struct lx_op_traffic *ops = mem_zeroed((size_t)x->graph->op_count + 1, sizeof *ops);
    traffic_list(x, address, &scratch, &t, ops);
    struct plan_program p = plan_program_of_draft(x, address, t.transfers, t.transfer_count);
    /* Syncs only add time, and to find them takes longer than a replay. */
    double us = isinf(most) ? 0 : clock_replay(&p, NULL).end_to_end_us;
    if (us <= most) us = program_us(p);
    static const double LATE = 1e15;
    return fmax(us, search->request->fast_us) + LATE * (ops_too_wide(x) + bundles_too_large(x, address));
}

double draft_least_us(struct draft *x)
{
    const struct lx_device *d = &x->graph->device;
    OWNED int64_t *address = mem_alloc(((size_t)x->problem.count + 1) * sizeof *address);
    for (int32_t i = 0; i < x->problem.count; i++)
        address[i] = x->problem.buffers[i].reason ? LX_OFF_CHIP : 0;
    draft_weigh(x);
    struct plan_program p = plan_program_of_draft(x, address, NULL, 0);
    double us = clock_replay(&p, NULL).end_to_end_us,
           memory_us = cost_charged_bytes(d, (double)x->least_bytes) / cost_hbm_rate(d);
    return fmax(us, memory_us);
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
void price_buffers(struct draft *x, enum price clock, struct lx_buffer *out)
{
    const struct lx_device *d = &x->graph->device;
    struct pricing p = {.x = x, .clock = clock, .operand_us = cost_launch(d, 1, 1) - cost_launch(d, 0, 1)};
    p.off_us = mem_zeroed((size_t)x->problem.count + 1, sizeof *p.off_us);
    draft_weigh(x);
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        double memory[LX_MAX_OPERANDS] = {0}, slow[LX_MAX_OPERANDS] = {0};
        const struct lx_op_work *w = &x->work[o];
        double times = (double)nest_runs(x->how.nests, x->how.nest_count, o);
        for (int i = 0; clock != PRICE_LAUNCH && i < w->operand_count; i++) {
            memory[i] = times * w->stream_us[i];
            slow[i] = memory[i] - times * w->bytes[i] / w->bytes_per_us;
        }
        for (int i = 0; i < op_operand_count(&x->graph->ops[o]); i++) {
            const struct lx_access *a = &x->accesses[x->access_at[o] + i];
            int64_t all = operand_bytes(x->divisions, o, i);
            double share = all > 0 ? (double)a->bytes / (double)all : 0;
            if (a->stay < 0) continue;
            p.off_us[a->stay] += clock == PRICE_LAUNCH   ? p.operand_us
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
