/* Help: for people, and lists for programs that complete command lines. */
#include "base/words/words.h"
#include "planning/planning.h"
#include "text/colour.h"

const struct command *const commands[] = {
#define COMMAND_ROW(name) &command_##name,
    COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
        NULL};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands - 1 };

const struct command *command_find(const char *name, lx_status *st)
{
    const char *names[COMMAND_COUNT + 2] = {"help"};
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
        names[i + 1] = commands[i]->name;
    }
    const char *near = nearest(name, names);
    if (near)
        status_set(st, LX_E_USAGE, "there is no command \"%s\"; did you mean \"%s\"?", name, near);
    else
        status_set(st, LX_E_USAGE,
                   "there is no command or file \"%s\"; `lxplan --help` lists those there are", name);
    return NULL;
}

void general_help(struct text *out)
{
    static const struct {
        int code;
        const char *brief;
    } codes[] = {
#define EXIT_ROW(id, code, brief, manual) {code, brief},
        EXIT_CODES(EXIT_ROW)
#undef EXIT_ROW
    };
    text_add(out, "usage: lxplan COMMAND [FILE ...] [options]\n"
                  "       lxplan [FILE|DIR ...]    the explorer on these, or on the bundled patterns\n\n"
                  "Plans how a tensor graph runs on cores with small scratchpads, and checks the plan.\n\n");
    paint_add(out, PAINT_HEADING, "commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) help_entry(out, commands[i]->name, commands[i]->summary);
    help_entry(out, "help COMMAND", "the options of a command");
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, "options:\n");
    options_help(help_rows, NULL, true, out);
    help_entry(out, "-V, --version", "the version of the program");
    text_add(out, "\nFILE is ");
    add_formats(out);
    text_add(out, "; \"-\" is standard input.\n"
                  "Without a command: the explorer on the bundled patterns; without a terminal, every solver "
                  "on them.\n");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        text_format(out, "%s%d %s", i ? ", " : "Exit codes: ", codes[i].code, codes[i].brief);
    text_add(out, ".\n");
}

/* A command with many options lists the most common ones; with `all` every one. */
void command_help(const struct call *call, bool all, struct text *out)
{
    enum { MANY = 20 };
    const struct command *c = call->command;
    int rows = 0, hidden = 0;
    for (const struct option_row *const *table = c->options; *table; table++)
        for (const struct option_row *row = *table; row->name; row++)
            rows++, hidden += (row->letter & MORE) != 0;
    if (rows <= MANY) all = true;
    text_format(out, "usage: lxplan %s %s\n\n%s.\n", c->name, c->synopsis, c->summary);
    if (c->details) text_format(out, "\n%s", c->details);
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, "options:\n");
    for (const struct option_row *const *table = c->options; *table; table++) {
        if (*table == model_rows && all) paint_add(out, PAINT_HEADING, "\nof models (TTIR, HLO, ONNX):\n");
        options_help(*table, *table == model_rows ? NULL : c->words, all, out);
    }
    if (!all) text_format(out, "\n`lxplan %s --help all` lists %d more options.\n", c->name, hidden);
    if (c->more_help && (all || c->more_help != device_help)) c->more_help(call, out);
}

/* help --names */
static int list_names(struct call *call, int count, char *const *arguments)
{
    (void)count, (void)arguments;
    for (int i = 0; i < COMMAND_COUNT; i++) text_format(&call->out, "%s\n", commands[i]->name);
    text_add(&call->out, "help\n");
    return EXIT_YES;
}

/* help --options COMMAND [FILE] */
static int help_list_options(struct call *call, int count, char *const *arguments)
{
    const struct command *c = count > 0 ? command_find(arguments[0], &call->st) : NULL;
    if (count == 0) status_set(&call->st, LX_E_USAGE, "help --options: COMMAND is missing");
    if (!c) return FAILED;
    for (const struct option_row *const *table = c->options; *table; table++)
        for (const struct option_row *row = *table; row->name; row++)
            text_format(&call->out, "--%s\n", row->name);
    if (c->more_options) c->more_options(count > 1 ? arguments[1] : NULL, &call->out);
    return EXIT_YES;
}

/* help --words COMMAND [OPTION]: the words that an option, or the first file, takes. Nothing: files. Exit
 * code 1: anything else; 2: the command has no such option with a value. */
static int help_list_words(struct call *call, int count, char *const *arguments)
{
    const struct command *c = count > 0 ? command_find(arguments[0], &call->st) : NULL;
    if (count == 0) status_set(&call->st, LX_E_USAGE, "help --words: COMMAND is missing");
    if (!c) return FAILED;
    /* By its name, with or without dashes, or its letter. */
    const char *option = count > 1 ? arguments[1] : "",
               *name = strncmp(option, "--", 2) == 0 ? option + 2 : option;
    bool is_letter = option[0] == '-' && option[1] && !option[2];
    const struct option_row *row = is_letter ? find_letter(c->options, option[1]) : NULL;
    for (const struct option_row *const *table = c->options; count > 1 && *table && !row; table++)
        row = find_row(*table, name);
    if (count > 1 && (!row || !row->argument))
        return status_set(&call->st, LX_E_USAGE, "%s has no option %s with a value", c->name, arguments[1]),
               FAILED;
    const char *(*word)(int) = row ? option_words_of(c->words, row->name) : c->file;
    size_t before = call->out.length;
    for (int k = 0; word && word(k); k++) text_format(&call->out, "%s\n", word(k));
    for (int k = 0; row && !word && planning_word(row->name, k); k++)
        text_format(&call->out, "%s\n", planning_word(row->name, k));
    if (row && strcmp(row->name, "device") == 0) {
        /* Values of -D: presets, and the parameters of a device. */
        for (int i = 0; lx_device_at(i); i++) text_format(&call->out, "preset=%s\n", lx_device_at(i)->preset);
        for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++)
            text_format(&call->out, "%s=\n", p->key);
    }
    bool is_file = row && (strcmp(row->argument, "FILE") == 0 || strcmp(row->argument, "PLAN") == 0 ||
                           strcmp(row->argument, "RESULTS") == 0);
    return call->out.length > before || !row || is_file ? EXIT_YES : EXIT_NO;
}

/* help --man TEMPLATE PAGE: the manual page into a file. */
static int write_manual(struct call *call, int count, char *const *arguments)
{
    SCOPED(text_free) struct text page = {0};
    if (count != 2)
        return status_set(&call->st, LX_E_USAGE,
                          "help --man: TEMPLATE and PAGE are missing; app/lxplan.1.in is a template"),
               FAILED;
    bool ok =
        manual_write(arguments[0], &page, &call->st) && (keep_file(call, arguments[1], page.at, page.length));
    return ok ? EXIT_YES : FAILED;
}

/* For programs: completions, the manual, tests. */
static const struct {
    const char *option;
    int (*run)(struct call *call, int count, char *const *arguments);
} for_programs[] = {{"--names", list_names},
                    {"--options", help_list_options},
                    {"--words", help_list_words},
                    {"--man", write_manual}};

int run_help(struct call *call, int count, char *const *arguments)
{
    for (size_t i = 0; count > 0 && i < sizeof for_programs / sizeof *for_programs; i++)
        if (strcmp(for_programs[i].option, arguments[0]) == 0)
            return for_programs[i].run(call, count - 1, arguments + 1);
    if (count == 0) {
        general_help(&call->out);
        return EXIT_YES;
    }
    call->command = command_find(arguments[0], &call->st);
    if (!call->command) return FAILED;
    command_help(call, count > 1 && strcmp(arguments[1], "all") == 0, &call->out);
    return EXIT_YES;
}
