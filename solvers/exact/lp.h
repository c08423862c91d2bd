/* A small linear-programming engine for "spill enough in every section".
 *
 * The programme: minimise sum cost_j x_j, 0 <= x_j <= upper_j, so that in every section t the columns whose
 * interval [first_j, last_j] contains t sum to at least need_t, and a few extra sparse rows hold. The section
 * rows are a 0/1 interval matrix, which is totally unimodular: without extra rows every entry of the basis
 * inverse is -1, 0 or 1, so the inverse is stored explicitly and stays exact.
 *
 * Dual simplex with bound flipping. Every column is boxed, so any basis with non-negative row duals is a
 * legal start for any bounds: after changing bounds call lp_solve again, from anywhere in a search tree.
 * Section rows enter the basis only when they are violated.
 *
 * Sizes: up to a few thousand columns and sections; basis of up to LP_MAX_ROWS rows, usually under 200.
 * Floating point only guides; callers certify every bound from the duals with integers. */
#pragma once

#include "base/base.h"

enum { LP_MAX_ROWS = 2500 };

struct lp_entry {
    int32_t index; /* of the column in a row's list, of the row in a column's list */
    double value;
};

struct lp_extra {
    struct lp_entry *entries;
    int32_t count;
    double need, tolerance;
};

struct candidate;

/* An extra row's entry, in its column's list. */
struct lp_link {
    struct lp_link *next;
    int32_t row;
    double value;
};

struct lp {
    int32_t columns, sections;
    int32_t *first, *last;
    double *cost, *true_cost, *perturbed_cost, *need;
    double *low,
        *high; /* bounds of the columns, within [0, upper]; the caller may change them between solves */
    struct lp_link **links;
    struct lp_extra *extras;
    int32_t extra_count, extra_room;

    int32_t m, room; /* rows of the basis; allocated rows */
    int32_t *row_id; /* section, or sections + extra row */
    int32_t *basic;  /* variable at a basis position: a column, or columns + row id for its slack */
    double *xb, *dual, *ray, *work;
    int32_t *filled, filled_count; /* nonzero places of the column spread over `work`, ascending */
    double **inverse;              /* one vector per basis position */
    int32_t *row_of;               /* by row id: basis row, or -1 */
    int32_t *slack_position;       /* by row id: basis position, or -1 */
    int32_t *position;             /* by column: basis position, or -1 */
    bool *at_upper;
    double *reduced, *product, *prefix, *prefix2;
    struct candidate *candidates;
    double tolerance, total_cost;
    int64_t pivots, most_pivots; /* most: limit on pivots, or 0 */
    int64_t effort;              /* pivots weighed by the size of the basis, 1 each while it is small */
    bool (*stop)(void *context); /* polled every few pivots; true: lp_solve ends as LP_STUCK */
    void *stop_context;
    bool on_ray;
    struct arena memory; /* all arrays that do not grow */
};

enum lp_result { LP_OPTIMAL, LP_INFEASIBLE, LP_CUTOFF, LP_STUCK };

struct lp_shape {
    int32_t columns, sections;
    const int32_t *first, *last; /* interval of sections; first > last: in no section */
    const double *upper, *cost, *need;
};

struct lp *lp_new(const struct lp_shape *shape);
void lp_free(struct lp *lp);

/* sum value_j x_j >= need; entries are copied. */
void lp_add_row(struct lp *lp, const struct lp_entry *entries, int32_t count, double need);

/* Stops early (LP_CUTOFF) once the dual objective passes `cutoff`. LP_STUCK: the iteration limit or
 * numerical trouble; the duals are still usable. */
enum lp_result lp_solve(struct lp *lp, double cutoff);

double lp_value(const struct lp *lp, int32_t column);
double lp_objective(const struct lp *lp);

/* Row duals, all >= 0: one per section, one per extra row. Rows outside the basis have 0. After LP_INFEASIBLE
 * they lie far out on a ray, so that their bound is above the total cost. */
void lp_duals(const struct lp *lp, double *section_dual, double *extra_dual);

/* The largest shift, up to `most`, at which scaled duals stay below 2^60 and a certificate's sum below 2^118;
 * `sum` is an upper estimate. */
static inline int lp_safe_shift(double sum, double largest_dual, int most)
{
    int sum_bits, dual_bits;
    frexp(4 * sum, &sum_bits);
    frexp(largest_dual, &dual_bits);
    int shift = 118 - sum_bits < 60 - dual_bits ? 118 - sum_bits : 60 - dual_bits;
    return shift > most ? most : shift;
}

/* --- Shared by lp.c and lp_basis.c. --- */

struct lp *lp_basis_new(const struct lp_shape *shape);

/* Adds a row with its slack basic. */
bool lp_basis_add(struct lp *lp, int32_t row_id);
/* Removes rows whose slack is basic: they do not constrain the point. */
void lp_basis_drop_idle(struct lp *lp);
/* Exchanges two variables; `entering` is a column or columns + basis row. The leaving variable goes to its
 * low or high bound. False: the pivot element is too small to trust. */
bool lp_basis_pivot(struct lp *lp, int32_t leave, int32_t entering, bool to_low);
bool lp_basis_refactor(struct lp *lp);
/* Computes xb from the bounds of the non-basic columns; duals from the costs of the basic ones. */
void lp_basis_primal(struct lp *lp);
void lp_basis_duals(struct lp *lp);

static inline double lp_need(const struct lp *lp, int32_t row_id)
{
    return row_id < lp->sections ? lp->need[row_id] : lp->extras[row_id - lp->sections].need;
}
