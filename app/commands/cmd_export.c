/* lxplan export: a plan, or the buffers of a pattern, for other tools; the formats are the rows of lx_export_at. */
#include "planning/graph_files.h"
#include "planning/planning.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "interrupt.h"
#include "team/team_show.h"
#include "text/format.h"

#include <string.h>

static const struct option_row rows[] = {
    {"format", 'f', "FORMAT", "one of the formats below (default: minimalloc)"},
    {0},
};

static const struct option_words words[] = {{"format", written_format_word}, {0}};

/* The buffers of a problem; `p` NULL: of no plan. */
static char *cmd_export_write_buffers(struct call *call, const struct lx_graph *g,
                                      const struct lx_problem *problem, const struct lx_plan *p,
                                      const struct lx_format *format, size_t *length)
{
    struct lx_left_out left;
    lx_status st = {0};
    char *text = lx_export_list(g, problem, p, format, length, &left, &st);
    if (!text) return status_set_at(&call->st, st.code, g->file, 0, 0, "%s", st.text), NULL;
    /* Notes what the format cannot express. */
    bool of_plan = p != NULL;
    char what[300];
    if (left.barred) note(call, "%s left out: they must stay in HBM", counted(left.barred, "buffer").at);
    if (left.may_take)
        note(call, "%s may reuse another's memory; %s cannot express it", counted(left.may_take, "buffer").at,
             format->summary);
    if (left.needs)
        note(call, "left out, because %s cannot express it: %s", format->summary,
             lx_needs_words(left.needs, what, sizeof what));
    if (left.shared)
        note(call,
             "the addresses are left out: %s in the memory of another that is alive, which to %s is an "
             "overlap; the plan has them",
             counted(left.shared, "buffer").at, format->summary);
    if (of_plan && !left.places)
        note(call, "%s has no addresses; --format allocinfo of the same plan has them", format->summary);
    note(call, "capacity %s", in_bytes(problem->capacity).at);
    return text;
}

/* The pattern itself, of a file or of a plan. */
static char *cmd_export_write_pattern(struct call *call, const char *file, const char *text,
                                      const struct lx_format *format, size_t *length)
{
    struct lx_plan *plan = lx_is_plan(text, *length) ? plan_of_text(call, file, text, *length) : NULL;
    const struct lx_graph *read = lx_is_plan(text, *length) ? NULL : parse_graph(call, file, text, *length);
    const struct lx_graph *g = plan ? plan->graph : read;
    char *written = g ? graph_text(call, g, format->name, length) : NULL;
    lx_graph_free(read);
    lx_plan_free(plan);
    return written;
}

/* A format that only plans have. */
static char *write_answer(struct call *call, const char *file, const char *text,
                          const struct lx_format *format, size_t *length)
{
    if (!lx_is_plan(text, *length)) {
        status_set_at(&call->st, LX_E_USAGE, file, 0, 0,
                      "%s is written of plans only; make one with `lxplan plan`", format->summary);
        return NULL;
    }
    struct lx_plan *plan = plan_of_text(call, file, text, *length);
    char *written =
        plan ? format->write_answer(plan->graph, plan->answer.address, plan->answer.pool, length, &call->st)
             : NULL;
    lx_plan_free(plan);
    return written;
}

static char *cmd_export_write_list(struct call *call, const char *file, const char *text,
                                   const struct lx_format *format, size_t *length)
{
    char *written = NULL;
    if (lx_is_plan(text, *length)) {
        struct lx_plan *plan = plan_of_text(call, file, text, *length);
        if (plan) written = cmd_export_write_buffers(call, plan->graph, &plan->problem, plan, format, length);
        lx_plan_free(plan);
        return written;
    }
    const struct lx_graph *g = parse_graph(call, file, text, *length);
    struct lx_question *q = g ? make_problem(call, g) : NULL;
    if (q) written = cmd_export_write_buffers(call, g, &q->problem, NULL, format, length);
    lx_question_free(q);
    lx_graph_free(g);
    return written;
}

/* The page of a team's plan. */
static char *team_page(const struct lx_team_plans *p, size_t *length)
{
    struct team_figures f;
    struct text out = {0};
    team_figures_make(p, &f);
    show_team_html(&f, &out);
    team_figures_free(&f);
    *length = out.length;
    return out.at;
}

static char *cmd_export_write_as(struct call *call, const char *file, const char *text,
                                 const struct lx_export *row, size_t *length)
{
    const struct lx_format *f = row->format;
    if (lx_is_team_plan(text, *length)) {
        /* A team has a time line and a page; other formats are of one device. */
        bool page = !row->format && strcmp(row->name, "html") == 0;
        if (!page && (row->format || strcmp(row->name, "perfetto") != 0)) {
            status_set_at(&call->st, LX_E_USAGE, file, 0, 0,
                          "the plan of a team has a plan per device; export the plan of one device, or the "
                          "team's time line with --format perfetto or html");
            return NULL;
        }
        struct lx_team_plans *p =
            no_planning_options(call, file) ? lx_team_plans_parse(file, text, *length, &call->st) : NULL;
        char *written = !p ? NULL : page ? team_page(p, length) : lx_team_trace(p, length);
        lx_team_plans_free(p);
        return written;
    }
    if (!f) {
        /* A format of plans; a pattern is planned. */
        lx_status st = {0};
        struct lx_plan *plan = plan_of_text(call, file, text, *length);
        char *written = plan ? lx_export_write(plan, NULL, row->name, length, &st) : NULL;
        if (plan && !written) status_set_at(&call->st, st.code, file, 0, 0, "%s", st.text);
        lx_plan_free(plan);
        return written;
    }
    return (f->write_graph    ? cmd_export_write_pattern
            : f->write_answer ? write_answer
                              : cmd_export_write_list)(call, file, text, f, length);
}

static int cmd_export_run(struct call *call)
{
    const char *path = call->line.files.at[0], *file = strcmp(path, "-") == 0 ? "standard input" : path;
    struct lx_export row;
    size_t length = 0;
    if (!written_format(call, &row)) return FAILED;
    char *text = file_read(path, &length, &call->st);
    char *written = text ? cmd_export_write_as(call, file, text, &row, &length) : NULL;
    mem_free(text);
    if (!written || !deliver(call, written, length)) return FAILED;
    if (!interrupted) return EXIT_YES;
    note(call, "%s: interrupted; this is the best plan so far", file);
    return EXIT_INTERRUPTED;
}

static void cmd_export_more_help(const struct call *call, struct text *out)
{
    (void)call;
    formats_help(out, true);
}

static const struct option_row *const tables[] = {
    rows, planning_rows, output_rows, quiet_rows, json_error_rows, help_rows, model_rows, NULL};

const struct command command_export = {
    .name = "export",
    .synopsis = "FILE | PLAN [--format FORMAT] [-o FILE]",
    .summary = "Write a plan, or the buffers of a pattern, for other tools",
    .details = "Lists of buffers come from the scratchpad stage, without buffers that must stay in HBM. For "
               "a plan,\n"
               "MiniMalloc CSV has the offsets of buffers on chip. A pattern is planned first where a format "
               "needs a\n"
               "plan, with the options of `plan`.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "FILE or PLAN",
    .run = cmd_export_run,
    .more_help = cmd_export_more_help,
};
