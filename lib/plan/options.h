/* Options by name and text, for command line, explorer, benchmark and library alike, from the rows of one
 * table.
 *
 * All zero but for `solvers` is every default. A struct of plain values (some 10 KiB) that is copied and
 * compared. Rows: options.c, then one per pass (search/request.c); `option` takes the rows of the chosen
 * solver, `device` those of graph/target.c. */
#pragma once

#include "plan/plan.h"

/* Rows named in code; the passes follow. */
enum lx_option_id {
    LX_OPTION_SOLVER,
    LX_OPTION_LEVEL,
    LX_OPTION_OF_SOLVER,
    LX_OPTION_OBJECTIVE,
    LX_OPTION_DEVICE,
    LX_OPTION_CORES,
    LX_OPTION_LX,
    LX_OPTION_SEED,
    LX_OPTION_TIME,
    LX_OPTION_WORK,
    LX_OPTION_ORDER,
    LX_OPTION_TILES,
    LX_OPTION_SHARE,
    LX_OPTION_ASSIGN,
    LX_OPTION_HINT,
    LX_OPTION_NESTS,
    LX_OPTION_CERTIFICATE,
    LX_OPTION_PASSES
};

enum lx_option_kind {
    LX_TAKES_WORD,    /* one of a list */
    LX_TAKES_NOTHING, /* a switch; also "on" and "off" */
    LX_TAKES_INTEGER, /* k, m, g may follow */
    LX_TAKES_SECONDS, /* a number above 0 */
    LX_TAKES_PAIRS,   /* NAME=VALUE, or several separated by blanks; may be repeated */
    LX_TAKES_TEXT     /* a word of a list, or as its help says */
};

/* Groups of rows; the manual has a section for each. X(id, heading) */
#define LX_OPTION_GROUPS(X)                                                                                  \
    X(LX_GROUP_SOLVER, "The solver and its question")                                                        \
    X(LX_GROUP_DEVICE, "The device")                                                                         \
    X(LX_GROUP_LIMITS, "Seed and limits")                                                                    \
    X(LX_GROUP_LAUNCH, "Launches")                                                                           \
    X(LX_GROUP_PASSES, "Passes")

#define LX_GROUP_ENUM(id, heading) id,
enum lx_option_group { LX_OPTION_GROUPS(LX_GROUP_ENUM) LX_GROUP_COUNT };
#undef LX_GROUP_ENUM

const char *lx_option_group_word(enum lx_option_group g);

struct lx_option_row {
    const char *name;     /* without dashes */
    char letter;          /* '#': a digit 0 to 9 is the value; 0: none */
    const char *argument; /* stands for its value in a help text; NULL: a switch */
    enum lx_option_kind kind;
    enum lx_option_group group;
    int64_t low, high; /* of an integer, or of seconds */
    const char *none;  /* text of its default; NULL: the first word, off, or 0 */
    bool of_search;    /* acts on the search for a plan, not on the solver's problem */
    const char *brief; /* in a few words */
    const char *help;
};

enum { LX_MOST_OPTIONS = 64, LX_MOST_SOLVER_OPTIONS = 64, LX_MOST_DEVICE_PARAMETERS = 64 };
_Static_assert(LX_OPTION_PASSES + LX_MOST_PASSES <= LX_MOST_OPTIONS, "an option has a bit and a value");

enum { LX_DEVICE_OF_FILE = -1 };

struct lx_settings {
    /* to choose from, NULL-terminated; the library has none of its own */
    const struct lx_solver *const *solvers;
    const char *prefix;             /* of names in errors: "--" on a command line; NULL: none */
    uint64_t given;                 /* a bit per row that was set */
    int64_t value[LX_MOST_OPTIONS]; /* per row: an integer, a switch, the number of a word */
    enum lx_ask usual;              /* the objective of graphs while none is set */
    double seconds;                 /* of LX_OPTION_TIME */
    double lx_percent;              /* of LX_OPTION_LX, relative to the pattern's; 0: it is in bytes */
    uint64_t solver_given;          /* a bit per option of the chosen solver */
    int64_t solver_value[LX_MOST_SOLVER_OPTIONS];
    uint64_t device_given; /* a bit per parameter of the device */
    double device_value[LX_MOST_DEVICE_PARAMETERS];
    char hints[400];                 /* "op=s/8,t/4 ..." */
    char nests[LX_NESTS_TEXT];       /* "first-last:s/8,t/4;..." */
    char certificate[400];           /* name of its file */
    int preset;                      /* 0: the pattern's own device; else 1 + its number; or: */
    struct lx_device device;         /* LX_DEVICE_OF_FILE: this one, */
    char device_file[400];           /* which was read from here */
    struct lx_launch_options launch; /* its order and tiles; share and assignment are values of their rows */
};

int lx_settings_count(void);
struct lx_option_row lx_settings_at(int row);
/* The row by name; -1: none. */
int lx_settings_find(const char *name);
/* Word k of a row as lx_settings_set takes it; NULL: none. For `device`: the presets. */
const char *lx_settings_word(const struct lx_settings *o, int row, int64_t k);

/* Sets an option from text. NULL: switches a switch on. The solver must come before its options. After an
 * error `o` is unchanged. */
bool lx_settings_set(struct lx_settings *o, const char *name, const char *text, lx_status *st);
/* The same by row; unset restores the default. A solver that changes or is unset loses its options. */
bool lx_settings_set_row(struct lx_settings *o, int row, const char *text, lx_status *st);
void lx_settings_unset(struct lx_settings *o, int row);
bool lx_settings_is_set(const struct lx_settings *o, int row);
/* The value as lx_settings_set takes it, malloc'ed; the default if the row is not set. */
char *lx_settings_get(const struct lx_settings *o, int row);
/* True if both make the same plan of every pattern. */
bool lx_settings_same(const struct lx_settings *a, const struct lx_settings *b);

/* The chosen solver; else "auto" or "bestfit", the first that answers the question; else any that does. */
const struct lx_solver *lx_settings_solver(const struct lx_settings *o, enum lx_objective question);
/* The objective that is set, else the usual one. */
enum lx_ask lx_settings_ask(const struct lx_settings *o);
/* The passes, with the defaults of the objective: time turns co-optimisation on unless that was set. */
struct lx_passes lx_settings_passes(const struct lx_settings *o);
/* Sets the passes that the pattern states and `o` does not set. */
bool lx_settings_take_passes(struct lx_settings *o, const struct lx_graph *g, lx_status *st);
/* Fills `how` for a plan of the pattern (NULL: of any graph); callbacks in `how` stay. `values`: room for the
 * solver's options. */
bool lx_settings_plan(const struct lx_settings *o, const struct lx_graph *g, struct lx_plan_options *how,
                      int64_t values[LX_MOST_SOLVER_OPTIONS], lx_status *st);
struct lx_launch_options lx_settings_launch(const struct lx_settings *o);
/* The device that is asked for instead of the one in `device`: preset or file, parameters, cores. */
bool lx_settings_device(const struct lx_settings *o, struct lx_device *device, lx_status *st);
/* The graph on the device that is asked for: preset, parameters, cores, `lx`. A reference; NULL with `st`. */
const struct lx_graph *lx_settings_graph(const struct lx_settings *o, const struct lx_graph *g,
                                         lx_status *st);
