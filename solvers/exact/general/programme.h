/* A 0/1 programme whose rows become known while it is solved. Minimise sum cost x over x in {0, 1}, with
 * rows sum coefficient x >= need, and with whatever `visit` says about a point that satisfies them all:
 * it takes the point, or adds rows that cut it off, or does not know. Branch and bound over the linear
 * programme of the rows (exact/lp.h), best bound first with dives. Floating point decides only where to
 * go: every bound is the Lagrangian value of integer duals, summed in 128 bits. Sizes: up to some
 * thousand columns, hundreds to thousands of rows. */
#ifndef LX_SOLVERS_EXACT_GENERAL_PROGRAMME_H
#define LX_SOLVERS_EXACT_GENERAL_PROGRAMME_H

#include "base/checked.h"
#include "base/vec.h"
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
    double scale; /* of the row in the linear programme */
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
    bool *low, *high; /* the box of the node in hand */

    VEC(struct programme_row) rows;
    VEC(struct term) merged;
    struct lp *lp;
    struct budget *budget;
    int64_t total_cost, cost_step;
    int64_t best;   /* cost of the best answer known, or total_cost + 1 */
    int64_t lost;   /* points below this cost were passed over without knowledge; INT64_MAX: none */
    int64_t floor;  /* what was proved before */
    int64_t proved; /* no answer is below; total_cost + 1: there is none */
    bool accepts;   /* `visit` takes every point */
    bool contradiction, enough; /* enough: `visit` wants no more */
    int64_t nodes, cuts;
    int64_t pivots_before; /* the linear programme that is being solved */
    /* What a point that satisfies all rows is worth. `best` is the caller's to lower. */
    enum visit (*visit)(void *context, const bool *point);
    /* Rows that the fractional point violates may be added; how many were. */
    int32_t (*separate)(void *context, const double *point);
    void *context;
    VEC(struct programme_node) tree;
    VEC(int32_t) open;
    double *fraction, *duals;
    size_t dual_room;
    int128 *reduced, value, scale;
    bool *point;
    struct arena memory; /* of all but the vectors and the duals */
};

void programme_open(struct programme *m, int32_t columns, struct budget *budget);
void programme_close(struct programme *m);
/* Terms of one column may stand there more than once. */
void programme_add_row(struct programme *m, const struct term *terms, int32_t count, int64_t need);
/* Costs in sum, and `best` no more than that; programme_solve begins with it. */
void programme_sum_up(struct programme *m);
/* Until it is solved or the budget is spent. */
void programme_solve(struct programme *m);

#endif
