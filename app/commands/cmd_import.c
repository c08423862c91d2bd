/* lxplan import: what another tool has written becomes a pattern. */
#include "planning/graph_files.h"
#include "text/table.h"
#include "base/json/json.h"

/* The coverage report for people: a row a kind of the file, and one line of sums. */

static const struct json_value *import_table_field(const void *row, const char *key)
{
    return json_find(*(const struct json_value *const *)row, key);
}

static void words_value(const void *row, const struct column *c, struct value *v)
{
    const struct json_value *f = import_table_field(row, c->key);
    v->words = f && f->text ? f->text : "";
}

static void number_value(const void *row, const struct column *c, struct value *v)
{
    const struct json_value *f = import_table_field(row, c->key);
    value_whole(v, f ? (int64_t)f->number : 0);
}

/* "mapped 12, generic 1" */
static void became_value(const void *row, const struct column *c, struct value *v)
{
    char words[200];
    size_t n = 0;
    const struct json_value *f;
    words[0] = 0;
    json_for_each(f, import_table_field(row, c->key)) {
        if (n + 40 > sizeof words) break;
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%.16s %lld", n ? ", " : "", f->key,
                              (long long)f->number);
    }
    value_format(v, "%s", words);
}

/* clang-format off */
static const struct column kind_array[] = {
    {.key = "kind",   .heading = "kind",   .kind = VALUE_NAME,  .value = words_value},
    {.key = "count",  .heading = "ops",    .kind = VALUE_COUNT, .value = number_value},
    {.key = "bytes",  .heading = "bytes",  .kind = VALUE_BYTES, .value = number_value},
    {.key = "became", .heading = "became", .kind = VALUE_WORDS, .value = became_value},
    {.key = "reason", .heading = "reason", .kind = VALUE_NAME,  .flags = COLUMN_MAY_HIDE, .value = words_value},
};
/* clang-format on */

const struct columns import_kind_columns = COLUMNS("kinds of a model", kind_array);

static double import_table_sum_of(const struct json_value *report, const char *group, const char *class)
{
    const struct json_value *of = json_find(json_find(report, "became"), group), *f;
    double sum = 0;
    json_for_each(f, of) {
        if (!class || strcmp(f->key, class) == 0) sum += f->number;
    }
    return sum;
}

static bool show_import(struct call *call, const char *report)
{
    struct json j;
    SCOPED(text_free) struct text out = {0};
    if (!json_parse(&j, "report", report, strlen(report), &call->st)) return false;
    const struct json_value *kinds = json_find(j.root, "kinds"), *k;
    size_t count = (size_t)json_count(kinds), n = 0;
    const struct json_value **rows = mem_zeroed(count + 1, sizeof *rows);
    json_for_each(k, kinds) {
        rows[n++] = k;
    }
    double ops = import_table_sum_of(j.root, "ops", NULL), bytes = import_table_sum_of(j.root, "bytes", NULL);
    double odd = import_table_sum_of(j.root, "ops", "generic"),
           odd_bytes = import_table_sum_of(j.root, "bytes", "generic");
    text_format(&out, "%s, %.2f %% of them and %.2f %% of their bytes generic\n",
                counted((int64_t)ops, "op").at, ops > 0 ? 100 * odd / ops : 0,
                bytes > 0 ? 100 * odd_bytes / bytes : 0);
    /* "x32: a to b, 94 ops" */
    const struct json_value *notes = json_find(j.root, "notes"),
                            *layers = notes ? json_find(notes, "layers") : NULL, *f;
    json_for_each(f, layers) {
        text_format(&out, "x%lld: ", (long long)f->number);
        add_printable(&out, f->key, 90);
        text_add(&out, "\n");
    }
    table_add_text(&TABLE(import_kind_columns, rows, n), &out);
    fputs(out.at, stdout);
    mem_free(rows);
    json_free(&j);
    return true;
}

static const struct option_row rows[] = {
    {"capacity", 0, "BYTES",
     "the scratchpad that the buffers must share (default: the number in the name of the file, as in "
     "NAME.1048576.csv; without one the least height is asked for)"},
    {"report", 0, "FILE", "of a model: write what became of each kind of op, in ops and bytes, as JSON"},
    {0},
};

/* *report: of a model; else NULL. */
static const struct lx_graph *read_foreign(struct call *call, char **report)
{
    struct source from = {0};
    struct model_options how;
    const char *path = option_value(&call->line, "report");
    const struct lx_graph *g = NULL;
    bool ok = read_source(call, 0, &from);
    if (ok && lx_model_sniff(from.text, from.length)) {
        if (read_model_options(call, &how))
            g = lx_model_import(from.file, from.text, from.length, &how.import, report, &call->st);
        ok = g && (!path || keep_file(call, path, *report, strlen(*report)));
    } else if (ok && path) /* a list of buffers of another tool has no report */
        ok = status_set_at(&call->st, LX_E_USAGE, from.file, 0, 0,
                           "--report tells of a model (TTIR, HLO or ONNX), and this is none; leave it out");
    else if (ok) {
        g = parse_graph(call, &from);
        ok = g != NULL;
    }
    if (ok && !g->list && lx_format_of(from.text, from.length) == lx_formats())
        ok = status_set_at(
            &call->st, LX_E_USAGE, g->file, 0, 0,
            "a pattern with tensors and ops already; import takes files of other tools, and buffer lists");
    mem_free(from.text);
    if (ok) return g;
    lx_graph_free(g);
    return NULL;
}

static int cmd_import_run(struct call *call)
{
    int64_t capacity = -1;
    size_t length = 0;
    if (!option_int(call, "capacity", 0, LX_INT_MAX, &capacity)) return FAILED;
    OWNED char *report = NULL;
    SCOPED(graph_free_at) const struct lx_graph *g = read_foreign(call, &report);
    if (!g) return FAILED;
    SCOPED(graph_free_at)
    const struct lx_graph *list =
        capacity < 0 ? lx_graph_ref(g) : lx_graph_with_capacity(g, capacity, &call->st);
    char *json = list ? graph_text(call, list, "pattern", &length) : NULL;
    /* A table beside a file, once that is written. */
    bool ok = json && deliver(call, json, length) &&
              (!report || !goes_to_file(call) || wants_json(call) || show_import(call, report));
    return ok ? EXIT_YES : FAILED;
}

static const struct option_row *const tables[] = {rows,      output_rows, json_error_rows,
                                                  help_rows, model_rows,  NULL};

const struct command command_import = {
    .name = "import",
    .synopsis = "FILE [--capacity BYTES] [--dim NAME=N]... [--report FILE] [-o FILE.json]",
    .summary = "Turn a file of another tool into a pattern",
    .options = tables,
    .least_files = 1,
    .most_files = 1,
    .file_word = "FILE",
    .run = cmd_import_run,
    .more_help = read_formats_help,
};
