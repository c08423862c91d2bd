/* lxplan solvers: who can be asked what, and how each is adjusted. */
#include "command.h"
#include "base/fail.h"
#include "text/gathered.h"
#include "text/format.h"

#include <inttypes.h>
#include <string.h>

static const struct option_row rows[] = {{"names", 0, NULL, "only the names, one per line"}, {0}};

static void add_questions(const struct lx_solver *s, const char *quote, const char *between, struct text *t)
{
    bool any = false;
    for (enum lx_objective o = 0; o < LX_OBJECTIVE_COUNT; o++) {
        if (!lx_can(s, o)) continue;
        text_format(t, "%s%s%s%s", any ? between : "", quote, lx_objective_word(o), quote);
        any = true;
    }
}

static void write_json(const struct lx_solver *s, struct text *t)
{
    text_add(t, "{\"name\": ");
    text_json_string(t, s->name);
    text_add(t, ", \"summary\": ");
    text_json_string(t, s->summary);
    text_add(t, ", \"questions\": [");
    add_questions(s, "\"", ", ", t);
    text_format(t, "], \"proves\": %s, \"seeded\": %s, \"options\": [",
                s->caps & LX_CAN_PROVE ? "true" : "false", s->caps & LX_IS_SEEDED ? "true" : "false");
    for (int i = 0; i < s->option_count; i++) {
        const struct lx_option *o = &s->options[i];
        text_format(t,
                    "%s{\"name\": \"%s\", \"default\": %" PRId64 ", \"low\": %" PRId64 ", \"high\": %" PRId64
                    ", \"help\": ",
                    i ? ", " : "", o->name, o->def, o->low, o->high);
        text_json_string(t, o->help);
        text_add(t, "}");
    }
    text_add(t, "]}");
}

static void list_as_json(struct text *t)
{
    text_add(t, "{\"lxplan\": 1, \"kind\": \"solvers\", \"solvers\": [\n");
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        text_add(t, "  ");
        write_json(*s, t);
        text_add(t, s[1] ? ",\n" : "\n");
    }
    text_add(t, "]}\n");
}

static void list_as_text(struct text *out)
{
    static const struct heading columns[] = {
        {"name", false}, {"answers", false}, {"proves", false}, {"seeded", false}, {"", false}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        struct text answers = {0};
        add_questions(*s, "", ", ", &answers);
        gathered_name(&t, (*s)->name);
        gathered_cell(&t, PAINT_PLAIN, "%s", answers.at ? answers.at : "");
        gathered_cell(&t, PAINT_PLAIN, "%s", (*s)->caps & LX_CAN_PROVE ? "yes" : "");
        gathered_cell(&t, PAINT_PLAIN, "%s", (*s)->caps & LX_IS_SEEDED ? "yes" : "");
        gathered_words(&t, PAINT_PLAIN, (*s)->summary);
        text_free(&answers);
    }
    gathered_write(&t, out);
}

static void describe(const struct lx_solver *s, struct text *out)
{
    static const struct heading columns[] = {
        {"option", false}, {"default", true}, {"from", true}, {"to", true}, {"", false}};
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    paint_add(out, PAINT_HEADING, s->name);
    text_format(out, ": %s\nanswers ", s->summary);
    add_questions(s, "", ", ", out);
    text_format(out, "; %s; %s\n",
                s->caps & LX_CAN_PROVE ? "can prove its answers" : "proves nothing by itself",
                s->caps & LX_IS_SEEDED ? "the seed changes its answer" : "takes no seed");
    if (s->option_count == 0) {
        text_add(out, "It has no options.\n");
        return;
    }
    text_add(out, "\n");
    for (int i = 0; i < s->option_count; i++) {
        const struct lx_option *o = &s->options[i];
        gathered_name(&t, o->name);
        gathered_cell(&t, PAINT_PLAIN, "%s", grouped(o->def).at);
        gathered_cell(&t, PAINT_PLAIN, "%s", grouped(o->low).at);
        gathered_cell(&t, PAINT_PLAIN, "%s", grouped(o->high).at);
        gathered_words(&t, PAINT_PLAIN, o->help);
    }
    gathered_write(&t, out);
}

static const char *solver_word(int k)
{
    return lx_solvers()[k] ? lx_solvers()[k]->name : NULL;
}

static int run(struct call *call)
{
    if (call->line.files.count == 0) {
        if (option_given(&call->line, "names"))
            for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
                text_format(&call->out, "%s\n", (*s)->name);
        else if (wants_json(call))
            list_as_json(&call->out);
        else
            list_as_text(&call->out);
        return EXIT_YES;
    }
    const char *name = call->line.files.at[0];
    const struct lx_solver *s = lx_solver_find(name);
    if (!s) {
        status_set(&call->st, LX_E_UNKNOWN_NAME, "there is no solver \"%s\"; `lxplan solvers` lists them",
                   name);
        return FAILED;
    }
    if (option_given(&call->line, "names"))
        text_format(&call->out, "%s\n", s->name);
    else if (wants_json(call)) {
        text_add(&call->out, "{\"lxplan\": 1, \"kind\": \"solvers\", \"solvers\": [");
        write_json(s, &call->out);
        text_add(&call->out, "]}\n");
    } else
        describe(s, &call->out);
    return EXIT_YES;
}

static const struct option_row *const tables[] = {rows, json_rows, help_rows, NULL};

const struct command command_solvers = {
    .name = "solvers",
    .synopsis = "[NAME] [--names] [--json]",
    .summary = "List the solvers, or the options of one",
    .details = "The questions: spill, keep on chip what saves most traffic; fit, place every buffer; height, "
               "place every\n"
               "buffer in the least memory.\n",
    .options = tables,
    .most_files = 1,
    .file_word = "NAME",
    .run = run,
    .file = solver_word,
};
