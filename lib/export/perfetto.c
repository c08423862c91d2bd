/* Plans as trace events: https://ui.perfetto.dev opens the files.
 *
 * * A plan has five processes: what each core does; bytes of LX that are taken and reserved; rates of HBM;
 * the rings; and the lives of buffers, in lanes, as slices of one row must not overlap. Counters hold from
 * one event to the next and end at 0, so that the area under each is the plan's figure: bytes in use times
 * time, or the bytes that are moved. Bytes that several buffers are on count once. Nothing is executed:
 * `lxplan run --trace` traces an execution.
 *
 * * A team has a process per device, named by its number and its place in the grid. Row 0 has its ops, row
 * 1 its waits for others, and a row per axis of the grid the trips over its links; a trip over several
 * axes stands in the row of the first, as no two trips to one device over one axis overlap. Arrows (flows)
 * go from the op that sends the last of a message to its trip. Ops add up to busy_us of the clock, waits
 * to waited_us, trips to link_us.
 *
 * * Times are whole picoseconds, so that slices of a row stay apart when they are rounded. */
#include "export/export_rows.h"
#include "export/plan_map.h"
#include "plan/occupancy.h"
#include "team/run/team_clock.h"

struct trace {
    struct text *out;
    bool begun;
};

/* As microseconds: "12.000345". */
static void perfetto_add_us(struct trace *x, const char *key, int64_t ps)
{
    text_format(x->out, ", \"%s\": %" PRId64 ".%06" PRId64, key, ps / PS_PER_US, ps % PS_PER_US);
}

static void perfetto_begin_event(struct trace *x, const char *phase, int process, int64_t row)
{
    text_format(x->out, "%s\n  {\"ph\": \"%s\", \"pid\": %d", x->begun ? "," : "", phase, process);
    if (row >= 0) text_format(x->out, ", \"tid\": %" PRId64, row);
    x->begun = true;
}

/* Names a process or a thread (`what`). Rows are sorted by number. */
static void perfetto_name(struct trace *x, const char *what, int process, int64_t row, const char *name)
{
    perfetto_begin_event(x, "M", process, row);
    text_format(x->out, ", \"name\": \"%s_name\", \"args\": {\"name\": ", what);
    text_json_string(x->out, name);
    text_add(x->out, "}}");
    perfetto_begin_event(x, "M", process, row);
    text_format(x->out, ", \"name\": \"%s_sort_index\", \"args\": {\"sort_index\": %" PRId64 "}}", what,
                what[0] == 't' ? row : (int64_t)process);
}

/* Writes a slice up to the opening brace of its arguments. */
static void perfetto_begin_slice(struct trace *x, int process, int64_t row, const char *name,
                                 const char *category, int64_t from, int64_t to)
{
    perfetto_begin_event(x, "X", process, row);
    text_add(x->out, ", \"name\": ");
    text_json_string(x->out, name);
    text_format(x->out, ", \"cat\": \"%s\"", category);
    perfetto_add_us(x, "ts", from);
    perfetto_add_us(x, "dur", to - from);
    text_add(x->out, ", \"args\": {");
}

static void perfetto_begin_counter(struct trace *x, int process, const char *name, int64_t at)
{
    perfetto_begin_event(x, "C", process, -1);
    text_add(x->out, ", \"name\": ");
    text_json_string(x->out, name);
    perfetto_add_us(x, "ts", at);
    text_add(x->out, ", \"args\": {");
}

static void perfetto_begin(struct trace *x, const char *pattern, uint64_t hash)
{
    text_add(x->out, "{\"lxplan\": 1, \"kind\": \"trace\", \"displayTimeUnit\": \"ns\", "
                     "\"otherData\": {\"pattern\": ");
    text_json_string(x->out, pattern ? pattern : "");
    text_format(x->out, ", \"pattern_hash\": \"%016" PRIx64 "\"", hash);
}

static void perfetto_add_op(struct trace *x, int32_t tick, const struct lx_op_traffic *t)
{
    text_format(x->out,
                "\"tick\": %d, \"cores\": %" PRId64 ", \"hbm_read\": %" PRId64 ", \"hbm_written\": %" PRId64
                "}}",
                (int)tick, t->cores, t->hbm_read, t->hbm_written);
}

enum process { CORES = 1, LX, HBM, RING, BUFFERS };
enum { MOST_SLICES = 1 << 18 }; /* of ops on cores; with more, one row stands for all cores */

struct plan_trace {
    struct trace trace;
    const struct lx_plan *p;
    struct tick_times time;
};

void tick_times_make(const struct lx_plan *p, struct tick_times *out)
{
    *out = (struct tick_times){0};
    if (!p->traffic) {
        out->first = p->problem.count ? INT64_MAX : 0;
        for (int32_t i = 0; i < p->problem.count; i++) {
            out->first = min_i64(out->first, p->problem.buffers[i].start);
            out->last = max_i64(out->last, p->problem.buffers[i].end);
        }
        return;
    }
    out->last = p->layouts->graph->op_count;
    out->at = mem_zeroed((size_t)out->last + 1, sizeof *out->at);
    for (int32_t o = 0; o < out->last; o++) {
        double ps = p->traffic[o].device_us * PS_PER_US;
        int64_t length = !(ps > 0) ? PS_PER_NS : ps < 0x1p53 ? max_i64(llround(ps), 1) : (int64_t)1 << 53;
        out->at[o + 1] = out->at[o] + length;
    }
}

int64_t tick_time(const struct tick_times *t, int64_t tick)
{
    tick = max_i64(t->first, min_i64(tick, t->last));
    return t->at ? t->at[tick] : (tick - t->first) * PS_PER_US;
}

static void perfetto_add_cores(struct plan_trace *x)
{
    const struct lx_plan *p = x->p;
    const struct lx_graph *g = p->layouts->graph;
    int64_t slices = 0, most = 0;
    for (int32_t o = 0; o < g->op_count; o++) {
        slices += p->traffic[o].cores;
        most = max_i64(most, p->traffic[o].cores);
    }
    int64_t rows = slices <= MOST_SLICES ? most : min_i64(most, 1);
    perfetto_name(&x->trace, "process", CORES, -1, "cores");
    for (int64_t c = 0; c < rows; c++) {
        char name[40];
        snprintf(name, sizeof name, rows < most ? "all cores" : "core %d", (int)c);
        perfetto_name(&x->trace, "thread", CORES, c, name);
    }
    for (int32_t o = 0; o < g->op_count; o++)
        for (int64_t c = 0; c < min_i64(rows, p->traffic[o].cores); c++) {
            perfetto_begin_slice(&x->trace, CORES, c, g->ops[o].name, g->ops[o].kind->name,
                                 tick_time(&x->time, o), tick_time(&x->time, o + 1));
            perfetto_add_op(&x->trace, o, &p->traffic[o]);
        }
    for (int32_t i = 0; i < p->sync_count; i++) {
        perfetto_begin_event(&x->trace, "i", CORES, 0);
        text_add(x->trace.out, ", \"name\": \"sync\", \"s\": \"p\"");
        perfetto_add_us(&x->trace, "ts", tick_time(&x->time, p->syncs[i].before));
        text_format(x->trace.out, ", \"args\": {\"times\": %" PRId64 "}}",
                    p->syncs[i].in_loop ? nest_runs(p->nests, p->nest_count, p->syncs[i].before) : 1);
    }
}

/* A counter of bytes in use, with a value at every tick at which the use of the pool changes. */
static void perfetto_add_pool(struct plan_trace *x, int32_t pool)
{
    const struct lx_pool *own = x->p->problem.pool_count ? &x->p->problem.pools[pool] : NULL;
    SCOPED(lx_occupancy_free) struct lx_occupancy o;
    SCOPED(text_free) struct text name = {0};
    lx_occupancy_make(x->p, pool, &o);
    OWNED int64_t *at = mem_alloc((o.count + 3 + 2 * (size_t)(own ? own->reserved_count : 0)) * sizeof *at);
    size_t n = 0, k = 0;
    at[n++] = x->time.first;
    for (size_t i = 0; i < o.count; i++) at[n++] = o.tick[i];
    for (int32_t i = 0; own && i < own->reserved_count; i++) {
        at[n++] = max_i64(own->reserved[i].start, x->time.first);
        at[n++] = max_i64(own->reserved[i].end, x->time.first);
    }
    at[n++] = x->time.last;
    qsort(at, n, sizeof *at, order_i64);
    text_format(&name, "in use, %s", own && own->name ? own->name : "each core");
    for (size_t i = 0; i < n && at[i] <= x->time.last; i++) {
        bool end = at[i] == x->time.last;
        if (i && at[i] == at[i - 1]) continue;
        while (k < o.count && o.tick[k] <= at[i]) k++;
        /* Bytes reserved; in a graph, for the device itself. */
        int64_t reserved =
            x->p->layouts ? max_i64(x->p->graph->device.lx_bytes - x->p->problem.capacity, 0) : 0;
        for (int32_t j = 0; !x->p->layouts && own && j < own->reserved_count; j++) {
            const struct lx_reserved *r = &own->reserved[j];
            if (at[i] >= r->start && at[i] < r->end) reserved += r->to - r->from;
        }
        perfetto_begin_counter(&x->trace, LX, name.at, tick_time(&x->time, at[i]));
        text_format(x->trace.out, "\"bytes\": %" PRId64 ", \"reserved\": %" PRId64 "}}",
                    end || !k ? 0 : o.bytes[k - 1], end ? 0 : reserved);
    }
}

/* In GB/s, so that rate times tick length is exactly the bytes. */
static double perfetto_rate(int64_t bytes, int64_t ps)
{
    return ps > 0 ? (double)bytes * 1000 / (double)ps : 0;
}

static void perfetto_add_traffic(struct plan_trace *x)
{
    struct text *out = x->trace.out;
    int32_t count = x->p->layouts->graph->op_count;
    perfetto_name(&x->trace, "process", HBM, -1, "HBM");
    perfetto_name(&x->trace, "process", RING, -1, "ring");
    for (int32_t o = 0; o <= count; o++) {
        static const struct lx_op_traffic none;
        const struct lx_op_traffic *t = o == count ? &none : &x->p->traffic[o];
        int64_t at = tick_time(&x->time, o), ps = tick_time(&x->time, o + 1) - at;
        perfetto_begin_counter(&x->trace, HBM, "HBM GB/s", at);
        text_format(out, "\"read\": %.17g, \"written\": %.17g, \"total\": %.17g}}",
                    perfetto_rate(t->hbm_read, ps), perfetto_rate(t->hbm_written, ps),
                    perfetto_rate(t->hbm_read + t->hbm_written, ps));
        perfetto_begin_counter(&x->trace, RING, "ring GB/s", at);
        text_format(out, "\"data\": %.17g, \"reduce\": %.17g}}", perfetto_rate(t->ring, ps),
                    perfetto_rate(t->reduce_ring, ps));
    }
}

static void perfetto_add_life(struct plan_trace *x, const struct laned *l)
{
    const struct lx_plan *p = x->p;
    struct text *out = x->trace.out;
    const struct lx_buffer *b = &p->problem.buffers[l->who];
    bool on_chip = p->answer.address[l->who] >= 0;
    perfetto_begin_slice(&x->trace, BUFFERS, l->lane, b->name, on_chip ? "on chip" : "off chip",
                         tick_time(&x->time, l->from), tick_time(&x->time, l->to));
    text_format(out, "\"buffer\": %d, \"size\": %" PRId64, (int)l->who, b->size);
    if (on_chip) text_format(out, ", \"address\": %" PRId64, p->answer.address[l->who]);
    int32_t slot = p->took_slot_of[l->who];
    const struct {
        const char *key, *words;
    } more[] = {{"pool", on_chip && p->answer.pool && p->problem.pool_count > 1
                             ? p->problem.pools[p->answer.pool[l->who]].name
                             : NULL},
                {"in_place_of", slot >= 0 ? p->problem.buffers[slot].name : NULL},
                {"reason", p->reason[l->who]}};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        if (!more[k].words) continue;
        text_format(out, ", \"%s\": ", more[k].key);
        text_json_string(out, more[k].words);
    }
    text_add(out, "}}");
}

bool perfetto_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    struct plan_trace x = {.trace = {.out = out}, .p = p};
    (void)other, (void)st;
    tick_times_make(p, &x.time);
    perfetto_begin(&x.trace, p->graph->name, p->graph->hash);
    text_format(out, ", \"time\": \"%s\"}, \"traceEvents\": [",
                p->traffic ? "device, predicted" : "1 us per tick");
    if (p->traffic) perfetto_add_cores(&x);
    perfetto_name(&x.trace, "process", LX, -1, "LX");
    for (int32_t pool = 0; pool < lx_pool_count(&p->problem); pool++) perfetto_add_pool(&x, pool);
    if (p->traffic) perfetto_add_traffic(&x);
    const struct lx_problem *problem = &x.p->problem;
    size_t room = 1, n = 0;
    for (int32_t i = 0; i < problem->count; i++) room += (size_t)lx_life_count(&problem->buffers[i]);
    OWNED struct laned *all = mem_alloc(room * sizeof *all);
    for (int32_t i = 0; i < problem->count; i++)
        for (int32_t k = 0; k < lx_life_count(&problem->buffers[i]); k++) {
            struct lx_life life = lx_life_at(&problem->buffers[i], k);
            if (life.start < life.end) all[n++] = (struct laned){life.start, life.end, i, 0};
        }
    int lanes = lanes_sweep(all, n, (int)min_i64((int64_t)n, INT32_MAX));
    perfetto_name(&x.trace, "process", BUFFERS, -1, "buffers");
    for (int l = 0; l < lanes; l++) {
        char name[40];
        snprintf(name, sizeof name, "lane %d", l + 1);
        perfetto_name(&x.trace, "thread", BUFFERS, l, name);
    }
    for (size_t i = 0; i < n; i++) perfetto_add_life(&x, &all[i]);
    text_add(out, "\n]}\n");
    mem_free(x.time.at);
    return true;
}

enum { OPS, WAITS, FIRST_AXIS };
enum { MOST_FLOWS = 1 << 17 }; /* with more, none are written */

/* Devices count from 0, processes from 1: a viewer takes process 0 for itself. */
struct team_trace {
    struct trace trace;
    const struct lx_team_plans *p;
    const struct lx_team_clock *clock;
    bool flows;
    int64_t flow; /* the last flow's number */
};

static int64_t perfetto_ps(double us)
{
    return llround(us * PS_PER_US);
}

/* Tensor and kind of a tag. Tags after the exchanges' are rounds of combining: terms, then sums. */
static const char *perfetto_trip_name(const struct lx_team_plan *p, int tag, const char **how)
{
    static const char *const rounds[] = {"terms", "sums"};
    int of_combine = tag - lx_team_tag_combine(p, 0, 0);
    *how = of_combine < 0 ? lx_team_pattern_word(p->exchanges[tag - 1].pattern) : rounds[of_combine % 2];
    return of_combine < 0 ? p->graph->tensors[p->exchanges[tag - 1].tensor].name
                          : p->graph->ops[of_combine / 2].name;
}

static void perfetto_add_team_op(struct team_trace *x, int m, int o)
{
    const struct lx_team_times *at = &x->clock->at[m];
    const struct lx_op *op = &x->p->plans[m]->layouts->graph->ops[o];
    perfetto_begin_slice(&x->trace, m + 1, OPS, op->name, op->kind->name, perfetto_ps(at->works[o]),
                         perfetto_ps(at->end[o]));
    perfetto_add_op(&x->trace, o, &x->p->plans[m]->traffic[o]);
    if (!(at->works[o] > at->begin[o])) return;
    const struct lx_team_trip *trip = &at->trips[at->trip[o]];
    SCOPED(text_free) struct text name = {0};
    const char *how;
    text_format(&name, "wait for %s", perfetto_trip_name(x->p->team, trip->tag, &how));
    perfetto_begin_slice(&x->trace, m + 1, WAITS, name.at, how, perfetto_ps(at->begin[o]),
                         perfetto_ps(at->works[o]));
    text_format(x->trace.out, "\"tick\": %d, \"tag\": %d, \"bytes\": %" PRId64 "}}", o, trip->tag,
                trip->bytes);
}

static void perfetto_add_flow_end(struct team_trace *x, const char *phase, int member, int row, double us)
{
    perfetto_begin_event(&x->trace, phase, member + 1, row);
    text_format(x->trace.out, ", \"name\": \"message\", \"cat\": \"message\", \"id\": %" PRId64, x->flow);
    perfetto_add_us(&x->trace, "ts", perfetto_ps(us));
    text_add(x->trace.out, phase[0] == 'f' ? ", \"bp\": \"e\"}" : "}");
}

static void perfetto_add_trip(struct team_trace *x, int m, const struct lx_team_trip *trip)
{
    const char *how, *name = perfetto_trip_name(x->p->team, trip->tag, &how);
    int row = FIRST_AXIS;
    if (!trip->axes) return;
    while (row + 1 < FIRST_AXIS + LX_TEAM_AXES && !(trip->axes >> (row - FIRST_AXIS) & 1)) row++;
    perfetto_begin_slice(&x->trace, m + 1, row, name, how, perfetto_ps(trip->begin), perfetto_ps(trip->end));
    text_format(x->trace.out, "\"tag\": %d, \"axes\": %u, \"bytes\": %" PRId64 "}}", trip->tag, trip->axes,
                trip->bytes);
    for (int32_t i = trip->first_message; x->flows && i < trip->end_message; i++) { /* an arrow for each */
        const struct lx_team_message *g = &x->p->devices[m]->messages[i];
        if (g->operand >= 0 || g->tag != trip->tag || g->peer == m) continue;
        const struct lx_team_times *from = &x->clock->at[g->peer];
        int32_t o = from->last_send ? from->last_send[g->tag] : -1;
        if (o < 0) continue;
        x->flow++;
        perfetto_add_flow_end(x, "s", g->peer, OPS, from->works[o]);
        perfetto_add_flow_end(x, "f", m, row, trip->begin);
    }
}

char *lx_team_trace(const struct lx_team_plans *p, size_t *length)
{
    struct text t = {0};
    struct lx_team_clock *clock = lx_team_clock_make(p);
    struct team_trace x = {.trace = {.out = &t}, .p = p, .clock = clock};
    int64_t messages = 0;
    if (!clock) return NULL;
    for (int m = 0; m < clock->devices; m++) messages += p->devices[m] ? p->devices[m]->message_count : 0;
    x.flows = messages <= 2 * (int64_t)MOST_FLOWS; /* each has two ends */
    perfetto_begin(&x.trace, p->team->graph->name, p->team->graph->hash);
    text_format(&t, ", \"members\": %d, \"time\": \"end to end, predicted\"}, \"traceEvents\": [",
                p->team->devices);
    for (int m = 0; m < clock->devices; m++) {
        const struct lx_team_times *at = &clock->at[m];
        /* "device 3 at 1, 0 of 2x2", and its rows. */
        const struct lx_team_grid *grid = &x.p->team->grid;
        SCOPED(text_free) struct text name = {0};
        text_format(&name, "device %d at ", m);
        for (int a = 0; a < grid->axes; a++)
            text_format(&name, "%s%d", a ? ", " : "", lx_team_coordinate(grid, m, a));
        for (int a = 0; a < grid->axes; a++) text_format(&name, "%s%d", a ? "x" : " of ", grid->size[a]);
        perfetto_name(&x.trace, "process", m + 1, OPS, name.at);
        perfetto_name(&x.trace, "thread", m + 1, OPS, "ops");
        perfetto_name(&x.trace, "thread", m + 1, WAITS, "waits");
        for (int a = 0; a < grid->axes; a++) {
            char row[40];
            snprintf(row, sizeof row, "links of axis %d", a);
            perfetto_name(&x.trace, "thread", m + 1, FIRST_AXIS + a, row);
        }
        for (int o = 0; o < at->ops; o++) perfetto_add_team_op(&x, m, o);
        for (int i = 0; i < at->trip_count; i++) perfetto_add_trip(&x, m, &at->trips[i]);
    }
    text_add(&t, "\n]}\n");
    lx_team_clock_free(clock);
    *length = t.length;
    return t.at;
}
