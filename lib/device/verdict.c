/* The verdict on a run: counts against the plan, results against their bounds. */
#include "device/verify.h"
#include "base/arena.h"

#include <inttypes.h>
#include <math.h>

/* What both the device and the plan count, one row each. */
static const struct {
    const char *what;
    size_t counted, planned;
} rows[] = {
    {"bytes read from HBM", offsetof(struct lx_counters, hbm_read), offsetof(struct lx_op_traffic, hbm_read)},
    {"bytes written to HBM", offsetof(struct lx_counters, hbm_written),
     offsetof(struct lx_op_traffic, hbm_written)},
    {"bytes over the data ring", offsetof(struct lx_counters, ring), offsetof(struct lx_op_traffic, ring)},
    {"bytes over the reduce ring", offsetof(struct lx_counters, reduce_ring),
     offsetof(struct lx_op_traffic, reduce_ring)},
    {"bytes read from LX", offsetof(struct lx_counters, lx_read), offsetof(struct lx_op_traffic, lx_read)},
    {"bytes written to LX", offsetof(struct lx_counters, lx_written),
     offsetof(struct lx_op_traffic, lx_written)},
};

static int64_t verdict_at(const void *base, size_t offset)
{
    return *(const int64_t *)(const void *)((const char *)base + offset);
}

void lx_counters_add(struct lx_counters *to, const struct lx_counters *from)
{
    to->hbm_read += from->hbm_read;
    to->hbm_written += from->hbm_written;
    to->lx_read += from->lx_read;
    to->lx_written += from->lx_written;
    to->ring += from->ring;
    to->reduce_ring += from->reduce_ring;
    to->flops += from->flops;
}

static void unequal(struct lx_run_result *r, const char *where, const char *what, int64_t counted,
                    int64_t planned)
{
    if (!r->unequal)
        r->unequal =
            arena_format(r->memory, "%s: %" PRId64 " %s, planned %" PRId64, where, counted, what, planned);
}

void judge(const struct lx_plan *p, struct lx_run_result *r, struct lx_op_run *ops)
{
    for (int32_t o = 0; o < r->op_count; o++) {
        for (int64_t c = 0; c < r->cores; c++)
            lx_counters_add(&ops[o].counted, &r->by_core[o * r->cores + c]);
        lx_counters_add(&r->total, &ops[o].counted);
        ops[o].cores_used = p->divisions->at[o].cores_used;
        ops[o].device_us = p->traffic[o].device_us;
        ops[o].end_to_end_us = p->traffic[o].end_to_end_us;
        ops[o].counts_agree = true;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int64_t counted = verdict_at(&ops[o].counted, rows[i].counted),
                    planned = verdict_at(&p->traffic[o], rows[i].planned);
            if (counted == planned) continue;
            ops[o].counts_agree = false;
            unequal(r, p->layouts->graph->ops[o].name, rows[i].what, counted, planned);
        }
        r->unequal_ops += !ops[o].counts_agree;
    }
    int64_t hbm = r->total.hbm_read + r->total.hbm_written;
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (r->transfer_bytes[i] != p->transfers[i].bytes)
            unequal(r, "a transfer", "bytes", r->transfer_bytes[i], p->transfers[i].bytes);
    if (hbm != p->figures.hbm_bytes)
        unequal(r, "all ops", "bytes to and from HBM", hbm, p->figures.hbm_bytes);
    if (r->height_bytes != p->figures.height_bytes)
        unequal(r, "scratchpad", "bytes in use", r->height_bytes, p->figures.height_bytes);
    if (r->total.ring != p->figures.ring_bytes)
        unequal(r, "all ops", "bytes over the data ring", r->total.ring, p->figures.ring_bytes);
    for (int32_t o = 0; o < r->op_count; o++) {
        const struct lx_op_run *op = &r->ops[o];
        r->wrong_ops += op->wrong > 0 || op->altered > 0;
        if (!op->verified || (r->worst_op >= 0 && op->share <= r->share)) continue;
        r->worst_op = o;
        r->share = op->share;
    }
    r->relative_error = -1;
    for (int32_t i = 0; i < r->output_count; i++)
        if (r->outputs[i].known) r->relative_error = fmax(r->relative_error, r->outputs[i].relative);
    r->ok = r->fault_count == 0 && r->wrong_ops == 0 && !r->unequal;
}
