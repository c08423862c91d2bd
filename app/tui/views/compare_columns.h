/* The columns of Compare: what is told of each plan. */
#ifndef LX_APP_TUI_COMPARE_COLUMNS_H
#define LX_APP_TUI_COMPARE_COLUMNS_H

#include "tui/views/compared.h"
#include "tui/draw/put_columns.h"

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
