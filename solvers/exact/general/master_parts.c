/* Solves the master programme by parts. Columns that no row joins are independent: each part is solved alone,
 * and the optimal points together are optimal for the whole. If that point is an answer, it is optimal. If
 * not, a row cuts it off; the row joins or changes some parts, and only these are solved again. If this does
 * not end, the whole is searched at once, from the proved bound. */
#include "exact/general/master.h"

enum { MOST_ROUNDS = 400 };

struct parts {
    struct master *m;
    int32_t *up;     /* per column: towards the leader of its part */
    int32_t *number; /* of a column in the part that is being solved */
    int32_t *columns, count;
    bool *point, *found;
    size_t rows; /* rows that the point satisfies */
    bool none;
};

/* Accepts any point that satisfies the rows. */
static enum visit master_parts_accept(void *context, const bool *point)
{
    struct parts *s = context;
    memcpy(s->found, point, (size_t)s->count * sizeof *point);
    return POINT_TAKEN;
}

/* True: the part is solved, or has no point. */
static bool master_parts_solve_part(struct parts *s, int32_t first)
{
    struct programme part, *g = &s->m->programme;
    s->count = 0;
    for (int32_t j = 0; j < g->columns; j++)
        if (sets_root(s->up, j) == first) {
            s->number[j] = s->count;
            s->columns[s->count++] = j;
        }
    programme_open(&part, s->count, g->budget);
    for (int32_t k = 0; k < s->count; k++) part.cost[k] = g->cost[s->columns[k]];
    part.visit = master_parts_accept;
    part.accepts = true;
    part.context = s;
    part.best = INT64_MAX;
    OWNED struct term *terms = mem_alloc(((size_t)s->count + 1) * sizeof *terms);
    for (size_t k = 0; k < g->rows.count; k++) {
        const struct programme_row *row = &g->rows.at[k];
        if (sets_root(s->up, row->terms[0].column) != first) continue;
        for (int32_t e = 0; e < row->count; e++)
            terms[e] = (struct term){s->number[row->terms[e].column], row->terms[e].coefficient};
        programme_add_row(&part, terms, row->count, row->need);
    }
    programme_solve(&part);
    bool ok = part.proved >= part.best;
    s->none |= ok && part.best > part.total_cost;
    for (int32_t k = 0; ok && k < s->count; k++) s->point[s->columns[k]] = s->found[k];
    g->nodes += part.nodes;
    s->m->pivots += part.lp->effort;
    programme_close(&part);
    return ok;
}

/* Solves again the parts that rows have changed. */
static bool solve_changed(struct parts *s)
{
    const struct programme *g = &s->m->programme;
    sets_begin(s->up, g->columns);
    for (size_t k = 0; k < g->rows.count; k++)
        for (int32_t e = 1; e < g->rows.at[k].count; e++)
            sets_join(s->up, g->rows.at[k].terms[e].column, g->rows.at[k].terms[0].column);
    for (size_t k = s->rows; k < g->rows.count && !s->none; k++) {
        int32_t first = sets_root(s->up, g->rows.at[k].terms[0].column);
        bool done = false;
        for (size_t q = s->rows; q < k && !done; q++)
            done = sets_root(s->up, g->rows.at[q].terms[0].column) == first;
        if (!done && !master_parts_solve_part(s, first)) return false;
    }
    s->rows = g->rows.count;
    return true;
}

/* Alternates solving parts and visiting their point; true: settled. */
static bool search_parts(struct parts *s)
{
    struct programme *g = &s->m->programme;
    for (int round = 0; round < MOST_ROUNDS && !budget_spent(g->budget); round++) {
        if (!solve_changed(s)) return false;
        int64_t cost = 0;
        for (int32_t j = 0; j < g->columns; j++)
            if (s->point[j]) cost += g->cost[j];
        bool settled = s->none || g->contradiction;
        if (!settled) g->floor = max_i64(g->floor, cost);
        settled |= g->floor >= g->best || g->enough;
        enum visit said = settled ? POINT_TAKEN : g->visit(s->m, s->point);
        if (said == POINT_TAKEN) {
            g->proved = g->best;
            return true;
        }
        if (said != POINT_CUT || g->rows.count == s->rows) return false;
    }
    return false;
}

bool master_solve_parts(struct master *m)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct parts s = {.m = m};
    size_t n = (size_t)m->programme.columns + 1;
    s.up = arena_array(&memory, n, sizeof *s.up);
    s.number = arena_array(&memory, n, sizeof *s.number);
    s.columns = arena_array(&memory, n, sizeof *s.columns);
    s.point = arena_array(&memory, n, sizeof *s.point);
    s.found = arena_array(&memory, n, sizeof *s.found);
    return search_parts(&s);
}
