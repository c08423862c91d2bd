/* A small linear-programming engine for "spill enough in every section".
 *
 * The programme: minimise sum cost_j x_j, 0 <= x_j <= upper_j, so that in every section t the columns
 * whose interval [first_j, last_j] holds t add up to at least need_t, and a few extra sparse rows hold.
 * The section rows are a 0/1 interval matrix, which is totally unimodular: without extra rows every
 * entry of the basis inverse is -1, 0 or 1, so the inverse is stored explicitly and stays exact.
 *
 * Dual simplex with bound flipping. Every column is boxed, hence any basis whose row duals are
 * non-negative is a legal start whatever the bounds are now: after a change of bounds call lp_solve
 * again, from anywhere in a search tree. Section rows enter the basis only when they are violated.
 *
 * Sizes: up to a few thousand columns and sections; basis of up to LP_MAX_ROWS rows, usually under 200.
 * Floating point decides only where to go; callers certify every bound from the duals with integers. */
#ifndef LX_SOLVERS_EXACT_LP_H
#define LX_SOLVERS_EXACT_LP_H

#include <stdbool.h>
#include <stdint.h>

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

struct lp;

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

/* Restrict or free a column: [low, high] within [0, upper]. */
void lp_set_bounds(struct lp *lp, int32_t column, double low, double high);

/* Costs are perturbed against stalling; this switches to the true ones and back. */
void lp_exact_costs(struct lp *lp, bool exact);

/* Asked every few pivots whether to stop; lp_solve then ends as LP_STUCK. */
void lp_stop_if(struct lp *lp, bool (*stop)(void *context), void *context);

/* Stops early (LP_CUTOFF) once the dual objective passes `cutoff`. LP_STUCK: the iteration limit or
 * numerical trouble; the duals are still usable. */
enum lp_result lp_solve(struct lp *lp, double cutoff);

/* The same for at most so many pivots; LP_STUCK then, and the objective is a lower bound of the true one. */
enum lp_result lp_solve_briefly(struct lp *lp, double cutoff, int64_t pivots);

double lp_value(const struct lp *lp, int32_t column);
double lp_objective(const struct lp *lp);
/* Pivots so far, each counted by what it costs at the size of its basis: 1 while that is small. */
int64_t lp_pivots(const struct lp *lp);

/* Row duals, all >= 0: one per section, one per extra row. Rows outside the basis have 0. After
 * LP_INFEASIBLE they lie far out on a ray, so that the bound they give is as large as wished. */
void lp_duals(const struct lp *lp, double *section_dual, double *extra_dual);

#endif
