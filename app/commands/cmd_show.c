/* lxplan show: a plan as a picture. */
#include "planning/planning.h"
#include "planning/show_plan.h"
#include "interrupt.h"
#include "planning/buffer_table.h"
#include "html/html.h"
#include "team/team_show.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct option_row rows[] = {
    {"text", 0, NULL, "a map in plain text (default)"},
    {"svg", 0, NULL, "a drawing for browsers and documents"},
    {"html", 0, NULL,
     "one file for a browser: hover, a slider for time, what each core holds, tables that sort"},
    {"story", 0, NULL, "about ten sentences with figures, each with the command that shows it"},
    {"remedies", MORE, NULL, "with --html and a pattern: try all remedies, and list them"},
    {"width", MORE, "N", "width of the map in characters, of the drawing in pixels"},
    {"height", MORE, "N", "rows of the map, height of the drawing in pixels"},
    {"ascii", MORE, NULL, "no characters beyond ASCII in the map"},
    {"all", 'a', NULL, "list every buffer; for a team every tensor, step and device"},
    {"buffers", MORE, NULL, "all buffers as a table instead: what each moves, where it is and why"},
    {"format", 'f' | MORE, "WHAT", "of that table, or of the tables of a team's plan: {default}"},
    {0},
};

static void cmd_show_story(const struct lx_plan *p, const struct picture *how, struct text *out)
{
    SCOPED(story_free) struct story s;
    (void)how;
    story_make(p, &s);
    for (int i = 0; i < s.count; i++) {
        text_format(out, "%s\n", s.at[i].sentence.at);
        text_add(out, "    ");
        paint_add(out, PAINT_DIM, "lxplan ");
        paint_add(out, PAINT_DIM, s.at[i].shown_by);
        text_add(out, "\n");
    }
}

/* One row a form: who draws it, and the sizes it takes. */
static const struct form {
    const char *name;
    void (*draw)(const struct lx_plan *, const struct picture *, struct text *);
    int least_width, most_width, least_height, most_height;
} forms[] = {
    {"text", show_text, 24, 2000, 1, 2000},
    {"svg", show_svg, 300, 20000, 250, 20000},
    {"html", show_html, 300, 20000, 250, 20000},
    {"story", cmd_show_story, 24, 2000, 1, 2000},
};

static const char *cmd_show_format_word(int k)
{
    return exporters[k].name;
}

static const struct option_words words[] = {{"format", cmd_show_format_word}, {0}};

static void cmd_show_write_buffers(const struct exporter *e, const struct lx_plan *p, struct text *out)
{
    int32_t n = p->problem.count;
    OWNED struct buffer_row *buffers = mem_alloc(((size_t)n + 1) * sizeof *buffers);
    OWNED int64_t *moved = moved_by_buffers(p);
    for (int32_t i = 0; i < n; i++) buffers[i] = (struct buffer_row){p, moved, i};
    struct table t = TABLE(plan_buffer_columns, buffers, n);
    struct lx_byte_sums sums = lx_plan_byte_sums(p, moved);
    SCOPED(text_free) struct text notes = {0};
    add_byte_sums(p, &sums, &notes);
    text_add(&notes, "\n");
    t.key = "buffers";
    t.title = "buffers";
    t.notes = notes.at;
    text_add(out, e->begin);
    e->add(&t, out);
    if (e->end) e->end(out);
}

/* Delivered; what was drawn may be of a plan that was cut short. */
static int drawn(struct call *call, char *text, size_t length)
{
    if (!deliver(call, text, length)) return FAILED;
    if (!interrupted) return EXIT_YES;
    note_interrupted(call, call->line.files.at[0]);
    return EXIT_INTERRUPTED;
}

/* How large and with which characters; false with `call->st`. */
static bool read_picture(struct call *call, const struct form *form, struct picture *how)
{
    struct winsize size;
    int64_t width = 0, height = 0;
    if (!option_int(call, "width", form->least_width, form->most_width, &width) ||
        !option_int(call, "height", form->least_height, form->most_height, &height))
        return false;
    *how =
        (struct picture){.width = (int)width, .height = (int)height, .all = option_given(&call->line, "all")};
    how->ascii = option_given(&call->line, "ascii") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    if (goes_to_file(call))
        paint_off();
    else if (!how->width && form == forms)
        how->width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 0;
    return true;
}

/* --remedies: for the plan of a pattern, as data of its page. */
static int draw_plan(struct call *call, const struct form *form, const struct source *from)
{
    struct picture how;
    SCOPED(plan_free_at) struct lx_plan *p = read_picture(call, form, &how) ? plan_of_text(call, from) : NULL;
    if (!p) return FAILED;
    struct text picture = {0}, remedies = {0};
    bool ok = true;
    if (option_given(&call->line, "remedies")) {
        const char *path = call->line.files.at[0];
        if (form->draw != show_html)
            ok = status_set(&call->st, LX_E_USAGE, "--remedies goes with --html");
        else if (strcmp(path, "-") == 0)
            ok = status_set(&call->st, LX_E_USAGE, "--remedies needs a file, and not standard input");
        SCOPED(graph_free_at) const struct lx_graph *pattern = ok ? read_graph(call, path) : NULL;
        ok = pattern && add_remedies(call, pattern, p, NULL, html_table, &remedies);
    }
    how.remedies = remedies.at;
    if (ok) form->draw(p, &how, &picture);
    text_free(&remedies);
    return ok ? drawn(call, picture.at, picture.length) : FAILED;
}

static int draw_team(struct call *call, const struct form *form, const struct source *from)
{
    struct picture how;
    SCOPED(team_figures_free) struct team_figures f = {0};
    struct text out = {0};
    int k = -1;
    /* Options that a plan of one device has, and a team's has not. */
    static const char *const single[] = {"svg", "buffers", "remedies", "height"};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (option_given(&call->line, single[i]))
            return status_set_at(&call->st, LX_E_USAGE, from->file, 0, 0,
                                 "the plan of a team is shown as --text, --html or --format tables; --%s "
                                 "goes with the plan of one device",
                                 single[i]),
                   FAILED;
    if (!no_planning_options(call, from->file)) return FAILED;
    if (!read_picture(call, form, &how) ||
        (option_given(&call->line, "format") && !option_word(call, "format", cmd_show_format_word, &k)))
        return FAILED;

    SCOPED(team_plans_free_at)
    struct lx_team_plans *p = lx_team_plans_parse(from->file, from->text, from->length, &call->st);
    bool ok = p != NULL;
    if (ok) team_figures_make(p, &f);
    if (ok && k >= 0)
        write_team_tables(&f, &exporters[k], &out);
    else if (ok && form->draw == show_html)
        show_team_html(&f, &out);
    else if (ok)
        show_team_text(&f, &how, &out);
    return ok ? drawn(call, out.at, out.length) : FAILED;
}

static int cmd_show_run(struct call *call)
{
    struct source from = {0};
    const struct form *form = NULL;
    bool listed = option_given(&call->line, "buffers"), two = false;
    int code = FAILED, k = 0;
    if (listed && (option_given(&call->line, "svg") || option_given(&call->line, "text")))
        return status_set(&call->st, LX_E_USAGE,
                          "--buffers is a table, --text and --svg are maps; choose one"),
               FAILED;
    if (!read_source(call, 0, &from)) return FAILED;
    bool team = lx_is_team_plan(from.text, from.length);
    for (size_t i = 0; !(listed && !team) && i < sizeof forms / sizeof *forms; i++) {
        if (!option_given(&call->line, forms[i].name)) continue;
        if (form && !two)
            two = !status_set(&call->st, LX_E_USAGE, "--%s and --%s together; choose one", form->name,
                              forms[i].name);
        form = &forms[i];
    }
    if (!form) form = forms;
    if (!listed && !team && option_given(&call->line, "format"))
        status_set(&call->st, LX_E_USAGE, "--format goes with --buffers");
    else if (two) /* said above */
        code = FAILED;
    else if (team || !listed)
        code = team ? draw_team(call, form, &from) : draw_plan(call, form, &from);
    else if (option_word(call, "format", cmd_show_format_word, &k)) { /* --buffers: the table alone */
        SCOPED(plan_free_at) struct lx_plan *p = plan_of_text(call, &from);
        struct text out = {0};
        if (goes_to_file(call)) paint_off();
        if (p) cmd_show_write_buffers(&exporters[k], p, &out);
        if (p) code = drawn(call, out.at, out.length);
    }
    mem_free(from.text);
    return code;
}

static const struct option_row *const tables[] = {rows,      output_rows, planning_rows, json_error_rows,
                                                  help_rows, model_rows,  NULL};

const struct command command_show = {
    .balances = true,
    .name = "show",
    .synopsis = "PLAN | FILE [-s SOLVER] [--text|--svg|--html|--story|--buffers] [options]",
    .summary = "Draw a plan: addresses against time, and the buffers that are not on chip and why",
    .details =
        "A pattern is planned first. A buffer keeps its letter and colour, so that two plans of one pattern\n"
        "compare side by side. Of a team's plan (`plan --team`): shards of tensors, messages per step, "
        "bytes\n"
        "per axis, waits, and a time line of the devices.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "PLAN or FILE",
    .run = cmd_show_run,
};
