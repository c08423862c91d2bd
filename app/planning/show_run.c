/* A run of the device: ops, totals, faults. */
#include "planning/show_plan.h"
#include "planning/buffer_table.h"
#include "export/nest_words.h"

enum { MOST_FAULTS = 10 };

/* One op of a run. */
struct op_row {
    const struct lx_op *op;
    const struct lx_op_run *run;
    enum lx_wait wait; /* that most of its time is spent on */
    int64_t times;     /* iterations of its nest; 1: it is in none */
};

/* People see a dash where nothing was moved. */
static void moved_bytes(struct value *v, int64_t n)
{
    value_dim(v, n);
    if (!n) v->words = "-";
}

static void error_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_op_run *op = ((const struct op_row *)row_of_table)->run;
    bool bad = op->wrong > 0 || op->altered > 0;
    (void)column;
    v->paint = bad ? PAINT_BAD : !op->verified ? PAINT_DIM : op->share > 0 ? PAINT_PLAIN : PAINT_GOOD;
    if (op->verified || bad) {
        /* How close to its bound an op comes. */
        if (op->altered > 0)
            value_format(v, "%s altered on the way", grouped(op->altered).at);
        else if (op->wrong > 0)
            value_format(v, "%s wrong, off by %.2g", grouped(op->wrong).at, op->error);
        else if (op->share > 0)
            value_format(v, "%.3f of bound", share_shown(op->share));
        else
            v->words = "exact";
    } else
        v->words = "not judged";
}

/* How often it was executed; nothing where it is in no nest. */
static void show_run_times_value(const void *row_of_table, const struct column *column, struct value *v)
{
    int64_t times = ((const struct op_row *)row_of_table)->times;
    (void)column;
    value_whole(v, times > 1 ? times : 0);
    v->words = "";
    if (times > 1) v->words = NULL, value_format(v, "x%s", grouped(times).at);
}

/* clang-format off */
VALUE_OF(kind_value,      struct op_row, v->words = row->op->kind->name;)
VALUE_OF(read_value,      struct op_row, moved_bytes(v, row->run->counted.hbm_read);)
VALUE_OF(written_value,   struct op_row, moved_bytes(v, row->run->counted.hbm_written);)
VALUE_OF(lx_value,        struct op_row, moved_bytes(v, row->run->counted.lx_read + row->run->counted.lx_written);)
VALUE_OF(lx_read_value,   struct op_row, moved_bytes(v, row->run->counted.lx_read);)
VALUE_OF(lx_written_value, struct op_row, moved_bytes(v, row->run->counted.lx_written);)
VALUE_OF(rings_value,     struct op_row, moved_bytes(v, row->run->counted.ring + row->run->counted.reduce_ring);)
VALUE_OF(ring_value,      struct op_row, moved_bytes(v, row->run->counted.ring);)
VALUE_OF(reduce_value,    struct op_row, moved_bytes(v, row->run->counted.reduce_ring);)
VALUE_OF(flops_value,     struct op_row, moved_bytes(v, row->run->counted.flops);)
VALUE_OF(wait_value,      struct op_row, v->words = lx_wait_word(row->wait); v->paint = PAINT_DIM;)

static const struct column op_array[] = {
    {.key = "op",          .heading = "op",       .kind = VALUE_NAME,   VIA(struct op_row, op, name)},
    {.key = "kind",        .heading = "kind",     .kind = VALUE_WORDS,  .flags = COLUMN_PEOPLE, .value = kind_value},
    {.key = "cores",       .heading = "cores",    .kind = VALUE_NUMBER, VIA(struct op_row, run, cores_used)},
    {.key = "iterations",  .heading = "times",    .kind = VALUE_COUNT,  .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = show_run_times_value},
    {.key = "hbm_read",    .heading = "HBM read", .kind = VALUE_BYTES,  .value = read_value},
    {.key = "hbm_written", .heading = "written",  .kind = VALUE_BYTES,  .value = written_value},
    {.key = "asked",       .heading = "asked",    .kind = VALUE_BYTES,  .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, VIA(struct op_row, run, asked_bytes)},
    {.key = "lx",          .heading = "LX",       .kind = VALUE_BYTES,  .flags = COLUMN_PEOPLE, .value = lx_value},
    {.key = "lx_read",                            .kind = VALUE_BYTES,  .value = lx_read_value},
    {.key = "lx_written",                         .kind = VALUE_BYTES,  .value = lx_written_value},
    {.key = "rings",       .heading = "rings",    .kind = VALUE_BYTES,  .flags = COLUMN_PEOPLE, .value = rings_value},
    {.key = "ring",                               .kind = VALUE_BYTES,  .value = ring_value},
    {.key = "reduce_ring",                        .kind = VALUE_BYTES,  .value = reduce_value},
    {.key = "flops",       .heading = "flops",    .kind = VALUE_COUNT,  .value = flops_value},
    {.key = "device_us",   .heading = "device",    .kind = VALUE_MICROS, .digits = 9, VIA(struct op_row, run, device_us)},
    {.key = "measured_us",  .heading = "measured", .kind = VALUE_MICROS, .digits = 6, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, VIA(struct op_row, run, measured_us)},
    {.key = "measured_wait_us", .heading = "waited", .kind = VALUE_MICROS, .digits = 6, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, VIA(struct op_row, run, measured_wait_us)},
    {.key = "end_to_end_us",                      .kind = VALUE_MICROS, .digits = 9, VIA(struct op_row, run, end_to_end_us)},
    {.key = "bound_by",    .heading = "bound by", .kind = VALUE_WORDS,  .value = wait_value},
    {.key = "verified",                           .kind = VALUE_BOOL,   VIA(struct op_row, run, verified)},
    {.key = "wrong",                              .kind = VALUE_COUNT,  VIA(struct op_row, run, wrong)},
    {.key = "altered",                            .kind = VALUE_COUNT,  VIA(struct op_row, run, altered)},
    {.key = "judged",      .heading = "error",    .kind = VALUE_WORDS,  .flags = COLUMN_PEOPLE, .value = error_value},
    {.key = "error",                              .kind = VALUE_RATIO,  .digits = 9, VIA(struct op_row, run, error)},
    {.key = "bound",                              .kind = VALUE_RATIO,  .digits = 9, VIA(struct op_row, run, bound)},
    {.key = "largest",                            .kind = VALUE_RATIO,  .digits = 9, VIA(struct op_row, run, largest)},
    {.key = "share",                              .kind = VALUE_RATIO,  .digits = 9, VIA(struct op_row, run, share)},
    {.key = "counts_agree",                       .kind = VALUE_BOOL,   VIA(struct op_row, run, counts_agree)},
};
/* clang-format on */

const struct columns run_op_columns = COLUMNS("ops of a run", op_array);

static int64_t moved_by(const void *result, int32_t o)
{
    const struct lx_counters *c = &((const struct lx_run_result *)result)->ops[o].counted;
    return c->hbm_read + c->hbm_written + c->ring + c->reduce_ring;
}

/* The `most` busiest (0: all), in the order in which they run; malloc'ed. */
static struct op_row *show_run_rows_of(const struct lx_plan *p, const struct lx_run_result *r, int most,
                                       int32_t *shown)
{
    OWNED int32_t *order = largest_of(r, r->op_count, moved_by, most, true, shown);
    struct op_row *rows = mem_alloc(((size_t)r->op_count + 1) * sizeof *rows);
    OWNED struct lx_op_wait *waits = mem_zeroed((size_t)r->op_count + 1, sizeof *waits);
    lx_plan_waits(p, waits);
    for (int32_t i = 0; i < *shown; i++)
        rows[i] = (struct op_row){&p->layouts->graph->ops[order[i]], &r->ops[order[i]],
                                  lx_wait_longest(&waits[order[i]]), plan_op_times(p, order[i])};
    return rows;
}

static void show_run_show_totals(const struct lx_plan *p, const struct lx_run_result *r, struct text *out)
{
    const struct lx_counters *c = &r->total;
    int64_t hbm = c->hbm_read + c->hbm_written, baseline = p->figures.baseline_hbm_bytes;
    int32_t ops = p->layouts->graph->op_count;
    struct lx_op_wait *waits = mem_zeroed((size_t)ops + 1, sizeof *waits), sum;
    add_labelled(out, "HBM", "%s read, %s written", in_bytes(c->hbm_read).at, in_bytes(c->hbm_written).at);
    if (baseline > 0)
        text_format(out, "; together %s of %s with nothing on chip",
                    in_percent((double)hbm / (double)baseline).at, in_bytes(baseline).at);
    text_add(out, "\n");
    add_labelled(out, "LX", "%s read, %s written\n", in_bytes(c->lx_read).at, in_bytes(c->lx_written).at);
    add_labelled(out, "rings", "%s of relayouts, %s of partial sums\n", in_bytes(c->ring).at,
                 in_bytes(c->reduce_ring).at);
    add_labelled(out, "flops", "%s\n", grouped(c->flops).at);
    add_labelled(out, "predicted", "%s on the device, %s end to end in %s\n", in_micros(r->device_us).at,
                 in_micros(r->end_to_end_us).at, counted(p->bundle_count, "bundle").at);
    lx_plan_waits(p, waits);
    sum = lx_waits_sum(waits, ops);
    add_labelled(out, "waits", "%s", "");
    add_wait_sums(&sum, out);
    text_add(out, "\n");
    mem_free(waits);
}

/* Op by op against the bounds, and from end to end. */
static void show_verdict(const struct lx_plan *p, const struct lx_run_result *r, struct text *out)
{
    add_labelled(out, "error", "%s",
                 r->worst_op < 0 ? "not judged"
                 : r->share == 0 ? "none, every judged bit is exact"
                                 : "");
    if (r->worst_op >= 0 && r->share != 0) {
        text_format(out, "at most %.1f %% of tolerance, in ", 100 * share_shown(r->share));
        add_printable(out, p->layouts->graph->ops[r->worst_op].name, 40);
    }
    if (r->relative_error >= 0)
        text_format(out, "; outputs end to end within %.2g of fp64", r->relative_error);
    if (r->unknown_outputs) { /* by name the first, and how many others */
        int32_t i = 0;
        while (r->outputs[i].known) i++;
        text_add(out, "; without an fp64 reference end to end: ");
        add_printable(out, p->graph->tensors[r->outputs[i].tensor].name, 40);
        if (r->unknown_outputs > 1) text_format(out, " and %s", counted(r->unknown_outputs - 1, "other").at);
    }
    text_add(out, "\n");
    add_labelled(out, "counts", "%s", "");
    paint_add(out, r->unequal ? PAINT_BAD : PAINT_GOOD,
              r->unequal ? "not as planned: " : "as planned, byte for byte");
    if (r->unequal) add_printable(out, r->unequal, 0);
    text_add(out, "\n");
    add_labelled(out, "result", "%s", "");
    char line[300] = "verified";
    if (!r->ok)
        snprintf(line, sizeof line, "%s, %s wrong, %s with other counts than planned",
                 counted(r->fault_count, "fault").at, counted(r->wrong_ops, "op").at,
                 counted(r->unequal_ops, "op").at);
    paint_add(out, r->ok ? PAINT_GOOD : PAINT_BAD, line);
    text_format(out, " in %s\n", in_time(r->seconds).at);
}

/* Bytes in three columns: planned, asked by the cores, moved by DRAM; and where they need not leave a cache. */
static void show_bytes(const struct lx_plan *p, const struct lx_measured *m, struct text *out)
{
    if (!m->asked_bytes) return;
    add_labelled(out, "bytes", "%s of HBM planned, %s asked for by the cores",
                 in_bytes(p->figures.hbm_bytes).at, in_bytes(m->asked_bytes).at);
    if (m->dram_read || m->dram_written)
        text_format(out, ", DRAM %s read and %s written", in_bytes(m->dram_read).at,
                    in_bytes(m->dram_written).at);
    text_add(out, "\n");
    if (p->segment_bytes <= m->cache_bytes)
        add_labelled(out, "",
                     "its %s of HBM fit into the L2 of %s: plans differ less there than these bytes\n",
                     in_bytes(p->segment_bytes).at, in_bytes(m->cache_bytes).at);
}

/* The machine, what its outputs are worth, and its time. */
static void show_measured(const struct lx_plan *p, const struct lx_measured *m, struct text *out)
{
    add_labelled(out, "machine", "%s; compiled in %s\n", m->machine, in_time(m->seconds_compile).at);
    if (m->outputs_lost || m->outputs_differing) {
        add_labelled(out, "outputs", "%s", "");
        char line[300];
        snprintf(line, sizeof line, "%s not what the last op made, %s other without traces",
                 counted(m->outputs_lost, "element").at, counted(m->outputs_differing, "byte").at);
        paint_add(out, PAINT_BAD, line);
        text_add(out, "\n");
    }
    if (m->launches)
        add_labelled(out, "measured", "%s, median of %d launches in turn over %d copies of HBM; least %s\n",
                     in_micros(m->median_us).at, m->launches, m->sets, in_micros(m->least_us).at);
    if (m->stamps_us > 0)
        add_labelled(out, "op by op", "%s with stamps after each op\n", in_micros(m->stamps_us).at);
    show_bytes(p, m, out);
}

void show_run(const struct lx_plan *p, const struct lx_run_result *r, const struct lx_measured *measured,
              int most, struct text *out)
{
    int32_t shown;
    struct op_row *rows = show_run_rows_of(p, r, most, &shown);
    table_add_text(&TABLE(run_op_columns, rows, shown), out);
    mem_free(rows);
    if (shown < r->op_count)
        text_format(out, "  ... %s more that move less; --all lists them\n",
                    counted(r->op_count - shown, "op").at);
    text_add(out, "\n");
    show_run_show_totals(p, r, out);
    if (measured) show_measured(p, measured, out);
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

/* JSON has no infinity: unknown or unbounded is null. */
static void number_json(const char *key, double value, struct text *out)
{
    if (isfinite(value))
        text_format(out, ", \"%s\": %.9g", key, value);
    else
        text_format(out, ", \"%s\": null", key);
}

/* clang-format off */
VALUE_OF(fault_value,   struct lx_fault, v->words = lx_fault_word(row->kind);)

static const struct column fault_array[] = {
    {.key = "fault",   .kind = VALUE_WORDS,   .value = fault_value},
    {.key = "tick",    .kind = VALUE_NUMBER,  MEMBER(struct lx_fault, tick)},
    {.key = "core",    .kind = VALUE_NUMBER,  MEMBER(struct lx_fault, core)},
    {.key = "address", .kind = VALUE_ADDRESS, MEMBER(struct lx_fault, address)},
    {.key = "text",    .kind = VALUE_WORDS,   MEMBER(struct lx_fault, text)},
};
/* clang-format on */

const struct columns fault_columns = COLUMNS("faults of a run", fault_array);

/* clang-format off */
struct output_row { const char *name; const struct lx_output_run *run; };
VALUE_OF(distance_value,   struct output_row, v->number = row->run->known ? row->run->error : NAN;)
VALUE_OF(out_of_value,     struct output_row, v->number = row->run->known ? row->run->largest : NAN;)
VALUE_OF(relative_value,   struct output_row, v->number = row->run->known ? row->run->relative : NAN;)

static const struct column output_array[] = {
    {.key = "tensor",         .kind = VALUE_NAME,  MEMBER(struct output_row, name)},
    {.key = "known",          .kind = VALUE_BOOL,  VIA(struct output_row, run, known)},
    {.key = "error",          .kind = VALUE_RATIO, .digits = 9, .value = distance_value},
    {.key = "largest",        .kind = VALUE_RATIO, .digits = 9, .value = out_of_value},
    {.key = "relative_error", .kind = VALUE_RATIO, .digits = 9, .value = relative_value},
};
/* clang-format on */

const struct columns run_output_columns = COLUMNS("outputs of a run", output_array);

static void measured_json(const struct lx_plan *p, const struct lx_measured *m, struct text *out)
{
    text_add(out, ",\n  \"machine\": ");
    text_json_string(out, m->machine);
    text_format(out, ", \"outputs_lost\": %" PRId64 ", \"outputs_differing\": %" PRId64 ", \"launches\": %d",
                m->outputs_lost, m->outputs_differing, m->launches);
    number_json("measured_us", m->launches ? m->median_us : INFINITY, out);
    number_json("measured_least_us", m->launches ? m->least_us : INFINITY, out);
    number_json("measured_with_stamps_us", m->stamps_us > 0 ? m->stamps_us : INFINITY, out);
    number_json("asked_bytes", m->asked_bytes ? (double)m->asked_bytes : INFINITY, out);
    number_json("dram_read_bytes", m->dram_read || m->dram_written ? (double)m->dram_read : INFINITY, out);
    number_json("dram_written_bytes", m->dram_read || m->dram_written ? (double)m->dram_written : INFINITY,
                out);
    text_format(out, ", \"fits_in_cache\": %s", p->segment_bytes <= m->cache_bytes ? "true" : "false");
}

void run_to_json(const struct lx_plan *p, const struct lx_run_result *r, const struct lx_measured *measured,
                 struct text *out)
{
    text_add(out, "{\n  \"lxplan\": 1, \"kind\": \"run\", \"pattern\": ");
    text_json_string(out, p->graph->name);
    text_add(out, ", \"solver\": ");
    text_json_string(out, p->solver);
    text_format(out,
                ", \"cores\": %" PRId64 ", \"ok\": %s, \"faults\": %" PRId64
                ", \"wrong_ops\": %d, \"unequal_ops\": %d,\n  ",
                r->cores, r->ok ? "true" : "false", r->fault_count, (int)r->wrong_ops, (int)r->unequal_ops);
    text_format(out,
                "\"hbm_read\": %" PRId64 ", \"hbm_written\": %" PRId64 ", \"lx_read\": %" PRId64
                ", \"lx_written\": %" PRId64 ", \"ring\": %" PRId64 ", \"reduce_ring\": %" PRId64
                ", \"flops\": %" PRId64,
                r->total.hbm_read, r->total.hbm_written, r->total.lx_read, r->total.lx_written, r->total.ring,
                r->total.reduce_ring, r->total.flops);
    text_format(out, ",\n  \"baseline_hbm_bytes\": %" PRId64 ", \"planned_hbm_bytes\": %" PRId64,
                p->figures.baseline_hbm_bytes, p->figures.hbm_bytes);
    number_json("device_us", r->device_us, out);
    number_json("end_to_end_us", r->end_to_end_us, out);
    if (measured) measured_json(p, measured, out);
    number_json("share", r->share, out);
    number_json("relative_error", r->relative_error < 0 ? INFINITY : r->relative_error, out);
    text_format(out, ", \"output_hash\": \"%016" PRIx64 "\",\n  \"unequal\": ", r->output_hash);
    if (r->unequal)
        text_json_string(out, r->unequal);
    else
        text_add(out, "null");
    int32_t shown;
    OWNED struct op_row *rows = show_run_rows_of(p, r, 0, &shown);
    int64_t kept = r->fault_count < LX_MAX_FAULTS ? r->fault_count : LX_MAX_FAULTS;
    text_add(out, ",\n  \"ops\": [\n");
    table_add_json_rows(&TABLE(run_op_columns, rows, shown), 4, out);
    text_add(out, shown ? "\n  ],\n" : "  ],\n");
    OWNED struct output_row *outputs = mem_alloc(((size_t)r->output_count + 1) * sizeof *outputs);
    for (int32_t i = 0; i < r->output_count; i++)
        outputs[i] = (struct output_row){p->graph->tensors[r->outputs[i].tensor].name, &r->outputs[i]};
    text_add(out, "  \"outputs\": [\n");
    table_add_json_rows(&TABLE(run_output_columns, outputs, r->output_count), 4, out);
    text_add(out, r->output_count ? "\n  ],\n" : "  ],\n");
    text_add(out, "  \"fault_list\": [\n");
    table_add_json_rows(&TABLE(fault_columns, r->faults, kept), 4, out);
    text_add(out, kept ? "\n  ]\n}\n" : "  ]\n}\n");
}

const char *verify_word(int k)
{
    return k < LX_VERIFY_COUNT ? lx_verify_word((enum lx_verify)k) : NULL;
}
