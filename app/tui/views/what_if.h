/* The settings of a plan: the options of plan/options.h on a screen. The what-if panel, `:set`, the
 * options of `lxplan explore` and `copy` use them. */
#pragma once

#include "planning/graph_files.h"

/* Settings have the numbers of the library's options; these have keys of their own. */
enum {
    SET_SOLVER = LX_OPTION_SOLVER,
    SET_LEVEL = LX_OPTION_LEVEL,
    SET_OBJECTIVE = LX_OPTION_OBJECTIVE,
    SET_DEVICE = LX_OPTION_DEVICE,
    SET_CORES = LX_OPTION_CORES,
    SET_LX = LX_OPTION_LX,
    SET_SEED = LX_OPTION_SEED
};

/* Compared and kept as a whole, for undo. */
struct what_if {
    struct lx_settings options;
};

struct setting {
    const char *name; /* in the panel, for :set, and with two dashes on the command line */
    const char *help; /* in a few words */
    const char *none; /* the word of a default that is no value; NULL: it is a value */
    bool has_words;   /* else a number, or pairs */
};

struct setting settings_row(int i);
/* Word k of a setting that has words; NULL behind the last. */
const char *settings_word(int i, int64_t k);
void settings_default(struct what_if *w);
bool settings_same(const struct what_if *a, const struct what_if *b);
/* Does it differ from the default? */
bool settings_changed(const struct what_if *w, int i);
/* From text: as on the command line, or nothing for the default. */
bool settings_set(struct what_if *w, int i, const char *text, lx_status *st);
/* The solver by its number in lx_solvers(). */
void settings_take_solver(struct what_if *w, int solver);
/* The next or previous value; `now`: the present value of a default. False: there is none. */
bool settings_step(struct what_if *w, int i, int direction, int64_t now);
/* The value in words. */
void settings_show(const struct what_if *w, int i, struct text *out);
/* "--tile none, no --lx": how settings differ from those of now; "now" where they do not. */
void settings_changes(const struct what_if *w, const struct what_if *now, struct text *out);
/* "lxplan plan FILE --dim batch=1 --solver exact --cores 16": how a model is read (NULL: the default), and
 * settings that differ from the defaults. */
void settings_command(const struct what_if *w, const char *file, const struct model_options *models,
                      struct text *out);

/* The graph with these sizes (a reference, or NULL with `st`), and the options of the planner. `values`: room
 * for the options of any solver. */
enum { MOST_SOLVER_OPTIONS = LX_MOST_SOLVER_OPTIONS };
const struct lx_graph *settings_apply(const struct what_if *w, const struct lx_graph *g,
                                      struct lx_plan_options *how, int64_t values[MOST_SOLVER_OPTIONS],
                                      lx_status *st);
