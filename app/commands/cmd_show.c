/* lxplan show: a plan as a picture. */
#include "planning/planning.h"
#include "planning/show_plan.h"
#include "base/fail.h"
#include "interrupt.h"
#include "planning/buffer_table.h"
#include "text/table.h"
#include "text/colour.h"
#include "html/html.h"
#include "picture/picture.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct option_row rows[] = {
    {"text", 0, NULL, "a map in plain text (default)"},
    {"svg", 0, NULL, "a drawing for browsers and documents"},
    {"html", 0, NULL,
     "one file for a browser: hover, a slider for time, what each core holds, tables that sort"},
    {"remedies", 0, NULL, "with --html, of a pattern: try everything that could help, and list it"},
    {"width", 0, "N", "width of the map in characters, of the drawing in pixels"},
    {"height", 0, "N", "rows of the map, height of the drawing in pixels"},
    {"ascii", 0, NULL, "no characters beyond ASCII in the map"},
    {"all", 'a', NULL, "list every buffer"},
    {"buffers", 0, NULL, "all buffers as a table instead: what each moves, where it is and why"},
    {"format", 'f', "WHAT", "of that table: {default}"},
    {0},
};

/* One row a form: who draws it, and the sizes it takes. */
static const struct form {
    const char *name;
    void (*draw)(const struct lx_plan *, const struct picture *, struct text *);
    int least_width, most_width, least_height, most_height;
} forms[] = {
    {"text", show_text, 24, 2000, 1, 2000},
    {"svg", show_svg, 300, 20000, 250, 20000},
    {"html", show_html, 300, 20000, 250, 20000},
};

static const char *format_word(int k)
{
    return exporters[k].name;
}

static const struct option_words words[] = {{"format", format_word}, {0}};

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 0;
}

static void write_buffers(const struct exporter *e, const struct lx_plan *p, struct text *out)
{
    int32_t n = p->problem.count;
    struct buffer_row *buffers = malloc(((size_t)n + 1) * sizeof *buffers);
    int64_t *moved = moved_by_buffers(p);
    out->failed |= !buffers || !moved;
    for (int32_t i = 0; !out->failed && i < n; i++) buffers[i] = (struct buffer_row){p, moved, i};
    if (!out->failed) {
        struct table t = TABLE(plan_buffer_columns, buffers, n);
        struct lx_byte_sums sums = lx_plan_byte_sums(p, moved);
        struct text notes = {0};
        add_byte_sums(p, &sums, &notes);
        text_add(&notes, "\n");
        t.key = "buffers";
        t.title = "buffers";
        t.notes = notes.at;
        if (e->begin) e->begin(out);
        e->add(&t, out);
        if (e->end) e->end(out);
        text_free(&notes);
    }
    free(buffers);
    free(moved);
}

/* Delivered; what was drawn may be of a plan that was cut short. */
static int drawn(struct call *call, char *text, size_t length)
{
    if (!deliver(call, text, length)) return FAILED;
    if (!interrupted) return EXIT_YES;
    note(call, "%s: interrupted; this is the best plan so far", call->line.files.at[0]);
    return EXIT_INTERRUPTED;
}

/* --buffers: the table alone. */
static int list_buffers(struct call *call)
{
    int k = 0;
    if (!option_word(call, "format", format_word, &k)) return FAILED;
    struct lx_plan *p = read_or_make_plan(call, call->line.files.at[0]);
    if (!p) return FAILED;
    if (goes_to_file(call)) paint_off();
    struct text out = {0};
    write_buffers(&exporters[k], p, &out);
    lx_plan_free(p);
    if (out.failed) text_free(&out);
    return drawn(call, out.at, out.length);
}

/* NULL with `call->st`: two of them. */
static const struct form *form_asked(struct call *call)
{
    const struct form *form = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!option_given(&call->line, forms[i].name)) continue;
        if (form)
            return status_set(&call->st, LX_E_USAGE, "--%s and --%s together; choose one", form->name,
                              forms[i].name),
                   NULL;
        form = &forms[i];
    }
    return form ? form : forms;
}

/* What helps the plan of a pattern, as data of its page. False with `call->st`. */
static bool read_remedies(struct call *call, const struct form *form, const struct lx_plan *p,
                          struct text *out)
{
    const char *path = call->line.files.at[0];
    if (!option_given(&call->line, "remedies")) return true;
    if (form->draw != show_html) return status_set(&call->st, LX_E_USAGE, "--remedies goes with --html");
    if (strcmp(path, "-") == 0)
        return status_set(&call->st, LX_E_USAGE, "--remedies needs a file, and not standard input");
    const struct lx_graph *pattern = read_graph(call, path);
    bool ok = pattern && add_remedies(call, pattern, p, NULL, html_table, out);
    lx_graph_free(pattern);
    return ok && (!out->failed || status_no_memory(&call->st));
}

static int run(struct call *call)
{
    bool listed = option_given(&call->line, "buffers");
    if (listed && (option_given(&call->line, "svg") || option_given(&call->line, "text")))
        return status_set(&call->st, LX_E_USAGE,
                          "--buffers is a table, --text and --svg are maps; choose one"),
               FAILED;
    if (!listed && option_given(&call->line, "format"))
        return status_set(&call->st, LX_E_USAGE, "--format goes with --buffers"), FAILED;
    if (listed) return list_buffers(call);
    const struct form *form = form_asked(call);
    int64_t width = 0, height = 0;
    if (!form) return FAILED;
    if (!option_int(call, "width", form->least_width, form->most_width, &width) ||
        !option_int(call, "height", form->least_height, form->most_height, &height))
        return FAILED;
    struct lx_plan *p = read_or_make_plan(call, call->line.files.at[0]);
    if (!p) return FAILED;
    struct picture how = {
        .width = (int)width, .height = (int)height, .all = option_given(&call->line, "all")};
    how.ascii = option_given(&call->line, "ascii") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    if (goes_to_file(call))
        paint_off();
    else if (!how.width && form == forms)
        how.width = terminal_columns();
    struct text picture = {0}, remedies = {0};
    bool ok = read_remedies(call, form, p, &remedies);
    how.remedies = remedies.at;
    if (ok) form->draw(p, &how, &picture);
    lx_plan_free(p);
    text_free(&remedies);
    if (!ok) return FAILED;
    if (picture.failed) text_free(&picture);
    return drawn(call, picture.at, picture.length);
}

static const struct option_row *const tables[] = {rows,      output_rows, planning_rows, json_error_rows,
                                                  help_rows, model_rows,  NULL};

const struct command command_show = {
    .name = "show",
    .synopsis = "PLAN | FILE [-s SOLVER] [--text|--svg|--buffers] [options]",
    .summary = "Draw a plan: addresses against time, and what is off chip and why",
    .details = "A pattern is planned first. Letters and colours belong to buffers: two plans of one pattern "
               "can be laid\n"
               "side by side.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "PLAN or FILE",
    .run = run,
};
