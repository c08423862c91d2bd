/* Options by name and text, for command line, explorer, benchmark and library alike, by the rows of one
 * table.
 *
 * All zero but for `solvers` is every default. A struct of plain values (some 10 KiB) that is copied and
 * compared. Rows: options.c, then one per pass (search/request.c); `option` takes the rows of the chosen
 * solver, `device` those of graph/target.c. */
#ifndef LX_PLAN_OPTIONS_H
#define LX_PLAN_OPTIONS_H

#include "plan/plan.h"

/* The rows that others name; the passes follow, whatever passes there are. */
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
    LX_OPTION_PASSES
};

enum lx_option_kind {
    LX_TAKES_WORD,    /* one of a list */
    LX_TAKES_NOTHING, /* a switch; also "on" and "off" */
    LX_TAKES_INTEGER, /* k, m, g may follow */
    LX_TAKES_SECONDS, /* a number above 0 */
    LX_TAKES_PAIRS,   /* NAME=VALUE, or several with blanks between them; may be repeated */
    LX_TAKES_TEXT     /* a word of a list, or what its help says */
};

/* What a row is about; the manual has a section for each. X(id, heading) */
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
    const char *name;     /* on command lines with two dashes before it */
    char letter;          /* '#': the digits 0 to 9 are the value; 0: none */
    const char *argument; /* what stands for its value in a help; NULL: a switch */
    enum lx_option_kind kind;
    enum lx_option_group group;
    int64_t low, high; /* of an integer, or of seconds */
    const char *none;  /* what is so when it is not set; NULL: the first word, off, or 0 */
    bool of_search;    /* acts on the search for a plan, not on the problem that a solver is given */
    const char *brief; /* in a few words */
    const char *help;
};

enum { LX_MOST_OPTIONS = 64, LX_MOST_SOLVER_OPTIONS = 64, LX_MOST_DEVICE_PARAMETERS = 64 };
_Static_assert(LX_OPTION_PASSES + LX_MOST_PASSES <= LX_MOST_OPTIONS, "an option has a bit and a value");

enum { LX_DEVICE_OF_FILE = -1 };

struct lx_settings {
    const struct lx_solver *const *solvers; /* to choose from, NULL-terminated: the library knows none */
    const char *prefix;                     /* of names in errors: "--" on a command line; NULL: nothing */
    uint64_t given;                         /* a bit per row: it was set */
    int64_t value[LX_MOST_OPTIONS];         /* per row: an integer, a switch, the number of a word */
    double seconds;                         /* of LX_OPTION_TIME */
    double lx_percent;                      /* of LX_OPTION_LX: of the pattern's own; 0: it is bytes */
    uint64_t solver_given;                  /* a bit per option of the chosen solver */
    int64_t solver_value[LX_MOST_SOLVER_OPTIONS];
    uint64_t device_given; /* a bit per parameter of the device */
    double device_value[LX_MOST_DEVICE_PARAMETERS];
    char hints[400];                 /* "op=s/8,t/4 ..." */
    char nests[LX_NESTS_TEXT];       /* "first-last:s/8,t/4;..." */
    int preset;                      /* 0: the pattern's own device; else 1 + its number; or: */
    struct lx_device device;         /* LX_DEVICE_OF_FILE: this one, */
    char device_file[400];           /* which was read from here */
    struct lx_launch_options launch; /* its order and tiles; share and assignment are values of their rows */
};

int lx_settings_count(void);
struct lx_option_row lx_settings_at(int row);
/* By name; -1: there is none. */
int lx_settings_find(const char *name);
/* Word k of a row as lx_settings_set takes it; NULL: none. For `device`: the presets. */
const char *lx_settings_word(const struct lx_settings *o, int row, int64_t k);

/* From text. NULL: a switch is switched on. The solver comes before its options. An error leaves `o`
 * unchanged. */
bool lx_settings_set(struct lx_settings *o, const char *name, const char *text, lx_status *st);
/* The same by row, and taken back. A solver that is changed or taken back loses its options. */
bool lx_settings_set_row(struct lx_settings *o, int row, const char *text, lx_status *st);
void lx_settings_unset(struct lx_settings *o, int row);
bool lx_settings_is_set(const struct lx_settings *o, int row);
/* The value as lx_settings_set takes it, malloc'ed; of a row that is not set, its default. NULL: no memory. */
char *lx_settings_get(const struct lx_settings *o, int row);
/* Would both make the same plan of every pattern? Where plans are kept is no matter. */
bool lx_settings_same(const struct lx_settings *a, const struct lx_settings *b);

/* The chosen solver; without one "auto" if it answers the question, else "bestfit", else any that does. */
const struct lx_solver *lx_settings_solver(const struct lx_settings *o, enum lx_objective question);
/* What is asked. */
enum lx_ask lx_settings_ask(const struct lx_settings *o);
/* The passes, with what an objective brings along: time is co-optimised unless that was set. */
struct lx_passes lx_settings_passes(const struct lx_settings *o);
/* All of it for a plan whose pattern asks `own`; callbacks in `how` stay. `values`: room for the solver's
 * options. */
bool lx_settings_plan(const struct lx_settings *o, enum lx_objective own, struct lx_plan_options *how,
                      int64_t values[LX_MOST_SOLVER_OPTIONS], lx_status *st);
/* How ops are launched. */
struct lx_launch_options lx_settings_launch(const struct lx_settings *o);
/* The device that is asked for instead of the one in `device`: preset or file, parameters, cores. */
bool lx_settings_device(const struct lx_settings *o, struct lx_device *device, lx_status *st);
/* The graph on the device that is asked for: preset, parameters, cores, `lx`. A reference; NULL with `st`. */
const struct lx_graph *lx_settings_graph(const struct lx_settings *o, const struct lx_graph *g,
                                         lx_status *st);

#endif
