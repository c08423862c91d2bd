/* lxplan solvers: who can be asked what, and how each is adjusted. */
#include "command.h"
#include "lxplan.h"
#include "own_plugins.h"
#include "text/table.h"

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

/* clang-format off */
typedef const struct lx_solver *solver_row;
VALUE_OF(name_value,    solver_row, v->words = (*row)->name;)
VALUE_OF(answers_value, solver_row, add_questions(*row, "", ", ", &v->made); v->words = v->made.at;)
VALUE_OF(proves_value,  solver_row, v->number = ((*row)->caps & LX_CAN_PROVE) != 0;)
VALUE_OF(seeded_value,  solver_row, v->number = ((*row)->caps & LX_IS_SEEDED) != 0;)
VALUE_OF(summary_value, solver_row, v->words = (*row)->summary;)

static const struct column solver_array[] = {
    {.key = "name",      .heading = "name",    .kind = VALUE_NAME,  .value = name_value},
    {.key = "questions", .heading = "answers", .kind = VALUE_WORDS, .value = answers_value},
    {.key = "proves",    .heading = "proves",  .kind = VALUE_BOOL,  .value = proves_value},
    {.key = "seeded",    .heading = "seeded",  .kind = VALUE_BOOL,  .value = seeded_value},
    {.key = "summary",   .heading = "",        .kind = VALUE_WORDS, .value = summary_value},
};

static const struct column option_array[] = {
    {.key = "name",    .heading = "option",  .kind = VALUE_NAME,  MEMBER(struct lx_option, name)},
    {.key = "default", .heading = "default", .kind = VALUE_COUNT, MEMBER(struct lx_option, def)},
    {.key = "low",     .heading = "from",    .kind = VALUE_COUNT, MEMBER(struct lx_option, low)},
    {.key = "high",    .heading = "to",      .kind = VALUE_COUNT, MEMBER(struct lx_option, high)},
    {.key = "help",    .heading = "",        .kind = VALUE_WORDS, MEMBER(struct lx_option, help)},
};

static const struct column stat_array[] = {
    {.key = "name", .heading = "counts", .kind = VALUE_NAME,  MEMBER(struct lx_stat_row, name)},
    {.key = "unit", .heading = "unit",   .kind = VALUE_WORDS, MEMBER(struct lx_stat_row, unit)},
    {.key = "help", .heading = "",       .kind = VALUE_WORDS, MEMBER(struct lx_stat_row, help)},
};
/* clang-format on */

const struct columns solver_columns = COLUMNS("solvers", solver_array);
const struct columns solver_option_columns = COLUMNS("options of a solver", option_array);
const struct columns solver_stat_columns = COLUMNS("statistics of a solver", stat_array);

static void cmd_solvers_write_json(const struct lx_solver *s, struct text *t)
{
    text_add(t, "{\"name\": ");
    text_json_string(t, s->name);
    text_add(t, ", \"summary\": ");
    text_json_string(t, s->summary);
    text_add(t, ", \"questions\": [");
    add_questions(s, "\"", ", ", t);
    text_format(t, "], \"proves\": %s, \"seeded\": %s, \"options\": [",
                s->caps & LX_CAN_PROVE ? "true" : "false", s->caps & LX_IS_SEEDED ? "true" : "false");
    table_add_json_rows(&TABLE(solver_option_columns, s->options, s->option_count), -1, t);
    text_add(t, "], \"stats\": [");
    table_add_json_rows(&TABLE(solver_stat_columns, s->stats, s->stat_count), -1, t);
    text_add(t, "]}");
}

static const char *cmd_solvers_solver_word(int k)
{
    return lx_solver_at(k, "name");
}

static int cmd_solvers_run(struct call *call)
{
    if (call->line.files.count == 0) {
        if (option_given(&call->line, "names"))
            for (int k = 0; cmd_solvers_solver_word(k); k++)
                text_format(&call->out, "%s\n", cmd_solvers_solver_word(k));
        else if (wants_json(call)) {
            text_add(&call->out, "{\"lxplan\": 1, \"kind\": \"solvers\", \"solvers\": [\n");
            for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
                text_add(&call->out, "  ");
                cmd_solvers_write_json(*s, &call->out);
                text_add(&call->out, s[1] ? ",\n" : "\n");
            }
            text_add(&call->out, "]}\n");
        } else {
            size_t n = 0;
            while (lx_solvers()[n]) n++;
            table_add_text(&TABLE(solver_columns, lx_solvers(), n), &call->out);
            if (!lx_solver_find("ilp"))
                text_format(&call->out,
                            "\nilp, integer programming, is a plug-in that is not here; " PLUGIN_REMEDY "\n",
                            "ilp", "GLPK");
        }
        return EXIT_YES;
    }
    const char *name = call->line.files.at[0];
    const struct lx_solver *s = lx_solver_find(name);
    if (!s) {
        struct lx_settings o = {.solvers = lx_solvers()}; /* whose words for it are known */
        (void)lx_settings_set_row(&o, LX_OPTION_SOLVER, name, &call->st);
        return FAILED;
    }
    if (option_given(&call->line, "names"))
        text_format(&call->out, "%s\n", s->name);
    else if (wants_json(call)) {
        text_add(&call->out, "{\"lxplan\": 1, \"kind\": \"solvers\", \"solvers\": [");
        cmd_solvers_write_json(s, &call->out);
        text_add(&call->out, "]}\n");
    } else {
        paint_add(&call->out, PAINT_HEADING, s->name);
        text_format(&call->out, ": %s\nanswers ", s->summary);
        add_questions(s, "", ", ", &call->out);
        text_format(&call->out, "; %s; %s\n",
                    s->caps & LX_CAN_PROVE ? "can prove its answers" : "proves nothing by itself",
                    s->caps & LX_IS_SEEDED ? "the seed changes its answer" : "takes no seed");
        char takes[300];
        if (s->caps & LX_CAN_ALL)
            text_format(&call->out, "takes %s\n", lx_needs_words(s->caps, takes, sizeof takes));
        text_add(&call->out, s->option_count ? "\n" : "It has no options.\n");
        if (s->option_count)
            table_add_text(&TABLE(solver_option_columns, s->options, s->option_count), &call->out);
        if (s->stat_count) text_add(&call->out, "\n");
        if (s->stat_count) table_add_text(&TABLE(solver_stat_columns, s->stats, s->stat_count), &call->out);
    }
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
    .run = cmd_solvers_run,
    .file = cmd_solvers_solver_word,
};
