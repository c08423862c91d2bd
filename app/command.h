/* A command of the program: one const struct in a file of its own, listed once in main.c.
 *
 * A command writes into `call->out`; main sends that to standard output when the command has ended, so that
 * an error never leaves half an answer behind. */
#ifndef LX_APP_COMMAND_H
#define LX_APP_COMMAND_H

#include "lxplan.h"
#include "base/text.h"
#include "command_line.h"

enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_INPUT = 2, EXIT_FAULT = 3, FAILED = -1 };

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
    int least_files, most_files;
    const char *file_word; /* what a positional argument is called in errors */
    bool open;             /* options that are in no table are the command's own business */
    /* One of the EXIT codes, or FAILED with `call->st` filled in. */
    int (*run)(struct call *call);
    void (*more_help)(const struct call *call, struct text *out); /* may be NULL */
};

extern const struct command command_plan, command_check, command_show, command_diff, command_solvers,
    command_import, command_export, command_gen, command_loops, command_run, command_bench, command_report,
    command_explore;

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

/* Something worth knowing that is not the answer: to standard error, unless --quiet. */
void note(const struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Malloc'ed data to the file of -o, or to standard output; frees it. NULL counts as out of memory. */
bool deliver(struct call *call, char *data, size_t length);
/* Is the answer for a file (-o)? Then it has no colours. */
bool goes_to_file(const struct call *call);
/* An integer option into `*out`, which stays as it is when the option is not given. */
bool option_int(struct call *call, const char *name, int64_t low, int64_t high, int64_t *out);

/* main.c: the whole program, from its arguments to its exit code. */
int run_program(int argc, char **argv);

/* no_command.c: what the program says when it is asked nothing. False: no patterns were found. */
bool front_page(struct text *out);

#endif
