/* What can be changed about a plan: one row a setting. The rows make the what-if panel, `:set`, the options
 * of `lxplan explore` and the command line that `copy` shows. */
#ifndef LX_APP_TUI_WHAT_IF_H
#define LX_APP_TUI_WHAT_IF_H

#include "lxplan.h"
#include "base/text.h"

/* Those that have keys of their own; the passes of the planner follow them, whatever passes there are. */
enum {
    SET_SOLVER,
    SET_LEVEL,
    SET_OBJECTIVE,
    SET_DEVICE,
    SET_CORES,
    SET_LX,
    SET_SEED,
    SET_TIME,
    SET_WORK,
    SET_PASSES,
    MOST_SETTINGS = 40
};

/* One value a setting; a word is its number. Compared and kept as a whole: that makes undo easy. */
struct what_if {
    int64_t value[MOST_SETTINGS];
};

/* How < and > change a number. */
enum setting_step { BY_ONE, BY_TWICE, BY_EIGHTH };

struct setting {
    const char *name;   /* in the panel and for :set */
    const char *option; /* on the command line, without its dashes */
    const char *help;
    const char *none; /* what the default is called where it stands for no value; NULL: it is a value */
    int64_t def, low, high;
    enum setting_step step;
    bool has_words; /* else it is a number */
};

int settings_count(void);
struct setting settings_row(int i);
/* Word k of a setting that has words; NULL behind the last. */
const char *settings_word(int i, int64_t k);
void settings_default(struct what_if *w);
bool settings_same(const struct what_if *a, const struct what_if *b);
/* From what a person types: a word, a number (k, m, g may follow), or nothing for the default. */
bool settings_set(struct what_if *w, int i, const char *text, lx_status *st);
/* The next or previous value; `now` is what a default stands for at present. False: there is no further one.
 */
bool settings_step(struct what_if *w, int i, int direction, int64_t now);
/* The value in words. */
void settings_show(const struct what_if *w, int i, struct text *out);
/* By name; -1: none. */
int settings_find(const char *name);
/* "lxplan plan FILE -s exact --cores 16": what differs from the defaults. */
void settings_command(const struct what_if *w, const char *file, struct text *out);

/* The graph with these sizes (a reference, or NULL with `st`), and the options of the planner. `values`: room
 * for the options of any solver. */
enum { MOST_SOLVER_OPTIONS = 64 };
const struct lx_graph *settings_apply(const struct what_if *w, const struct lx_graph *g,
                                      struct lx_plan_options *how, int64_t values[MOST_SOLVER_OPTIONS],
                                      lx_status *st);

#endif
