/* The dual simplex iteration; the basis inverse is kept in lp_basis.c.
 *
 * One iteration: the basic variable that is furthest outside its bounds leaves; the row of the inverse prices
 * all columns through prefix sums over the sections, so pricing costs O(columns + sections) however wide the
 * intervals are; columns are passed in order of ratio, flipping to the other bound while that helps; the
 * column that stops the descent enters. Reduced costs are recomputed from the duals each time, which costs no
 * more than updating them and cannot drift.
 *
 * Costs are perturbed by about 1e-9 of their mean so that equal densities, which are the rule, do not
 * stall the search. The true costs count again when a caller certifies its bound. */
#include "exact/lp.h"

/* Prefix sums over all sections of a value per basis row. */
static void prefix_over_sections(const struct lp *lp, const double *row_value, double *prefix)
{
    memset(prefix, 0, (size_t)(lp->sections + 1) * sizeof *prefix);
    for (int32_t i = 0; i < lp->m; i++)
        if (lp->row_id[i] < lp->sections) prefix[lp->row_id[i] + 1] = row_value[i];
    for (int32_t t = 0; t < lp->sections; t++) prefix[t + 1] += prefix[t];
}

/* Per column, the sum of its entries times the row values: intervals by prefix sums, extra rows one by
 * one. */
static void column_products(const struct lp *lp, const double *prefix, const double *row_value, double *out)
{
    for (int32_t j = 0; j < lp->columns; j++)
        out[j] = lp->first[j] <= lp->last[j] ? prefix[lp->last[j] + 1] - prefix[lp->first[j]] : 0;
    for (int32_t i = 0; i < lp->m; i++) {
        if (lp->row_id[i] < lp->sections || row_value[i] == 0) continue;
        const struct lp_extra *row = &lp->extras[lp->row_id[i] - lp->sections];
        for (int32_t e = 0; e < row->count; e++)
            out[row->entries[e].index] += row->entries[e].value * row_value[i];
    }
}

static void recompute_reduced(struct lp *lp)
{
    prefix_over_sections(lp, lp->dual, lp->prefix);
    column_products(lp, lp->prefix, lp->dual, lp->product);
    for (int32_t j = 0; j < lp->columns; j++)
        if (lp->position[j] < 0) lp->reduced[j] = lp->cost[j] - lp->product[j];
}

/* Puts every non-basic column on the bound that its reduced cost asks for, and recomputes the basis. */
static void restore_primal(struct lp *lp)
{
    lp_basis_duals(lp);
    for (int32_t i = 0; i < lp->m; i++)
        if (lp->dual[i] < 0) lp->dual[i] = 0;
    recompute_reduced(lp);
    for (int32_t j = 0; j < lp->columns; j++)
        if (lp->position[j] < 0) lp->at_upper[j] = lp->reduced[j] < 0;
    lp_basis_primal(lp);
}

double lp_objective(const struct lp *lp)
{
    double sum = 0;
    for (int32_t i = 0; i < lp->m; i++) sum += lp->dual[i] * lp_need(lp, lp->row_id[i]);
    for (int32_t j = 0; j < lp->columns; j++) {
        if (lp->position[j] >= 0) continue;
        double d = lp->reduced[j];
        sum += d > 0 ? d * lp->low[j] : d * lp->high[j];
    }
    return sum;
}

/* The basis position furthest outside its bounds, or -1; `*below` tells on which side. */
static int32_t leaving_position(const struct lp *lp, double *amount, bool *below)
{
    int32_t best = -1;
    *amount = lp->tolerance;
    for (int32_t k = 0; k < lp->m; k++) {
        int32_t v = lp->basic[k];
        double low = v < lp->columns ? lp->low[v] : 0, x = lp->xb[k];
        if (low - x > *amount) {
            *amount = low - x;
            *below = true;
            best = k;
        } else if (v < lp->columns && x - lp->high[v] > *amount) {
            *amount = x - lp->high[v];
            *below = false;
            best = k;
        }
    }
    return best;
}

struct candidate {
    double ratio, alpha; /* |alpha| */
    int32_t variable;    /* a column, or columns + basis row for its slack */
};

static bool comes_before(const struct candidate *a, const struct candidate *b)
{
    if (a->ratio != b->ratio) return a->ratio < b->ratio;
    if (a->alpha != b->alpha) return a->alpha > b->alpha;
    return a->variable < b->variable;
}

static void lp_sift_down(struct candidate *heap, int32_t n, int32_t at)
{
    struct candidate moving = heap[at];
    for (int32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && comes_before(&heap[child + 1], &heap[child])) child++;
        if (!comes_before(&heap[child], &moving)) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* Prices the leaving row: alpha of every non-basic variable; collects the ones that limit the dual step. */
static int32_t price(struct lp *lp, int32_t leave, double sign, struct candidate *out)
{
    const double pivot_tolerance = 1e-7;
    const double *rho = lp->inverse[leave];
    prefix_over_sections(lp, rho, lp->prefix2);
    column_products(lp, lp->prefix2, rho, lp->product);
    int32_t n = 0;
    for (int32_t j = 0; j < lp->columns; j++) {
        if (lp->position[j] >= 0 || lp->low[j] >= lp->high[j]) continue;
        double a = sign * lp->product[j];
        double d = lp->reduced[j];
        if (!lp->at_upper[j] && a < -pivot_tolerance)
            out[n++] = (struct candidate){fmax(d, 0.0) / -a, -a, j};
        else if (lp->at_upper[j] && a > pivot_tolerance)
            out[n++] = (struct candidate){fmax(-d, 0.0) / a, a, j};
    }
    for (int32_t i = 0; i < lp->m; i++) {
        double a = -sign * rho[i];
        if (lp->slack_position[lp->row_id[i]] < 0 && a < -pivot_tolerance)
            out[n++] = (struct candidate){fmax(lp->dual[i], 0.0) / -a, -a, lp->columns + i};
    }
    return n;
}

/* Passes the candidates in order of ratio while the slope stays positive. Passed columns flip to the other
 * bound. Returns the entering candidate; its variable is -1 if nothing stops the descent. */
static struct candidate ratio_test(struct lp *lp, struct candidate *heap, int32_t n, double *slope)
{
    for (int32_t i = n / 2 - 1; i >= 0; i--) lp_sift_down(heap, n, i);
    while (n > 0) {
        struct candidate c = heap[0];
        heap[0] = heap[--n];
        if (n > 0) lp_sift_down(heap, n, 0);
        if (c.variable >= lp->columns) return c;
        double rest = *slope - c.alpha * (lp->high[c.variable] - lp->low[c.variable]);
        if (rest <= 0) return c;
        *slope = rest;
        lp->at_upper[c.variable] = !lp->at_upper[c.variable];
    }
    return (struct candidate){.variable = -1};
}

/* Runs the dual simplex on the basis rows. */
static enum lp_result optimise(struct lp *lp, double cutoff)
{
    struct candidate *candidates = lp->candidates;
    int64_t limit = lp->most_pivots ? lp->most_pivots : lp->pivots + 2000 + 20 * (int64_t)lp->m;
    for (;;) {
        double amount;
        bool below = true;
        int32_t leave = leaving_position(lp, &amount, &below);
        if (leave < 0) return LP_OPTIMAL;
        if (lp_objective(lp) > cutoff) return LP_CUTOFF;
        if (lp->pivots >= limit) return LP_STUCK;
        if (lp->pivots % (lp->m > 300 ? 4 : 32) == 0 && lp->stop && lp->stop(lp->stop_context))
            return LP_STUCK;
        double sign = below ? 1 : -1;
        int32_t n = price(lp, leave, sign, candidates);
        struct candidate enter = ratio_test(lp, candidates, n, &amount);
        const double *rho = lp->inverse[leave];
        if (enter.variable < 0) {
            /* So far out on the ray that the bound exceeds the total cost. */
            double step = 2 * lp->total_cost / fmax(amount, lp->tolerance);
            for (int32_t i = 0; i < lp->m; i++) lp->ray[i] = fmax(0, lp->dual[i] - sign * step * rho[i]);
            lp->on_ray = true;
            return LP_INFEASIBLE;
        }
        for (int32_t i = 0; i < lp->m; i++) lp->dual[i] = fmax(0, lp->dual[i] - sign * enter.ratio * rho[i]);
        if (!lp_basis_pivot(lp, leave, enter.variable, below)) {
            if (!lp_basis_refactor(lp)) return LP_STUCK;
            restore_primal(lp);
            continue;
        }
        if (lp->pivots % 256 == 0 && !lp_basis_refactor(lp)) return LP_STUCK;
        if (lp->pivots % 32 == 0)
            restore_primal(lp);
        else {
            recompute_reduced(lp);
            lp_basis_primal(lp);
        }
    }
}

/* Adds violated sections to the basis: the worst of each run of violated neighbours. */
static int32_t add_violated(struct lp *lp, bool *stuck)
{
    double *load = lp->prefix;
    memset(load, 0, (size_t)(lp->sections + 1) * sizeof *load);
    for (int32_t j = 0; j < lp->columns; j++) {
        double x = lp_value(lp, j);
        if (x == 0 || lp->first[j] > lp->last[j]) continue;
        load[lp->first[j]] += x;
        load[lp->last[j] + 1] -= x;
    }
    int32_t added = 0, worst = -1;
    double sum = 0, amount = 0;
    for (int32_t t = 0; t <= lp->sections; t++) {
        if (t < lp->sections) sum += load[t];
        double lack = t < lp->sections && lp->row_of[t] < 0 ? lp->need[t] - sum : 0;
        if (lack > lp->tolerance) {
            if (worst < 0 || lack > amount) {
                worst = t;
                amount = lack;
            }
        } else if (worst >= 0) {
            if (!lp_basis_add(lp, worst)) *stuck = true;
            added++;
            worst = -1;
        }
    }
    for (int32_t k = 0; k < lp->extra_count; k++) {
        if (lp->row_of[lp->sections + k] >= 0) continue;
        double s = 0;
        for (int32_t e = 0; e < lp->extras[k].count; e++)
            s += lp->extras[k].entries[e].value * lp_value(lp, lp->extras[k].entries[e].index);
        if (lp->extras[k].need - s <= lp->extras[k].tolerance) continue;
        if (!lp_basis_add(lp, lp->sections + k)) *stuck = true;
        added++;
    }
    return added;
}

struct lp *lp_new(const struct lp_shape *shape)
{
    struct lp *lp = lp_basis_new(shape);
    lp->candidates =
        arena_array(&lp->memory, (size_t)(shape->columns + LP_MAX_ROWS + 1), sizeof *lp->candidates);
    double mean = 0, largest = 0;
    for (int32_t j = 0; j < lp->columns; j++) {
        mean += fabs(lp->true_cost[j]);
        lp->total_cost += fabs(lp->true_cost[j]) * lp->high[j];
        largest = fmax(largest, lp->high[j]);
    }
    mean /= lp->columns > 0 ? lp->columns : 1;
    for (int32_t j = 0; j < lp->columns; j++) {
        uint32_t h = ((uint32_t)j + 1) * UINT32_C(2654435761);
        h = (h ^ (h >> 15)) * UINT32_C(2246822519);
        lp->cost[j] = lp->true_cost[j] + mean * 1e-9 * (0.5 + ((double)((h ^ (h >> 13)) & 0xffff) / 65536.0));
    }
    lp->tolerance = 1e-11 * largest + 1e-7;
    return lp;
}

enum lp_result lp_solve(struct lp *lp, double cutoff)
{
    lp->on_ray = false;
    restore_primal(lp);
    for (;;) {
        enum lp_result result = optimise(lp, cutoff);
        if (result != LP_OPTIMAL) return result;
        bool stuck = false;
        int32_t added = add_violated(lp, &stuck);
        if (stuck) return LP_STUCK;
        if (!added) break;
        lp_basis_primal(lp);
    }
    lp_basis_drop_idle(lp);
    return LP_OPTIMAL;
}

double lp_value(const struct lp *lp, int32_t column)
{
    return lp->position[column] >= 0 ? lp->xb[lp->position[column]]
                                     : (lp->at_upper[column] ? lp->high[column] : lp->low[column]);
}

void lp_duals(const struct lp *lp, double *section_dual, double *extra_dual)
{
    memset(section_dual, 0, (size_t)lp->sections * sizeof *section_dual);
    memset(extra_dual, 0, (size_t)lp->extra_count * sizeof *extra_dual);
    for (int32_t i = 0; i < lp->m; i++) {
        double y = lp->on_ray ? lp->ray[i] : lp->dual[i];
        if (lp->row_id[i] < lp->sections)
            section_dual[lp->row_id[i]] = y;
        else
            extra_dual[lp->row_id[i] - lp->sections] = y;
    }
}
