/* The clock's replay of a plan, op by op, with the traffic behind HBM time. */
#include "explain/op_waits.h"
#include "base/words/words.h"
#include "cost/op.h"
#include "plan/plan_make.h"

void lx_plan_hbm_shares(const struct lx_plan *p, int32_t o, double *share)
{
    for (int i = 0; i < op_operand_count(&p->layouts->graph->ops[o]); i++) {
        const struct lx_access *a = &p->accesses[p->access_at[o] + i];
        int64_t all = operand_bytes(p->divisions, o, i);
        bool on_chip = a->stay >= 0 && p->answer.address[a->stay] >= 0;
        share[i] = on_chip || all <= 0 ? 0 : (double)a->bytes / (double)all;
    }
}

/* Sets flops and bytes of an op. Its HBM time belongs to its streams and copies in these shares. */
static void op_waits_count(const struct lx_plan *p, int32_t o, double *weight, struct lx_op_wait *out)
{
    double share[LX_MAX_OPERANDS], times = (double)nest_runs(p->nests, p->nest_count, o);
    struct lx_op_work w;
    lx_plan_hbm_shares(p, o, share);
    lx_division_work(p->divisions, o, &w);
    out->flops = w.flops * times;
    for (int i = 0; i < w.operand_count; i++) {
        int32_t of = p->accesses[p->access_at[o] + i].tensor;
        weight[lx_tensor_bytes_for(p->layouts, of)] += share[i] * w.stream_us[i] * times;
        /* Bytes of the operand in all iterations, without padding. */
        const struct lx_tensor *tensor = &p->layouts->graph->tensors[of];
        double bytes = lx_dtype_bits(tensor->dtype) / 8.0, padded = (double)tensor_bytes(p->layouts, of);
        for (int d = 0; d < tensor->rank; d++) bytes *= (double)tensor->shape[d];
        double passes = padded > 0 ? (double)operand_bytes(p->divisions, o, i) / padded : 1;
        out->hbm_bytes += share[i] * (passes * (tensor->rank < 0 ? padded : fmin(bytes, padded)));
    }
}

static void op_waits_set(const struct lx_plan *p, int32_t o, const struct clock_op *moved, int32_t *copy,
                         struct lx_op_wait *out)
{
    double weight[LX_BYTE_KIND_COUNT] = {0}, all = 0;
    *out = (struct lx_op_wait){0};
    memcpy(out->us, moved->us, sizeof out->us);
    for (int k = 0; k < LX_WAIT_LAUNCH; k++) out->device_us += moved->us[k];
    op_waits_count(p, o, weight, out);
    for (; *copy < p->transfer_count && p->transfers[*copy].tick <= o; ++*copy) {
        const struct lx_transfer *t = &p->transfers[*copy];
        if (t->tick < o || !lx_through_hbm(t->kind)) continue;
        weight[lx_tensor_bytes_for(p->layouts, p->stays[t->stay].tensor)] +=
            cost_copy(&p->layouts->graph->device, t->bytes);
        out->hbm_bytes += (double)t->bytes;
    }
    for (int k = 0; k < LX_BYTE_KIND_COUNT; k++) all += weight[k];
    for (int k = 0; k < LX_BYTE_KIND_COUNT && all > 0; k++)
        out->of_hbm_us[k] = out->us[LX_WAIT_HBM] * weight[k] / all;
}

struct clock_times lx_plan_clock(const struct lx_plan *p, const struct clock_details *out)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct plan_program program = plan_program_of_plan(p, &scratch);
    return clock_replay(&program, out);
}

void lx_plan_waits(const struct lx_plan *p, struct lx_op_wait *waits)
{
    const int32_t ops = p->layouts->graph->op_count;
    struct clock_op *moved = mem_zeroed((size_t)ops + 1, sizeof *moved);
    int32_t copy = 0;
    lx_plan_clock(p, &(struct clock_details){.ops = moved});
    for (int32_t o = 0; o < ops; o++) op_waits_set(p, o, &moved[o], &copy, &waits[o]);
    mem_free(moved);
}

struct lx_op_wait lx_waits_sum(const struct lx_op_wait *ops, int32_t count)
{
    struct lx_op_wait sum = {0};
    for (int32_t o = 0; o < count; o++) {
        for (int k = 0; k < LX_WAIT_COUNT; k++) sum.us[k] += ops[o].us[k];
        for (int k = 0; k < LX_BYTE_KIND_COUNT; k++) sum.of_hbm_us[k] += ops[o].of_hbm_us[k];
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

LX_WORDS(lx_byte_kind_word, enum lx_byte_kind, LX_BYTE_KINDS)

enum lx_byte_kind lx_tensor_bytes_for(const struct lx_layouts *l, int32_t tensor)
{
    switch (l->graph->tensors[tensor].role) {
    case LX_WEIGHT: return LX_BYTES_WEIGHTS;
    case LX_INPUT:
    case LX_STATE: return LX_BYTES_INPUTS;
    case LX_OUTPUT: return LX_BYTES_OUTPUTS;
    case LX_INTERMEDIATE:
    case LX_ROLE_COUNT: break;
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
