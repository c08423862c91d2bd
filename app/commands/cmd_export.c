/* lxplan export: a plan, or the buffers of a pattern, for other tools; the formats are the rows of
 * lx_export_at. */
#include "planning/planning.h"
#include "interrupt.h"
#include "team/team_show.h"

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

/* A team has a time line and a page; other formats are of one device. */
static char *export_team(struct call *call, const struct source *from, const struct lx_export *row,
                         size_t *length)
{
    bool page = !row->format && strcmp(row->name, "html") == 0;
    struct text out = {0};
    struct team_figures f;
    char *written = NULL;
    if (!page && (row->format || strcmp(row->name, "perfetto") != 0))
        return status_set_at(
                   &call->st, LX_E_USAGE, from->file, 0, 0,
                   "the plan of a team has a plan per device; export the plan of one device, or the "
                   "team's time line with --format perfetto or html"),
               NULL;
    if (!no_planning_options(call, from->file)) return NULL;
    SCOPED(team_plans_free_at)
    struct lx_team_plans *p = lx_team_plans_parse(from->file, from->text, from->length, &call->st);
    if (p && !page) written = lx_team_trace(p, length);
    if (p && page) {
        team_figures_make(p, &f);
        show_team_html(&f, &out);
        team_figures_free(&f);
        *length = out.length;
        written = out.at;
    }
    return written;
}

/* A plan, a pattern planned first where the format needs a plan, or the pattern itself. */
static char *cmd_export_write_as(struct call *call, const struct source *from, const struct lx_export *row,
                                 size_t *length)
{
    const struct lx_format *f = row->format;
    bool is_plan = lx_is_plan(from->text, from->length);
    char *written = NULL;
    lx_status st = {0};
    if (lx_is_team_plan(from->text, from->length)) return export_team(call, from, row, length);
    if (f && !f->write_graph && f->write_answer && !is_plan)
        return status_set_at(&call->st, LX_E_USAGE, from->file, 0, 0,
                             "%s is written of plans only; make one with `lxplan plan`", f->summary),
               NULL;
    SCOPED(plan_free_at) struct lx_plan *plan = is_plan || !f ? plan_of_text(call, from) : NULL;
    const struct lx_graph *read = is_plan || !f ? NULL : parse_graph(call, from),
                          *g = plan ? plan->graph : read;
    if (g && !f) {
        written = lx_export_write(plan, NULL, row->name, length, &st);
        if (!written) status_set_at(&call->st, st.code, from->file, 0, 0, "%s", st.text);
    } else if (g && f->write_graph)
        written = graph_text(call, g, f->name, length);
    else if (g && f->write_answer)
        written = f->write_answer(g, plan->answer.address, plan->answer.pool, length, &call->st);
    else if (plan)
        written = cmd_export_write_buffers(call, g, &plan->problem, plan, f, length);
    else if (g) {
        struct lx_question *q = make_problem(call, g);
        if (q) written = cmd_export_write_buffers(call, g, &q->problem, NULL, f, length);
        lx_question_free(q);
    }
    lx_graph_free(read);
    return written;
}

static int cmd_export_run(struct call *call)
{
    struct source from = {0};
    struct lx_export row;
    size_t length = 0;
    if (!written_format(call, &row) || !read_source(call, 0, &from)) return FAILED;
    char *written = cmd_export_write_as(call, &from, &row, &length);
    mem_free(from.text);
    if (!written || !deliver(call, written, length)) return FAILED;
    if (!interrupted) return EXIT_YES;
    note_interrupted(call, from.file);
    return EXIT_INTERRUPTED;
}

static const struct option_row *const tables[] = {
    rows, planning_rows, output_rows, quiet_rows, json_error_rows, help_rows, model_rows, NULL};

const struct command command_export = {
    .balances = true,
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
    .more_help = written_formats_help,
};
