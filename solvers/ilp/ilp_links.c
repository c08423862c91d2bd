/* Linked costs in the integer programme: a column per charge that costs something, and for each of its `any` members
 * (or once, where it has none) the row
 *     sum of the `all` literals + that one - charge <= their number - 1
 * A forbidden charge has the same rows without a column. Buffers that are no items are off: a literal that asks for
 * one of them on chip drops its row, the opposite falls away. Groups are equal, musts are fixed. */
#include "base/checked.h"
#include "ilp/ilp_model.h"

static void ilp_links_mark(struct ilp_model *m, const struct lx_group *g)
{
    for (int32_t k = 0; k < g->count; k++)
        if (m->item_of[g->at[k]] != NO_ITEM) m->linked[m->item_of[g->at[k]]] = true;
}

static bool has_links(const struct ilp_model *m)
{
    return m->it->problem->objective == LX_SPILL;
}

void ilp_find_links(struct ilp_model *m)
{
    const struct lx_bonds *bonds = &m->it->problem->bonds;
    for (int32_t i = 0; i < m->it->problem->count; i++) m->item_of[i] = NO_ITEM;
    for (int32_t i = 0; i < m->it->count; i++) m->item_of[m->it->item[i].buffer] = i;
    for (int32_t c = 0; c < bonds->charge_count; c++) {
        ilp_links_mark(m, &bonds->charges[c].all_on);
        ilp_links_mark(m, &bonds->charges[c].all_off);
        ilp_links_mark(m, &bonds->charges[c].any_on);
        ilp_links_mark(m, &bonds->charges[c].any_off);
    }
    for (int32_t g = 0; g < bonds->together_count; g++) ilp_links_mark(m, &bonds->together[g]);
    for (int32_t i = 0; i < m->it->count; i++)
        m->linked[i] |= m->it->problem->buffers[m->it->item[i].buffer].must;
}

int64_t ilp_charge_unit(const struct ilp_model *m)
{
    const struct lx_bonds *bonds = &m->it->problem->bonds;
    int64_t unit = 0;
    for (int32_t c = 0; has_links(m) && c < bonds->charge_count; c++)
        unit = gcd_i64(unit, max_i64(bonds->charges[c].cost, 0));
    return unit;
}

static bool ilp_links_has(const struct lx_group *g, int32_t count, int32_t buffer)
{
    for (int32_t k = 0; k < count; k++)
        if (g->at[k] == buffer) return true;
    return false;
}

/* The literals of a group as terms, each once; false: one of them never holds. `*most` grows by those of
 * placed ones. */
static bool ilp_links_add_literals(struct ilp_build *b, int row, const struct lx_group *g, bool on,
                                   int64_t *most)
{
    for (int32_t k = 0; k < g->count; k++) {
        int32_t i = b->m->item_of[g->at[k]];
        if (i == NO_ITEM && on) return false;
        if (i == NO_ITEM || ilp_links_has(g, k, g->at[k])) continue;
        ilp_add_term(b, row, b->m->on[i], on ? 1 : -1);
        *most += on; /* a literal of an item that is off counts 1 - on */
    }
    return true;
}

/* One row of a charge, with one more literal or none. */
static void add_row_of(struct ilp_build *b, const struct lx_charge *charge, int column, int32_t any, bool on)
{
    const struct lx_group *same = on ? &charge->all_on : &charge->all_off;
    const struct lx_group *opposite = on ? &charge->all_off : &charge->all_on;
    if (ilp_links_has(opposite, opposite->count, any)) return; /* never both */
    int row = ilp_add_row(b, GLP_UP, 0, 0);
    int64_t most = -1;
    struct lx_group one = {&any, any >= 0 && !ilp_links_has(same, same->count, any)};
    bool possible = ilp_links_add_literals(b, row, &charge->all_on, true, &most) &&
                    ilp_links_add_literals(b, row, &charge->all_off, false, &most) &&
                    ilp_links_add_literals(b, row, &one, on, &most);
    ilp_add_term(b, row, column, -1);
    glp_set_row_bnds(b->m->lp, row, possible ? GLP_UP : GLP_FR, 0, (double)most);
}

void ilp_add_links(struct ilp_build *b)
{
    const struct lx_problem *p = b->m->it->problem;
    if (!has_links(b->m)) return;
    for (int32_t c = 0; c < p->bonds.charge_count && !b->too_large; c++) {
        struct ilp_model *m = b->m;
        const struct lx_charge *charge = &m->it->problem->bonds.charges[c];
        if (charge->cost == 0) continue;
        if (charge->cost > 0) {
            m->charge[c] = ilp_add_column(b, GLP_CV, 0, 1);
            glp_set_obj_coef(m->lp, m->charge[c], (double)(charge->cost / m->cost_unit));
        }
        if (charge->any_on.count + charge->any_off.count == 0) add_row_of(b, charge, m->charge[c], -1, true);
        for (int32_t k = 0; k < charge->any_on.count; k++)
            add_row_of(b, charge, m->charge[c], charge->any_on.at[k], true);
        for (int32_t k = 0; k < charge->any_off.count; k++)
            add_row_of(b, charge, m->charge[c], charge->any_off.at[k], false);
    }
    for (int32_t g = 0; g < p->bonds.together_count; g++) {
        /* Neighbours in the list are equal; with one that is off for good all are off. */
        for (int32_t k = 0; k < p->bonds.together[g].count; k++) {
            int32_t i = b->m->item_of[p->bonds.together[g].at[k]],
                    next = b->m->item_of[p->bonds.together[g].at[(k + 1) % p->bonds.together[g].count]];
            if (i == NO_ITEM || i == next) continue;
            int row = ilp_add_row(b, GLP_UP, 0, 0); /* on[i] <= on[next] */
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

void ilp_link_values(const struct ilp_model *m, const int64_t *base, double *value)
{
    const struct lx_bonds *bonds = &m->it->problem->bonds;
    for (int32_t c = 0; c < bonds->charge_count; c++) {
        const struct lx_charge *charge = &bonds->charges[c];
        if (!m->charge[c]) continue;
        bool all = ilp_links_count_on(m, &charge->all_on, base) == charge->all_on.count &&
                   ilp_links_count_on(m, &charge->all_off, base) == 0;
        bool any = charge->any_on.count + charge->any_off.count == 0 ||
                   ilp_links_count_on(m, &charge->any_on, base) > 0 ||
                   ilp_links_count_on(m, &charge->any_off, base) < charge->any_off.count;
        value[m->charge[c]] = all && any;
    }
}
