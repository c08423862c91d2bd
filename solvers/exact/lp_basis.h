/* The state of the linear-programming engine, shared by its two files only. */
#ifndef LX_SOLVERS_EXACT_LP_BASIS_H
#define LX_SOLVERS_EXACT_LP_BASIS_H

#include "exact/lp.h"

struct candidate;

/* An entry of an extra row, in its column's list. */
struct lp_link {
    struct lp_link *next;
    int32_t row;
    double value;
};

struct lp {
    int32_t columns, sections;
    int32_t *first, *last;
    double *cost, *true_cost, *perturbed_cost, *low, *high, *need;
    struct lp_link **links;
    struct lp_extra *extras;
    int32_t extra_count, extra_room;

    int32_t m, room; /* rows of the basis, and what the arrays below hold */
    int32_t *row_id; /* section, or sections + extra row */
    int32_t *basic;  /* variable at a basis position: a column, or columns + row id for its slack */
    double *xb, *dual, *ray, *work;
    int32_t *filled, filled_count; /* where the column that is spread over `work` is not zero, ascending */
    double **inverse;              /* one vector per basis position */
    int32_t *row_of;               /* by row id: basis row, or -1 */
    int32_t *slack_position;       /* by row id: basis position, or -1 */
    int32_t *position;             /* by column: basis position, or -1 */
    bool *at_upper;
    double *reduced, *product, *prefix, *prefix2;
    struct candidate *candidates;
    double tolerance, total_cost;
    int64_t pivots, most_pivots; /* most: 0, or where to stop */
    int64_t effort;              /* pivots weighed by size */
    bool (*stop)(void *context);
    void *stop_context;
    bool on_ray;
};

struct lp *lp_basis_new(const struct lp_shape *shape);
void lp_basis_add_extra(struct lp *lp, const struct lp_entry *entries, int32_t count, double need);
/* Let a row join with its slack basic. */
bool lp_basis_add(struct lp *lp, int32_t row_id);
/* Remove rows whose slack is basic: they constrain nothing now. */
void lp_basis_drop_idle(struct lp *lp);
/* Exchange; `entering` is a column or columns + basis row. The leaving variable goes to its low or high
 * bound. False when the pivot element is too small to trust. */
bool lp_basis_pivot(struct lp *lp, int32_t leave, int32_t entering, bool to_low);
bool lp_basis_refactor(struct lp *lp);
/* xb from the bounds of the non-basic columns; duals from the costs of the basic ones. */
void lp_basis_primal(struct lp *lp);
void lp_basis_duals(struct lp *lp);

static inline double lp_need(const struct lp *lp, int32_t row_id)
{
    return row_id < lp->sections ? lp->need[row_id] : lp->extras[row_id - lp->sections].need;
}

static inline const double *lp_inverse_row(const struct lp *lp, int32_t position)
{
    return lp->inverse[position];
}

#endif
