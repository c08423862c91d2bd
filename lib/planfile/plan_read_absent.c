/* What a plan file need not say: figures that follow from what it states are filled in, so that a plan of another maker
 * can be shown and run like ours. The checker counts everything itself and does not look at this. */
#include "planfile/plan_file.h"
#include "base/checked.h"
#include "base/fail.h"
#include "plan/plan_make.h"
#include "search/steps.h"
#include "search/time.h"

#include <math.h>
#include <stddef.h>

/* The plan as a draft of its own stays, of which traffic and times can be asked. */
static bool draft_of(const struct lx_plan *p, struct draft *x, lx_status *st)
{
    size_t ops = (size_t)p->layouts->graph->op_count, accesses = (size_t)p->access_at[ops];
    *x = (struct draft){.divisions = p->divisions,
                        .layouts = p->layouts,
                        .graph = p->layouts->graph,
                        .how = *p->how,
                        .problem = p->problem,
                        .memory = p->memory};
    x->stays = arena_copy_array(p->memory, p->stays, (size_t)p->problem.count, sizeof *x->stays);
    x->accesses = arena_copy_array(p->memory, p->accesses, accesses, sizeof *x->accesses);
    x->access_at = arena_copy_array(p->memory, p->access_at, ops + 1, sizeof *x->access_at);
    x->access_op = arena_array(p->memory, accesses, sizeof *x->access_op);
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) x->access_op[a] = o;
    if (!draft_bundles(x, st)) return false;
    draft_holds(x);
    return true;
}

static void fill_int(int64_t *at, int64_t value)
{
    if (*at == -1) *at = value; /* anything else below 0 is wrong, as the checker will say */
}

static void fill_real(double *at, double value)
{
    if (isnan(*at)) *at = value;
}

static int64_t bytes_of_copy(const struct draft *x, const struct lx_transfer *t)
{
    int32_t tensor = x->stays[t->stay].tensor;
    int64_t whole = tensor_bytes(x->layouts, tensor), parts = stay_parts(x, t->stay);
    int64_t fills = stay_fills(x, t->stay);
    if (t->kind == LX_STORE) return whole * parts;
    if (t->kind == LX_LOAD) return parts > 1 ? whole * (parts - 1) : stay_load_bytes(x, t->stay);
    struct lx_core_view from = stay_view(x, t->source), to = stay_view(x, t->stay);
    if (t->kind == LX_MOVE) return view_all_bytes(x->layouts, tensor, &to) * fills;
    return view_ring_bytes(x->layouts, tensor, &from, &to) * fills;
}

static void fill_transfers(struct lx_plan *p, const struct draft *x)
{
    struct lx_transfer *t = arena_copy_array(p->memory, p->transfers, (size_t)p->transfer_count, sizeof *t);
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (t[i].bytes == -1) t[i].bytes = bytes_of_copy(x, &t[i]);
    p->transfers = t;
}

/* HBM and ring of each op, by its accesses and the copies of its tick. */
static void plan_read_absent_count_traffic(const struct lx_plan *p, const struct draft *x,
                                           struct lx_op_traffic *ops)
{
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        ops[o].cores = p->divisions->at[o].cores_used;
        for (int32_t i = p->access_at[o]; i < p->access_at[o + 1]; i++) {
            const struct lx_access *a = &p->accesses[i];
            if (a->stay >= 0 && p->answer.address[a->stay] >= 0) continue;
            *(a->writes ? &ops[o].hbm_written : &ops[o].hbm_read) += a->bytes - a->again;
            ops[o].hbm_read += a->again;
        }
    }
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        struct lx_op_traffic *op = &ops[t->tick];
        if (t->kind == LX_MOVE) op->lx_read += t->bytes, op->lx_written += t->bytes;
        if (t->kind == LX_MOVE) continue;
        *(t->kind == LX_LOAD    ? &op->hbm_read
          : t->kind == LX_STORE ? &op->hbm_written
                                : &op->ring) += t->bytes;
    }
    traffic_on_chip(x, p->answer.address, ops);
}

static void fill_bundles(struct lx_plan *p, const struct lx_bundle *own, int32_t count)
{
    bool none = p->bundle_count == 0;
    if (!none && p->bundle_count != count)
        return; /* they are no bundles of this plan, as the checker will say */
    struct lx_bundle *to = arena_copy_array(p->memory, none ? own : p->bundles, (size_t)count, sizeof *to);
    for (int32_t i = 0; i < count; i++) {
        fill_int(&to[i].tensors, own[i].tensors);
        fill_int(&to[i].operands, own[i].operands);
        fill_int(&to[i].cores, own[i].cores);
        fill_real(&to[i].device_us, own[i].device_us);
        fill_real(&to[i].end_to_end_us, own[i].end_to_end_us);
    }
    p->bundles = to;
    p->bundle_count = count;
}

/* The pool reaches from the first intermediate in HBM to the end of the last. */
static void fill_segments(struct lx_plan *p)
{
    const struct lx_graph *g = p->layouts->graph;
    int64_t first = INT64_MAX, last = 0, end = 0;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        if (p->hbm_address[t] < 0) continue;
        int64_t to = p->hbm_address[t] + tensor_bytes(p->layouts, t);
        end = max_i64(end, to);
        if (g->tensors[t].role != LX_INTERMEDIATE) continue;
        first = min_i64(first, p->hbm_address[t]);
        last = max_i64(last, to);
    }
    fill_int(&p->pool_at, first == INT64_MAX ? end : first);
    fill_int(&p->pool_bytes, max_i64(last - p->pool_at, 0));
    fill_int(&p->segment_bytes, max_i64(end, p->pool_at + p->pool_bytes));
}

static bool plan_read_absent_fill_graph(struct lx_plan *p, lx_status *st)
{
    struct draft x;
    if (!draft_of(p, &x, st)) return false;
    fill_transfers(p, &x);
    struct lx_op_traffic *own = arena_array(p->memory, (size_t)x.graph->op_count, sizeof *own);
    struct lx_bundle *bundles = arena_array(p->memory, (size_t)x.bundle_count, sizeof *bundles);
    struct lx_transfer *copies =
        arena_copy_array(p->memory, p->transfers, (size_t)p->transfer_count, sizeof *copies);
    plan_read_absent_count_traffic(p, &x, own);
    struct traffic t = {.transfers = copies, .transfer_count = p->transfer_count};
    predict_times(&x, p->answer.address, &t, own, bundles);
    for (int32_t o = 0; o < x.graph->op_count; o++) {
        fill_int(&p->traffic[o].hbm_read, own[o].hbm_read);
        fill_int(&p->traffic[o].hbm_written, own[o].hbm_written);
        fill_int(&p->traffic[o].ring, own[o].ring);
        fill_int(&p->traffic[o].reduce_ring, own[o].reduce_ring);
        fill_int(&p->traffic[o].lx_read, own[o].lx_read);
        fill_int(&p->traffic[o].lx_written, own[o].lx_written);
        fill_int(&p->traffic[o].cores, own[o].cores);
        fill_real(&p->traffic[o].device_us, own[o].device_us);
        fill_real(&p->traffic[o].end_to_end_us, own[o].end_to_end_us);
    }
    fill_bundles(p, bundles, x.bundle_count);
    struct lx_figures *f = &p->figures;
    int64_t hbm = 0, ring = 0;
    int32_t ops = p->layouts->graph->op_count;
    for (int32_t o = 0; o < ops; o++) {
        hbm += p->traffic[o].hbm_read + p->traffic[o].hbm_written;
        ring += p->traffic[o].ring;
    }
    struct clocks sum = bundle_clocks(p->bundles, p->bundle_count);
    fill_int(&f->hbm_bytes, hbm);
    fill_int(&f->ring_bytes, ring);
    fill_int(&f->baseline_hbm_bytes, all_off_chip(&x));
    fill_real(&f->device_us, sum.device_us);
    fill_real(&f->end_to_end_us, sum.end_to_end_us);
    fill_segments(p);
    fill_int(&p->figures.perfect_hbm_bytes, 0);
    return true;
}

/* Is there anything of a graph that the file has left out? */
static bool graph_complete(const struct lx_plan *p)
{
    const struct lx_figures *f = &p->figures;
    bool all = f->hbm_bytes >= 0 && f->ring_bytes >= 0 && f->baseline_hbm_bytes >= 0 &&
               f->perfect_hbm_bytes >= 0 && !isnan(f->device_us) && !isnan(f->end_to_end_us) &&
               p->pool_at >= 0 && p->pool_bytes >= 0 && p->segment_bytes >= 0 && p->bundle_count > 0;
    for (int32_t o = 0; all && o < p->layouts->graph->op_count; o++) {
        const struct lx_op_traffic *t = &p->traffic[o];
        all = t->hbm_read >= 0 && t->hbm_written >= 0 && t->ring >= 0 && t->reduce_ring >= 0 &&
              t->lx_read >= 0 && t->lx_written >= 0 && t->cores >= 0 && !isnan(t->device_us) &&
              !isnan(t->end_to_end_us);
    }
    for (int32_t i = 0; all && i < p->bundle_count; i++) {
        const struct lx_bundle *b = &p->bundles[i];
        all = b->tensors >= 0 && b->operands >= 0 && b->cores >= 0 && !isnan(b->device_us) &&
              !isnan(b->end_to_end_us);
    }
    for (int32_t i = 0; all && i < p->transfer_count; i++) all = p->transfers[i].bytes >= 0;
    return all;
}

bool plan_fill_absent(struct lx_plan *p, lx_status *st)
{
    int64_t height = 0;
    if (p->graph->list) {
        int64_t off = 0, all = 0;
        for (int32_t i = 0; i < p->problem.count; i++) {
            all += p->problem.buffers[i].spill_cost;
            if (p->answer.address[i] < 0) off += p->problem.buffers[i].spill_cost;
        }
        fill_int(&p->figures.hbm_bytes, off);
        fill_int(&p->figures.baseline_hbm_bytes, all);
    } else if (!graph_complete(p) && !plan_read_absent_fill_graph(p, st))
        return false;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0)
            height = max_i64(height, p->answer.address[i] + p->problem.buffers[i].size);
    fill_int(&p->figures.height_bytes, height);
    fill_int(&p->figures.spill_bytes, p->figures.hbm_bytes - p->figures.perfect_hbm_bytes);
    return true;
}
