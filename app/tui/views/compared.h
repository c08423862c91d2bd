/* The rows of Compare: the present plan, the pinned one, plan files, and every solver of the race; and the
 * differences of two of them. */
#pragma once

#include "tui/core/explorer.h"

enum { MOST_RIVALS = 40 };
enum rival_kind { RIVAL_NOW, RIVAL_PINNED, RIVAL_FILE, RIVAL_RACER };

struct rival {
    enum rival_kind kind;
    int number; /* of the file or racer */
    const char *name;
    const struct outcome *outcome; /* without a plan: not there yet, or failed */
    int64_t least;                 /* lower bound of the same question, by any plan */
    const char *by;                /* the solver that proved it; NULL: itself */
};

struct rivals {
    struct rival at[MOST_RIVALS];
    int count;
};

/* All rivals, in order of their kinds. */
struct rivals rivals_of(const struct session *s);
/* Best and bound of a rival over time, up to now. */
struct curve rival_curve(const struct session *s, const struct rival *r);
/* Its progress, while it is planned. */
struct progress rival_progress(const struct session *s, const struct rival *r);

/* Two plans and their differences; kept from screen to screen. */
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

/* A difference: a buffer, or a share of the traffic. All gains add up to the whole gain. */
struct differing {
    const char *name, *words;
    int64_t gain;
};
/* Line i; false behind the last. Buffers without gain come last. */
bool comparison_line(const struct comparison *c, int i, struct differing *out);

/* The buffer of the same name in another plan; -1: none. */
int32_t same_buffer(const struct lx_plan *p, const struct lx_plan *from, int32_t i);

/* compare_panes.c: below the rows. */
struct compare_window {
    double from, to, low, high; /* visible shares of time and of addresses; all 0: everything */
};
void compare_maps_draw(const struct scene *on, struct box area, const struct rival *left,
                       const struct rival *right, struct comparison *c, const struct compare_window *w);
void compare_lines_draw(const struct scene *on, struct box area, const struct rival *left,
                        const struct rival *right, struct comparison *c, int *top);
void compare_curves_draw(const struct scene *on, struct box area, const struct rivals *all, int marked);

/* The columns of Compare. */
/* A rival on a screen; `on` NULL: for sorting. */
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
