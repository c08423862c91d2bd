/* lxplan export: the buffers of a pattern, or the placements of a plan, for other tools. */
#include "planning/planning.h"
#include "base/fail.h"
#include "base/file.h"
#include "text/format.h"

#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    {"format", 'f', "FORMAT", "{default}"},
    {0},
};

static const struct format {
    const char *name;
    char *(*write)(const struct lx_graph *g, size_t *length, lx_status *st);
    bool has_addresses;
} formats[] = {{"minimalloc", lx_graph_to_minimalloc, true}, {"xla", lx_graph_to_xla, false}};

static const char *format_word(int k)
{
    return k < (int)(sizeof formats / sizeof *formats) ? formats[k].name : NULL;
}

static const struct option_words words[] = {{"format", format_word}, {0}};

static const struct format *find_format(struct call *call)
{
    int k = 0;
    return option_word(call, "format", format_word, &k) ? &formats[k] : NULL;
}

/* The buffers of a problem as a list of their own, without those that may not be placed: other tools place
 * everything they are given. In place and roles have no columns, so edges are dropped with a word. */
static char *write_problem(struct call *call, const struct lx_plan *plan, bool with_addresses,
                           const struct format *format, size_t *length)
{
    const struct lx_problem *p = &plan->problem;
    struct lx_buffer *kept = malloc(((size_t)p->count + 1) * sizeof *kept);
    int32_t n = 0, edges = 0;
    if (!kept) return status_no_memory(&call->st), NULL;
    for (int32_t i = 0; i < p->count; i++) {
        if (p->buffers[i].reason) continue;
        kept[n] = p->buffers[i];
        edges += kept[n].parent_count > 0;
        if (with_addresses) kept[n].fixed = plan->answer.address[i];
        n++;
    }
    struct lx_graph list = {.name = plan->graph->name,
                            .summary = "",
                            .file = plan->graph->file,
                            .device = plan->graph->device,
                            .is_list = true,
                            .objective = p->objective,
                            .capacity = p->capacity,
                            .alignment = p->alignment,
                            .buffers = kept,
                            .buffer_count = n,
                            .target_hbm_bytes = -1};
    char *csv = format->write(&list, length, &call->st);
    if (csv && n < p->count)
        note(call, "%s left out: they may not be on chip", counted(p->count - n, "buffer").at);
    if (csv && edges)
        note(call, "%s may take another's place; CSV cannot say so", counted(edges, "buffer").at);
    if (csv) note(call, "capacity %s", in_bytes(p->capacity).at);
    free(kept);
    return csv;
}

static int run(struct call *call)
{
    const struct format *format = find_format(call);
    const char *path = call->line.files.at[0], *file = strcmp(path, "-") == 0 ? "standard input" : path;
    size_t length = 0;
    char *text = format ? file_read(path, &length, &call->st) : NULL;
    if (!text) return FAILED;
    bool is_plan = lx_is_plan(text, length);
    struct lx_plan *plan = NULL;
    if (is_plan && !format->has_addresses)
        status_set_at(&call->st, LX_E_USAGE, file, 0, 0,
                      "the %s form has no column for the addresses of a plan; use minimalloc", format->name);
    else if (is_plan)
        plan = plan_of_text(call, file, text, length);
    else {
        const struct lx_graph *g = lx_graph_parse(file, text, length, &call->st);
        if (g) plan = make_problem(call, g);
        lx_graph_free(g);
    }
    free(text);
    char *csv = plan ? write_problem(call, plan, is_plan, format, &length) : NULL;
    lx_plan_free(plan);
    return csv && deliver(call, csv, length) ? EXIT_YES : FAILED;
}

static const struct option_row *const tables[] = {rows,      output_rows, quiet_rows, json_error_rows,
                                                  help_rows, NULL};

const struct command command_export = {
    .name = "export",
    .synopsis = "FILE | PLAN [--format minimalloc|xla] [-o FILE.csv]",
    .summary = "Write the buffers of a pattern or plan as CSV for other tools",
    .details = "Of a graph, the buffers of its scratchpad stage; those that may not be on chip are left out. "
               "Of a plan,\n"
               "MiniMalloc CSV with the column offset filled in for what is on chip.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "FILE or PLAN",
    .run = run,
};
