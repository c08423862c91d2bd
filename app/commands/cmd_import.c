/* lxplan import: what another tool has written becomes a pattern. */
#include "commands/import_table.h"
#include "planning/by_library.h"
#include "planning/model_reading.h"
#include "planning/format_words.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    {"capacity", 0, "BYTES",
     "the scratchpad that the buffers must share (default: the number in the name of the file, "
     "as in NAME.1048576.csv; without one the least height is asked for)"},
    {"report", 0, "FILE", "of a model: write what became of each kind of op, in ops and bytes, as JSON"},
    {0},
};

/* Tensors and ops that are a pattern already have nothing to become. */
static bool cmd_import_is_news(const struct lx_format *format, const struct lx_graph *g, lx_status *st)
{
    if (g->is_list || format != lx_formats()) return true;
    return status_set_at(
        st, LX_E_USAGE, g->file, 0, 0,
        "a pattern with tensors and ops already; import takes files of other tools, and buffer lists");
}

static const struct lx_graph *read_model(struct call *call, const char *file, const char *text, size_t length,
                                         char **report)
{
    struct model_options how;
    const char *path = option_value(&call->line, "report");
    const struct lx_graph *g = NULL;
    if (read_model_options(call, &how))
        g = lx_model_import(file, text, length, &how.import, report, &call->st);
    if (!g || !path || keep_file(call, path, *report, strlen(*report))) return g;
    lx_graph_free(g);
    return NULL;
}

/* Of another tool, but no model: then there is no report either. */
static const struct lx_graph *read_other(struct call *call, const char *file, const char *text, size_t length)
{
    if (option_given(&call->line, "report"))
        return status_set_at(&call->st, LX_E_USAGE, file, 0, 0,
                             "--report tells of a model (TTIR, HLO or ONNX), and this is none; leave it out"),
               NULL;
    return parse_graph(call, file, text, length);
}

/* *report: of a model; else NULL. */
static const struct lx_graph *read_foreign(struct call *call, const char *path, char **report)
{
    size_t length;
    lx_status *st = &call->st;
    char *text = file_read(path, &length, st);
    if (!text) return NULL;
    const char *file = strcmp(path, "-") == 0 ? "standard input" : path;
    const struct lx_graph *g = lx_model_sniff(text, length) ? read_model(call, file, text, length, report)
                                                            : read_other(call, file, text, length);
    bool ok = g && cmd_import_is_news(lx_format_of(text, length), g, st);
    mem_free(text);
    if (ok) return g;
    lx_graph_free(g);
    return NULL;
}

static int cmd_import_run(struct call *call)
{
    int64_t capacity = -1;
    size_t length = 0;
    if (!option_int(call, "capacity", 0, LX_INT_MAX, &capacity)) return FAILED;
    char *report = NULL;
    const struct lx_graph *g = read_foreign(call, call->line.files.at[0], &report);
    if (!g) return mem_free(report), FAILED;
    const struct lx_graph *list =
        capacity < 0 ? lx_graph_ref(g) : lx_graph_with_capacity(g, capacity, &call->st);
    char *json = list ? graph_text(call, list, "pattern", &length) : NULL;
    lx_graph_free(g);
    lx_graph_free(list);
    /* A table beside a file, once that is written. */
    bool ok = json && deliver(call, json, length) &&
              (!report || !goes_to_file(call) || wants_json(call) || show_import(call, report));
    mem_free(report);
    return ok ? EXIT_YES : FAILED;
}

static void cmd_import_more_help(const struct call *call, struct text *out)
{
    (void)call;
    formats_help(out, false);
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
    .more_help = cmd_import_more_help,
};
