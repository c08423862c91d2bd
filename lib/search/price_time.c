/* What a place on chip is worth in time. A stay that is off chip costs each of its accesses; on chip it costs the copies
 * that fill and store it. How that counts depends on what its bundle waits for: the launch (then every operand through
 * HBM is the same), the memory, or what ops are slower than the memory. */
#include "search/time.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "cost/op.h"

#include <math.h>
#include <stdlib.h>

struct pricing {
    const struct draft *x;
    enum price clock;
    double operand_us; /* of a launch */
    double *off_us;    /* per stay: of its accesses through HBM */
};

static void price_op(struct pricing *p, int32_t o)
{
    const struct draft *x = p->x;
    double memory[LX_MAX_OPERANDS] = {0}, slow[LX_MAX_OPERANDS] = {0};
    double launches = (double)nest_runs(x->how.nests, x->how.nest_count, o);
    if (p->clock != PRICE_LAUNCH) lx_division_least(x->divisions, o, memory, slow);
    for (int i = 0; i < op_operand_count(&x->graph->ops[o]); i++) {
        const struct lx_access *a = &x->accesses[x->access_at[o] + i];
        int64_t all = operand_bytes(x->divisions, o, i);
        double share = all > 0 ? (double)a->bytes / (double)all : 0;
        if (a->stay < 0) continue;
        p->off_us[a->stay] += p->clock == PRICE_LAUNCH   ? p->operand_us * launches
                              : p->clock == PRICE_DEVICE ? memory[i] * share
                                                         : slow[i] * share;
    }
}

/* Of the copies that it needs on chip. */
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
    switch (p->clock) {
    case PRICE_LAUNCH:
        return once > 0 ? p->operand_us * fills * round((double)bytes / (double)once) : 0;
    case PRICE_DEVICE:
        return cost_copy(&x->graph->device, bytes) + ring;
    case PRICE_SLOW:
    case PRICE_COUNT:
        break;
    }
    return ring;
}

/* Nanoseconds; one more where it saves bytes, so that of two that take the same time the one that moves less is better. */
static void price_buffer(const struct pricing *p, int32_t i, struct lx_buffer *b)
{
    double ns = 1e3 * (p->off_us[i] - copies_us(p, i));
    if (b->reason) return;
    if (ns < -0.5)
        b->reason = "on chip it would take longer", b->spill_cost = 0;
    else
        b->spill_cost = (int64_t)fmin(round(ns), 0x1p50) + (b->spill_cost > 0);
}

void price_buffers(const struct draft *x, enum price clock, struct lx_buffer *out)
{
    const struct lx_device *d = &x->graph->device;
    struct pricing p = {.x = x, .clock = clock, .operand_us = cost_launch(d, 1, 1) - cost_launch(d, 0, 1)};
    p.off_us = mem_zeroed((size_t)x->problem.count + 1, sizeof *p.off_us);
    for (int32_t o = 0; o < x->graph->op_count; o++) price_op(&p, o);
    for (int32_t i = 0; i < x->problem.count; i++) {
        out[i] = x->problem.buffers[i];
        price_buffer(&p, i, &out[i]);
    }
    mem_free(p.off_us);
}
