/* lxplan plan --team --explain: the shards of a tensor, its readers and their exchanges, and the cost of
 * every other sharding, in words and as JSON. */
#include "interrupt.h"
#include "planning/show_plan.h"
#include "team/team_figures.h"

/* All searches together; each takes about as long as the plan itself. */
enum { SECONDS_FOR_ALL = 60 };

struct reason_row {
    const struct lx_shard_question *question;
    const struct lx_shard_reasons *reasons;
    const struct lx_shard_price *price;
};

struct read_row {
    const struct lx_team_plan *plan;
    int32_t op;
    int input;
};

/* As --cut takes it. */
static void add_choice(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], struct text *out)
{
    for (int a = 0; a < grid->axes; a++) {
        text_add(out, a ? "," : "");
        if (cut[a] < 0)
            text_add(out, "-");
        else
            text_format(out, "%d", cut[a]);
    }
}

static bool is_priced(const struct reason_row *row)
{
    return row->price->why.code == LX_OK;
}

/* clang-format off */
/* Bytes beside those of the chosen shard; below 0: the search missed a better one. */
VALUE_OF(more_value, struct reason_row,
    int64_t more = row->price->bytes - row->reasons->is.bytes;
    if (is_priced(row)) value_whole(v, more);
    if (is_priced(row)) value_format(v, "%s%s", more > 0 ? "+" : "", grouped(more).at);
    v->words = is_priced(row) ? v->made.at : NULL;)
VALUE_OF(state_value, struct reason_row, add_state(&row->question->plans->team->grid, row->price->shard, &v->made); v->words = v->made.at;)
VALUE_OF(choice_value, struct reason_row, add_choice(&row->question->plans->team->grid, row->price->shard, &v->made); v->words = v->made.at; v->paint = PAINT_DIM;)
VALUE_OF(bytes_value, struct reason_row, if (is_priced(row)) value_whole(v, row->price->bytes);)
VALUE_OF(hbm_value, struct reason_row, if (is_priced(row)) value_whole(v, row->price->hbm_bytes);)
VALUE_OF(us_value,    struct reason_row, v->number = is_priced(row) ? row->price->us : NAN;)
VALUE_OF(why_value,   struct reason_row, v->words = is_priced(row) ? "" : row->price->why.text; v->paint = PAINT_DIM;)

static const struct column reason_array[] = {
    {.key = "state",     .heading = "instead",         .kind = VALUE_WORDS,  .value = state_value},
    {.key = "cut",       .heading = "--cut",           .kind = VALUE_WORDS,  .value = choice_value},
    {.key = "bytes",     .heading = "exchanged",       .kind = VALUE_BYTES,  .value = bytes_value},
    {.key = "more",      .heading = "more",            .kind = VALUE_BYTES,  .value = more_value},
    {.key = "hbm_bytes", .heading = "HBM of a device", .kind = VALUE_BYTES,  .value = hbm_value},
    {.key = "us",        .heading = "predicted",       .kind = VALUE_MICROS, .digits = 9, .value = us_value},
    {.key = "why",       .heading = "why not",         .kind = VALUE_WORDS,  .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = why_value},
};
/* clang-format on */

/* NULL: the member has what it reads. */
static const struct lx_team_exchange *exchange_of(const struct read_row *row)
{
    int32_t e = row->plan->ops[row->op].exchange[row->input];
    return e >= 0 ? &row->plan->exchanges[e] : NULL;
}

/* clang-format off */
VALUE_OF(explain_cuts_by_value, struct read_row,
    const struct lx_team_exchange *x = exchange_of(row);
    v->paint = PAINT_DIM;
    v->words = x ? lx_team_pattern_word(x->pattern) : "what it has";
    if (!x || x->reads < 2) return;
    value_format(v, "%s, one of %s", lx_team_pattern_word(x->pattern), counted(x->reads, "read").at);
    v->words = v->made.at;)
VALUE_OF(reader_value, struct read_row, v->words = row->plan->graph->ops[row->op].name;)
VALUE_OF(kind_value,   struct read_row, v->words = row->plan->graph->ops[row->op].kind->name; v->paint = PAINT_DIM;)
VALUE_OF(how_value,    struct read_row, v->words = lx_team_mode_word(row->plan->ops[row->op].mode);)
VALUE_OF(moved_value,  struct read_row, const struct lx_team_exchange *x = exchange_of(row); value_dim(v, x ? x->bytes : 0);)

static const struct column read_array[] = {
    {.key = "op",       .heading = "read by",  .kind = VALUE_NAME,  .value = reader_value},
    {.key = "kind",     .heading = "kind",     .kind = VALUE_WORDS, .value = kind_value},
    {.key = "mode",     .heading = "computed", .kind = VALUE_WORDS, .value = how_value},
    {.key = "exchange", .heading = "needs",    .kind = VALUE_WORDS, .value = explain_cuts_by_value},
    {.key = "bytes",    .heading = "bytes",    .kind = VALUE_BYTES, .value = moved_value},
};
/* clang-format on */

const struct columns cut_reason_columns = COLUMNS("other shards of a tensor", reason_array);
const struct columns cut_read_columns = COLUMNS("reads of a sharded tensor", read_array);

static const struct lx_team_plan *team_of(const struct lx_shard_question *q)
{
    return q->plans->team;
}

/* "24,576 B exchanged", or the time where that counts. */
static void explain_cuts_add_cost(const struct lx_shard_question *q, const struct lx_shard_price *x,
                                  struct text *out)
{
    if (q->how->by_time) text_format(out, "%s predicted, ", in_micros(x->us).at);
    text_format(out, "%s exchanged", in_bytes(x->bytes).at);
}

/* "; runner-up: whole, 98,304 B exchanged (+73,728)" */
static void add_runner_up(const struct lx_shard_question *q, const struct lx_shard_reasons *r,
                          struct text *out)
{
    const struct lx_shard_price *x = r->others;
    if (r->other_count == 0 || x->why.code != LX_OK) {
        bool untried = false;
        for (int i = 0; i < r->other_count; i++) untried |= r->others[i].why.code == LX_E_STOPPED;
        text_add(out, r->other_count == 0 ? "; it cannot be sharded differently"
                      : untried           ? "; no time for other shards"
                                          : "; no other sharding has a plan");
        return;
    }
    bool better = lx_shard_better(x, &r->is, q->how->by_time);
    text_add(out, "; ");
    paint_add(out, better ? PAINT_BAD : PAINT_PLAIN, better ? "better" : "runner-up");
    text_add(out, ": ");
    add_state(&team_of(q)->grid, x->shard, out);
    text_add(out, ", ");
    explain_cuts_add_cost(q, x, out);
    /* Where bytes are equal, time decides. */
    int64_t more = x->bytes - r->is.bytes;
    double us = x->us - r->is.us;
    if (!q->how->by_time && more)
        text_format(out, " (%s%s)", more > 0 ? "+" : "", grouped(more).at);
    else if (fabs(us) < 0.005)
        text_add(out, " (the same)");
    else
        text_format(out, " (%+.2f us)", us);
}

static void add_headline(const struct lx_shard_question *q, const struct lx_shard_reasons *r,
                         struct text *out)
{
    add_printable(out, team_of(q)->graph->tensors[r->tensor].name, 0);
    text_add(out, " is ");
    add_state(&team_of(q)->grid, r->is.shard, out);
    text_add(out, ": ");
    explain_cuts_add_cost(q, &r->is, out);
    add_runner_up(q, r, out);
    text_add(out, "\n");
}

/* Every operand that reads it. */
static struct read_row *reads_of(const struct lx_team_plan *p, int32_t tensor, size_t *count)
{
    size_t most = 1;
    for (int32_t o = 0; o < p->graph->op_count; o++) most += (size_t)p->graph->ops[o].input_count;
    struct read_row *rows = mem_alloc(most * sizeof *rows);
    *count = 0;
    for (int32_t o = 0; o < p->graph->op_count; o++)
        for (int i = 0; i < p->graph->ops[o].input_count; i++)
            if (p->graph->ops[o].inputs[i] == tensor) rows[(*count)++] = (struct read_row){p, o, i};
    return rows;
}

static void show_reasons(const struct lx_shard_question *q, const struct lx_shard_reasons *r,
                         struct text *out)
{
    size_t count = 0;
    OWNED struct read_row *reads = reads_of(team_of(q), r->tensor, &count);
    OWNED struct reason_row *rows = mem_alloc(((size_t)r->other_count + 1) * sizeof *rows);
    for (int i = 0; i < r->other_count; i++) rows[i] = (struct reason_row){q, r, &r->others[i]};
    add_headline(q, r, out);
    /* Whose word it is; and what to do where another way is better. */
    const char *name = team_of(q)->graph->tensors[r->tensor].name;
    bool any = r->other_count && r->others->why.code == LX_OK;
    bool better = any && lx_shard_better(r->others, &r->is, q->how->by_time);
    text_format(out, "  %s", lx_shard_origin_help(r->origin));
    if (better) {
        text_add(out,
                 r->origin == LX_SHARD_FOUND ? ", and missed a better one: --cut " : "; better is --cut ");
        add_printable(out, name, 0);
        text_add(out, "=");
        add_choice(&team_of(q)->grid, r->others->shard, out);
    }
    text_add(out, "\n");
    const struct lx_team_plan *p = team_of(q);
    const struct lx_team_tensor *x = &p->tensors[r->tensor];
    for (int a = 0; a < p->grid.axes; a++) { /* "  axis 1 of 4 members: dimension 1, 64 + 64 + 64 + 64" */
        enum { MOST_BLOCKS = 8 };
        int d = x->shard[a], blocks = d >= 0 ? lx_team_blocks(&p->grid, x->shard, d) : 0;
        text_format(out, "  axis %d of %s: ", a, counted(p->grid.size[a], "member").at);
        text_add(out, d == LX_TEAM_PARTIAL ? "parts of sums, which nobody has joined" : d < 0 ? "whole" : "");
        if (d >= 0) text_format(out, "dimension %d, in blocks of ", d);
        for (int b = 0; b < blocks && b < MOST_BLOCKS && x->bound[d]; b++)
            text_format(out, "%s%" PRId64, b ? " + " : "", x->bound[d][b + 1] - x->bound[d][b]);
        text_add(out, blocks > MOST_BLOCKS ? " + ...\n" : "\n");
    }
    for (int32_t o = 0; o < p->graph->op_count; o++) {
        if (p->graph->ops[o].output != r->tensor) continue;
        text_add(out, "  made by ");
        add_printable(out, p->graph->ops[o].name, 0);
        text_format(out, " (%s)", lx_team_mode_word(p->ops[o].mode));
        int64_t bytes = lx_team_combined(p, o);
        if (bytes) text_format(out, ", %s to combine its partial sums", in_bytes(bytes).at);
        text_add(out, "\n");
    }
    text_format(out, "  most HBM of a device %s, %s predicted\n", in_bytes(r->is.hbm_bytes).at,
                in_micros(r->is.us).at);
    if (count) table_add_text(&TABLE(cut_read_columns, reads, count), out);
    if (r->other_count) table_add_text(&TABLE(cut_reason_columns, rows, r->other_count), out);
}

static void reasons_to_json(const struct lx_shard_question *q, const struct lx_shard_reasons *r,
                            struct text *out)
{
    size_t count = 0;
    OWNED struct read_row *reads = reads_of(team_of(q), r->tensor, &count);
    OWNED struct reason_row *rows = mem_alloc(((size_t)r->other_count + 1) * sizeof *rows);
    for (int i = 0; i < r->other_count; i++) rows[i] = (struct reason_row){q, r, &r->others[i]};
    text_add(out, "    {\"tensor\": ");
    text_json_string(out, team_of(q)->graph->tensors[r->tensor].name);
    text_add(out, ", \"state\": \"");
    add_state(&team_of(q)->grid, r->is.shard, out);
    text_add(out, "\", \"axes\": [");
    for (int a = 0; a < team_of(q)->grid.axes; a++) text_format(out, a ? ", %d" : "%d", r->is.shard[a]);
    text_format(out,
                "], \"origin\": \"%s\", \"bytes\": %" PRId64 ", \"hbm_bytes\": %" PRId64
                ", \"us\": %.9g,\n     \"reads\": [",
                lx_shard_origin_word(r->origin), r->is.bytes, r->is.hbm_bytes, r->is.us);
    if (reads) table_add_json_rows(&TABLE(cut_read_columns, reads, count), -1, out);
    text_add(out, "],\n     \"others\": [");
    if (rows) table_add_json_rows(&TABLE(cut_reason_columns, rows, r->other_count), -1, out);
    text_add(out, "]}");
}

/* Which tensors --explain names, each once; `*all`: by a dot. */
static bool read_named(struct call *call, const struct lx_graph *g, bool *named, bool *all)
{
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, "explain") != 0) continue;
        if (strcmp(o->value, WHOLE_PLAN) == 0) {
            *all = true;
            continue;
        }
        int32_t t = 0;
        while (t < g->tensor_count && strcmp(g->tensors[t].name, o->value) != 0) t++;
        if (t == g->tensor_count) {
            const char **names = mem_zeroed((size_t)g->tensor_count + 1, sizeof *names);
            for (t = 0; t < g->tensor_count; t++) names[t] = g->tensors[t].name;
            const char *near = nearest(o->value, names);
            mem_free(names);
            return status_set(&call->st, LX_E_UNKNOWN_NAME, "there is no tensor \"%s\"%s%s%s", o->value,
                              near ? "; did you mean \"" : "; --explain . lists them", near ? near : "",
                              near ? "\"?" : "");
        }
        named[t] = true;
    }
    return true;
}

bool show_cut_reasons(struct call *call, struct lx_shard_question *q, struct text *out)
{
    const struct lx_team_plan *p = team_of(q);
    const struct lx_plan_options *asked = q->plan;
    struct lx_plan_options plan = *asked;
    struct watch watch;
    bool all = false, first = true, *named = mem_zeroed((size_t)p->graph->tensor_count + 1, sizeof *named);
    bool ok = read_named(call, p->graph, named, &all);
    if (ok && wants_json(call)) {
        text_add(out, "{\"lxplan\": 1, \"kind\": \"cuts explained\", \"pattern\": ");
        text_json_string(out, p->graph->name);
        text_add(out, ", \"grid\": [");
        for (int a = 0; a < p->grid.axes; a++) text_format(out, a ? ", %d" : "%d", p->grid.size[a]);
        text_format(out, "], \"by\": \"%s\", \"tensors\": [\n", q->how->by_time ? "time" : "bytes");
    }
    watch_begin(&watch, plan.run.time_limit > 0 ? plan.run.time_limit : SECONDS_FOR_ALL);
    q->stop = plan.run.stop = watch_must_stop;
    q->context = plan.run.context = &watch;
    q->plan = &plan;
    for (int32_t t = 0; ok && t < p->graph->tensor_count; t++) {
        struct lx_shard_reasons r;
        if (!named[t] && !all) continue;
        lx_shard_reasons_find(q, t, &r);
        if (!first && (wants_json(call) || named[t])) text_add(out, wants_json(call) ? ",\n" : "\n");
        if (wants_json(call))
            reasons_to_json(q, &r, out);
        else if (named[t])
            show_reasons(q, &r, out);
        else
            add_headline(q, &r, out);
        lx_shard_reasons_free(&r);
        first = false;
    }
    watch_end(&watch);
    q->plan = asked;
    if (ok && wants_json(call)) text_add(out, "\n  ]}\n");
    mem_free(named);
    return ok;
}
