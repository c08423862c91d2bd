/* What Compare has rows of: the plan that is shown, the pinned one, plan files, and every solver of the race; and what
 * differs between two of them. */
#ifndef LX_APP_TUI_COMPARED_H
#define LX_APP_TUI_COMPARED_H

#include "tui/core/explorer.h"
#include "tui/draw/cells.h"

enum { MOST_RIVALS = 40 };
enum rival_kind { RIVAL_NOW, RIVAL_PINNED, RIVAL_FILE, RIVAL_RACER };

struct rival {
    enum rival_kind kind;
    int number; /* of the file or racer */
    const char *name;
    const struct outcome *outcome; /* without a plan: not there yet, or failed */
    int64_t least;                 /* that anyone has proved for the same question; of a plan */
    const char *by;                /* who proved it; NULL: nobody but itself */
};

struct rivals {
    struct rival at[MOST_RIVALS];
    int count;
};

/* Those that there are, in order of their kinds. */
struct rivals rivals_of(const struct session *s);
/* Best and bound of a rival over time, up to now. */
struct curve rival_curve(const struct session *s, const struct rival *r);
/* How far it is, where it is being made. */
struct progress rival_progress(const struct session *s, const struct rival *r);

/* Two plans, and what differs; kept from screen to screen. */
struct comparison {
    const struct lx_plan *left, *right; /* references; NULL: none */
    struct lx_diff diff;
    uint8_t *only_left, *only_right; /* per buffer of each plan: on chip in this one only */
    int count_left, count_right;
    bool known;
};

/* Does nothing if the two plans are compared already. */
void comparison_make(struct comparison *c, const struct lx_plan *left, const struct lx_plan *right);
void comparison_free(struct comparison *c);

/* One line of what differs: a buffer, or a share of the traffic; the gains of all lines are that of the whole. */
struct differing {
    const char *name, *words;
    int64_t gain;
};
/* Line i; false behind the last. Buffers without gain come last, the sum is not among them. */
bool comparison_line(const struct comparison *c, int i, struct differing *out);

/* The same buffer in another plan, by its name; -1: it is not there. */
int32_t same_buffer(const struct lx_plan *p, const struct lx_plan *from, int32_t i);

/* compare_panes.c: what is below the rows. */
struct compare_window {
    double from, to, low, high; /* shares of time and of addresses that are seen; all 0: all of it */
};
void compare_maps_draw(const struct scene *on, struct box area, const struct rival *left,
                       const struct rival *right, struct comparison *c, const struct compare_window *w);
void compare_lines_draw(const struct scene *on, struct box area, const struct rival *left,
                        const struct rival *right, struct comparison *c, int *top);
void compare_curves_draw(const struct scene *on, struct box area, const struct rivals *all, int marked);

/* The columns of Compare: what is told of each plan. */
/* A rival on the screen that it is seen on; `on` NULL: only its place in the order is asked for. */
struct racer_row {
    const struct scene *on;
    const struct rival *rival;
    const struct lx_plan *plan; /* NULL: none yet */
    bool wins;
};

enum { SOLVER, STATUS, TRAFFIC, GAP, TIME, SELECTED, SPILL, BOUND, STEPS, PROOF, RACER_COLUMNS };
extern const struct columns racer_columns;
/* By a column; rows without a plan come last. */
int compare_rivals(const struct rival *a, const struct rival *b, int column);

#endif
