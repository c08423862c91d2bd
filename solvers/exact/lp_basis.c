/* The explicit basis inverse: rows join with their slack basic, columns are exchanged, idle rows leave.
 *
 * Position k of the basis holds variable basic[k]; inverse[k] is the k-th row of the inverse, indexed by
 * basis row. Entries are almost all zero (a basis of an interval matrix is a tree), and the updates skip
 * zeros, so an exchange costs far less than m * m. */
#include "exact/lp.h"

static void lp_basis_grow(void *array, size_t count, size_t size)
{
    void **slot = array;
    *slot = mem_resize(*slot, (count + 1) * size);
}

/* Makes room for `rows` basis rows. The inverse's vectors all have length `room`. */
static bool reserve_rows(struct lp *lp, int32_t rows)
{
    if (rows <= lp->room) return true;
    if (rows > LP_MAX_ROWS) return false;
    int32_t room = lp->room * 2 < 32 ? 32 : lp->room * 2;
    if (room > LP_MAX_ROWS) room = LP_MAX_ROWS;
    size_t n = (size_t)room;
    lp_basis_grow(&lp->row_id, n, sizeof *lp->row_id);
    lp_basis_grow(&lp->basic, n, sizeof *lp->basic);
    lp_basis_grow(&lp->xb, n, sizeof *lp->xb);
    lp_basis_grow(&lp->dual, n, sizeof *lp->dual);
    lp_basis_grow(&lp->ray, n, sizeof *lp->ray);
    lp_basis_grow(&lp->work, 2 * n, sizeof *lp->work);
    lp_basis_grow(&lp->filled, n, sizeof *lp->filled);
    lp_basis_grow(&lp->inverse, n, sizeof *lp->inverse);
    for (int32_t k = 0; k < lp->room; k++) lp_basis_grow(&lp->inverse[k], n, sizeof **lp->inverse);
    for (int32_t k = lp->room; k < room; k++) lp->inverse[k] = mem_zeroed(n + 1, sizeof **lp->inverse);
    lp->room = room;
    return true;
}

/* Spreads the basis column of a variable over `work`. */
static void spread_column(struct lp *lp, int32_t variable)
{
    memset(lp->work, 0, (size_t)lp->m * sizeof *lp->work);
    if (variable >= lp->columns)
        lp->work[lp->row_of[variable - lp->columns]] = -1;
    else {
        for (int32_t t = lp->first[variable]; t <= lp->last[variable]; t++)
            if (lp->row_of[t] >= 0) lp->work[lp->row_of[t]] = 1;
        for (const struct lp_link *e = lp->links[variable]; e; e = e->next) {
            int32_t i = lp->row_of[lp->sections + e->row];
            if (i >= 0) lp->work[i] = e->value;
        }
    }
    lp->filled_count = 0;
    for (int32_t i = 0; i < lp->m; i++)
        if (lp->work[i] != 0) lp->filled[lp->filled_count++] = i;
}

/* The product with the column in `work`. Skips only zeros and adds in the order of lp_basis_primal, so the
 * result is the same to the last bit. */
static double dot_column(const struct lp *lp, const double *a)
{
    double s[4] = {0, 0, 0, 0};
    int32_t whole = lp->m & ~3;
    for (int32_t k = 0; k < lp->filled_count; k++) {
        int32_t i = lp->filled[k];
        s[i < whole ? i & 3 : 0] += a[i] * lp->work[i];
    }
    return s[0] + s[1] + s[2] + s[3];
}

static void place_basic(struct lp *lp, int32_t position, int32_t variable)
{
    lp->basic[position] = variable;
    if (variable < lp->columns)
        lp->position[variable] = position;
    else
        lp->slack_position[variable - lp->columns] = position;
}

static void subtract_multiple(double *to, const double *from, double factor, int32_t n)
{
    for (int32_t i = 0; i < n; i++) to[i] -= factor * from[i];
}

static void drop_row(struct lp *lp, int32_t row)
{
    int32_t id = lp->row_id[row], position = lp->slack_position[id], last = lp->m - 1;
    if (position != last) {
        double *swap = lp->inverse[position];
        lp->inverse[position] = lp->inverse[last];
        lp->inverse[last] = swap;
        lp->xb[position] = lp->xb[last];
        place_basic(lp, position, lp->basic[last]);
    }
    lp->slack_position[id] = -1;
    lp->row_of[id] = -1;
    if (row != last) {
        for (int32_t k = 0; k < last; k++) lp->inverse[k][row] = lp->inverse[k][last];
        lp->row_id[row] = lp->row_id[last];
        lp->dual[row] = lp->dual[last];
        lp->row_of[lp->row_id[row]] = row;
    }
    lp->m = last;
}

void lp_basis_drop_idle(struct lp *lp)
{
    for (int32_t i = lp->m - 1; i >= 0; i--)
        if (lp->slack_position[lp->row_id[i]] >= 0) drop_row(lp, i);
}

bool lp_basis_add(struct lp *lp, int32_t row_id)
{
    if (!reserve_rows(lp, lp->m + 1)) return false;
    int32_t m = lp->m;
    double *fresh = lp->inverse[m];
    memset(fresh, 0, (size_t)(m + 1) * sizeof *fresh);
    for (int32_t k = 0; k < m; k++) {
        lp->inverse[k][m] = 0;
        if (lp->basic[k] >= lp->columns) continue;
        int32_t column = lp->basic[k];
        double a = row_id < lp->sections && row_id >= lp->first[column] && row_id <= lp->last[column];
        for (const struct lp_link *e = row_id < lp->sections ? NULL : lp->links[column]; e && a == 0;
             e = e->next)
            if (e->row == row_id - lp->sections) a = e->value;
        if (a != 0) subtract_multiple(fresh, lp->inverse[k], -a, m);
    }
    fresh[m] = -1;
    lp->row_id[m] = row_id;
    lp->row_of[row_id] = m;
    lp->dual[m] = 0;
    lp->xb[m] = 0;
    place_basic(lp, m, lp->columns + row_id);
    lp->m = m + 1;
    return true;
}

void lp_add_row(struct lp *lp, const struct lp_entry *entries, int32_t count, double need)
{
    int32_t ids = lp->sections + lp->extra_count + 1;
    if (lp->extra_count == lp->extra_room) {
        int32_t room = lp->extra_room * 2 + 16;
        size_t id_room = (size_t)(lp->sections + room);
        lp_basis_grow(&lp->extras, (size_t)room, sizeof *lp->extras);
        lp_basis_grow(&lp->row_of, id_room, sizeof *lp->row_of);
        lp_basis_grow(&lp->slack_position, id_room, sizeof *lp->slack_position);
        lp->extra_room = room;
    }
    struct lp_link *links = arena_array(&lp->memory, (size_t)count, sizeof *links);
    struct lp_extra row = {arena_array(&lp->memory, (size_t)count, sizeof *row.entries), count, need,
                           INFINITY};
    for (int32_t e = 0; e < count; e++) {
        struct lp_link *link = &links[e];
        *link = (struct lp_link){lp->links[entries[e].index], lp->extra_count, entries[e].value};
        lp->links[entries[e].index] = link;
        row.entries[e] = entries[e];
        row.tolerance = fmin(row.tolerance, fabs(entries[e].value) * lp->high[entries[e].index]);
    }
    row.tolerance = 1e-7 * fmax(fabs(need), row.tolerance);
    lp->row_of[ids - 1] = lp->slack_position[ids - 1] = -1;
    lp->extras[lp->extra_count++] = row;
}

bool lp_basis_pivot(struct lp *lp, int32_t leave, int32_t entering, bool to_low)
{
    int32_t m = lp->m, variable = entering;
    if (entering >= lp->columns) variable = lp->columns + lp->row_id[entering - lp->columns];
    spread_column(lp, variable);
    double *pivot_row = lp->inverse[leave];
    double pivot = dot_column(lp, pivot_row);
    if (fabs(pivot) < 1e-8) return false;
    lp->pivots++;
    lp->effort += 1 + (int64_t)m * m / 4096 + lp->columns / 512;
    for (int32_t k = 0; k < m; k++) {
        if (k == leave) continue;
        double a = dot_column(lp, lp->inverse[k]);
        if (fabs(a) > 1e-13) subtract_multiple(lp->inverse[k], pivot_row, a / pivot, m);
    }
    for (int32_t i = 0; i < m; i++) pivot_row[i] /= pivot;
    int32_t out = lp->basic[leave];
    if (out < lp->columns) {
        lp->position[out] = -1;
        lp->at_upper[out] = !to_low;
    } else
        lp->slack_position[out - lp->columns] = -1;
    place_basic(lp, leave, variable);
    return true;
}

/* Refactors by Gauss-Jordan on the basis columns, slacks first as they cost nothing. Reassigns positions. */
bool lp_basis_refactor(struct lp *lp)
{
    int32_t m = lp->m;
    if (m == 0) return true;
    OWNED int32_t *variables = mem_alloc((size_t)m * sizeof *variables);
    OWNED bool *row_taken = mem_zeroed((size_t)m, sizeof *row_taken);
    int32_t n = 0;
    for (int32_t k = 0; k < m; k++)
        if (lp->basic[k] >= lp->columns) variables[n++] = lp->basic[k];
    for (int32_t k = 0; k < m; k++)
        if (lp->basic[k] < lp->columns) variables[n++] = lp->basic[k];
    for (int32_t k = 0; k < m; k++) {
        memset(lp->inverse[k], 0, (size_t)m * sizeof(double));
        lp->inverse[k][k] = 1;
    }
    bool ok = true;
    for (int32_t v = 0; ok && v < m; v++) {
        if (v % 16 == 15 && lp->stop && lp->stop(lp->stop_context))
            ok = false; /* thousands of rows take seconds */
        if (!ok) break;
        spread_column(lp, variables[v]);
        double *column = lp->work + lp->room;
        int32_t best = -1;
        for (int32_t k = 0; k < m; k++) {
            column[k] = dot_column(lp, lp->inverse[k]);
            if (!row_taken[k] && (best < 0 || fabs(column[k]) > fabs(column[best]))) best = k;
        }
        ok = best >= 0 && fabs(column[best]) > 1e-9;
        if (!ok) break;
        row_taken[best] = true;
        double *pivot_row = lp->inverse[best];
        for (int32_t i = 0; i < m; i++) pivot_row[i] /= column[best];
        for (int32_t k = 0; k < m; k++)
            if (k != best && fabs(column[k]) > 1e-13)
                subtract_multiple(lp->inverse[k], pivot_row, column[k], m);
        place_basic(lp, best, variables[v]);
    }
    return ok;
}

void lp_basis_primal(struct lp *lp)
{
    int32_t m = lp->m;
    double *right = lp->work, *load = lp->prefix2;
    memset(load, 0, (size_t)(lp->sections + 1) * sizeof *load);
    for (int32_t i = 0; i < m; i++) right[i] = lp_need(lp, lp->row_id[i]);
    for (int32_t j = 0; j < lp->columns; j++) {
        double x = lp->at_upper[j] ? lp->high[j] : lp->low[j];
        if (lp->position[j] >= 0 || x == 0) continue;
        if (lp->first[j] <= lp->last[j]) {
            load[lp->first[j]] += x;
            load[lp->last[j] + 1] -= x;
        }
    }
    for (int32_t i = 0; i < m; i++) {
        if (lp->row_id[i] < lp->sections) continue;
        const struct lp_extra *row = &lp->extras[lp->row_id[i] - lp->sections];
        for (int32_t e = 0; e < row->count; e++) {
            int32_t j = row->entries[e].index;
            if (lp->position[j] < 0)
                right[i] -= row->entries[e].value * (lp->at_upper[j] ? lp->high[j] : lp->low[j]);
        }
    }
    for (int32_t t = 0; t < lp->sections; t++) {
        load[t + 1] += load[t];
        if (lp->row_of[t] >= 0) right[lp->row_of[t]] -= load[t];
    }
    for (int32_t k = 0; k < m; k++) {
        const double *a = lp->inverse[k];
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        int32_t i = 0;
        for (; i + 4 <= m; i += 4) {
            s0 += a[i] * right[i];
            s1 += a[i + 1] * right[i + 1];
            s2 += a[i + 2] * right[i + 2];
            s3 += a[i + 3] * right[i + 3];
        }
        for (; i < m; i++) s0 += a[i] * right[i];
        lp->xb[k] = s0 + s1 + s2 + s3;
    }
}

void lp_basis_duals(struct lp *lp)
{
    memset(lp->dual, 0, (size_t)lp->m * sizeof *lp->dual);
    for (int32_t k = 0; k < lp->m; k++)
        if (lp->basic[k] < lp->columns)
            subtract_multiple(lp->dual, lp->inverse[k], -lp->cost[lp->basic[k]], lp->m);
}

void lp_free(struct lp *lp)
{
    for (int32_t k = 0; k < lp->room; k++) mem_free(lp->inverse[k]);
    void *arrays[] = {lp->extras, lp->row_id, lp->basic,   lp->xb,     lp->dual,          lp->ray,
                      lp->work,   lp->filled, lp->inverse, lp->row_of, lp->slack_position};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) mem_free(arrays[i]);
    arena_free(&lp->memory);
    mem_free(lp);
}

struct lp *lp_basis_new(const struct lp_shape *shape)
{
    struct lp *lp = mem_zeroed(1, sizeof *lp);
    struct arena *memory = &lp->memory;
    size_t n = (size_t)shape->columns, t = (size_t)shape->sections;
    lp->columns = shape->columns;
    lp->sections = shape->sections;
    lp->first = arena_copy_array(memory, shape->first, n, sizeof *lp->first);
    lp->last = arena_copy_array(memory, shape->last, n, sizeof *lp->last);
    lp->true_cost = arena_copy_array(memory, shape->cost, n, sizeof *lp->true_cost);
    lp->high = arena_copy_array(memory, shape->upper, n, sizeof *lp->high);
    lp->need = arena_copy_array(memory, shape->need, t, sizeof *lp->need);
    lp->perturbed_cost = arena_array(memory, n, sizeof *lp->perturbed_cost);
    lp->cost = lp->perturbed_cost;
    lp->low = arena_array(memory, n, sizeof *lp->low);
    lp->links = arena_array(memory, n, sizeof *lp->links);
    lp->position = arena_array(memory, n, sizeof *lp->position);
    lp->at_upper = arena_array(memory, n, sizeof *lp->at_upper);
    lp->reduced = arena_array(memory, n, sizeof *lp->reduced);
    lp->product = arena_array(memory, n, sizeof *lp->product);
    lp->prefix = arena_array(memory, t + 2, sizeof *lp->prefix);
    lp->prefix2 = arena_array(memory, t + 2, sizeof *lp->prefix2);
    lp->row_of = mem_alloc((t + 1) * sizeof *lp->row_of);
    lp->slack_position = mem_alloc((t + 1) * sizeof *lp->slack_position);
    reserve_rows(lp, 1);
    for (size_t j = 0; j < n; j++) lp->position[j] = -1;
    for (size_t i = 0; i < t; i++) lp->row_of[i] = lp->slack_position[i] = -1;
    return lp;
}
