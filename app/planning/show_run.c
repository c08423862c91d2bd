/* A run of the device: ops, totals, faults. */
#include "planning/show_run.h"
#include "text/gathered.h"
#include "text/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAULTS = 10 };

static int64_t moved(const struct lx_counters *c)
{
    return c->hbm_read + c->hbm_written + c->ring + c->reduce_ring;
}

struct ranked {
    int64_t bytes;
    int32_t op;
};

static int by_bytes(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->op < y->op ? -1 : 1;
}

static int by_op(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

static void bytes_cell(struct gathered *t, int64_t n)
{
    if (n)
        gathered_cell(t, PAINT_PLAIN, "%s", grouped(n).at);
    else
        gathered_cell(t, PAINT_DIM, "%s", "-");
}

static void error_cell(struct gathered *t, const struct lx_op_run *op)
{
    if (!op->verified)
        gathered_cell(t, PAINT_DIM, "%s", "not compared");
    else if (op->wrong > 0)
        gathered_cell(t, PAINT_BAD, "%s wrong, off by %.2g", grouped(op->wrong).at, op->error);
    else if (op->error > 0)
        gathered_cell(t, PAINT_PLAIN, "%.2g of %.2g", op->error, op->tolerance);
    else
        gathered_cell(t, PAINT_GOOD, "%s", "exact");
}

static void op_row(const struct lx_plan *p, const struct lx_run_result *r, int32_t o, struct gathered *t)
{
    const struct lx_op_run *op = &r->ops[o];
    gathered_name(t, p->layouts->graph->ops[o].name);
    gathered_cell(t, PAINT_PLAIN, "%s", p->layouts->graph->ops[o].kind->name);
    gathered_cell(t, PAINT_PLAIN, "%lld", (long long)op->cores_used);
    bytes_cell(t, op->counted.hbm_read);
    bytes_cell(t, op->counted.hbm_written);
    bytes_cell(t, op->counted.lx_read + op->counted.lx_written);
    bytes_cell(t, op->counted.ring + op->counted.reduce_ring);
    bytes_cell(t, op->counted.flops);
    gathered_cell(t, PAINT_PLAIN, "%.2f", op->us);
    error_cell(t, op);
}

static void show_ops(const struct lx_plan *p, const struct lx_run_result *r, int most, struct text *out)
{
    static const struct heading columns[] = {
        {"op", false}, {"kind", false}, {"cores", true}, {"HBM read", true}, {"written", true},
        {"LX", true},  {"rings", true}, {"flops", true}, {"us", true},       {"error", false}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    int32_t n = r->op_count, shown = most > 0 && n > most ? most : n;
    struct ranked *order = malloc(((size_t)n + 1) * sizeof *order);
    if (!order) {
        out->failed = true;
        return;
    }
    /* The busiest, but in the order in which they run. */
    for (int32_t o = 0; o < n; o++) order[o] = (struct ranked){moved(&r->ops[o].counted), o};
    if (shown < n) qsort(order, (size_t)n, sizeof *order, by_bytes);
    qsort(order, (size_t)shown, sizeof *order, by_op);
    for (int32_t i = 0; i < shown; i++) op_row(p, r, order[i].op, &t);
    free(order);
    gathered_write(&t, out);
    if (shown < n)
        text_format(out, "  ... %s more that move less; --all lists them\n", counted(n - shown, "op").at);
}

static void label(struct text *out, const char *word)
{
    paint_add(out, PAINT_DIM, word);
    text_pad(out, ' ', 10 - strlen(word));
}

static void show_totals(const struct lx_plan *p, const struct lx_run_result *r, struct text *out)
{
    const struct lx_counters *c = &r->total;
    int64_t hbm = c->hbm_read + c->hbm_written;
    label(out, "HBM");
    text_format(out, "%s read, ", in_bytes(c->hbm_read).at);
    text_format(out, "%s written", in_bytes(c->hbm_written).at);
    if (p->baseline_hbm_bytes > 0) {
        text_format(out, "; together %s", in_percent((double)hbm / (double)p->baseline_hbm_bytes).at);
        text_format(out, " of %s with everything off chip", in_bytes(p->baseline_hbm_bytes).at);
    }
    text_add(out, "\n");
    label(out, "LX");
    text_format(out, "%s read, ", in_bytes(c->lx_read).at);
    text_format(out, "%s written\n", in_bytes(c->lx_written).at);
    label(out, "rings");
    text_format(out, "%s of relayouts, ", in_bytes(c->ring).at);
    text_format(out, "%s of partial sums\n", in_bytes(c->reduce_ring).at);
    label(out, "flops");
    text_format(out, "%s\n", grouped(c->flops).at);
    label(out, "predicted");
    text_format(out, "%.2f us; %.2f us with everything off chip\n", r->predicted_us,
                p->divisions->predicted_us);
}

static void show_verdict(const struct lx_plan *p, const struct lx_run_result *r, struct text *out)
{
    label(out, "error");
    if (r->worst_op < 0)
        text_add(out, "not compared");
    else if (r->error == 0)
        text_add(out, "none, every compared bit agrees");
    else {
        text_format(out, "largest %.3g, %.3g of the largest element, in ", r->error, r->relative_error);
        add_printable(out, p->layouts->graph->ops[r->worst_op].name, 40);
    }
    text_add(out, "\n");
    label(out, "counts");
    if (r->unequal) {
        paint_add(out, PAINT_BAD, "not as planned: ");
        add_printable(out, r->unequal, 0);
    } else
        paint_add(out, PAINT_GOOD, "as planned, byte for byte");
    text_add(out, "\n");
    label(out, "result");
    if (r->ok)
        paint_add(out, PAINT_GOOD, "verified");
    else {
        char line[300];
        snprintf(line, sizeof line, "%s, %s wrong, %s with other counts than planned",
                 counted(r->fault_count, "fault").at, counted(r->wrong_ops, "op").at,
                 counted(r->unequal_ops, "op").at);
        paint_add(out, PAINT_BAD, line);
    }
    text_format(out, " in %s\n", in_time(r->seconds).at);
}

void show_run(const struct lx_plan *p, const struct lx_run_result *r, int most, struct text *out)
{
    show_ops(p, r, most, out);
    text_add(out, "\n");
    show_totals(p, r, out);
    show_verdict(p, r, out);
    for (int64_t i = 0; i < r->fault_count && i < MOST_FAULTS; i++) {
        paint_add(out, PAINT_BAD, "fault     ");
        text_format(out, "%s: ", lx_fault_word(r->faults[i].kind));
        add_printable(out, r->faults[i].text, 0);
        text_add(out, "\n");
    }
    if (r->fault_count > MOST_FAULTS)
        text_format(out, "          ... %s more\n", grouped(r->fault_count - MOST_FAULTS).at);
}

static void counters_json(const struct lx_counters *c, struct text *out)
{
    text_format(out,
                "\"hbm_read\": %" PRId64 ", \"hbm_written\": %" PRId64 ", \"lx_read\": %" PRId64
                ", \"lx_written\": %" PRId64 ", \"ring\": %" PRId64 ", \"reduce_ring\": %" PRId64
                ", \"flops\": %" PRId64,
                c->hbm_read, c->hbm_written, c->lx_read, c->lx_written, c->ring, c->reduce_ring, c->flops);
}

/* JSON has no infinity: a bound that is none is null. */
static void number_json(const char *key, double value, struct text *out)
{
    if (isfinite(value))
        text_format(out, ", \"%s\": %.9g", key, value);
    else
        text_format(out, ", \"%s\": null", key);
}

static void op_json(const struct lx_plan *p, const struct lx_run_result *r, int32_t o, struct text *out)
{
    const struct lx_op_run *op = &r->ops[o];
    text_add(out, "    {\"op\": ");
    text_json_string(out, p->layouts->graph->ops[o].name);
    text_format(out, ", \"cores\": %" PRId64 ", ", op->cores_used);
    counters_json(&op->counted, out);
    number_json("us", op->us, out);
    text_format(out, ", \"verified\": %s, \"wrong\": %" PRId64, op->verified ? "true" : "false", op->wrong);
    number_json("error", op->error, out);
    number_json("tolerance", op->tolerance, out);
    text_format(out, ", \"counts_agree\": %s}", op->counts_agree ? "true" : "false");
}

static void fault_json(const struct lx_fault *f, struct text *out)
{
    text_format(out,
                "    {\"fault\": \"%s\", \"tick\": %d, \"core\": %d, \"address\": %" PRId64 ", \"text\": ",
                lx_fault_word(f->kind), (int)f->tick, (int)f->core, f->address);
    text_json_string(out, f->text);
    text_add(out, "}");
}

void run_to_json(const struct lx_plan *p, const struct lx_run_result *r, struct text *out)
{
    text_add(out, "{\n  \"lxplan\": 1, \"kind\": \"run\", \"pattern\": ");
    text_json_string(out, p->graph->name);
    text_add(out, ", \"solver\": ");
    text_json_string(out, p->solver);
    text_format(out,
                ", \"cores\": %" PRId64 ", \"ok\": %s, \"faults\": %" PRId64
                ", \"wrong_ops\": %d, \"unequal_ops\": %d,\n  ",
                r->cores, r->ok ? "true" : "false", r->fault_count, (int)r->wrong_ops, (int)r->unequal_ops);
    counters_json(&r->total, out);
    text_format(out, ",\n  \"baseline_hbm_bytes\": %" PRId64 ", \"planned_hbm_bytes\": %" PRId64,
                p->baseline_hbm_bytes, p->hbm_bytes);
    number_json("predicted_us", r->predicted_us, out);
    number_json("baseline_us", p->divisions->predicted_us, out);
    number_json("error", r->error, out);
    number_json("relative_error", r->relative_error, out);
    text_format(out, ", \"output_hash\": \"%016" PRIx64 "\",\n  \"unequal\": ", r->output_hash);
    if (r->unequal)
        text_json_string(out, r->unequal);
    else
        text_add(out, "null");
    text_add(out, ",\n  \"ops\": [\n");
    for (int32_t o = 0; o < r->op_count; o++) {
        op_json(p, r, o, out);
        text_add(out, o + 1 < r->op_count ? ",\n" : "\n");
    }
    text_add(out, "  ],\n  \"fault_list\": [\n");
    int64_t kept = r->fault_count < LX_MAX_FAULTS ? r->fault_count : LX_MAX_FAULTS;
    for (int64_t i = 0; i < kept; i++) {
        fault_json(&r->faults[i], out);
        text_add(out, i + 1 < kept ? ",\n" : "\n");
    }
    text_add(out, "  ]\n}\n");
}
