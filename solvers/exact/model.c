/* Builds the 0/1 programme of one independent stretch of time.
 *
 * Sections are taken at the ticks on which some item starts: every other tick's live set is a subset of one
 * of these (a handover can only make the tick after it lighter, since a child is no larger than its parent).
 * A section whose live set lies in the next one's is dropped, unless the next has handovers. O(n log n),
 * except that collisions of fixed items are found pairwise. */
#include "exact/model.h"

bool model_can_place(const struct lx_problem *p, const struct lx_buffer *b)
{
    return lx_may_be_placed(p, b) && (b->fixed < 0 || b->fixed <= p->capacity - b->size);
}

bool model_wants(const struct lx_problem *p, const struct lx_buffer *b)
{
    return b->size > 0 && (b->must || b->spill_cost > model_on_cost(b)) && model_can_place(p, b);
}

ORDER(model_compare_items, struct model_item, ORDER_UP(start) ORDER_UP(buffer));

static void choose_items(struct model *m, const int32_t *members, int32_t count, const bool *linked)
{
    const struct lx_problem *p = m->p;
    for (int32_t k = 0; k < count; k++) {
        const struct lx_buffer *b = &p->buffers[members[k]];
        bool wanted = linked && linked[members[k]] ? model_can_place(p, b) : model_wants(p, b);
        if (!wanted) {
            m->hopeless |= b->must;
            m->base += b->spill_cost;
            continue;
        }
        m->base += model_on_cost(b);
        m->linked |= b->must || b->on_costs;
        m->items[m->item_count++] = (struct model_item){.buffer = members[k],
                                                        .last = -1,
                                                        .size = b->size,
                                                        .cost = b->spill_cost - model_on_cost(b),
                                                        .start = b->start,
                                                        .end = b->end,
                                                        .must = b->must};
    }
    qsort(m->items, (size_t)m->item_count, sizeof *m->items, model_compare_items);
    for (int32_t i = 0; i < m->item_count; i++) m->items[i].ring = i;
}

/* Counts sizes in units. Bytes after the last whole unit below the capacity count only if some item's size
 * ends in such odd bytes. */
static void count_in_units(struct model *m)
{
    int64_t unit = 0;
    for (int32_t i = 0; i < m->item_count; i++)
        unit = gcd_i64(unit, lx_alignment_of(m->p, model_buffer(m, i)));
    if (unit == 0) unit = 1;
    int64_t tail = m->p->capacity % unit, sizes = 0;
    bool tail_usable = false;
    for (int32_t i = 0; i < m->item_count; i++) {
        int64_t odd = m->items[i].size % unit;
        if (odd > 0 && odd <= tail) tail_usable = true;
        m->items[i].size = ceil_div_i64(m->items[i].size, unit);
        sizes = gcd_i64(sizes, m->items[i].size);
    }
    m->capacity = m->p->capacity / unit + tail_usable;
    if (sizes > 1) {
        for (int32_t i = 0; i < m->item_count; i++) m->items[i].size /= sizes;
        m->capacity /= sizes;
    }
}

static void model_find_edges(struct model *m, const int32_t *item_of)
{
    size_t room = 0;
    for (int32_t i = 0; i < m->item_count; i++) room += (size_t)model_buffer(m, i)->parent_count;
    m->edges = arena_array(&m->memory, room + 1, sizeof *m->edges);
    for (int32_t i = 0; i < m->item_count; i++) {
        const struct lx_buffer *child = model_buffer(m, i);
        for (int32_t k = 0; k < child->parent_count && child->size > 0; k++) {
            int32_t parent = item_of[child->parents[k]];
            bool twice = false;
            for (int32_t e = m->edge_count - 1; e >= 0 && m->edges[e].child == i; e--)
                twice |= m->edges[e].parent == parent;
            if (parent < 0 || twice) continue;
            /* A chain has one base, so its members' fixed addresses and alignments must agree. */
            const struct lx_buffer *from = &m->p->buffers[child->parents[k]];
            int64_t at = from->fixed >= 0 ? from->fixed : child->fixed;
            if (child->fixed >= 0 && at != child->fixed) continue;
            if (at < 0 || (at % lx_alignment_of(m->p, from) == 0 && at % lx_alignment_of(m->p, child) == 0 &&
                           at <= m->p->capacity - from->size))
                m->edges[m->edge_count++] = (struct model_edge){parent, i, -1};
        }
    }
}

/* Finds overfull sections: ticks and needs. */
static void sweep_sections(struct model *m, struct model_item *by_end, const bool *handover)
{
    size_t n = (size_t)m->item_count;
    for (size_t i = 0; i < n; i++) {
        by_end[i] = m->items[i];
        by_end[i].start = m->items[i].end;
    }
    qsort(by_end, n, sizeof *by_end, model_compare_items);
    int64_t load = 0;
    for (size_t i = 0, gone = 0; i < n;) {
        int64_t tick = m->items[i].start;
        for (; gone < n && by_end[gone].start <= tick; gone++) load -= by_end[gone].size;
        for (; i < n && m->items[i].start == tick; i++) load += m->items[i].size;
        /* Does the next section contain this one, and does no handover lighten it? */
        bool contained = i < n && (gone == n || by_end[gone].start > m->items[i].start);
        for (size_t k = i; contained && k < n && m->items[k].start == m->items[i].start; k++)
            contained = !handover[k];
        if (load <= m->capacity || contained) continue;
        m->tick[m->section_count] = tick;
        m->need[m->section_count++] = load - m->capacity;
    }
}

/* Finds overfull sections, and each item's and edge's sections. */
static void model_find_sections(struct model *m)
{
    size_t n = (size_t)m->item_count;
    OWNED struct model_item *by_end = mem_alloc((n + 1) * sizeof *by_end); /* here `start` holds the end */
    OWNED bool *handover = mem_zeroed(n + 1, sizeof *handover); /* by item: it may take over a slot */
    m->need = arena_array(&m->memory, n + 1, sizeof *m->need);
    m->tick = arena_array(&m->memory, n + 1, sizeof *m->tick);
    for (int32_t e = 0; e < m->edge_count; e++) handover[m->edges[e].child] = true;
    sweep_sections(m, by_end, handover);
    for (int32_t i = 0; i < m->item_count; i++) {
        struct model_item *it = &m->items[i];
        int32_t beyond;
        BISECT(it->first, 0, m->section_count, m->tick[it->first] < it->start);
        BISECT(beyond, it->first, m->section_count, m->tick[beyond] < it->end);
        it->last = it->size > 0 ? beyond - 1 : it->first - 1;
    }
    for (int32_t e = 0; e < m->edge_count; e++) {
        const struct model_item *child = &m->items[m->edges[e].child];
        bool on_section = child->first <= child->last && m->tick[child->first] == child->start;
        m->edges[e].section = on_section ? child->first : -1;
    }
}

void model_add_row(struct model *m, const struct model_term *terms, int32_t count, int64_t need)
{
    if (m->row_count == m->row_room) {
        m->row_room = m->row_room * 2 + 32;
        m->rows = mem_resize(m->rows, (size_t)m->row_room * sizeof *m->rows);
    }
    struct model_term *copy = arena_copy_array(&m->memory, terms, (size_t)count, sizeof *copy);
    double weight = fabs((double)need) + 1;
    for (int32_t e = 0; e < count; e++) weight += abs(terms[e].coefficient);
    m->rows[m->row_count++] = (struct model_row){copy, count, need, weight};
}

/* At most one handover per parent and per child, and none if one is spilled: -y - sum z >= -1. */
static void add_handover_rows(struct model *m)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct model_term *terms = arena_array(&memory, (size_t)m->edge_count + 2, sizeof *terms);
    int32_t *head = arena_array(&memory, ((size_t)m->item_count + 1) * 2, sizeof *head);
    int32_t *next = arena_array(&memory, ((size_t)m->edge_count + 1) * 2, sizeof *next);
    for (int32_t i = 0; i < 2 * m->item_count; i++) head[i] = -1;
    for (int32_t e = 0; e < m->edge_count; e++) {
        int32_t ends[2] = {2 * m->edges[e].parent, 2 * m->edges[e].child + 1};
        for (int32_t k = 0; k < 2; k++) {
            next[2 * e + k] = head[ends[k]];
            head[ends[k]] = 2 * e + k;
        }
    }
    for (int32_t i = 0; i < 2 * m->item_count; i++) {
        if (head[i] < 0) continue;
        int32_t n = 0;
        terms[n++] = (struct model_term){i / 2, -1};
        for (int32_t l = head[i]; l >= 0; l = next[l])
            terms[n++] = (struct model_term){m->item_count + l / 2, -1};
        model_add_row(m, terms, n, -1);
    }
}

static void add_fixed_rows(struct model *m)
{
    OWNED int32_t *fixed = mem_alloc(((size_t)m->item_count + 1) * sizeof *fixed);
    int32_t n = 0;
    for (int32_t i = 0; i < m->item_count; i++)
        if (m->items[i].size > 0 && model_buffer(m, i)->fixed >= 0) fixed[n++] = i;
    for (int32_t a = 0; a < n; a++) {
        int32_t b = a + 1;
        for (; b < n && m->items[fixed[b]].start < m->items[fixed[a]].end; b++) {
            const struct lx_buffer *x = model_buffer(m, fixed[a]);
            const struct lx_buffer *y = model_buffer(m, fixed[b]);
            if (x->fixed >= y->fixed + y->size || y->fixed >= x->fixed + x->size) continue;
            struct model_term terms[3] = {{fixed[a], 1}, {fixed[b], 1}, {0, 1}};
            int32_t count = 2;
            for (int32_t e = 0; e < m->edge_count; e++)
                if ((m->edges[e].parent == fixed[a] && m->edges[e].child == fixed[b]) ||
                    (m->edges[e].parent == fixed[b] && m->edges[e].child == fixed[a]))
                    terms[count++].column = m->item_count + e;
            model_add_row(m, terms, count, 1);
        }
    }
}

/* The item of each buffer, or -1; NULL if not needed, since it has the problem's length. */
static int32_t *index_items(const struct model *m)
{
    bool needed = m->p->bonds.linked_cost_count || m->p->bonds.together_count;
    for (int32_t i = 0; i < m->item_count && !needed; i++) needed = model_buffer(m, i)->parent_count > 0;
    if (!needed) return NULL;
    int32_t *item_of = mem_alloc(((size_t)m->p->count + 1) * sizeof *item_of);
    for (int32_t i = 0; i < m->p->count; i++) item_of[i] = -1;
    for (int32_t i = 0; i < m->item_count; i++) item_of[m->items[i].buffer] = i;
    return item_of;
}

struct model *model_new(const struct lx_problem *p, const int32_t *members, int32_t count)
{
    struct model *m = mem_zeroed(1, sizeof *m);
    m->p = p;
    m->items = arena_array(&m->memory, (size_t)count + 1, sizeof *m->items);
    bool *linked = NULL;
    if (p->bonds.linked_cost_count || p->bonds.together_count) {
        linked = mem_zeroed((size_t)p->count + 1, sizeof *linked);
        model_mark_linked(&p->bonds, linked);
    }
    choose_items(m, members, count, linked);
    mem_free(linked);
    count_in_units(m);
    int32_t *item_of = index_items(m);
    model_find_edges(m, item_of);
    model_link(m, item_of);
    mem_free(item_of);

    /* The range of values, and the step between them. */
    m->total_cost = m->base;
    for (int32_t i = 0; i < m->item_count; i++) {
        int64_t cost = m->items[i].cost;
        if (!m->linked) m->items[i].worth = (double)cost;
        m->cost_step = gcd_i64(m->cost_step, cost < 0 ? -cost : cost);
        m->total_cost += max_i64(cost, 0);
    }
    for (int32_t k = 0; k < m->priced_count; k++) {
        m->cost_step = gcd_i64(m->cost_step, m->linked_costs[k].cost);
        m->total_cost += m->linked_costs[k].cost;
    }
    if (m->cost_step == 0) m->cost_step = 1;

    model_find_sections(m);
    add_handover_rows(m);
    add_fixed_rows(m);
    model_add_link_rows(m);
    return m;
}

void model_free(struct model *m)
{
    if (!m) return;
    mem_free(m->rows);
    arena_free(&m->memory);
    mem_free(m);
}
