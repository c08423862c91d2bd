/* Computes figures that follow from the rest of a file, so that plans of other makers can be shown and run.
 * The checker computes everything itself. */
#include "planfile/plan_file.h"
#include "search/time.h"

/* A draft with the plan's stays, for traffic and times. */
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
    if (*at == -1) *at = value; /* other negative values are errors, which the checker reports */
}

/* A field that a file may omit: -1 means absent, NaN if real. */
struct absent_field {
    size_t offset;
    bool real;
};

#define INT(type, field)                                                                                     \
    {                                                                                                        \
        offsetof(struct type, field), false                                                                  \
    }
#define REAL(type, field)                                                                                    \
    {                                                                                                        \
        offsetof(struct type, field), true                                                                   \
    }
static const struct absent_field figure_fields[] = {
    INT(lx_figures, hbm_bytes), INT(lx_figures, ring_bytes), INT(lx_figures, baseline_hbm_bytes),
    REAL(lx_figures, device_us), REAL(lx_figures, end_to_end_us)};
static const struct absent_field traffic_fields[] = {
    INT(lx_op_traffic, hbm_read),    INT(lx_op_traffic, hbm_written), INT(lx_op_traffic, ring),
    INT(lx_op_traffic, reduce_ring), INT(lx_op_traffic, lx_read),     INT(lx_op_traffic, lx_written),
    INT(lx_op_traffic, cores),       REAL(lx_op_traffic, device_us),  REAL(lx_op_traffic, end_to_end_us)};
static const struct absent_field bundle_fields[] = {INT(lx_bundle, tensors), INT(lx_bundle, operands),
                                                    INT(lx_bundle, cores), REAL(lx_bundle, device_us),
                                                    REAL(lx_bundle, end_to_end_us)};

#define FILL(fields, to, from) fill(fields, sizeof fields / sizeof *fields, to, from)
#define LACKS(fields, record)  lacks(fields, sizeof fields / sizeof *fields, record)

static void fill(const struct absent_field *fields, size_t count, void *to, const void *from)
{
    for (size_t i = 0; i < count; i++) {
        void *at = (char *)to + fields[i].offset;
        const void *value = (const char *)from + fields[i].offset;
        if (!fields[i].real)
            fill_int(at, *(const int64_t *)value);
        else if (isnan(*(double *)at))
            *(double *)at = *(const double *)value;
    }
}

/* HBM and ring bytes of each op: its accesses and the copies on its tick. */
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
        return; /* the file's bundles are wrong, which the checker reports */
    struct lx_bundle *to = arena_copy_array(p->memory, none ? own : p->bundles, (size_t)count, sizeof *to);
    for (int32_t i = 0; i < count; i++) FILL(bundle_fields, &to[i], &own[i]);
    p->bundles = to;
    p->bundle_count = count;
}

/* The pool extends from the first intermediate in HBM to the end of the last. */
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
    struct lx_transfer *all =
        arena_copy_array(p->memory, p->transfers, (size_t)p->transfer_count, sizeof *all);
    for (int32_t i = 0; i < p->transfer_count; i++) {
        struct lx_transfer *t = &all[i];
        if (t->bytes != -1) continue;
        int32_t tensor = x.stays[t->stay].tensor;
        int64_t whole = tensor_bytes(x.layouts, tensor), parts = stay_parts(&x, t->stay);
        struct lx_core_view to = stay_view(&x, t->stay),
                            from = t->source >= 0 ? stay_view(&x, t->source) : to;
        t->bytes = t->kind == LX_STORE  ? whole * parts
                   : t->kind == LX_LOAD ? (parts > 1 ? whole * (parts - 1) : stay_load_bytes(&x, t->stay))
                   : t->kind == LX_MOVE
                       ? view_all_bytes(x.layouts, tensor, &to) * stay_fills(&x, t->stay)
                       : view_ring_bytes(x.layouts, tensor, &from, &to) * stay_fills(&x, t->stay);
    }
    p->transfers = all;
    struct lx_op_traffic *own = arena_array(p->memory, (size_t)x.graph->op_count, sizeof *own);
    struct lx_bundle *bundles = arena_array(p->memory, (size_t)x.bundle_count, sizeof *bundles);
    struct lx_transfer *copies =
        arena_copy_array(p->memory, p->transfers, (size_t)p->transfer_count, sizeof *copies);
    plan_read_absent_count_traffic(p, &x, own);
    struct traffic t = {.transfers = copies, .transfer_count = p->transfer_count};
    predict_times(&x, p->answer.address, &t, own, bundles);
    for (int32_t o = 0; o < x.graph->op_count; o++) FILL(traffic_fields, &p->traffic[o], &own[o]);
    fill_bundles(p, bundles, x.bundle_count);
    struct lx_figures sums = {.baseline_hbm_bytes = all_off_chip(&x)};
    for (int32_t i = 0; i < p->bundle_count; i++) {
        sums.device_us += p->bundles[i].device_us;
        sums.end_to_end_us += p->bundles[i].end_to_end_us;
    }
    for (int32_t o = 0; o < x.graph->op_count; o++) {
        sums.hbm_bytes += p->traffic[o].hbm_read + p->traffic[o].hbm_written;
        sums.ring_bytes += p->traffic[o].ring;
    }
    FILL(figure_fields, &p->figures, &sums);
    fill_segments(p);
    return true;
}

/* True if the record omits a field. */
static bool lacks(const struct absent_field *fields, size_t count, const void *record)
{
    for (size_t i = 0; i < count; i++) {
        const char *at = (const char *)record + fields[i].offset;
        if (fields[i].real ? isnan(*(const double *)(const void *)at)
                           : *(const int64_t *)(const void *)at < 0)
            return true;
    }
    return false;
}

/* True if the file omits nothing of the graph. */
static bool graph_complete(const struct lx_plan *p)
{
    bool all = !LACKS(figure_fields, &p->figures) && p->pool_at >= 0 && p->pool_bytes >= 0 &&
               p->segment_bytes >= 0 && p->bundle_count > 0;
    for (int32_t o = 0; all && o < p->layouts->graph->op_count; o++)
        all = !LACKS(traffic_fields, &p->traffic[o]);
    for (int32_t i = 0; all && i < p->bundle_count; i++) all = !LACKS(bundle_fields, &p->bundles[i]);
    for (int32_t i = 0; all && i < p->transfer_count; i++) all = p->transfers[i].bytes >= 0;
    return all;
}

bool plan_fill_absent(struct lx_plan *p, lx_status *st)
{
    if (p->graph->list) {
        struct lx_plan own = *p;
        plan_totals(&own);
        fill_int(&p->figures.hbm_bytes, own.figures.hbm_bytes);
        fill_int(&p->figures.baseline_hbm_bytes, own.figures.baseline_hbm_bytes);
    } else {
        if (!graph_complete(p) && !plan_read_absent_fill_graph(p, st)) return false;
        if (!p->syncs) plan_sync(p);
        fill_int(&p->figures.sync_times, plan_sync_times(p));
    }
    fill_int(&p->figures.height_bytes, plan_height(p));
    fill_int(&p->figures.perfect_hbm_bytes,
             p->figures.spill_bytes == -1 ? 0 : p->figures.hbm_bytes - p->figures.spill_bytes);
    fill_int(&p->figures.spill_bytes, p->figures.hbm_bytes - p->figures.perfect_hbm_bytes);
    return true;
}
