/* Branch and bound, best bound first; see programme.h. */
#include "exact/general/programme.h"

void programme_open(struct programme *m, int32_t columns, struct budget *budget)
{
    *m = (struct programme){.columns = columns, .budget = budget, .lost = INT64_MAX};
    size_t n = (size_t)columns + 1;
    m->cost = arena_array(&m->memory, n, sizeof *m->cost);
    m->low = arena_array(&m->memory, n, sizeof *m->low);
    m->high = arena_array(&m->memory, n, sizeof *m->high);
    m->fraction = arena_array(&m->memory, n, sizeof *m->fraction);
    m->reduced = arena_array(&m->memory, n, sizeof *m->reduced);
    m->point = arena_array(&m->memory, n, sizeof *m->point);
}

void programme_close(struct programme *m)
{
    VEC_FREE(&m->rows);
    VEC_FREE(&m->merged);
    VEC_FREE(&m->tree);
    VEC_FREE(&m->open);
    if (m->lp) lp_free(m->lp);
    mem_free(m->duals);
    arena_free(&m->memory);
}

/* --- Rows. --- */

ORDER(compare_terms, struct term, ORDER_UP(column) ORDER_UP(coefficient));

/* Merges terms of the same column and divides by their common divisor. Without negative coefficients, each is
 * capped at the need. */
static void merge_terms(struct programme *m, const struct term *terms, int32_t count, int64_t *need)
{
    int64_t common = 0, least = 0;
    m->merged.count = 0;
    VEC_RESERVE(&m->merged, (size_t)count + 1);
    struct term *at = m->merged.at;
    if (count) memcpy(at, terms, (size_t)count * sizeof *at);
    qsort(at, (size_t)count, sizeof *at, compare_terms);
    size_t n = 0;
    for (int32_t k = 0; k < count; k++)
        if (n && at[n - 1].column == at[k].column)
            at[n - 1].coefficient += at[k].coefficient;
        else
            at[n++] = at[k];
    for (size_t k = 0; k < n; k++) {
        if (at[k].coefficient == 0) continue;
        at[m->merged.count++] = at[k];
        least = min_i64(least, at[k].coefficient);
    }
    for (size_t k = 0; k < m->merged.count; k++) {
        if (least >= 0 && *need > 0) at[k].coefficient = min_i64(at[k].coefficient, *need);
        common = gcd_i64(common, at[k].coefficient < 0 ? -at[k].coefficient : at[k].coefficient);
    }
    if (common > 1) {
        for (size_t k = 0; k < m->merged.count; k++) at[k].coefficient /= common;
        *need = *need > 0 ? ceil_div_i64(*need, common) : -(-*need / common);
    }
}

static void give_row_to_lp(struct programme *m, struct programme_row *row)
{
    OWNED struct lp_entry *entries = mem_alloc(((size_t)row->count + 1) * sizeof *entries);
    int64_t largest = 1;
    for (int32_t k = 0; k < row->count; k++)
        largest = max_i64(largest, row->terms[k].coefficient < 0 ? -row->terms[k].coefficient
                                                                 : row->terms[k].coefficient);
    row->scale = 1 / (double)largest;
    for (int32_t k = 0; k < row->count; k++)
        entries[k] = (struct lp_entry){row->terms[k].column, row->scale * (double)row->terms[k].coefficient};
    lp_add_row(m->lp, entries, row->count, row->scale * (double)row->need);
}

void programme_add_row(struct programme *m, const struct term *terms, int32_t count, int64_t need)
{
    merge_terms(m, terms, count, &need);
    int64_t least = 0;
    for (size_t k = 0; k < m->merged.count; k++) least += min_i64(m->merged.at[k].coefficient, 0);
    if (least >= need) return;
    if (m->merged.count == 0) {
        m->contradiction = true;
        return;
    }
    struct programme_row row = {.count = (int32_t)m->merged.count, .need = need};
    row.terms = arena_copy_array(&m->memory, m->merged.at, m->merged.count, sizeof *row.terms);
    VEC_PUSH(&m->rows, row);
    m->cuts++;
    if (m->lp) give_row_to_lp(m, &m->rows.at[m->rows.count - 1]);
}

static int64_t steps_per_pivot(const struct programme *m)
{
    return 1 + (m->columns + (int64_t)m->rows.count) / 100;
}

/* Polled within a linear programme, whose pivots are not counted yet. */
static bool lp_is_over(void *context)
{
    const struct programme *m = context;
    int64_t pivots = m->lp->effort - m->pivots_before;
    return m->budget->steps + pivots * steps_per_pivot(m) >= m->budget->limit || budget_stopped(m->budget);
}

/* --- Bounds. --- */

static int programme_safe_shift(const struct programme *m)
{
    double sum = (double)m->total_cost + 1, largest = 1;
    for (size_t k = 0; k < m->rows.count; k++) {
        const struct programme_row *row = &m->rows.at[k];
        double weight = fabs((double)row->need) + 1;
        if (m->duals[k] <= 0) continue;
        for (int32_t e = 0; e < row->count; e++) weight += fabs((double)row->terms[e].coefficient);
        sum += m->duals[k] * weight;
        largest = fmax(largest, m->duals[k]);
    }
    return lp_safe_shift(sum, largest, 44);
}

/* The bound that the engine's duals prove for the current box, rounded up to the next possible cost. */
static int64_t programme_prove(struct programme *m)
{
    double none;
    if (m->dual_room < m->rows.count + 1) {
        m->dual_room = 2 * (m->rows.count + 1);
        m->duals = mem_resize(m->duals, m->dual_room * sizeof *m->duals);
    }
    lp_duals(m->lp, &none, m->duals);
    for (size_t k = 0; k < m->rows.count; k++) m->duals[k] *= m->rows.at[k].scale;
    int shift = programme_safe_shift(m);
    double scale = ldexp(1, shift); /* rounded-down duals prove less, but stay valid */
    if (shift < 0) shift = 0;
    m->scale = (int128)1 << shift;
    m->value = 0;
    for (int32_t j = 0; j < m->columns; j++) m->reduced[j] = m->scale * m->cost[j];
    for (size_t k = 0; k < m->rows.count; k++) {
        const struct programme_row *row = &m->rows.at[k];
        double x = m->duals[k] * scale;
        int64_t dual = !(x > 0) ? 0 : x >= 0x1p60 ? INT64_C(1) << 60 : (int64_t)x;
        if (dual == 0) continue;
        m->value += (int128)dual * row->need;
        for (int32_t e = 0; e < row->count; e++)
            m->reduced[row->terms[e].column] -= (int128)dual * row->terms[e].coefficient;
    }
    for (int32_t j = 0; j < m->columns; j++)
        if (m->reduced[j] > 0 ? m->low[j] : m->high[j]) m->value += m->reduced[j];
    if (m->value <= 0) return 0;
    int128 step = m->cost_step * m->scale, steps = (m->value + step - 1) / step;
    return (int64_t)(steps * m->cost_step > m->total_cost ? m->total_cost + 1 : steps * m->cost_step);
}

static void programme_decide(struct programme *m, int32_t j, bool low, bool high)
{
    m->low[j] = low;
    m->high[j] = high;
    m->lp->low[j] = low;
    m->lp->high[j] = high;
}

/* --- The tree. --- */

static bool programme_comes_first(const struct programme *m, int32_t a, int32_t b)
{
    int64_t x = m->tree.at[a].bound, y = m->tree.at[b].bound;
    return x != y ? x < y : a > b;
}

static void programme_push(struct programme *m, struct programme_node node)
{
    VEC_PUSH(&m->tree, node);
    VEC_PUSH(&m->open, (int32_t)m->tree.count - 1);
    HEAP_RISE(int32_t, m->open.at, m->open.count - 1, programme_comes_first, m);
}

/* The column to branch on: far from 0 and 1, and dear. -1: all are 0 or 1. */
static int32_t fractional(struct programme *m)
{
    int32_t best = -1;
    double most = 0;
    for (int32_t j = 0; j < m->columns; j++) {
        double x = m->fraction[j], away = fmin(x, 1 - x);
        if (m->low[j] == m->high[j] || away < 1e-6) continue;
        double worth = away * (1 + (double)m->cost[j] / (double)(m->total_cost + 1) * m->columns);
        if (worth > most) most = worth, best = j;
    }
    return best;
}

static int32_t any_free(const struct programme *m)
{
    for (int32_t j = 0; j < m->columns; j++)
        if (m->low[j] != m->high[j]) return j;
    return -1;
}

/* The engine's point is 0/1. Returns -2: same node again; -1: done; else the column to split on. */
static int32_t at_leaf(struct programme *m)
{
    for (int32_t j = 0; j < m->columns; j++)
        m->point[j] = m->low[j] == m->high[j] ? m->low[j] : m->fraction[j] > 0.5;
    int64_t cost = 0;
    for (int32_t j = 0; j < m->columns; j++)
        if (m->point[j]) cost += m->cost[j];
    for (size_t k = 0; k < m->rows.count; k++) {
        const struct programme_row *row = &m->rows.at[k];
        int128 sum = 0;
        for (int32_t e = 0; e < row->count; e++)
            if (m->point[row->terms[e].column]) sum += row->terms[e].coefficient;
        if (sum < row->need) return any_free(m);
    }
    if (cost >= m->best) return any_free(m);
    size_t rows = m->rows.count;
    enum visit said = m->visit(m->context, m->point);
    if (said == POINT_UNKNOWN) m->lost = min_i64(m->lost, cost);
    if (said == POINT_TAKEN && m->accepts) m->best = min_i64(m->best, cost);
    if (said == POINT_TAKEN) return m->best <= cost ? -2 : -1;
    if (m->rows.count == rows && !m->contradiction) {
        /* Cuts off exactly this point. */
        OWNED struct term *terms = mem_alloc(((size_t)m->columns + 1) * sizeof *terms);
        int64_t need = 1;
        for (int32_t j = 0; j < m->columns; j++) {
            terms[j] = (struct term){j, m->point[j] ? -1 : 1};
            need -= m->point[j];
        }
        programme_add_row(m, terms, m->columns, need);
    }
    return -2;
}

enum { SEPARATE_ROUNDS = 60, ROUNDS_PER_NODE = 2 };

/* Solves the current box as far as possible; returns the column to split on, or -1. */
static int32_t work_on(struct programme *m, int32_t node, int *rounds)
{
    for (;;) {
        if (m->contradiction || m->enough || budget_spent(m->budget)) return -1;
        m->pivots_before = m->lp->effort;
        enum lp_result result = lp_solve(m->lp, (double)m->best);
        m->budget->steps += (m->lp->effort - m->pivots_before + 1) * steps_per_pivot(m);
        int64_t bound = max_i64(programme_prove(m), m->tree.at[node].bound);
        m->tree.at[node].bound = bound;
        if (bound >= m->best) return -1;
        /* Decides columns whose reduced cost alone reaches the best. */
        int128 wanted = (int128)((m->best - 1) / m->cost_step * m->cost_step) * m->scale;
        for (int32_t i = 0; i < m->columns; i++) {
            int128 reduced = m->reduced[i] > 0 ? m->reduced[i] : -m->reduced[i];
            if (m->low[i] == m->high[i] || m->value + reduced <= wanted) continue;
            bool value = m->reduced[i] < 0;
            programme_decide(m, i, value, value);
        }
        for (int32_t j = 0; j < m->columns; j++) m->fraction[j] = lp_value(m->lp, j);
        int32_t j = result == LP_OPTIMAL ? fractional(m) : any_free(m);
        if (result == LP_OPTIMAL && m->separate && (*rounds)-- > 0 && m->separate(m->context, m->fraction))
            continue;
        if (j >= 0) return j;
        j = at_leaf(m);
        if (j != -2) return j;
    }
}

static void programme_dive(struct programme *m, int32_t node, int *rounds)
{
    for (;; *rounds = ROUNDS_PER_NODE) {
        m->nodes++;
        int32_t j = work_on(m, node, rounds);
        int64_t bound = m->tree.at[node].bound;
        if (budget_spent(m->budget) && bound < m->best) m->lost = min_i64(m->lost, bound);
        if (j < 0 || m->enough) return;
        bool value = m->fraction[j] > 0.5;
        programme_push(m, (struct programme_node){node, j, bound, !value});
        VEC_PUSH(&m->tree, (struct programme_node){node, j, bound, value});
        node = (int32_t)m->tree.count - 1;
        programme_decide(m, j, value, value);
    }
}

void programme_sum_up(struct programme *m)
{
    m->total_cost = 0;
    m->cost_step = 0;
    for (int32_t j = 0; j < m->columns; j++) {
        m->total_cost += m->cost[j];
        m->cost_step = gcd_i64(m->cost_step, m->cost[j]);
    }
    m->cost_step = max_i64(m->cost_step, 1);
    m->best = min_i64(m->best, m->total_cost + 1);
}

void programme_solve(struct programme *m)
{
    struct arena memory = {0};
    programme_sum_up(m);
    int rounds = SEPARATE_ROUNDS;
    size_t n = (size_t)m->columns + 1;
    int32_t *first = arena_array(&memory, n, sizeof *first), *last = arena_array(&memory, n, sizeof *last);
    double *upper = arena_array(&memory, n, sizeof *upper), *cost = arena_array(&memory, n, sizeof *cost),
           need = 0;
    for (int32_t j = 0; j < m->columns; j++) {
        first[j] = 0;
        last[j] = -1;
        upper[j] = 1;
        cost[j] = (double)m->cost[j];
    }
    m->lp = lp_new(&(struct lp_shape){m->columns, 0, first, last, upper, cost, &need});
    m->lp->stop = lp_is_over;
    m->lp->stop_context = m;
    for (size_t k = 0; k < m->rows.count; k++) give_row_to_lp(m, &m->rows.at[k]);
    arena_free(&memory);
    programme_push(m, (struct programme_node){.parent = -1, .bound = m->floor});
    while (m->open.count && !m->contradiction && !m->enough && !budget_spent(m->budget)) {
        if (m->tree.at[m->open.at[0]].bound >= m->best) break;
        int32_t node = m->open.at[0];
        m->open.at[0] = m->open.at[--m->open.count];
        HEAP_SINK(int32_t, m->open.at, m->open.count, 0, programme_comes_first, m);
        for (int32_t j = 0; j < m->columns; j++) programme_decide(m, j, false, true);
        for (int32_t v = node; m->tree.at[v].parent >= 0; v = m->tree.at[v].parent)
            programme_decide(m, m->tree.at[v].column, m->tree.at[v].value, m->tree.at[v].value);
        programme_dive(m, node, &rounds);
    }
    m->proved = min_i64(m->best, m->lost);
    if (m->open.count && !m->contradiction) m->proved = min_i64(m->proved, m->tree.at[m->open.at[0]].bound);
}
