/* Builds the integer programme; see ilp_model.h. */
#include "ilp/ilp_model.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Bases of packed answers are sums of sizes, rounded up to alignments, on fixed addresses: multiples of a
 * grain that divides the sizes and the fixed addresses and that each alignment divides or is a multiple of.
 * The common multiple of the alignments of a chain then divides it or is a multiple of it, too. */
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

int ilp_add_column(struct ilp_build *b, int kind, double low, double high)
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

int ilp_add_row(struct ilp_build *b, int type, double low, double high)
{
    int r = glp_add_rows(b->m->lp, 1);
    glp_set_row_bnds(b->m->lp, r, type, low, high);
    b->m->rows = r;
    if (r > b->max_rows) b->too_large = true;
    return r;
}

void ilp_add_term(struct ilp_build *b, int row, int column, int64_t value)
{
    if (value == 0 || column == 0) return;
    struct ilp_model *m = b->m;
    VEC_PUSH(&m->term_row, row);
    VEC_PUSH(&m->term_column, column);
    VEC_PUSH(&m->term_value, (double)value);
    m->widest = max_i64(m->widest, value < 0 ? -value : value);
}

static void add_items(struct ilp_build *b)
{
    struct ilp_model *m = b->m;
    bool all_on = m->it->problem->objective != LX_SPILL;
    for (int32_t i = 0; i < m->it->count; i++) {
        int64_t cost = m->it->item[i].cost;
        m->cost_unit = gcd_i64(m->cost_unit, cost < 0 ? -cost : cost);
    }
    m->cost_unit = max_i64(gcd_i64(m->cost_unit, ilp_charge_unit(m)), 1);
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
            int row = ilp_add_row(b, GLP_UP, 0, 0);
            ilp_add_term(b, row, m->merge[e], 1);
            ilp_add_term(b, row, m->on[end ? c : p], -1);
        }
        for (int way = 0; way < 2 && !m->relaxed; way++) {
            int32_t high = way ? c : p, low = way ? p : c;
            int64_t most = max_i64(ilp_model_last_of(m, high) - lowest_of(m, low), 0);
            int row = ilp_add_row(b, GLP_UP, 0, (double)most);
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
            int row = ilp_add_row(b, GLP_UP, 0, 1);
            for (int32_t k = from; k < to; k++)
                if ((role ? it->edge[it->edge_of[k]].child : it->edge[it->edge_of[k]].parent) == i)
                    ilp_add_term(b, row, m->merge[it->edge_of[k]], 1);
        }
}

/* The items live at tick t, which is a start; the row is left out when the next start comes before any end,
 * because its set contains this one. Only the topmost may end in the middle of a grain, hence the room. */
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
    int row = ilp_add_row(b, GLP_UP, 0, (double)room);
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
        /* A child starts here beside its parent: with the merge the set of the next tick weighs less. */
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

static int edge_between(const struct ilp_model *m, int32_t i, int32_t j)
{
    const struct items *it = m->it;
    for (int32_t k = it->edge_first[i]; k < it->edge_first[i + 1]; k++) {
        struct edge e = it->edge[it->edge_of[k]];
        if ((e.parent == i && e.child == j) || (e.parent == j && e.child == i))
            return m->merge[it->edge_of[k]];
    }
    return 0;
}

/* With below[p] at 0 (or no such column) the switches are: one of the two is off chip, or they are merged. */
static void add_order_else(struct ilp_build *b, int32_t low, int32_t high, int column, int merge)
{
    struct ilp_model *m = b->m;
    int64_t size = ilp_model_size_of(m, low), big = ilp_model_last_of(m, low) + size - lowest_of(m, high);
    int row = ilp_add_row(b, GLP_UP, 0, (double)(2 * big - size));
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
    /* Their ranges never meet: nothing to keep apart. */
    if (ilp_model_last_of(m, i) + si <= lowest_of(m, j) || ilp_model_last_of(m, j) + sj <= lowest_of(m, i))
        return;
    int merge = edge_between(m, i, j);
    if (!i_low && !j_low) {
        int row = ilp_add_row(b, GLP_UP, 0, 1);
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
    /* `low` below `high` unless switched off: base(low) + size(low) - base(high) <= M * switches.
 * With below[p] set, that alone is the switch: a pair that is not kept apart has it at 0. */
    int64_t size = ilp_model_size_of(m, i), big = ilp_model_last_of(m, i) + size - lowest_of(m, j);
    int row = ilp_add_row(b, GLP_UP, 0, (double)(big - size));
    add_base(b, row, i, 1);
    add_base(b, row, j, -1);
    ilp_add_term(b, row, column, big);
    add_order_else(b, j, i, column, merge);
}

static void ilp_model_add_pairs(struct ilp_build *b)
{
    const struct items *it = b->m->it;
    for (int32_t i = 0; i < it->count; i++)
        for (size_t k = it->first[i]; k < it->first[i + 1] && !b->too_large; k++)
            if (it->near[k] > i) ilp_model_add_pair(b, i, it->near[k]);
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
        int row = ilp_add_row(b, GLP_UP, 0, 0);
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
    ilp_link_values(m, base, value);
    if (m->height)
        value[m->height] = (double)items_height(it, base) / (double)(m->grain * it->problem->alignment);
}

void ilp_model_free(struct ilp_model *m)
{
    mem_free(m->on);
    mem_free(m->x);
    mem_free(m->merge);
    mem_free(m->step);
    mem_free(m->pairs);
    mem_free(m->live);
    mem_free(m->linked);
    mem_free(m->item_of);
    mem_free(m->charge);
    VEC_FREE(&m->term_row);
    VEC_FREE(&m->term_column);
    VEC_FREE(&m->term_value);
    *m = (struct ilp_model){0};
}

bool ilp_model_make(struct ilp_model *m, const struct items *it, bool relaxed, int64_t ceiling,
                    int64_t max_rows)
{
    size_t n = (size_t)it->count + 1;
    *m = (struct ilp_model){.it = it, .relaxed = relaxed, .ceiling = ceiling, .grain = find_grain(it)};
    struct ilp_build b = {.m = m, .max_rows = max_rows};
    m->live = mem_alloc(n * sizeof *m->live);
    m->on = mem_zeroed(n, sizeof *m->on);
    m->x = mem_zeroed(n, sizeof *m->x);
    m->step = mem_zeroed(n, sizeof *m->step);
    m->merge = mem_zeroed((size_t)it->edge_count + 1, sizeof *m->merge);
    m->linked = mem_zeroed(n, sizeof *m->linked);
    m->item_of = mem_alloc(((size_t)it->problem->count + 1) * sizeof *m->item_of);
    m->charge = mem_zeroed((size_t)it->problem->bonds.charge_count + 1, sizeof *m->charge);
    m->pairs = mem_alloc(((relaxed ? 0 : (size_t)it->pairs) + 1) * sizeof *m->pairs);
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
    ilp_model_add_sections(&b, m->live);
    add_twins(&b);
    ilp_model_add_pairs(&b);
    if (it->problem->objective == LX_HEIGHT && !relaxed) {
        struct ilp_model *k = b.m;
        double grain = (double)(k->grain * k->it->problem->alignment);
        k->height = ilp_add_column(&b, GLP_CV, 0, (double)k->ceiling / grain);
        glp_set_obj_coef(k->lp, k->height, 1);
        for (int32_t i = 0; i < k->it->count; i++) {
            int row = ilp_add_row(&b, GLP_UP, 0, -(double)k->it->item[i].bytes / grain);
            add_base(&b, row, i, 1);
            ilp_add_term(&b, row, k->height, -1);
        }
    }
    if (!b.too_large && m->rows > 0)
        glp_load_matrix(m->lp, (int)m->term_row.count - 1, m->term_row.at, m->term_column.at,
                        m->term_value.at);
    return !b.too_large;
}
