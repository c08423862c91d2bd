/* A plan's ops, copies and steps as tables for people: columns over rows that point into the plan. */
#include "planning/show_plan.h"
#include "export/nest_words.h"
#include "planning/planning.h"

static void show_plan_add_splits(const struct lx_division *d, struct text *t)
{
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].split > 1)
            text_format(t, "%s%c/%lld", t->length ? " " : "", d->splits[i].letter,
                        (long long)d->splits[i].split);
    if (!t->length) text_add(t, d->kind == LX_UNDIVIDED_EXTERN ? "off the device" : "whole");
}

/* One op of a plan. */
struct op_row {
    const struct lx_plan *plan;
    int32_t op;
    const struct lx_op *is;
    const struct lx_op_traffic *traffic;
    const struct lx_op_wait *wait;
};

/* clang-format off */
VALUE_OF(kind_value,    struct op_row, v->words = row->is->kind->name; v->paint = PAINT_DIM;)
VALUE_OF(splits_value,  struct op_row, show_plan_add_splits(&row->plan->divisions->at[row->op], &v->made); v->words = v->made.at;)
VALUE_OF(cores_value,   struct op_row, value_whole(v, row->plan->divisions->at[row->op].cores_used);)
VALUE_OF(read_value,    struct op_row, value_dim(v, row->traffic->hbm_read);)
VALUE_OF(written_value, struct op_row, value_dim(v, row->traffic->hbm_written);)
VALUE_OF(ring_value,    struct op_row, value_dim(v, row->traffic->ring + row->traffic->reduce_ring);)
VALUE_OF(bound_value,   struct op_row, v->words = lx_wait_us(row->wait) > 0 ? lx_wait_word(lx_wait_longest(row->wait)) : "";)

VALUE_OF(nest_value, struct op_row,
    int32_t nest = plan_nest_at(row->plan, row->op);
    if (nest < 0) return;
    text_format(&v->made, "%d: ", (int)nest + 1);
    add_nest_words(row->plan, &row->plan->nests[nest], &v->made);
    v->words = v->made.at;)

static const struct column op_array[] = {
    {.key = "tick",        .heading = "tick",        .kind = VALUE_NUMBER, .flags = COLUMN_DIM, MEMBER(struct op_row, op)},
    {.key = "op",          .heading = "op",          .kind = VALUE_NAME,   VIA(struct op_row, is, name)},
    {.key = "kind",        .heading = "kind",        .kind = VALUE_WORDS,  .value = kind_value},
    {.key = "splits",      .heading = "splits",      .kind = VALUE_WORDS,  .value = splits_value},
    {.key = "cores",       .heading = "cores",       .kind = VALUE_NUMBER, .value = cores_value},
    {.key = "hbm_read",    .heading = "HBM read",    .kind = VALUE_BYTES,  .value = read_value},
    {.key = "hbm_written", .heading = "HBM written", .kind = VALUE_BYTES,  .value = written_value},
    {.key = "ring",        .heading = "ring",        .kind = VALUE_BYTES,  .value = ring_value},
    {.key = "device_us",   .heading = "device",      .kind = VALUE_MICROS, VIA(struct op_row, traffic, device_us)},
    {.key = "end_to_end_us", .heading = "end to end", .kind = VALUE_MICROS, VIA(struct op_row, traffic, end_to_end_us)},
    {.key = "bound_by",    .heading = "bound by",    .kind = VALUE_WORDS,  .value = bound_value},
    {.key = "nest",        .heading = "nest",        .kind = VALUE_WORDS,  .flags = COLUMN_MAY_HIDE, .value = nest_value},
};
/* clang-format on */

const struct columns plan_op_columns = COLUMNS("ops of a plan", op_array);

static int64_t traffic_of(const void *plan, int32_t o)
{
    const struct lx_plan *p = plan;
    return p->traffic[o].hbm_read + p->traffic[o].hbm_written;
}

void show_ops(const struct lx_plan *p, const struct lx_op_wait *waits, int most, struct text *out)
{
    int32_t n = p->layouts->graph->op_count, shown;
    int32_t *order = largest_of(p, n, traffic_of, most, true, &shown);
    OWNED struct op_row *rows = mem_alloc(((size_t)n + 1) * sizeof *rows);
    text_format(out, "\n%s", counted(n, "op").at);
    if (p->order) text_add(out, ", in another order than the pattern's");
    text_add(out, "\n");
    for (int32_t i = 0; i < shown; i++)
        rows[i] = (struct op_row){p, order[i], &p->layouts->graph->ops[order[i]], &p->traffic[order[i]],
                                  &waits[order[i]]};
    table_add_text(&TABLE(plan_op_columns, rows, shown), out);

    mem_free(order);
    if (shown < n)
        text_format(out, "  ... %s more, each with less traffic; --all lists them\n",
                    counted(n - shown, "op").at);
}

void show_copies(const struct lx_plan *p, struct text *out)
{
    static const char *const words[] = {
        [LX_LOAD] = "load", [LX_STORE] = "store", [LX_RING] = "relayout", [LX_MOVE] = "move"};
    int64_t count[LX_TRANSFER_KINDS] = {0}, bytes[LX_TRANSFER_KINDS] = {0}, early = 0, staged = 0;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        early += p->transfers[i].ahead > 0;
        staged += p->transfers[i].kind == LX_LOAD && lx_stages(&p->stays[p->transfers[i].stay]) > 1;
        count[p->transfers[i].kind]++;
        bytes[p->transfers[i].kind] += p->transfers[i].bytes;
    }
    for (int k = 0; k < LX_TRANSFER_KINDS; k++)
        if (count[k]) {
            text_format(out, "  %s: %s%s", counted(count[k], words[k]).at, in_bytes(bytes[k]).at,
                        k == LX_RING   ? " over the ring"
                        : k == LX_MOVE ? " inside the scratchpads"
                                       : "");
            if (k == LX_LOAD && early) text_format(out, ", %" PRId64 " issued early", early);
            if (k == LX_LOAD && staged) text_format(out, ", %" PRId64 " in stages", staged);
            text_add(out, "\n");
        }
}

struct stage_row {
    const char *name, *what;
    enum lx_stage stage;
    int64_t bits; /* of an element; 0: they differ */
    int64_t hbm_bytes, baseline_bytes;
    double device_us, end_to_end_us;
};

/* clang-format off */
VALUE_OF(elements_value, struct stage_row,
    if (row->bits)
        value_whole(v, (row->hbm_bytes * 8 / row->bits));
    else
        v->words = "";)
VALUE_OF(share_value,    struct stage_row,
         v->number = row->baseline_bytes ? (double)row->hbm_bytes / (double)row->baseline_bytes : 0;)

static const struct column stage_array[] = {
    {.key = "stage",              .heading = "stage",        .kind = VALUE_WORDS,  MEMBER(struct stage_row, name)},
    {.key = "what",               .heading = "what changes", .kind = VALUE_WORDS,  .flags = COLUMN_PEOPLE | COLUMN_DIM, MEMBER(struct stage_row, what)},
    {.key = "hbm_bytes",          .heading = "HBM bytes",    .kind = VALUE_BYTES,  MEMBER(struct stage_row, hbm_bytes)},
    {.key = "baseline_hbm_bytes",                            .kind = VALUE_BYTES,  MEMBER(struct stage_row, baseline_bytes)},
    {.key = "elements",           .heading = "elements",     .kind = VALUE_COUNT,  .flags = COLUMN_PEOPLE, .value = elements_value},
    {.key = "of_baseline",        .heading = "of baseline",  .kind = VALUE_SHARE,  .flags = COLUMN_PEOPLE, .value = share_value},
    {.key = "device_us",          .heading = "device",       .kind = VALUE_MICROS, .digits = 6, MEMBER(struct stage_row, device_us)},
    {.key = "end_to_end_us",      .heading = "end to end",    .kind = VALUE_MICROS, .digits = 6, MEMBER(struct stage_row, end_to_end_us)},
};
/* clang-format on */

const struct columns stage_columns = COLUMNS("stages of the scratchpad's use", stage_array);

/* A step of the search for the last plan (lib/plan/plan_steps.c), and the best plan behind it. */
struct step_row {
    struct lx_gain gain;
    int64_t saved; /* bytes, since the step before */
    bool is_first, has_time;
};

/* clang-format off */
VALUE_OF(step_saved_value, struct step_row, if (row->is_first) v->words = ""; else value_whole(v, row->saved);)
VALUE_OF(step_time_value,  struct step_row, if (row->has_time) v->number = row->gain.us; else v->words = "";)

static const struct column step_array[] = {
    {.key = "step",          .heading = "step of the search", .kind = VALUE_WORDS,  MEMBER(struct step_row, gain.step)},
    {.key = "hbm_bytes",     .heading = "HBM bytes",          .kind = VALUE_BYTES,  MEMBER(struct step_row, gain.hbm_bytes)},
    {.key = "saved",         .heading = "saved",              .kind = VALUE_BYTES,  .flags = COLUMN_PEOPLE, .value = step_saved_value},
    {.key = "end_to_end_us", .heading = "end to end",         .kind = VALUE_MICROS, .digits = 6, .flags = COLUMN_PEOPLE, .value = step_time_value},
};
/* clang-format on */

const struct columns step_columns = COLUMNS("steps of the search for a plan", step_array);

bool show_stages(struct call *call, const char *path, struct text *out)
{
    struct stage_row stages[] = {
        {"baseline", "every operand goes through HBM", LX_STAGE_BASELINE, 0, 0, 0, 0, 0},
        {"reductions", "results of reductions stay on chip", LX_STAGE_REDUCTIONS, 0, 0, 0, 0, 0},
        {"in place", "all intermediates, in place where it is legal", LX_STAGE_IN_PLACE, 0, 0, 0, 0, 0},
        {"clone", "copies of inputs, outputs made on chip; all passes asked for", LX_STAGE_ALL, 0, 0, 0, 0,
         0}};
    enum { STAGES = sizeof stages / sizeof *stages };
    struct step_row steps[LX_MOST_GAINS];
    struct lx_passes asked;
    const struct lx_graph *g = read_pattern(call, path);
    int step_count = 0;
    bool ok = g && read_passes(call, &asked);
    if (ok && g->list)
        ok = status_set_at(&call->st, LX_E_USAGE, g->file, 0, 0,
                           "a bare list of buffers has no stages; --stages goes with a graph");
    /* Bits of an element if all tensors agree, else 0. */
    int64_t bits = ok && g->tensor_count ? lx_dtype_bits(g->tensors[0].dtype) : 0;
    for (int32_t i = 0; ok && i < g->tensor_count; i++)
        if (g->tensors[i].rank < 0 || g->tensors[i].dtype != g->tensors[0].dtype) bits = 0;
    for (size_t i = 0; ok && i < STAGES; i++) {
        struct stage_row *row = &stages[i];
        asked.stage = (int)row->stage;
        SCOPED(plan_free_at) struct lx_plan *p = make_plan_as(call, g, &asked);
        ok = p != NULL;
        if (ok)
            *row = (struct stage_row){row->name,
                                      row->what,
                                      row->stage,
                                      bits,
                                      p->figures.hbm_bytes,
                                      p->figures.baseline_hbm_bytes,
                                      p->figures.device_us,
                                      p->figures.end_to_end_us};
        step_count = ok ? p->gain_count : 0;
        for (int k = 0; k < step_count; k++)
            steps[k] = (struct step_row){.gain = p->gains[k],
                                         .saved = k ? p->gains[k - 1].hbm_bytes - p->gains[k].hbm_bytes : 0,
                                         .is_first = k == 0,
                                         .has_time = p->gains[k].us > 0};
    }
    lx_graph_free(g);
    if (!ok) return false;
    const struct table stage_table = TABLE(stage_columns, stages, STAGES),
                       step_table = TABLE(step_columns, steps, step_count);
    if (wants_json(call)) {
        text_add(out, "{\n  \"lxplan\": 1,\n  \"kind\": \"stages\",\n  \"stages\": [\n");
        table_add_json_rows(&stage_table, 4, out);
        text_add(out, "\n  ],\n  \"steps\": [\n");
        table_add_json_rows(&step_table, 4, out);
        text_add(out, "\n  ]\n}\n");
    } else {
        table_add_text(&stage_table, out);
        text_add(out, "\n");
        table_add_text(&step_table, out);
    }
    return true;
}
