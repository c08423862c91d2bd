/* The integer programme of a placement problem, as GLPK sees it.
 *
 * Columns (addresses in `grain`s: the largest unit that may divide all bases):
 *
 *     on[i]     per item, binary. 1: on chip (fixed to 1 for fit and height)
 *     x[i]      per item, the base, within [lowest, last]: an integer multiple of the alignment where that is
 *               above a grain, otherwise continuous: once the order is decided the rest is a difference
 *               system, whose vertices are integral
 *     below[p]  per pair that can conflict either way, binary. 1: the first stands below the second
 *     merge[e]  per in-place edge, binary. 1: equal bases; at most one per parent and one per child
 *     height    for LX_HEIGHT only: in grains
 *     linked cost[c] per linked cost that costs something: 1 when it is paid
 *
 * Rows: the order of each pair with its own tight M, the capacity of each maximal section (these carry the LP
 * bound), merges, and for twins (same life and size) an order of residency and address.
 *
 * A merged child lies within its parent's bytes on the tick that they share, so its rectangle adds nothing
 * there: its section row gives its size back, and strangers meet the parent, whose bytes stay reserved.
 *
 * `relaxed` leaves out addresses: only on, merge and the sections (a temporal knapsack). It is far smaller,
 * and its optimum is a bound. */
#pragma once

#include "common/items.h"

#include <glpk.h>

struct ilp_pair {
    int32_t i, j;
    int column;
};

struct ilp_model {
    const struct items *it;
    bool relaxed;
    int64_t grain;       /* units of the problem's alignment */
    int64_t cost_unit;   /* the gcd of the costs: the objective's unit */
    int64_t widest;      /* the largest coefficient of any row: decides whether tolerances are safe */
    int64_t ceiling;     /* height: only answers up to here (bytes) count */
    int *on, *x, *merge; /* column numbers; 0: none */
    int64_t *step;       /* x = step * its column */
    struct ilp_pair *pairs;
    int32_t pair_count;
    int height;
    int *linked_column; /* column numbers, by linked cost; 0: none */
    int32_t *item_of;   /* per buffer, or NO_ITEM */
    bool *linked;       /* per item: a linked cost or group names it */
    int columns, rows, binaries;
    glp_prob *lp;
    /* Scratch for building; a field, so that it is freed even if GLPK leaves by longjmp. */
    VEC(int) term_row, term_column;
    VEC(double) term_value;
    struct arena memory;
};

/* Builds the programme; GLPK errors leave by its error hook. False: it needs more than `max_rows` rows. */
bool ilp_model_make(struct ilp_model *m, const struct items *it, bool relaxed, int64_t ceiling,
                    int64_t max_rows);
/* Frees the model's arrays; the glp_prob belongs to the GLPK environment. */
void ilp_model_free(struct ilp_model *m);

/* The column values of a placement (columns + 1 of them, [0] unused), for GLPK as a first solution. */
void ilp_model_values(const struct ilp_model *m, const int64_t *base, double *value);
