/* Builds the integer programme; see ilp_model.h. */
#include "ilp/ilp_model.h"

/* Bases of packed answers are sums of sizes on fixed addresses, rounded up to alignments. So they are
 * multiples of a grain that divides the sizes and the fixed addresses, where each alignment divides the grain
 * or is a multiple. The same then holds for the common multiple of a chain's alignments. */
static int64_t find_grain(const struct items *it)
{
    int64_t grain = 0;
    for (int32_t i = 0; i < it->count; i++) {
        grain = gcd_i64(grain, it->item[i].size);
        if (it->item[i].fixed > 0) grain = gcd_i64(grain, it->item[i].fixed);
    }
    for (bool again = grain > 1; again;) {
        again = false;
        for (int32_t i = 0; i < it->count; i++) {
            int64_t a = it->item[i].align;
            if (grain % a == 0 || a % grain == 0) continue;
            grain = gcd_i64(grain, a);
            again = true;
        }
    }
    return max_i64(grain, 1);
}

static int64_t ilp_model_size_of(const struct ilp_model *m, int32_t i)
{
    return m->it->item[i].size / m->grain;
}

static int64_t lowest_of(const struct ilp_model *m, int32_t i)
{
    return m->it->item[i].fixed >= 0 ? m->it->item[i].fixed / m->grain : 0;
}

static int64_t ilp_model_last_of(const struct ilp_model *m, int32_t i)
{
    const struct item *b = &m->it->item[i];
    if (b->fixed >= 0) return b->fixed / m->grain;
    int64_t last = b->last;
    if (m->it->problem->objective == LX_HEIGHT) last = (m->ceiling - b->bytes) / m->it->problem->alignment;
    return last < 0 ? -1 : last / m->grain;
}

struct ilp_build {
    struct ilp_model *m;
    int64_t max_rows;
    bool too_large;
};

static int ilp_add_column(struct ilp_build *b, int kind, double low, double high)
{
    int c = glp_add_cols(b->m->lp, 1);
    glp_set_col_kind(b->m->lp, c, kind);
    if (kind != GLP_BV)
        glp_set_col_bnds(b->m->lp, c, low == high ? GLP_FX : GLP_DB, low, high);
    else
        b->m->binaries++;
    b->m->columns = c;
    return c;
}

/* A row whose terms sum to at most `high`. */
static int ilp_add_row(struct ilp_build *b, double high)
{
    int r = glp_add_rows(b->m->lp, 1);
    glp_set_row_bnds(b->m->lp, r, GLP_UP, 0, high);
    b->m->rows = r;
    if (r > b->max_rows) b->too_large = true;
    return r;
}

/* Skips column 0, which stands for none. */
static void ilp_add_term(struct ilp_build *b, int row, int column, int64_t value)
{
    if (value == 0 || column == 0) return;
    struct ilp_model *m = b->m;
    VEC_PUSH(&m->term_row, row);
    VEC_PUSH(&m->term_column, column);
    VEC_PUSH(&m->term_value, (double)value);
    m->widest = max_i64(m->widest, value < 0 ? -value : value);
}

/* --- Linked costs. A column per linked cost that costs something, and for each of its `any` members (or
 * once, where it has none) the row
 *     sum of the `all` literals + that one - linked cost <= their number - 1
 * A forbidden linked cost has the same rows without a column. Buffers that are no items are off: a literal
 * that wants one of them on chip drops its row, the opposite is left out. Groups are equal, musts are fixed.
 * --- */

static void ilp_links_mark(struct ilp_model *m, const struct lx_group *g)
{
    for (int32_t k = 0; k < g->count; k++)
        if (m->item_of[g->at[k]] != NO_ITEM) m->linked[m->item_of[g->at[k]]] = true;
}

static void ilp_find_links(struct ilp_model *m)
{
    const struct lx_bonds *bonds = &m->it->problem->bonds;
    for (int32_t i = 0; i < m->it->problem->count; i++) m->item_of[i] = NO_ITEM;
    for (int32_t i = 0; i < m->it->count; i++) m->item_of[m->it->item[i].buffer] = i;
    for (int32_t c = 0; c < bonds->linked_cost_count; c++) {
        ilp_links_mark(m, &bonds->linked_costs[c].all_on);
        ilp_links_mark(m, &bonds->linked_costs[c].all_off);
        ilp_links_mark(m, &bonds->linked_costs[c].any_on);
        ilp_links_mark(m, &bonds->linked_costs[c].any_off);
    }
    for (int32_t g = 0; g < bonds->together_count; g++) ilp_links_mark(m, &bonds->together[g]);
    for (int32_t i = 0; i < m->it->count; i++)
        m->linked[i] |= m->it->problem->buffers[m->it->item[i].buffer].must;
}

/* Adds the literals of a group as terms, each once; false: one of them never holds. `*most` grows by the
 * literals of placed items. */
static bool ilp_links_add_literals(struct ilp_build *b, int row, const struct lx_group *g, bool on,
                                   int64_t *most)
{
    for (int32_t k = 0; k < g->count; k++) {
        int32_t i = b->m->item_of[g->at[k]];
        if (i == NO_ITEM && on) return false;
        if (i == NO_ITEM || item_is_listed(g->at, k, g->at[k])) continue;
        ilp_add_term(b, row, b->m->on[i], on ? 1 : -1);
        *most += on; /* a literal of an item that is off counts 1 - on */
    }
    return true;
}

/* One row of a linked cost, with one more literal or none. */
static void add_row_of(struct ilp_build *b, const struct lx_linked_cost *linked, int column, int32_t any,
                       bool on)
{
    const struct lx_group *same = on ? &linked->all_on : &linked->all_off;
    const struct lx_group *opposite = on ? &linked->all_off : &linked->all_on;
    if (item_is_listed(opposite->at, opposite->count, any)) return; /* contradicts a literal of the row */
    int row = ilp_add_row(b, 0);
    int64_t most = -1;
    struct lx_group one = {&any, any >= 0 && !item_is_listed(same->at, same->count, any)};
    bool possible = ilp_links_add_literals(b, row, &linked->all_on, true, &most) &&
                    ilp_links_add_literals(b, row, &linked->all_off, false, &most) &&
                    ilp_links_add_literals(b, row, &one, on, &most);
    ilp_add_term(b, row, column, -1);
    glp_set_row_bnds(b->m->lp, row, possible ? GLP_UP : GLP_FR, 0, (double)most);
}

static void ilp_add_links(struct ilp_build *b)
{
    const struct lx_problem *p = b->m->it->problem;
    if (p->objective != LX_SPILL) return;
    for (int32_t c = 0; c < p->bonds.linked_cost_count && !b->too_large; c++) {
        struct ilp_model *m = b->m;
        const struct lx_linked_cost *linked = &m->it->problem->bonds.linked_costs[c];
        if (linked->cost == 0) continue;
        if (linked->cost > 0) {
            m->linked_column[c] = ilp_add_column(b, GLP_CV, 0, 1);
            glp_set_obj_coef(m->lp, m->linked_column[c], (double)(linked->cost / m->cost_unit));
        }
        if (linked->any_on.count + linked->any_off.count == 0)
            add_row_of(b, linked, m->linked_column[c], -1, true);
        for (int32_t k = 0; k < linked->any_on.count; k++)
            add_row_of(b, linked, m->linked_column[c], linked->any_on.at[k], true);
        for (int32_t k = 0; k < linked->any_off.count; k++)
            add_row_of(b, linked, m->linked_column[c], linked->any_off.at[k], false);
    }
    for (int32_t g = 0; g < p->bonds.together_count; g++) {
        /* Neighbours in the list are equal; if one can never be on chip, all are off. */
        for (int32_t k = 0; k < p->bonds.together[g].count; k++) {
            int32_t i = b->m->item_of[p->bonds.together[g].at[k]],
                    next = b->m->item_of[p->bonds.together[g].at[(k + 1) % p->bonds.together[g].count]];
            if (i == NO_ITEM || i == next) continue;
            int row = ilp_add_row(b, 0); /* on[i] <= on[next] */
            ilp_add_term(b, row, b->m->on[i], 1);
            if (next != NO_ITEM) ilp_add_term(b, row, b->m->on[next], -1);
        }
    }
    for (int32_t i = 0; i < b->m->it->count; i++)
        if (p->buffers[b->m->it->item[i].buffer].must) glp_set_col_bnds(b->m->lp, b->m->on[i], GLP_FX, 1, 1);
}

static int32_t ilp_links_count_on(const struct ilp_model *m, const struct lx_group *g, const int64_t *base)
{
    int32_t on = 0;
    for (int32_t k = 0; k < g->count; k++) {
        int32_t i = m->item_of[g->at[k]];
        on += i != NO_ITEM && base[i] >= 0;
    }
    return on;
}

/* --- Items, merges, sections, pairs. --- */

static void add_items(struct ilp_build *b)
{
    struct ilp_model *m = b->m;
    bool all_on = m->it->problem->objective != LX_SPILL;
    for (int32_t i = 0; i < m->it->count; i++) {
        int64_t cost = m->it->item[i].cost;
        m->cost_unit = gcd_i64(m->cost_unit, cost < 0 ? -cost : cost);
    }
    const struct lx_bonds *bonds = &m->it->problem->bonds;
    for (int32_t c = 0; !all_on && c < bonds->linked_cost_count; c++)
        m->cost_unit = gcd_i64(m->cost_unit, max_i64(bonds->linked_costs[c].cost, 0));
    m->cost_unit = max_i64(m->cost_unit, 1);
    double total = 0;
    for (int32_t i = 0; i < m->it->count; i++) {
        const struct item *item = &m->it->item[i];
        m->on[i] = ilp_add_column(b, GLP_BV, 0, 1);
        if (all_on)
            glp_set_col_bnds(m->lp, m->on[i], GLP_FX, 1, 1);
        else
            glp_set_obj_coef(m->lp, m->on[i], -(double)(item->cost / m->cost_unit));
        total += (double)(item->cost / m->cost_unit);
        if (m->relaxed) continue;
        m->step[i] = max_i64(item->align / m->grain, 1);
        m->x[i] = ilp_add_column(b, m->step[i] > 1 ? GLP_IV : GLP_CV, (double)(lowest_of(m, i) / m->step[i]),
                                 (double)(ilp_model_last_of(m, i) / m->step[i]));
    }
    if (!all_on) glp_set_obj_coef(m->lp, 0, total);
}

/* base of i, as terms of a row */
static void add_base(struct ilp_build *b, int row, int32_t i, int64_t factor)
{
    ilp_add_term(b, row, b->m->x[i], factor * b->m->step[i]);
}

static void add_merges(struct ilp_build *b)
{
    struct ilp_model *m = b->m;
    const struct items *it = m->it;
    for (int32_t e = 0; e < it->edge_count; e++) {
        int32_t p = it->edge[e].parent, c = it->edge[e].child;
        m->merge[e] = ilp_add_column(b, GLP_BV, 0, 1);
        for (int end = 0; end < 2; end++) {
            int row = ilp_add_row(b, 0);
            ilp_add_term(b, row, m->merge[e], 1);
            ilp_add_term(b, row, m->on[end ? c : p], -1);
        }
        for (int way = 0; way < 2 && !m->relaxed; way++) {
            int32_t high = way ? c : p, low = way ? p : c;
            int64_t most = max_i64(ilp_model_last_of(m, high) - lowest_of(m, low), 0);
            int row = ilp_add_row(b, (double)most);
            add_base(b, row, high, 1);
            add_base(b, row, low, -1);
            ilp_add_term(b, row, m->merge[e], most);
        }
    }
    for (int32_t i = 0; i < it->count; i++)
        for (int role = 0; role < 2; role++) {
            int32_t found = 0, from = it->edge_first[i], to = it->edge_first[i + 1];
            for (int32_t k = from; k < to; k++)
                found += (role ? it->edge[it->edge_of[k]].child : it->edge[it->edge_of[k]].parent) == i;
            if (found < 2) continue;
            int row = ilp_add_row(b, 1);
            for (int32_t k = from; k < to; k++)
                if ((role ? it->edge[it->edge_of[k]].child : it->edge[it->edge_of[k]].parent) == i)
                    ilp_add_term(b, row, m->merge[it->edge_of[k]], 1);
        }
}

/* The items live at tick t, which is a start; no row if the next start comes before any end: the next set
 * contains this one. Only the topmost may end in the middle of a grain, hence the room. */
static void add_section(struct ilp_build *b, const int32_t *live, int32_t count, int64_t t)
{
    struct ilp_model *m = b->m;
    const struct items *it = m->it;
    int64_t room = 0, load = 0;
    for (int32_t k = 0; k < count; k++) {
        room = max_i64(room, ilp_model_last_of(m, live[k]) + ilp_model_size_of(m, live[k]));
        load += ilp_model_size_of(m, live[k]);
    }
    if (load <= room) return;
    int row = ilp_add_row(b, (double)room);
    for (int32_t k = 0; k < count; k++) ilp_add_term(b, row, m->on[live[k]], ilp_model_size_of(m, live[k]));
    for (int32_t k = 0; k < count; k++) {
        int32_t i = live[k];
        if (it->item[i].start != t) continue;
        for (int32_t e = it->edge_first[i]; e < it->edge_first[i + 1]; e++)
            if (it->edge[it->edge_of[e]].child == i)
                ilp_add_term(b, row, m->merge[it->edge_of[e]], -ilp_model_size_of(m, i));
    }
}

static void ilp_model_add_sections(struct ilp_build *b, int32_t *live)
{
    const struct items *it = b->m->it;
    int32_t count = 0;
    for (int32_t i = 0; i < it->count;) {
        int64_t t = it->item[i].start;
        int32_t kept = 0;
        for (int32_t k = 0; k < count; k++)
            if (it->item[live[k]].end > t) live[kept++] = live[k];
        for (; i < it->count && it->item[i].start == t; i++) live[kept++] = i;
        count = kept;
        bool one_ends = i == it->count;
        for (int32_t k = 0; k < count && !one_ends; k++)
            one_ends = it->item[live[k]].end <= it->item[i].start;
        /* A child starts here beside its parent: with the merge the next tick's set weighs less. */
        for (int32_t k = 0; k < count && !one_ends; k++)
            one_ends = it->item[live[k]].start == t && it->edge_first[live[k]] < it->edge_first[live[k] + 1];
        if (one_ends) add_section(b, live, count, t);
    }
}

static bool are_twins(const struct items *it, int32_t i, int32_t j)
{
    const struct item *a = &it->item[i], *b = &it->item[j];
    bool alone = it->edge_first[i] == it->edge_first[i + 1] && it->edge_first[j] == it->edge_first[j + 1];
    return alone && a->start == b->start && a->end == b->end && a->size == b->size && a->align == b->align &&
           a->bytes == b->bytes && a->fixed < 0 && b->fixed < 0;
}

/* If below[p] is 0 (or has no column), one of the two is off chip or they are merged. */
static void add_order_else(struct ilp_build *b, int32_t low, int32_t high, int column, int merge)
{
    struct ilp_model *m = b->m;
    int64_t size = ilp_model_size_of(m, low), big = ilp_model_last_of(m, low) + size - lowest_of(m, high);
    int row = ilp_add_row(b, (double)(2 * big - size));
    add_base(b, row, low, 1);
    add_base(b, row, high, -1);
    ilp_add_term(b, row, m->on[low], big);
    ilp_add_term(b, row, m->on[high], big);
    ilp_add_term(b, row, column, -big);
    ilp_add_term(b, row, merge, -big);
}

static void ilp_model_add_pair(struct ilp_build *b, int32_t i, int32_t j)
{
    struct ilp_model *m = b->m;
    int64_t si = ilp_model_size_of(m, i), sj = ilp_model_size_of(m, j);
    bool i_low = lowest_of(m, i) + si <= ilp_model_last_of(m, j),
         j_low = lowest_of(m, j) + sj <= ilp_model_last_of(m, i);
    /* Their ranges never meet: no row needed. */
    if (ilp_model_last_of(m, i) + si <= lowest_of(m, j) || ilp_model_last_of(m, j) + sj <= lowest_of(m, i))
        return;
    int merge = 0;
    for (int32_t k = m->it->edge_first[i]; k < m->it->edge_first[i + 1] && !merge; k++) {
        struct edge e = m->it->edge[m->it->edge_of[k]];
        if (e.parent == j || e.child == j) merge = m->merge[m->it->edge_of[k]];
    }
    if (!i_low && !j_low) {
        int row = ilp_add_row(b, 1);
        ilp_add_term(b, row, m->on[i], 1);
        ilp_add_term(b, row, m->on[j], 1);
        ilp_add_term(b, row, merge, -1);
        return;
    }
    if (m->relaxed) return;
    if (are_twins(m->it, i, j)) {
        bool first = m->it->item[i].cost >= m->it->item[j].cost;
        add_order_else(b, first ? i : j, first ? j : i, 0, 0);
        return;
    }
    if (i_low != j_low) {
        add_order_else(b, i_low ? i : j, i_low ? j : i, 0, merge);
        return;
    }
    int column = ilp_add_column(b, GLP_BV, 0, 1);
    m->pairs[m->pair_count++] = (struct ilp_pair){i, j, column};
    /* i below j unless switched off: base(i) + size(i) - base(j) <= M * (1 - below[p]). A pair that is not
     * kept apart has below[p] at 0. */
    int64_t size = ilp_model_size_of(m, i), big = ilp_model_last_of(m, i) + size - lowest_of(m, j);
    int row = ilp_add_row(b, (double)(big - size));
    add_base(b, row, i, 1);
    add_base(b, row, j, -1);
    ilp_add_term(b, row, column, big);
    add_order_else(b, j, i, column, merge);
}

/* Of twins the dearer one is kept first; a chain of neighbours in that order is enough. */
static void add_twins(struct ilp_build *b)
{
    struct ilp_model *m = b->m;
    for (int32_t i = 0; i < m->it->count; i++) {
        int32_t next = NO_ITEM;
        for (size_t k = m->it->first[i]; k < m->it->first[i + 1]; k++) {
            int32_t j = m->it->near[k];
            int64_t ci = m->it->item[i].cost, cj = m->it->item[j].cost;
            if (m->linked[i] || m->linked[j] || !are_twins(m->it, i, j)) continue;
            if (cj > ci || (cj == ci && j < i)) continue;
            int64_t best = next == NO_ITEM ? 0 : m->it->item[next].cost;
            if (next == NO_ITEM || cj > best || (cj == best && j < next)) next = j;
        }
        if (next == NO_ITEM) continue;
        int row = ilp_add_row(b, 0);
        ilp_add_term(b, row, m->on[next], 1);
        ilp_add_term(b, row, m->on[i], -1);
    }
}

void ilp_model_values(const struct ilp_model *m, const int64_t *base, double *value)
{
    const struct items *it = m->it;
    for (int c = 0; c <= m->columns; c++) value[c] = 0;
    for (int32_t i = 0; i < it->count; i++) {
        value[m->on[i]] = base[i] >= 0;
        if (m->x[i])
            value[m->x[i]] = (double)((base[i] < 0 ? lowest_of(m, i) : base[i] / m->grain) / m->step[i]);
    }
    for (int32_t e = 0; e < it->edge_count; e++) {
        int32_t p = it->edge[e].parent, c = it->edge[e].child;
        value[m->merge[e]] = base[p] >= 0 && base[p] == base[c];
    }
    for (int32_t k = 0; k < m->pair_count; k++) {
        const struct ilp_pair *q = &m->pairs[k];
        value[q->column] = base[q->i] >= 0 && base[q->j] >= 0 && base[q->i] < base[q->j];
    }
    for (int32_t c = 0; c < it->problem->bonds.linked_cost_count; c++) {
        const struct lx_linked_cost *linked = &it->problem->bonds.linked_costs[c];
        if (!m->linked_column[c]) continue;
        bool all = ilp_links_count_on(m, &linked->all_on, base) == linked->all_on.count &&
                   ilp_links_count_on(m, &linked->all_off, base) == 0;
        bool any = linked->any_on.count + linked->any_off.count == 0 ||
                   ilp_links_count_on(m, &linked->any_on, base) > 0 ||
                   ilp_links_count_on(m, &linked->any_off, base) < linked->any_off.count;
        value[m->linked_column[c]] = all && any;
    }
    if (m->height)
        value[m->height] = (double)items_height(it, base) / (double)(m->grain * it->problem->alignment);
}

void ilp_model_free(struct ilp_model *m)
{
    arena_free(&m->memory);
    VEC_FREE(&m->term_row);
    VEC_FREE(&m->term_column);
    VEC_FREE(&m->term_value);
    *m = (struct ilp_model){0};
}

static void add_height(struct ilp_build *b)
{
    struct ilp_model *m = b->m;
    double grain = (double)(m->grain * m->it->problem->alignment);
    m->height = ilp_add_column(b, GLP_CV, 0, (double)m->ceiling / grain);
    glp_set_obj_coef(m->lp, m->height, 1);
    for (int32_t i = 0; i < m->it->count; i++) {
        int row = ilp_add_row(b, -(double)m->it->item[i].bytes / grain);
        add_base(b, row, i, 1);
        ilp_add_term(b, row, m->height, -1);
    }
}

bool ilp_model_make(struct ilp_model *m, const struct items *it, bool relaxed, int64_t ceiling,
                    int64_t max_rows)
{
    size_t n = (size_t)it->count + 1;
    *m = (struct ilp_model){.it = it, .relaxed = relaxed, .ceiling = ceiling, .grain = find_grain(it)};
    struct ilp_build b = {.m = m, .max_rows = max_rows};
    int32_t *live = arena_array(&m->memory, n, sizeof *live);
    m->on = arena_array(&m->memory, n, sizeof *m->on);
    m->x = arena_array(&m->memory, n, sizeof *m->x);
    m->step = arena_array(&m->memory, n, sizeof *m->step);
    m->merge = arena_array(&m->memory, (size_t)it->edge_count + 1, sizeof *m->merge);
    m->linked = arena_array(&m->memory, n, sizeof *m->linked);
    m->item_of = arena_array(&m->memory, (size_t)it->problem->count + 1, sizeof *m->item_of);
    m->linked_column =
        arena_array(&m->memory, (size_t)it->problem->bonds.linked_cost_count + 1, sizeof *m->linked_column);
    m->pairs = arena_array(&m->memory, (relaxed ? 0 : (size_t)it->pairs) + 1, sizeof *m->pairs);
    /* GLPK counts from 1. */
    VEC_PUSH(&m->term_row, 0);
    VEC_PUSH(&m->term_column, 0);
    VEC_PUSH(&m->term_value, 0);
    m->lp = glp_create_prob();
    glp_set_obj_dir(m->lp, GLP_MIN);
    ilp_find_links(m);
    add_items(&b);
    ilp_add_links(&b);
    add_merges(&b);
    ilp_model_add_sections(&b, live);
    add_twins(&b);
    for (int32_t i = 0; i < it->count; i++)
        for (size_t k = it->first[i]; k < it->first[i + 1] && !b.too_large; k++)
            if (it->near[k] > i) ilp_model_add_pair(&b, i, it->near[k]);
    if (it->problem->objective == LX_HEIGHT && !relaxed) add_height(&b);
    if (!b.too_large && m->rows > 0)
        glp_load_matrix(m->lp, (int)m->term_row.count - 1, m->term_row.at, m->term_column.at,
                        m->term_value.at);
    return !b.too_large;
}
