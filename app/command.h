/* A command of the program: one const struct in a file of its own, and its name in COMMANDS.
 *
 * A command writes into `call->out`; main sends that to standard output when the command has ended, so that
 * an error never leaves half an answer behind. An interrupted command may send it before. */
#pragma once

#include "unstable.h"
#include "command_line.h"

/* In the order in which people meet them. */
#define COMMANDS(X)                                                                                          \
    X(explore)                                                                                               \
    X(plan)                                                                                                  \
    X(check)                                                                                                 \
    X(run)                                                                                                   \
    X(show)                                                                                                  \
    X(diff)                                                                                                  \
    X(solvers)                                                                                               \
    X(devices)                                                                                               \
    X(calibrate)                                                                                             \
    X(import)                                                                                                \
    X(export)                                                                                                \
    X(gen)                                                                                                   \
    X(loops)                                                                                                 \
    X(bench)                                                                                                 \
    X(report)                                                                                                \
    X(suite)                                                                                                 \
    X(sweep)

/* Exit codes; base/status.h has the code of each error. X(id, code, briefly, in the manual) */
#define EXIT_CODES(X)                                                                                        \
    X(EXIT_YES, 0, "yes", "Yes.")                                                                            \
    X(EXIT_NO, 1, "the answer is no",                                                                        \
      "The answer is no: no plan, not legal, target missed, plans differ, refused as expected.")             \
    X(EXIT_INPUT, 2, "bad input or usage",                                                                   \
      "Bad input or usage; standard error says what, where (file, line, column), and what to do.")           \
    X(EXIT_FAULT, 3, "a fault of the program", "A fault of the program, or no memory left.")                 \
    X(EXIT_INTERRUPTED, 130, "interrupted",                                                                  \
      "`plan`, `show` or `check` was interrupted (Ctrl-C, SIGTERM) and tells of the best so far, `bench` "   \
      "or `sweep` and "                                                                                      \
      "what was done is kept, `run` and there is no result, or the explorer was left by Ctrl-C.")

#define EXIT_ENUM(id, code, brief, manual) id = code,
enum exit_code { EXIT_CODES(EXIT_ENUM) FAILED = -1 };
#undef EXIT_ENUM

struct call {
    const struct command *command;
    struct command_line line;
    struct text out;
    lx_status st;
};

struct command {
    const char *name, *synopsis, *summary;
    const char *details;                     /* paragraphs of the help; NULL: none */
    const struct option_row *const *options; /* NULL-terminated list of tables */
    const struct option_words *words;        /* that its own options take; NULL: none */
    int least_files, most_files;
    const char *file_word; /* the name of a positional argument in errors */
    bool balances;         /* its plans are by the objective balanced, unless another is asked for */
    bool verifies;         /* it reads the certificate of a plan */
    bool open;             /* options that are in no table are the command's own business */
    /* One of the EXIT codes, or FAILED with `call->st` filled in. */
    int (*run)(struct call *call);
    void (*more_help)(const struct call *call, struct text *out); /* may be NULL */
    /* Names of more options that go with its first file, one per line; of an open command. */
    void (*more_options)(const char *file, struct text *out);
    const char *(*file)(int k); /* its files, where they are words; NULL: they are files */
};

#define COMMAND_IS(name) extern const struct command command_##name;
COMMANDS(COMMAND_IS)
#undef COMMAND_IS

/* NULL-terminated. */
extern const struct command *const commands[];
/* NULL, with `st`: there is none of that name. */
const struct command *command_find(const char *name, lx_status *st);

/* help.c: help for the program, for one command, and lists for other programs. */
void general_help(struct text *out);
void command_help(const struct call *call, bool all, struct text *out);
int run_help(struct call *call, int count, char *const *arguments);
/* manual.c: the manual page from its template, with what the tables say filled in. */
bool manual_write(const char *template, struct text *out, lx_status *st);

/* Rows that more than one command has. */
extern const struct option_row help_rows[], json_rows[], json_error_rows[], quiet_rows[], output_rows[];

static inline bool wants_json(const struct call *call)
{
    return option_given(&call->line, "json");
}

static inline bool is_quiet(const struct call *call)
{
    return option_given(&call->line, "quiet");
}

/* A file of the command line, with its contents. */
struct source {
    const char *file; /* its name in messages */
    char *text;       /* to be freed */
    size_t length;
};
bool read_source(struct call *call, size_t i, struct source *out);

/* A remark beside the answer: to standard error, unless --quiet. */
void note(const struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sends `call->out` to standard output now, and empties it. */
bool send_out(struct call *call);
/* The remark that Ctrl-C or SIGTERM ended the planning. */
void note_interrupted(const struct call *call, const char *file);
/* Allocated data to the file of -o, or to standard output; frees it. */
bool deliver(struct call *call, char *data, size_t length);
/* Into another file that the call asks for. */
bool keep_file(struct call *call, const char *path, const char *data, size_t length);
/* Is the answer for a file (-o)? Then it has no colours. */
bool goes_to_file(const struct call *call);
/* An integer option into `*out`, which keeps its value when the option is not given. */
bool option_int(struct call *call, const char *name, int64_t low, int64_t high, int64_t *out);
/* Likewise the number of the word that it has. */
bool option_word(struct call *call, const char *name, const char *(*word)(int k), int *out);
/* The same for a value found before; NULL: none was given. */
bool word_given(struct call *call, const char *name, const char *value, const char *(*word)(int k), int *out);

/* main.c: parses the arguments of `call->command`, and runs it. */
int run_words(struct call *call, int count, char *const *arguments);
/* main.c: the whole program, from its arguments to its exit code. */
int run_program(int argc, char **argv);

/* no_command.c: the answer without any argument. False: no patterns were found. */
bool front_page(struct text *out);
