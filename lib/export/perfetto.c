/* A plan as trace events: https://ui.perfetto.dev opens the file. Five processes: what each core does; bytes of LX that are
 * taken and reserved; rates of HBM; the rings; and the lives of buffers, in lanes, as slices of one row must not overlap.
 *
 * Counters hold from one event to the next and end at 0, so that the area under each is what the plan has: bytes in use
 * times time, or the bytes that are moved. Bytes that several buffers are on count once. Nothing is executed: `lxplan run --trace` has what was. */
#include "export/export_rows.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "export/pool_bands.h"
#include "plan/occupancy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum process { CORES = 1, LX, HBM, RING, BUFFERS };
enum { MOST_SLICES = 1 << 18 }; /* of ops on cores; beyond, one row stands for all cores */

struct trace {
    const struct lx_plan *p;
    struct tick_times time;
    struct text *out;
    bool begun;
};

static void perfetto_begin_event(struct trace *x, const char *phase, enum process process)
{
    text_format(x->out, "%s\n  {\"ph\": \"%s\", \"pid\": %d", x->begun ? "," : "", phase, (int)process);
    x->begun = true;
}

static void perfetto_name_it(struct trace *x, const char *what, enum process process, int64_t row,
                             const char *name)
{
    perfetto_begin_event(x, "M", process);
    if (row >= 0) text_format(x->out, ", \"tid\": %" PRId64, row);
    text_format(x->out, ", \"name\": \"%s_name\", \"args\": {\"name\": ", what);
    text_json_string(x->out, name);
    text_add(x->out, "}}");
    perfetto_begin_event(x, "M", process);
    if (row >= 0) text_format(x->out, ", \"tid\": %" PRId64, row);
    text_format(x->out, ", \"name\": \"%s_sort_index\", \"args\": {\"sort_index\": %" PRId64 "}}", what,
                row >= 0 ? row : (int64_t)process);
}

/* Up to and with the opening brace of its arguments. */
static void perfetto_begin_slice(struct trace *x, enum process process, int64_t row, const char *name,
                                 const char *category, int64_t from, int64_t to)
{
    perfetto_begin_event(x, "X", process);
    text_format(x->out, ", \"tid\": %" PRId64 ", \"name\": ", row);
    text_json_string(x->out, name);
    text_format(x->out, ", \"cat\": \"%s\", \"ts\": ", category);
    add_us(x->out, from);
    text_add(x->out, ", \"dur\": ");
    add_us(x->out, to - from);
    text_add(x->out, ", \"args\": {");
}

static void perfetto_begin_counter(struct trace *x, enum process process, const char *name, int64_t at)
{
    perfetto_begin_event(x, "C", process);
    text_add(x->out, ", \"name\": ");
    text_json_string(x->out, name);
    text_add(x->out, ", \"ts\": ");
    add_us(x->out, at);
    text_add(x->out, ", \"args\": {");
}

static void perfetto_add_cores(struct trace *x)
{
    const struct lx_plan *p = x->p;
    int64_t slices = 0, most = 0, rows;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        slices += p->traffic[o].cores;
        most = max_i64(most, p->traffic[o].cores);
    }
    rows = slices <= MOST_SLICES ? most : min_i64(most, 1);
    perfetto_name_it(x, "process", CORES, -1, "cores");
    for (int64_t c = 0; c < rows; c++) {
        char name[40];
        if (rows < most)
            snprintf(name, sizeof name, "all cores");
        else
            snprintf(name, sizeof name, "core %d", (int)c);
        perfetto_name_it(x, "thread", CORES, c, name);
    }
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++)
        for (int64_t c = 0; c < min_i64(rows, p->traffic[o].cores); c++) {
            const struct lx_op *op = &x->p->layouts->graph->ops[o];
            const struct lx_op_traffic *t = &x->p->traffic[o];
            perfetto_begin_slice(x, CORES, c, op->name, op->kind->name, tick_time(&x->time, o),
                                 tick_time(&x->time, o + 1));
            text_format(x->out,
                        "\"tick\": %d, \"cores\": %" PRId64 ", \"hbm_read\": %" PRId64
                        ", \"hbm_written\": %" PRId64 "}}",
                        (int)o, t->cores, t->hbm_read, t->hbm_written);
        }
}

/* Bytes of a pool that belong to nobody at a tick. Of a graph: what the device keeps for itself. */
static int64_t reserved_at(const struct lx_plan *p, int32_t pool, int64_t tick)
{
    int64_t bytes = 0;
    if (p->layouts) return max_i64(p->graph->device.lx_bytes - p->problem.capacity, 0);
    for (int32_t i = 0; p->problem.pool_count && i < p->problem.pools[pool].reserved_count; i++) {
        const struct lx_reserved *r = &p->problem.pools[pool].reserved[i];
        if (tick >= r->start && tick < r->end) bytes += r->to - r->from;
    }
    return bytes;
}

static void perfetto_add_in_use(struct trace *x, const char *name, int32_t pool, int64_t tick, int64_t bytes,
                                bool end)
{
    perfetto_begin_counter(x, LX, name, tick_time(&x->time, tick));
    text_format(x->out, "\"bytes\": %" PRId64 ", \"reserved\": %" PRId64 "}}", bytes,
                end ? 0 : reserved_at(x->p, pool, tick));
}

static int perfetto_by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Ticks at which the use of a pool changes, each once. */
static int64_t *perfetto_changes_of(const struct trace *x, const struct lx_occupancy *o, int32_t pool,
                                    size_t *count)
{
    const struct lx_pool *own = x->p->problem.pool_count ? &x->p->problem.pools[pool] : NULL;
    int64_t *at = mem_alloc((o->count + 2 + 2 * (size_t)(own ? own->reserved_count : 0)) * sizeof *at);
    size_t n = 0, kept = 0;
    at[n++] = x->time.first;
    for (size_t i = 0; i < o->count; i++) at[n++] = o->tick[i];
    for (int32_t i = 0; own && i < own->reserved_count; i++) {
        at[n++] = max_i64(own->reserved[i].start, x->time.first);
        at[n++] = max_i64(own->reserved[i].end, x->time.first);
    }
    qsort(at, n, sizeof *at, perfetto_by_number);
    for (size_t i = 0; i < n; i++)
        if (at[i] < x->time.last && (kept == 0 || at[i] != at[kept - 1])) at[kept++] = at[i];
    *count = kept;
    return at;
}

/* Bytes in use at a tick; `*k`: steps before it. */
static int64_t taken_at(const struct lx_occupancy *o, int64_t tick, size_t *k)
{
    while (*k < o->count && o->tick[*k] <= tick) ++*k;
    return *k ? o->bytes[*k - 1] : 0;
}

static bool add_pool(struct trace *x, int32_t pool)
{
    struct lx_occupancy o;
    struct text name = {0};
    size_t count = 0, k = 0;
    lx_occupancy_make(x->p, pool, &o);
    int64_t *at = perfetto_changes_of(x, &o, pool, &count);
    bool named = x->p->problem.pool_count > 0 && x->p->problem.pools[pool].name;
    text_format(&name, "in use, %s", named ? x->p->problem.pools[pool].name : "each core");
    for (size_t i = 0; at && name.at && i < count; i++)
        perfetto_add_in_use(x, name.at, pool, at[i], taken_at(&o, at[i], &k), false);
    if (at && name.at) perfetto_add_in_use(x, name.at, pool, x->time.last, 0, true);
    bool ok = at;
    mem_free(at);
    text_free(&name);
    lx_occupancy_free(&o);
    return ok;
}

/* In GB/s, so exactly that times the length of the tick it is the bytes again. */
static double rate(int64_t bytes, int64_t ps)
{
    return ps > 0 ? (double)bytes * 1000 / (double)ps : 0;
}

static void perfetto_add_life(struct trace *x, const struct life_lane *l)
{
    const struct lx_plan *p = x->p;
    const struct lx_buffer *b = &p->problem.buffers[l->buffer];
    bool on_chip = p->answer.address[l->buffer] >= 0;
    perfetto_begin_slice(x, BUFFERS, l->lane, b->name, on_chip ? "on chip" : "off chip",
                         tick_time(&x->time, l->start), tick_time(&x->time, l->end));
    text_format(x->out, "\"buffer\": %d, \"size\": %" PRId64, (int)l->buffer, b->size);
    if (on_chip) text_format(x->out, ", \"address\": %" PRId64, p->answer.address[l->buffer]);
    if (on_chip && p->answer.pool && p->problem.pool_count > 1) {
        text_add(x->out, ", \"pool\": ");
        text_json_string(x->out, p->problem.pools[p->answer.pool[l->buffer]].name);
    }
    if (p->took_slot_of[l->buffer] >= 0) {
        text_add(x->out, ", \"in_place_of\": ");
        text_json_string(x->out, p->problem.buffers[p->took_slot_of[l->buffer]].name);
    }
    if (p->reason[l->buffer]) {
        text_add(x->out, ", \"reason\": ");
        text_json_string(x->out, p->reason[l->buffer]);
    }
    text_add(x->out, "}}");
}

static bool perfetto_add_buffers(struct trace *x)
{
    struct life_lanes lanes;
    if (!life_lanes_make(x->p, &lanes)) return false;
    perfetto_name_it(x, "process", BUFFERS, -1, "buffers");
    for (int64_t l = 0; l < lanes.lanes; l++) {
        char name[40];
        snprintf(name, sizeof name, "lane %d", (int)l + 1);
        perfetto_name_it(x, "thread", BUFFERS, l, name);
    }
    for (size_t i = 0; i < lanes.count; i++) perfetto_add_life(x, &lanes.at[i]);
    life_lanes_free(&lanes);
    return true;
}

bool perfetto_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    struct trace x = {.p = p, .out = out};
    (void)other;
    bool ok = tick_times_make(p, &x.time);
    text_add(
        out,
        "{\"lxplan\": 1, \"kind\": \"trace\", \"displayTimeUnit\": \"ns\", \"otherData\": {\"pattern\": ");
    text_json_string(out, p->graph->name ? p->graph->name : "");
    text_format(out, ", \"pattern_hash\": \"%016" PRIx64 "\", \"time\": \"%s\"}, \"traceEvents\": [",
                p->graph->hash, p->traffic ? "device, predicted" : "1 us per tick");
    if (ok && p->traffic) perfetto_add_cores(&x);
    if (ok) perfetto_name_it(&x, "process", LX, -1, "LX");
    for (int32_t pool = 0; ok && pool < lx_pool_count(&p->problem); pool++) ok = add_pool(&x, pool);
    if (ok && p->traffic) {
        int32_t count = x.p->layouts->graph->op_count;
        perfetto_name_it(&x, "process", HBM, -1, "HBM");
        perfetto_name_it(&x, "process", RING, -1, "ring");
        for (int32_t o = 0; o <= count; o++) {
            bool end = o == count;
            static const struct lx_op_traffic none;
            const struct lx_op_traffic *t = end ? &none : &x.p->traffic[o];
            int64_t at = tick_time(&x.time, o), ps = tick_time(&x.time, o + 1) - at;
            perfetto_begin_counter(&x, HBM, "HBM GB/s", at);
            text_format(x.out, "\"read\": %.17g, \"written\": %.17g, \"total\": %.17g}}",
                        rate(t->hbm_read, ps), rate(t->hbm_written, ps),
                        rate(t->hbm_read + t->hbm_written, ps));
            perfetto_begin_counter(&x, RING, "ring GB/s", at);
            text_format(x.out, "\"data\": %.17g, \"reduce\": %.17g}}", rate(t->ring, ps),
                        rate(t->reduce_ring, ps));
        }
    }
    ok = ok && perfetto_add_buffers(&x);
    text_add(out, "\n]}\n");
    tick_times_free(&x.time);
    (void)st;
    return ok;
}
