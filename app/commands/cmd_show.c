/* lxplan show: a plan as a picture. */
#include "planning/planning.h"
#include "base/fail.h"
#include "text/colour.h"
#include "picture/picture.h"

#include <langinfo.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct option_row rows[] = {
    {"text", 0, NULL, "a map in plain text (default)"},
    {"svg", 0, NULL, "a drawing for browsers and documents"},
    {"width", 0, "N", "width of the map in characters, of the drawing in pixels"},
    {"height", 0, "N", "rows of the map, height of the drawing in pixels"},
    {"ascii", 0, NULL, "no characters beyond ASCII in the map"},
    {"all", 'a', NULL, "list every buffer"},
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
};

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 0;
}

static int run(struct call *call)
{
    bool svg = option_given(&call->line, "svg");
    const struct form *form = &forms[svg];
    int64_t width = 0, height = 0;
    if (svg && option_given(&call->line, "text"))
        return status_set(&call->st, LX_E_USAGE, "--text and --svg together; choose one"), FAILED;
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
    else if (!how.width && !svg)
        how.width = terminal_columns();
    struct text picture = {0};
    form->draw(p, &how, &picture);
    lx_plan_free(p);
    if (picture.failed) text_free(&picture);
    return deliver(call, picture.at, picture.length) ? EXIT_YES : FAILED;
}

static const struct option_row *const tables[] = {rows,      output_rows, planning_rows, json_error_rows,
                                                  help_rows, NULL};

const struct command command_show = {
    .name = "show",
    .synopsis = "PLAN | FILE [-s SOLVER] [--text|--svg] [options]",
    .summary = "Draw a plan: addresses against time, and what is off chip and why",
    .details = "A pattern is planned first. Letters and colours belong to buffers: two plans of one pattern "
               "can be laid\n"
               "side by side.\n",
    .options = tables,
    .least_files = 1,
    .most_files = 1,
    .file_word = "PLAN or FILE",
    .run = run,
};
