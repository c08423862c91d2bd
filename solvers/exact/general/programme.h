/* A 0/1 programme whose rows become known while it is solved. Minimise sum cost x over x in {0, 1}, with rows
 * sum coefficient x >= need, where `visit` judges a point that satisfies all rows: it takes the point, adds
 * rows that cut it off, or cannot decide. Branch and bound over the linear programme of the rows
 * (exact/lp.h), best bound first with dives. Floating point only guides: every bound is the Lagrangian value
 * of integer duals, summed in 128 bits. Sizes: up to some thousand columns, hundreds to thousands of rows. */
#pragma once

#include "exact/budget.h"
#include "exact/lp.h"

struct term {
    int32_t column;
    int64_t coefficient;
};

struct programme_row {
    struct term *terms;
    int32_t count;
    int64_t need;
    double scale; /* factor of the row in the linear programme */
};

enum visit { POINT_TAKEN, POINT_CUT, POINT_UNKNOWN };

struct programme_node {
    int32_t parent, column;
    int64_t bound;
    bool value;
};

struct programme {
    int32_t columns;
    int64_t *cost;
    bool *low, *high; /* the box of the current node */

    VEC(struct programme_row) rows;
    VEC(struct term) merged;
    struct lp *lp;
    struct budget *budget;
    int64_t total_cost, cost_step;
    int64_t best;               /* cost of the best answer known, or total_cost + 1 */
    int64_t lost;               /* least cost of undecided points; INT64_MAX: none */
    int64_t floor;              /* proved before */
    int64_t proved;             /* proved bound; total_cost + 1: no answer */
    bool accepts;               /* `visit` takes every point */
    bool contradiction, enough; /* enough: `visit` wants to stop */
    int64_t nodes, cuts;
    int64_t pivots_before; /* lp->effort before the current solve */
    /* Judges a point that satisfies all rows. May lower `best`. */
    enum visit (*visit)(void *context, const bool *point);
    /* May add rows that the fractional point violates; returns how many. */
    int32_t (*separate)(void *context, const double *point);
    void *context;
    VEC(struct programme_node) tree;
    VEC(int32_t) open;
    double *fraction, *duals;
    size_t dual_room;
    int128 *reduced, value, scale;
    bool *point;
    struct arena memory; /* all but the vectors and the duals */
};

void programme_open(struct programme *m, int32_t columns, struct budget *budget);
void programme_close(struct programme *m);
/* Several terms may name one column. */
void programme_add_row(struct programme *m, const struct term *terms, int32_t count, int64_t need);
/* Sums the costs and lowers `best` to at most the sum plus one; programme_solve calls it first. */
void programme_sum_up(struct programme *m);
/* Runs until solved or the budget is spent. */
void programme_solve(struct programme *m);
