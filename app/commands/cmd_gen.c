/* lxplan gen: patterns of any size, made by rule. Every option of a generator is an option of the command. */
#include "planning/graph_files.h"
#include "text/colour.h"

/* All kinds, or the one that stands on the command line. */
static void kinds_help(const struct call *call, struct text *out)
{
    const char *only = call->line.files.count ? call->line.files.at[0] : NULL;
    if (only && !lx_generator_find(only)) only = NULL;
    for (const struct lx_generator *g = lx_generators(); g->name; g++) {
        if (only && strcmp(only, g->name) != 0) continue;
        text_add(out, "\n");
        paint_add(out, PAINT_HEADING, g->name);
        text_format(out, ": %s\n", g->summary);
        for (int i = 0; i < g->option_count; i++) {
            const struct lx_option *o = &g->options[i];
            char left[80];
            SCOPED(text_free) struct text right = {0};
            snprintf(left, sizeof left, "    --%s N", o->name);
            text_format(&right, "%s (default %lld, from %lld to %lld)", o->help, (long long)o->def,
                        (long long)o->low, (long long)o->high);
            help_entry(out, left, right.at ? right.at : "");
        }
    }
}

static const char *cmd_gen_kind_word(int k)
{
    return lx_generators()[k].name;
}

static void option_names(const char *kind, struct text *out)
{
    const struct lx_generator *g = kind ? lx_generator_find(kind) : NULL;
    for (int i = 0; g && i < g->option_count; i++) text_format(out, "--%s\n", g->options[i].name);
}

static const struct option_row rows_of_gen[] = {
    {"lx", 0, "BYTES", "other bytes of scratchpad than it was made for"},
    {"objective", 0, "WHAT", "what a list of buffers asks for: {}"},
    {0},
};

static const char *gen_objective_word(int k)
{
    return k < LX_OBJECTIVE_COUNT ? lx_objective_word((enum lx_objective)k) : NULL;
}

/* The graph with --lx and --objective, in place of `g`. */
static const struct lx_graph *gen_asked(struct call *call, const struct lx_graph *g)
{
    int64_t bytes = -1;
    int objective = (int)lx_graph_objective(g);
    if (option_int(call, "lx", 0, LX_INT_MAX, &bytes) &&
        option_word(call, "objective", gen_objective_word, &objective))
        return lx_generated_for(g, bytes, (enum lx_objective)objective, &call->st);
    lx_graph_free(g);
    return NULL;
}

static int cmd_gen_run(struct call *call)
{
    const char *name = call->line.files.at[0];
    const struct lx_generator *kind = lx_generator_find(name);
    if (!kind) {
        SCOPED(text_free) struct text known = {0};
        add_words(cmd_gen_kind_word, ", ", &known);
        status_set(&call->st, LX_E_UNKNOWN_NAME, "there is no kind \"%s\"; there are: %s", name,
                   known.at ? known.at : "none");
        return FAILED;
    }
    OWNED int64_t *values = mem_zeroed((size_t)kind->option_count + 1, sizeof *values);
    bool ok = true;
    lx_values_default(kind->options, kind->option_count, values);
    for (size_t i = 0; ok && i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        bool own = false;
        for (const struct option_row *const *table = command_gen.options; *table; table++)
            own |= find_row(*table, o->name) != NULL;
        if (!own)
            ok = lx_values_set(kind->name, kind->options, kind->option_count, o->name, o->value, values,
                               &call->st);
    }
    const struct lx_graph *g = ok ? kind->build(values, &call->st) : NULL;
    g = g ? gen_asked(call, g) : NULL;
    if (!g) return FAILED;
    size_t length = 0;
    char *json = graph_text(call, g, "pattern", &length);
    lx_graph_free(g);
    return json && deliver(call, json, length) ? EXIT_YES : FAILED;
}

static const struct option_words gen_words[] = {{"objective", gen_objective_word}, {0}};
static const struct option_row *const tables[] = {rows_of_gen, output_rows, json_error_rows, help_rows, NULL};

const struct command command_gen = {
    .name = "gen",
    .synopsis = "KIND [--NAME N ...] [--lx BYTES] [--objective WHAT] [-o FILE]",
    .summary = "Generate a pattern of any size",
    .details =
        "The same options and seed give the same pattern on every machine. Numbers may end in k, m or g.\n",
    .options = tables,
    .words = gen_words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "KIND",
    .open = true,
    .run = cmd_gen_run,
    .more_help = kinds_help,
    .more_options = option_names,
    .file = cmd_gen_kind_word,
};
