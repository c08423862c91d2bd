/* A run as trace events: https://ui.perfetto.dev opens the file. There are two processes, one per predicted clock:
 * device time, and end to end. In each, row 0 has the bundles and in them the nests, whose ops stand there
 * once with the time of all iterations, row 1 the transfers, row c + 2 the work of core c; counters show
 * counts of the execution: bytes in use of each scratchpad, HBM's bytes and rate, the rings. Ticks of both
 * clocks are predicted microseconds. A run on a machine that was timed op by op has a third process. */
#include "device/device.h"
#include "base/base.h"
#include "explain/op_waits.h"

enum { BUNDLES, TRANSFERS, FIRST_CORE };
enum trace_clock { DEVICE_CLOCK, WHOLE_CLOCK, MEASURED_CLOCK, CLOCKS };

static const char *const clock_names[CLOCKS] = {"device time", "end to end", "measured"};

struct trace {
    const struct lx_plan *p;
    const struct lx_run_result *r;
    struct text *t;
    enum trace_clock clock;
    double at; /* begin of the current op */
    int32_t next_transfer, next_bundle;
    struct lx_counters sum;
};

static double time_of_op(const struct trace *x, int32_t o)
{
    const struct lx_op_run *op = &x->r->ops[o];
    return x->clock == DEVICE_CLOCK  ? op->device_us
           : x->clock == WHOLE_CLOCK ? op->end_to_end_us
                                     : op->measured_us + op->measured_wait_us;
}

static void trace_name_row(const struct trace *x, int64_t row, const char *name, int64_t number)
{
    text_format(x->t,
                ",\n  {\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": %" PRId64
                ", \"args\": {\"name\": \"%s",
                (int)x->clock + 1, row, name);
    if (number >= 0) text_format(x->t, " %" PRId64, number);
    text_add(x->t, "\"}}");
}

static void trace_begin_event(const struct trace *x, const char *name, const char *category, int64_t row,
                              double us)
{
    text_add(x->t, ",\n  {\"name\": ");
    text_json_string(x->t, name);
    text_format(x->t,
                ", \"cat\": \"%s\", \"ph\": \"X\", \"pid\": %d, \"tid\": %" PRId64
                ", \"ts\": %.4f, \"dur\": %.4f, ",
                category, (int)x->clock + 1, row, x->at, us);
}

static void trace_begin_counter(const struct trace *x, const char *name, int64_t number)
{
    text_format(x->t, ",\n  {\"name\": \"%s", name);
    if (number >= 0) text_format(x->t, " %" PRId64, number);
    text_format(x->t, "\", \"ph\": \"C\", \"pid\": %d, \"ts\": %.4f, \"args\": {", (int)x->clock + 1, x->at);
}

static void add_bundle(struct trace *x, int32_t o)
{
    if (x->next_bundle >= x->p->bundle_count || x->p->bundles[x->next_bundle].first != o) return;
    const struct lx_bundle *b = &x->p->bundles[x->next_bundle++];
    char name[40];
    double us = x->clock == DEVICE_CLOCK ? b->device_us : x->clock == WHOLE_CLOCK ? b->end_to_end_us : 0;
    for (int32_t k = o; x->clock == MEASURED_CLOCK && k < o + b->count; k++) us += time_of_op(x, k);
    snprintf(name, sizeof name, "bundle %d", (int)x->next_bundle);
    trace_begin_event(x, name, b->is_extern ? "extern" : "bundle", BUNDLES, us);
    text_format(x->t,
                "\"args\": {\"ops\": %d, \"operands\": %" PRId64 ", \"tensors\": %" PRId64
                ", \"cores\": %" PRId64 "}}",
                (int)b->count, b->operands, b->tensors, b->cores);
}

/* A nest that begins with the op, for as long as all its iterations take. */
static void trace_add_nest(const struct trace *x, int32_t o)
{
    int32_t at = nest_of_op(x->p->nests, x->p->nest_count, o);
    const struct lx_nest *n = at < 0 ? NULL : &x->p->nests[at];
    SCOPED(text_free) struct text name = {0};
    double us = 0;
    if (!n || n->first != o) return;
    for (int32_t k = n->first; k <= n->last; k++) us += time_of_op(x, k);
    text_format(&name, "nest %d:", (int)at + 1);
    for (int l = 0; l < n->level_count; l++)
        text_format(&name, "%s x%" PRId64 " over %c", l ? "," : "", n->tiles[l],
                    nest_letter(x->p->layouts, n, n->first, l));
    trace_begin_event(x, name.at ? name.at : "nest", "nest", BUNDLES, us);
    text_format(x->t, "\"args\": {\"ops\": %d, \"iterations\": %" PRId64 ", \"us_each\": %.4f}}",
                (int)(n->last - n->first + 1), nest_iterations(n), us / (double)nest_iterations(n));
}

/* Syncs before the op, as instants. */
static void trace_add_syncs(const struct trace *x, int32_t o)
{
    const struct lx_plan *p = x->p;
    for (int32_t i = 0; i < p->sync_count; i++)
        if (p->syncs[i].before == o)
            text_format(
                x->t,
                ",\n  {\"name\": \"sync\", \"cat\": \"sync\", \"ph\": \"i\", \"s\": \"p\", \"pid\": %d, "
                "\"tid\": %d, \"ts\": %.4f, \"args\": {\"times\": %" PRId64 "}}",
                (int)x->clock + 1, BUNDLES, x->at,
                p->syncs[i].in_loop ? nest_runs(p->nests, p->nest_count, o) : 1);
}

static void add_transfers(struct trace *x, int32_t tick)
{
    static const char *const words[] = {
        [LX_LOAD] = "load", [LX_STORE] = "store", [LX_RING] = "ring", [LX_MOVE] = "move"};
    const struct lx_plan *p = x->p;
    for (; x->next_transfer < p->transfer_count && p->transfers[x->next_transfer].tick <= tick;
         x->next_transfer++) {
        const struct lx_transfer *m = &p->transfers[x->next_transfer];
        if (m->tick != tick || (unsigned)m->kind >= LX_TRANSFER_KINDS || m->stay < 0 ||
            m->stay >= p->problem.count)
            continue;
        trace_begin_event(x, p->problem.buffers[m->stay].name, words[m->kind], TRANSFERS,
                          time_of_op(x, tick));
        text_format(x->t, "\"args\": {\"bytes\": %" PRId64, x->r->transfer_bytes[x->next_transfer]);
        if (m->ahead > 0) text_format(x->t, ", \"issued\": %d", (int)lx_issue_tick(m));
        text_add(x->t, "}}");
    }
}

/* Bytes in use of the scratchpads while op o runs; o == op_count: none any more. Only changes. */
static void trace_add_in_use(const struct trace *x, int32_t o)
{
    const int64_t *use = x->r->lx_in_use, cores = x->r->cores;
    for (int64_t c = 0; use && c < cores; c++) {
        int64_t now = o < x->r->op_count ? use[o * cores + c] : 0,
                before = o > 0 ? use[(o - 1) * cores + c] : -1;
        if (now == before) continue;
        trace_begin_counter(x, "LX core", c);
        text_format(x->t, "\"bytes\": %" PRId64 "}}", now);
    }
}

/* Sums up to the op, its traffic per time, and its waits as shares of its end-to-end time. */
static void trace_add_traffic(struct trace *x, const struct lx_counters *now, double us,
                              const struct lx_op_wait *w)
{
    double all = lx_wait_us(w);
    trace_begin_counter(x, "HBM bytes", -1);
    text_format(x->t, "\"read\": %" PRId64 ", \"written\": %" PRId64 "}}", x->sum.hbm_read,
                x->sum.hbm_written);
    trace_begin_counter(x, "HBM GB/s", -1);
    text_format(x->t, "\"read\": %.4f, \"written\": %.4f}}", us > 0 ? (double)now->hbm_read / us * 1e-3 : 0,
                us > 0 ? (double)now->hbm_written / us * 1e-3 : 0);
    trace_begin_counter(x, "ring bytes", -1);
    text_format(x->t, "\"data\": %" PRId64 ", \"reduce\": %" PRId64 "}}", x->sum.ring, x->sum.reduce_ring);
    trace_begin_counter(x, "waits for", -1);
    for (int k = 0; k < LX_WAIT_COUNT; k++)
        text_format(x->t, "%s\"%s\": %.4f", k ? ", " : "", lx_wait_word((enum lx_wait)k),
                    all > 0 ? w->us[k] / all : 0);
    text_add(x->t, "}}");
    x->sum.hbm_read += now->hbm_read;
    x->sum.hbm_written += now->hbm_written;
    x->sum.ring += now->ring;
    x->sum.reduce_ring += now->reduce_ring;
}

static void add_clock(const struct lx_plan *p, const struct lx_run_result *r, enum trace_clock clock,
                      const struct lx_op_wait *waits, struct text *t)
{
    struct trace x = {.p = p, .r = r, .t = t, .clock = clock};
    const struct lx_counters none = {0};
    const struct lx_op_wait nothing = {0};
    struct text name = {0};
    text_format(&name, "%s: %s", x.p->graph->name ? x.p->graph->name : "lxplan", clock_names[x.clock]);
    text_format(x.t, "%s  {\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"args\": {\"name\": ",
                x.clock > 0 ? ",\n" : "", (int)x.clock + 1);
    text_json_string(x.t, name.at ? name.at : "");
    text_add(x.t, "}}");
    text_free(&name);
    trace_name_row(&x, BUNDLES, x.p->nest_count > 0 ? "bundles and nests" : "bundles", -1);
    trace_name_row(&x, TRANSFERS, "transfers", -1);
    for (int64_t c = 0; c < x.r->cores; c++) trace_name_row(&x, c + FIRST_CORE, "core", c);
    for (int32_t o = 0; o < r->op_count; o++) {
        const struct lx_op *op = &x.p->layouts->graph->ops[o];
        const struct lx_op_run *run = &x.r->ops[o];
        double us = time_of_op(&x, o);
        add_bundle(&x, o);
        trace_add_nest(&x, o);
        trace_add_syncs(&x, o);
        add_transfers(&x, o);
        for (int64_t c = 0; c < run->cores_used && c < x.r->cores; c++) {
            trace_begin_event(&x, op->name, op->kind->name, c + FIRST_CORE, us);
            const struct lx_counters *n = &x.r->by_core[o * x.r->cores + c];
            const struct {
                const char *name;
                int64_t value;
            } rows[] = {{"hbm_read", n->hbm_read}, {"hbm_written", n->hbm_written},
                        {"lx_read", n->lx_read},   {"lx_written", n->lx_written},
                        {"ring", n->ring},         {"reduce_ring", n->reduce_ring},
                        {"flops", n->flops},       {"asked", run->asked_bytes}};
            const char *between = "";
            text_add(t, "\"args\": {");
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                if (rows[i].value == 0) continue;
                text_format(t, "%s\"%s\": %" PRId64, between, rows[i].name, rows[i].value);
                between = ", ";
            }
            text_add(t, "}}");
        }
        trace_add_in_use(&x, o);
        trace_add_traffic(&x, &run->counted, us, &waits[o]);
        x.at += us;
    }
    trace_add_in_use(&x, r->op_count);
    trace_add_traffic(&x, &none, 0, &nothing);
}

char *lx_run_trace(const struct lx_plan *p, const struct lx_run_result *r, size_t *length)
{
    struct text t = {0};
    OWNED struct lx_op_wait *waits = mem_zeroed((size_t)p->layouts->graph->op_count + 1, sizeof *waits);
    lx_plan_waits(p, waits);
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"trace\", \"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
    bool measured = false;
    for (int32_t o = 0; o < r->op_count; o++) measured |= r->ops[o].measured_us > 0;
    for (int clock = 0; clock < (measured ? CLOCKS : MEASURED_CLOCK); clock++)
        add_clock(p, r, (enum trace_clock)clock, waits, &t);
    text_add(&t, "\n]}\n");
    *length = t.length;
    return t.at;
}
