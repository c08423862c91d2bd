/* Links between items of the programme: linked costs, groups that go together, musts.
 *
 * Linked costs are shortened first. A buffer that is no item is off, which decides its literals: a literal
 * that cannot hold ends a linked cost, one that always holds falls away. A linked cost with one literal left
 * becomes a part of the item's cost (or decides the item, if forbidden); a priced one of more literals gets a
 * column w and the rows
 *     w >= sum of the `all` literals + one `any` literal - (their number - 1)
 * one for each `any` literal, the tightest rows of this form; a forbidden one is the same row with w = 0: a
 * clause. Groups are rings of rows y_a >= y_b. */
#include "exact/model.h"

static void mark_group(const struct lx_group *g, bool *linked)
{
    for (int32_t k = 0; k < g->count; k++) linked[g->at[k]] = true;
}

void model_mark_linked(const struct lx_bonds *bonds, bool *linked)
{
    for (int32_t c = 0; c < bonds->linked_cost_count; c++) {
        const struct lx_linked_cost *cost = &bonds->linked_costs[c];
        mark_group(&cost->all_on, linked);
        mark_group(&cost->all_off, linked);
        mark_group(&cost->any_on, linked);
        mark_group(&cost->any_off, linked);
    }
    for (int32_t g = 0; g < bonds->together_count; g++) mark_group(&bonds->together[g], linked);
}

/* --- Groups --- */

/* A decision for one of a group holds for all. */
static void spread_over_rings(struct model *m)
{
    for (int32_t i = 0; i < m->item_count; i++) {
        if (!m->items[i].must && !m->items[i].never) continue;
        m->hopeless |= m->items[i].must && m->items[i].never;
        for (int32_t k = m->items[i].ring; k != i; k = m->items[k].ring) {
            m->items[k].must |= m->items[i].must;
            m->items[k].never |= m->items[i].never;
        }
    }
}

/* --- Linked costs --- */

struct shortener {
    struct model *m;
    const int32_t *item_of;
    int32_t used; /* literals */
    bool never;   /* one of `all` cannot hold */
    bool some;    /* one of `any` always holds */
};

static void model_links_add_literals(struct shortener *s, const struct lx_group *g, bool off, bool any)
{
    for (int32_t k = 0; k < g->count; k++) {
        int32_t i = s->item_of[g->at[k]];
        bool known = i < 0 || s->m->items[i].never || s->m->items[i].must;
        bool holds = (i >= 0 && s->m->items[i].must) != off;
        if (!known)
            s->m->literals[s->used++] = 2 * i + off;
        else if (any)
            s->some |= holds;
        else
            s->never |= !holds;
    }
}

/* Writes the linked cost as literals; false: it is never triggered. */
static bool model_links_shorten(struct shortener *s, const struct lx_linked_cost *from,
                                struct model_linked *to)
{
    s->never = s->some = false;
    *to = (struct model_linked){.cost = from->cost, .first = s->used};
    model_links_add_literals(s, &from->all_on, false, false);
    model_links_add_literals(s, &from->all_off, true, false);
    to->all = s->used - to->first;
    model_links_add_literals(s, &from->any_on, false, true);
    model_links_add_literals(s, &from->any_off, true, true);
    to->any = s->used - to->first - to->all;
    bool asks = from->any_on.count + from->any_off.count > 0;
    if (s->some) {
        s->used -= to->any;
        to->any = 0;
    } else if (asks && to->any == 0)
        s->never = true;
    if (to->any == 1) {
        to->all++;
        to->any = 0;
    }
    return !s->never;
}

/* Folds a linked cost of one literal or none into costs and decisions. True: done. */
static bool model_links_fold(struct model *m, const struct model_linked *c)
{
    if (c->all + c->any > 1) return c->cost == 0;
    bool forbidden = c->cost == LX_FORBIDDEN;
    if (c->all == 0) {
        m->hopeless |= forbidden;
        if (!forbidden) m->base += c->cost;
        return true;
    }
    int32_t literal = m->literals[c->first];
    struct model_item *it = &m->items[literal / 2];
    bool off = literal & 1;
    if (forbidden) {
        it->must |= off;
        it->never |= !off;
    } else if (off)
        it->cost += c->cost;
    else {
        it->cost -= c->cost;
        m->base += c->cost;
    }
    return true;
}

static void shorten_all(struct model *m, const int32_t *item_of)
{
    const struct lx_bonds *bonds = &m->p->bonds;
    struct shortener s = {.m = m, .item_of = item_of};
    size_t room = 0;
    for (int32_t c = 0; c < bonds->linked_cost_count; c++)
        room += (size_t)bonds->linked_costs[c].all_on.count + (size_t)bonds->linked_costs[c].all_off.count +
                (size_t)bonds->linked_costs[c].any_on.count + (size_t)bonds->linked_costs[c].any_off.count;
    m->literals = arena_array(&m->memory, room + 1, sizeof *m->literals);
    m->linked_costs = arena_array(&m->memory, (size_t)bonds->linked_cost_count + 1, sizeof *m->linked_costs);
    for (int pass = 0; pass < 2; pass++) /* priced ones first */
        for (int32_t c = 0; c < bonds->linked_cost_count; c++) {
            if ((bonds->linked_costs[c].cost == LX_FORBIDDEN) != (pass == 1)) continue;
            struct model_linked *linked = &m->linked_costs[m->linked_cost_count];
            int32_t before = s.used;
            if (!model_links_shorten(&s, &bonds->linked_costs[c], linked) || model_links_fold(m, linked))
                s.used = before;
            else
                m->linked_cost_count++;
            if (pass == 0) m->priced_count = m->linked_cost_count;
        }
}

/* Indexes linked costs by item; sets the scale of each linked cost, and worths. */
static void index_linked_costs(struct model *m)
{
    size_t n = (size_t)m->item_count, all = 0;
    for (int32_t c = 0; c < m->linked_cost_count; c++)
        all += (size_t)(m->linked_costs[c].all + m->linked_costs[c].any);
    m->linked_first = arena_array(&m->memory, n + 2, sizeof *m->linked_first);
    m->linked_of = arena_array(&m->memory, all + 1, sizeof *m->linked_of);
    for (int32_t i = 0; i < m->item_count; i++) m->items[i].worth = (double)m->items[i].cost;
    for (int32_t c = 0; c < m->linked_cost_count; c++) {
        struct model_linked *linked = &m->linked_costs[c];
        int64_t least = INT32_MAX;
        for (int32_t k = 0; k < linked->all + linked->any; k++) {
            int32_t literal = m->literals[linked->first + k];
            struct model_item *it = &m->items[literal / 2];
            m->linked_first[literal / 2 + 2]++;
            least = min_i64(least, max_i64(it->size, 1));
            if (linked->cost > 0) it->worth += (double)linked->cost * (literal & 1 ? 0.5 : -0.5);
        }
        linked->scale = (int32_t)least;
    }
    for (size_t i = 2; i < n + 2; i++) m->linked_first[i] += m->linked_first[i - 1];
    for (int32_t c = 0; c < m->linked_cost_count; c++)
        for (int32_t k = 0; k < m->linked_costs[c].all + m->linked_costs[c].any; k++)
            m->linked_of[m->linked_first[m->literals[m->linked_costs[c].first + k] / 2 + 1]++] = c;
}

void model_link(struct model *m, const int32_t *item_of)
{
    const struct lx_bonds *bonds = &m->p->bonds;
    for (int32_t g = 0; g < bonds->together_count; g++) {
        int32_t first = -1;
        bool whole = true;
        for (int32_t k = 0; k < bonds->together[g].count; k++) {
            int32_t i = item_of[bonds->together[g].at[k]];
            whole &= i >= 0;
            if (i < 0) continue;
            /* Joins two rings by exchanging successors; one ring needs nothing. */
            bool same = first < 0 || first == i;
            for (int32_t r = same ? i : m->items[first].ring; !same && r != first; r = m->items[r].ring)
                same = r == i;
            if (!same) {
                int32_t next = m->items[first].ring;
                m->items[first].ring = m->items[i].ring;
                m->items[i].ring = next;
            }
            first = i;
        }
        if (first >= 0 && !whole) m->items[first].never = true;
    }
    spread_over_rings(m);
    if (bonds->linked_cost_count) shorten_all(m, item_of);
    spread_over_rings(m);
    for (int32_t i = 0; i < m->item_count; i++)
        m->linked |= m->items[i].ring != i || m->items[i].never || m->items[i].must || m->items[i].cost <= 0;
    m->linked |= m->linked_cost_count > 0;
    if (m->linked) index_linked_costs(m);
}

/* --- Rows --- */

static void model_links_add_clause(struct model *m, const struct model_linked *c, int32_t column, int32_t any,
                                   struct model_term *terms)
{
    int32_t n = 0;
    int64_t need = 1;
    if (column >= 0) terms[n++] = (struct model_term){column, 1};
    for (int32_t k = 0; k < c->all + (any >= 0); k++) {
        int32_t literal = m->literals[c->first + (k < c->all ? k : any)];
        bool off = literal & 1;
        terms[n++] = (struct model_term){literal / 2, off ? -1 : 1};
        need -= off;
    }
    model_add_row(m, terms, n, need);
}

void model_add_link_rows(struct model *m)
{
    int32_t longest = 0;
    for (int32_t c = 0; c < m->linked_cost_count; c++)
        longest = m->linked_costs[c].all > longest ? m->linked_costs[c].all : longest;
    OWNED struct model_term *terms = mem_alloc(((size_t)longest + 2) * sizeof *terms);
    for (int32_t c = 0; c < m->linked_cost_count; c++) {
        const struct model_linked *linked = &m->linked_costs[c];
        int32_t column = c < m->priced_count ? model_choices(m) + c : -1;
        if (linked->any == 0) model_links_add_clause(m, linked, column, -1, terms);
        for (int32_t k = 0; k < linked->any; k++)
            model_links_add_clause(m, linked, column, linked->all + k, terms);
    }
    for (int32_t i = 0; i < m->item_count; i++) {
        struct model_term pair[2] = {{i, 1}, {m->items[i].ring, -1}};
        if (m->items[i].ring != i) model_add_row(m, pair, 2, 0);
    }
}

/* --- Values --- */

static bool literal_holds(int32_t literal, const int64_t *address)
{
    return (address[literal / 2] < 0) == (literal & 1);
}

bool model_triggered(const struct model *m, const struct model_linked *c, const int64_t *address)
{
    const int32_t *literal = m->literals + c->first;
    for (int32_t k = 0; k < c->all; k++)
        if (!literal_holds(literal[k], address)) return false;
    for (int32_t k = c->all; k < c->all + c->any; k++)
        if (literal_holds(literal[k], address)) return true;
    return c->any == 0;
}

/* Breaches of the item's group: members placed while others are not. */
static int64_t torn(const struct model *m, const int64_t *address, int32_t i)
{
    int64_t on = address[i] >= 0, all = 1;
    for (int32_t k = m->items[i].ring; k != i; k = m->items[k].ring, all++) on += address[k] >= 0;
    return on < all ? on : 0;
}

static bool is_wrong(const struct model *m, const int64_t *address, int32_t i)
{
    return address[i] < 0 ? m->items[i].must : m->items[i].never;
}

int64_t model_value(const struct model *m, const int64_t *address)
{
    int64_t value = m->base;
    for (int32_t i = 0; i < m->item_count; i++) {
        if (address[i] < 0) value += m->items[i].cost;
        if (!m->linked) continue;
        bool broken = is_wrong(m, address, i) || (m->items[i].ring != i && torn(m, address, i));
        if (broken) return model_none(m);
    }
    for (int32_t c = 0; c < m->linked_cost_count; c++) {
        if (!model_triggered(m, &m->linked_costs[c], address)) continue;
        if (c >= m->priced_count) return model_none(m);
        value += m->linked_costs[c].cost;
    }
    return m->hopeless ? model_none(m) : value;
}

/* The part of the value that depends on item `i`. */
static int128 model_links_part_of(const struct model *m, const int64_t *address, int32_t i)
{
    int128 breaches = is_wrong(m, address, i) + torn(m, address, i), value = 0;
    if (address[i] < 0) value += m->items[i].cost;
    for (int32_t k = m->linked_first[i]; k < m->linked_first[i + 1]; k++) {
        int32_t c = m->linked_of[k];
        if (!model_triggered(m, &m->linked_costs[c], address)) continue;
        if (c < m->priced_count)
            value += m->linked_costs[c].cost;
        else
            breaches++;
    }
    return value + breaches * ((int128)model_none(m) + 1);
}

int128 model_flip(const struct model *m, int64_t *address, int32_t i)
{
    if (!m->linked) return address[i] < 0 ? -m->items[i].cost : m->items[i].cost;
    int64_t now = address[i];
    int128 before = model_links_part_of(m, address, i);
    address[i] = now < 0 ? 0 : LX_OFF_CHIP;
    int128 after = model_links_part_of(m, address, i);
    address[i] = now;
    return after - before;
}

void model_tidy(const struct model *m, int64_t *address)
{
    for (bool changed = m->linked; changed;) {
        changed = false;
        for (int32_t i = 0; i < m->item_count; i++)
            if (address[i] >= 0 && model_flip(m, address, i) < 0) {
                address[i] = LX_OFF_CHIP;
                changed = true;
            }
    }
}

static bool point_holds(int32_t literal, const bool *column)
{
    return column[literal / 2] == (literal & 1);
}

void model_linked_columns(const struct model *m, bool *column)
{
    for (int32_t c = 0; c < m->priced_count; c++) {
        const struct model_linked *linked = &m->linked_costs[c];
        const int32_t *literal = m->literals + linked->first;
        bool all = true, any = linked->any == 0;
        for (int32_t k = 0; k < linked->all; k++) all &= point_holds(literal[k], column);
        for (int32_t k = linked->all; k < linked->all + linked->any; k++)
            any |= point_holds(literal[k], column);
        column[model_choices(m) + c] = all && any;
    }
}
