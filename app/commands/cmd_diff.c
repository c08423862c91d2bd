/* lxplan diff: what changed between two plans, why, and what was gained. */
#include "team/team_diff.h"
#include "text/table.h"
#include "export/nest_words.h"

/* Traffic of the nests of two plans: a row per run of ops, one for all other ops, and the sum. */

struct nest_row {
    const struct lx_plan *p, *q;
    struct lx_nest_change c;
    const char *word; /* of rows that are no run */
};

static void value_gain(struct value *v, int64_t gain)
{
    value_whole(v, gain);
    v->paint = gain < 0 ? PAINT_BAD : PAINT_PLAIN;
    value_format(v, "%s%s", gain > 0 ? "+" : "", grouped(gain).at);
}

/* "scores-mixed: x32 over h", one after the other. */
static void nests_value(const struct lx_plan *p, int32_t first, int32_t count, struct value *v)
{
    SCOPED(text_free) struct text t = {0};
    const struct lx_op *ops = p->layouts->graph->ops;
    for (int32_t i = first; i < first + count; i++) {
        const struct lx_nest *n = &p->nests[i];
        text_add(&t, i > first ? "; " : "");
        add_printable(&t, ops[n->first].name, 20);
        if (n->last > n->first) {
            text_add(&t, "-");
            add_printable(&t, ops[n->last].name, 20);
        }
        text_add(&t, ": ");
        add_nest_words(p, n, &t);
    }
    if (t.length) value_add(v, t.at);
    if (count == 0) v->words = "no nest";
}

/* clang-format off */
VALUE_OF(nests_after_value, struct nest_row,
    if (row->word)
        v->words = "";
    else
        nests_value(row->q, row->c.first_after, row->c.count_after, v);)
VALUE_OF(nests_before_value, struct nest_row,
    if (row->word)
        v->words = row->word;
    else
        nests_value(row->p, row->c.first_before, row->c.count_before, v);)
VALUE_OF(nest_gain_value, struct nest_row, value_gain(v, row->c.bytes_before - row->c.bytes_after);)

static const struct column nest_change_array[] = {
    {.key = "before",       .heading = "nests before", .kind = VALUE_WORDS, .value = nests_before_value},
    {.key = "after",        .heading = "nests after",  .kind = VALUE_WORDS, .value = nests_after_value},
    {.key = "bytes_before", .heading = "bytes before", .kind = VALUE_BYTES, MEMBER(struct nest_row, c.bytes_before)},
    {.key = "bytes_after",  .heading = "bytes after",  .kind = VALUE_BYTES, MEMBER(struct nest_row, c.bytes_after)},
    {.key = "gain_bytes",   .heading = "gain",         .kind = VALUE_BYTES, .value = nest_gain_value},
};
/* clang-format on */

const struct columns nest_change_columns = COLUMNS("nests of two plans", nest_change_array);

static struct nest_row *diff_nests_list_rows(const struct lx_plan *p, const struct lx_plan *q,
                                             const struct lx_nest_diff *d, int64_t *count)
{
    struct nest_row *rows = mem_zeroed((size_t)d->count + 2, sizeof *rows);
    *count = 0;
    for (int32_t i = 0; i < d->count; i++) rows[(*count)++] = (struct nest_row){p, q, d->all[i], NULL};
    rows[(*count)++] = (struct nest_row){p, q, d->others, "all other ops"};
    rows[(*count)++] = (struct nest_row){
        p, q, {.bytes_before = p->figures.hbm_bytes, .bytes_after = q->figures.hbm_bytes}, "in all"};
    return rows;
}

static void place_value(int64_t address, const char *pool, bool is_there, struct value *v)
{
    if (address >= 0) value_whole(v, address);
    if (address >= 0 && *pool)
        value_format(v, "%s %lld", pool, (long long)address);
    else if (address < 0)
        v->words = is_there ? "off chip" : "-";
    v->paint = is_there ? PAINT_PLAIN : PAINT_DIM;
}

/* clang-format off */
VALUE_OF(cmd_diff_why_value, struct lx_difference,
    v->paint = PAINT_DIM;
    if (*row->in_place_of) {
        value_add(v, "in place of ");
        value_add(v, row->in_place_of);
    } else
        v->words = row->reason;)
VALUE_OF(change_value, struct lx_difference, v->words = lx_change_word(row->change);)
VALUE_OF(before_value, struct lx_difference, place_value(row->address_before, row->pool_before, row->before >= 0, v);)
VALUE_OF(after_value,  struct lx_difference, place_value(row->address_after, row->pool_after, row->after >= 0, v);)
VALUE_OF(buffer_gain_value, struct lx_difference, value_gain(v, row->gain);)

static const struct column difference_array[] = {
    {.key = "buffer",         .heading = "buffer", .kind = VALUE_NAME,    MEMBER(struct lx_difference, name)},
    {.key = "change",                              .kind = VALUE_WORDS,   .value = change_value},
    {.key = "address_before", .heading = "before", .kind = VALUE_ADDRESS, .value = before_value},
    {.key = "address_after",  .heading = "after",  .kind = VALUE_ADDRESS, .value = after_value},
    {.key = "pool_before",                         .kind = VALUE_NAME,    .flags = COLUMN_MAY_LACK, MEMBER(struct lx_difference, pool_before)},
    {.key = "pool_after",                          .kind = VALUE_NAME,    .flags = COLUMN_MAY_LACK, MEMBER(struct lx_difference, pool_after)},
    {.key = "gain_bytes",     .heading = "gain",   .kind = VALUE_BYTES,   .value = buffer_gain_value},
    {.key = "in_place_of",                         .kind = VALUE_NAME,    .flags = COLUMN_MAY_LACK, MEMBER(struct lx_difference, in_place_of)},
    {.key = "reason",                              .kind = VALUE_WORDS,   .flags = COLUMN_MAY_LACK, MEMBER(struct lx_difference, reason)},
    {.key = "why",            .heading = "why",    .kind = VALUE_WORDS,   .flags = COLUMN_PEOPLE,   .value = cmd_diff_why_value},
};
/* clang-format on */

const struct columns difference_columns = COLUMNS("differences of two plans", difference_array);

/* One share of the traffic. */
struct share_row {
    const char *word, *words;
    int64_t before, after;
};

/* clang-format off */
VALUE_OF(share_gain_value, struct share_row, value_gain(v, row->before - row->after);)

static const struct column share_array[] = {
    {.key = "share",                             .kind = VALUE_WORDS, MEMBER(struct share_row, word)},
    {.key = "words",        .heading = "bytes",  .kind = VALUE_WORDS, .flags = COLUMN_PEOPLE, MEMBER(struct share_row, words)},
    {.key = "bytes_before", .heading = "before", .kind = VALUE_BYTES, MEMBER(struct share_row, before)},
    {.key = "bytes_after",  .heading = "after",  .kind = VALUE_BYTES, MEMBER(struct share_row, after)},
    {.key = "gain_bytes",   .heading = "gain",   .kind = VALUE_BYTES, .value = share_gain_value},
};
/* clang-format on */

const struct columns share_columns = COLUMNS("shares of the traffic of two plans", share_array);

/* The kinds of traffic that either plan has, and their sum. */
static int64_t share_rows(const struct lx_diff *d, struct share_row rows[LX_PART_COUNT + 1])
{
    int64_t count = 0;
    struct share_row sum = {"sum", "in all", 0, 0};
    for (int s = 0; s < LX_PART_COUNT; s++) {
        if (s < LX_PART_RING) sum.before += d->share_before[s], sum.after += d->share_after[s];
        if (s == LX_PART_RING) rows[count++] = sum;
        if (d->share_before[s] || d->share_after[s])
            rows[count++] = (struct share_row){lx_part_word((enum lx_part)s), lx_part_words((enum lx_part)s),
                                               d->share_before[s], d->share_after[s]};
    }
    return count;
}

static void cmd_diff_add_side(const char *word, const struct lx_plan *p, struct text *out)
{
    text_add(out, word);
    add_printable(out, p->solver, 0);
    text_format(out, ", %s, %s of traffic", lx_verdict_word(p->answer.status),
                in_bytes(p->figures.hbm_bytes).at);
    if (!p->graph->list)
        text_format(out, ", %s on the device, %s end to end", in_micros(p->figures.device_us).at,
                    in_micros(p->figures.end_to_end_us).at);
    text_add(out, "\n");
}

static void cmd_diff_write_text(const struct lx_plan *p, const struct lx_plan *q, const struct lx_diff *d,
                                const struct lx_nest_diff *nests, struct text *out)
{
    if (!d->same_pattern)
        text_add(out, "The patterns have one name but differ; buffers are compared by name.\n");
    cmd_diff_add_side("before: ", p, out);
    cmd_diff_add_side("after:  ", q, out);
    int64_t gain = d->gain;
    struct text line = {0};
    if (gain == 0)
        text_add(&line, "no traffic gained or lost");
    else
        text_format(&line, "%s %s", in_bytes(gain < 0 ? -gain : gain).at, gain > 0 ? "gained" : "lost");
    paint_add(out, gain > 0 ? PAINT_GOOD : gain < 0 ? PAINT_BAD : PAINT_PLAIN, line.at ? line.at : "");
    text_free(&line);
    text_add(out, "\n");
    if (d->count == 0) text_add(out, "Every buffer is where it was.\n");
    int64_t count;
    struct nest_row *nest_rows = diff_nests_list_rows(p, q, nests, &count);
    if (nests->count) {
        text_format(out, "\n%s of ops in other nests:\n", counted(nests->count, "run").at);
        table_add_text(&TABLE(nest_change_columns, nest_rows, count), out);
    }
    mem_free(nest_rows);
    struct share_row shares[LX_PART_COUNT + 1];
    if (d->count) {
        text_add(out, "\n");
        table_add_text(&TABLE(share_columns, shares, share_rows(d, shares)), out);
    }
    const struct lx_difference *rows = d->all;
    for (int c = 0; c < LX_CHANGE_COUNT; rows += d->of_change[c++]) {
        if (d->of_change[c] == 0) continue;
        text_format(out, "\n%s %s:\n", counted(d->of_change[c], "buffer").at,
                    lx_change_words((enum lx_change)c));
        table_add_text(&TABLE(difference_columns, rows, d->of_change[c]), out);
    }
}

static void cmd_diff_write_json(const struct lx_plan *p, const struct lx_plan *q, const struct lx_diff *d,
                                const struct lx_nest_diff *nests, struct text *t)
{
    text_add(t, "{\n  \"lxplan\": 1,\n  \"kind\": \"diff\",\n  \"pattern\": ");
    text_json_string(t, q->graph->name);
    text_format(t, ",\n  \"same_pattern\": %s,\n  \"equal\": %s,\n", d->same_pattern ? "true" : "false",
                d->count + nests->count == 0 ? "true" : "false");
    text_format(t,
                "  \"hbm_bytes_before\": %" PRId64 ",\n  \"hbm_bytes_after\": %" PRId64
                ",\n  \"gain_bytes\": %" PRId64 ",\n",
                p->figures.hbm_bytes, q->figures.hbm_bytes, d->gain);
    if (!p->graph->list && !q->graph->list)
        text_format(t,
                    "  \"device_us_before\": %.9g,\n  \"device_us_after\": %.9g,\n"
                    "  \"end_to_end_us_before\": %.9g,\n  \"end_to_end_us_after\": %.9g,\n",
                    p->figures.device_us, q->figures.device_us, p->figures.end_to_end_us,
                    q->figures.end_to_end_us);
    struct share_row shares[LX_PART_COUNT + 1];
    if (p->nest_count + q->nest_count > 0) {
        int64_t count;
        OWNED struct nest_row *rows = diff_nests_list_rows(p, q, nests, &count);
        text_add(t, "  \"nests\": [\n");
        if (nests->count) table_add_json_rows(&TABLE(nest_change_columns, rows, count), 4, t);
        text_add(t, nests->count ? "\n  ],\n" : "  ],\n");
    }
    text_add(t, "  \"shares\": [\n");
    table_add_json_rows(&TABLE(share_columns, shares, share_rows(d, shares)), 4, t);
    text_add(t, "\n  ],\n  \"changes\": [\n");
    table_add_json_rows(&TABLE(difference_columns, d->all, d->count), 4, t);
    text_add(t, d->count ? "\n  ]\n}\n" : "  ]\n}\n");
}

/* Plans of one pattern, or of two with one name. */
static bool may_compare(struct call *call, const struct lx_graph *p, const struct lx_graph *q)
{
    if (p->hash == q->hash || strcmp(p->name, q->name) == 0) return true;
    return status_set_at(&call->st, LX_E_MISMATCH, call->line.files.at[1], 0, 0,
                         "a plan of %s, but the first is of %s; compare plans of one pattern", q->name,
                         p->name);
}

static int diff_plans(struct call *call, const struct source from[2])
{
    int code = FAILED;
    struct lx_plan *both[2] = {0};
    SCOPED(lx_diff_free) struct lx_diff d = {0};
    SCOPED(lx_nest_diff_free) struct lx_nest_diff nests = {0};
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        both[i] = lx_plan_of_any(from[i].file, from[i].text, from[i].length, &call->st);
        ok = both[i];
    }
    const struct lx_plan *p = both[0], *q = both[1];
    if (ok && may_compare(call, p->graph, q->graph)) {
        lx_plan_diff(p, q, &d);
        if (!p->graph->list && !q->graph->list) lx_nest_diff(p, q, &nests);
        if (wants_json(call))
            cmd_diff_write_json(p, q, &d, &nests, &call->out);
        else if (!is_quiet(call))
            cmd_diff_write_text(p, q, &d, &nests, &call->out);
        code = d.count + nests.count ? EXIT_NO : EXIT_YES;
    }
    lx_plan_free(both[0]);
    lx_plan_free(both[1]);
    return code;
}

static int diff_teams(struct call *call, const struct source from[2])
{
    struct lx_team_plans *p[2] = {0};
    struct team_figures f[2] = {0};
    struct team_diff d;
    int code = FAILED;
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        p[i] = lx_team_plans_parse(from[i].file, from[i].text, from[i].length, &call->st);
        ok = p[i] != NULL;
        if (ok) team_figures_make(p[i], &f[i]);
    }
    if (ok && may_compare(call, p[0]->team->graph, p[1]->team->graph)) {
        team_diff_make(&f[0], &f[1], &d);
        if (wants_json(call))
            team_diff_json(&d, &call->out);
        else if (!is_quiet(call))
            team_diff_text(&d, &call->out);
        code = team_diff_is_equal(&d) ? EXIT_YES : EXIT_NO;
        team_diff_free(&d);
    }
    for (int i = 0; i < 2; i++) {
        team_figures_free(&f[i]);
        lx_team_plans_free(p[i]);
    }
    return code;
}

static int cmd_diff_run(struct call *call)
{
    struct source from[2] = {0};
    int code = FAILED;
    if (read_source(call, 0, &from[0]) && read_source(call, 1, &from[1])) {
        bool first = lx_is_team_plan(from[0].text, from[0].length),
             second = lx_is_team_plan(from[1].text, from[1].length);
        if (first != second)
            status_set_at(
                &call->st, LX_E_USAGE, from[first].file, 0, 0,
                "the other file is the plan of a team, and this is none; `lxplan plan FILE --team 1 "
                "-o PLAN` makes one of a single device");
        else
            code = first ? diff_teams(call, from) : diff_plans(call, from);
    }
    mem_free(from[0].text);
    mem_free(from[1].text);
    return code;
}

static const struct option_row *const tables[] = {json_rows, quiet_rows, help_rows, NULL};

const struct command command_diff = {
    .balances = true,
    .name = "diff",
    .synopsis = "PLAN PLAN [--json] [-q]",
    .summary = "Compare two plans: which buffers moved, came on chip or went off, and why",
    .details =
        "Exit code 0: every buffer and nest is where it was; 1: they differ. A gain is HBM traffic that the\n"
        "second plan saves: for a buffer the bytes that ops move while it is not on chip; loads, stores and\n"
        "other kinds have rows of their own, which add up to the total. For two teams: tensors that are\n"
        "sharded differently, and the change in bytes and predicted time. Two patterns must have one name.\n",
    .options = tables,
    .least_files = 2,
    .most_files = 2,
    .file_word = "PLAN",
    .run = cmd_diff_run,
};
