/* Command lines as data: a command lists its options as rows; the rows parse and make the help.
 *
 * Both `--name value` and `--name=value`, `-x value` and `-xvalue`; options may stand before, between and
 * after files; `--` ends them. Values are kept as text, in order, and parsed by the readers of each
 * option. */
#pragma once

#include "base/base.h"

enum {
    ANY_DIGIT = '#', /* as a letter: -0 to -9; the digit is the value */
    MORE = 0x100
};

struct option_row {
    const char *name;
    int letter;           /* 0: none; with MORE: of a command with many options only `--help all` lists it */
    const char *argument; /* what stands for its value in the help; NULL: a switch */
    const char *help;
};

/* The words that an option takes: one list for its help, its errors and completions. */
struct option_words {
    const char *option;         /* NULL ends a table */
    const char *(*word)(int k); /* NULL behind the last */
};

/* A list of words as a function of option_words. */
#define WORD_LIST(function, ...)                                                                             \
    const char *function(int k)                                                                              \
    {                                                                                                        \
        static const char *const words_[] = {__VA_ARGS__, NULL};                                             \
        return words_[k];                                                                                    \
    }

struct given_option {
    const char *name;  /* the row's, or the user's own for an open command line */
    const char *value; /* NULL for a switch */
};

struct command_line {
    VEC(struct given_option) options;
    VEC(const char *) files;
    struct arena *memory; /* of names that are cut out of arguments */
};

/* `tables`: NULL-terminated list of tables that end with a row without a name. `open`: a long option that
 * is in no table takes a value and is kept under its own name. */
bool options_parse(struct command_line *line, int count, char *const *arguments,
                   const struct option_row *const *tables, bool open, lx_status *st);
void options_free(struct command_line *line);

/* The row of a table by name, or NULL. */
const struct option_row *find_row(const struct option_row *rows, const char *name);
/* The row of a list of tables by its letter, or NULL. */
const struct option_row *find_letter(const struct option_row *const *tables, char letter);

/* Was it given? Its last value; NULL if it was not given (or is a switch). */
bool option_given(const struct command_line *line, const char *name);
const char *option_value(const struct command_line *line, const char *name);

/* "a, b or c" */
void add_words(const char *(*word)(int k), const char *before_last, struct text *out);
/* The words of an option, or NULL: it takes anything. `words` may be NULL. */
const char *(*option_words_of(const struct option_words *words, const char *option))(int k);
/* A row's help, in which "{}" stands for its words; "{default}": the first of them is the default. */
void add_help(const struct option_row *row, const struct option_words *words, struct text *out);
/* The rows as help, wrapped, one row after the other; without `all` only rows without MORE. */
void options_help(const struct option_row *rows, const struct option_words *words, bool all,
                  struct text *out);
/* One entry of a help: `left` in its column, `right` beside it and wrapped. */
void help_entry(struct text *out, const char *left, const char *right);
