/* A run as trace events: https://ui.perfetto.dev opens the file. Ticks of the clock are predicted
 * microseconds; row 0 has the transfers, row c + 1 what core c does. */
#include "device/device.h"
#include "base/text.h"

#include <inttypes.h>

static void add_counter(struct text *t, const char *name, int64_t value, bool *first)
{
    if (value == 0) return;
    text_format(t, "%s\"%s\": %" PRId64, *first ? "" : ", ", name, value);
    *first = false;
}

static void add_arguments(struct text *t, const struct lx_counters *c)
{
    bool first = true;
    text_add(t, "\"args\": {");
    add_counter(t, "hbm_read", c->hbm_read, &first);
    add_counter(t, "hbm_written", c->hbm_written, &first);
    add_counter(t, "lx_read", c->lx_read, &first);
    add_counter(t, "lx_written", c->lx_written, &first);
    add_counter(t, "ring", c->ring, &first);
    add_counter(t, "reduce_ring", c->reduce_ring, &first);
    add_counter(t, "flops", c->flops, &first);
    text_add(t, "}}");
}

static void name_row(struct text *t, int64_t row, const char *format, int64_t number)
{
    text_format(t,
                ",\n  {\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %" PRId64
                ", \"args\": {\"name\": \"",
                row);
    text_add(t, format);
    if (number >= 0) text_format(t, " %" PRId64, number);
    text_add(t, "\"}}");
}

static void begin_event(struct text *t, const char *name, const char *category, int64_t row, double at,
                        double us)
{
    text_add(t, ",\n  {\"name\": ");
    text_json_string(t, name);
    text_format(t,
                ", \"cat\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": %" PRId64
                ", \"ts\": %.4f, \"dur\": %.4f, ",
                category, row, at, us);
}

static void add_transfers(const struct lx_plan *p, const struct lx_run_result *r, int32_t tick, double at,
                          double us, int32_t *next, struct text *t)
{
    static const char *const words[] = {[LX_LOAD] = "load", [LX_STORE] = "store", [LX_RING] = "ring"};
    for (; *next < p->transfer_count && p->transfers[*next].tick <= tick; ++*next) {
        const struct lx_transfer *x = &p->transfers[*next];
        if (x->tick != tick || (unsigned)x->kind > LX_RING || x->stay < 0 || x->stay >= p->problem.count)
            continue;
        begin_event(t, p->problem.buffers[x->stay].name, words[x->kind], 0, at, us);
        text_format(t, "\"args\": {\"bytes\": %" PRId64 "}}", r->transfer_bytes[*next]);
    }
}

char *lx_run_trace(const struct lx_plan *p, const struct lx_run_result *r, size_t *length)
{
    struct text t = {0};
    double at = 0;
    int32_t next = 0;
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"trace\", \"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
                 "  {\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": ");
    text_json_string(&t, p->graph->name ? p->graph->name : "lxplan");
    text_add(&t, "}}");
    name_row(&t, 0, "transfers", -1);
    for (int64_t c = 0; c < r->cores; c++) name_row(&t, c + 1, "core", c);
    for (int32_t o = 0; o < r->op_count; o++) {
        const struct lx_op_run *op = &r->ops[o];
        add_transfers(p, r, o, at, op->device_us, &next, &t);
        for (int64_t c = 0; c < op->cores_used && c < r->cores; c++) {
            begin_event(&t, p->layouts->graph->ops[o].name, p->layouts->graph->ops[o].kind->name, c + 1, at,
                        op->device_us);
            add_arguments(&t, &r->by_core[o * r->cores + c]);
        }
        at += op->device_us;
    }
    text_add(&t, "\n]}\n");
    if (t.failed) text_free(&t);
    *length = t.length;
    return t.at;
}
