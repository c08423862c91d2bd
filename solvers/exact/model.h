/* The Spill question as a 0/1 programme, and its certified bound.
 *
 * Columns: y of each item (1: spilled), z of each in-place edge (1: the child takes the slot) and w of each
 * priced linked cost (1: paid). Rows:
 *   in every overfull section:  sum size y + sum child size z >= load - capacity
 *   for every parent and child: at most one handover each, and none if it is spilled
 *   for fixed addresses that collide: not both kept (unless handed over)
 *   for every linked cost: w is 1 if triggered; a forbidden one has no w and is a clause
 *   for every group that goes together: the y are equal
 *   cuts, as the search finds sets that cannot be packed
 * This is the question without addresses, in-place reuse included: a relaxation that is nearly tight.
 *
 * Items are the buffers that may be worth keeping: placeable, and of positive size and worth unless a linked
 * cost or a group links them to others. Sizes are counted in units (the greatest common divisor of all
 * alignments, times the sizes' one). The value of a choice is base + the costs of spilled items + the
 * triggered linked costs; an item's cost is its off-chip cost less its on-chip cost, and may be negative. */
#pragma once

#include "base/base.h"
#include "placement/problem.h"

struct model_item {
    int32_t buffer;
    int32_t first, last; /* its overfull sections; first > last: none */
    int64_t size, cost, start, end;
    double worth;     /* the cost and a share of its linked costs: for orders only */
    int32_t ring;     /* the next of its group; itself without a group */
    bool must, never; /* decided from the start: placed, spilled */
};

/* A linked cost in literals: 2 * item (placed) or 2 * item + 1 (off). Triggered if all of the first and, if
 * any follow, one of the others hold. */
struct model_linked {
    int64_t cost; /* or LX_FORBIDDEN */
    int32_t first, all, any;
    int32_t scale; /* the smallest size of its items, >= 1: the unit of w in the linear programme */
};

struct model_edge {
    int32_t parent, child; /* items */
    int32_t section;       /* the overfull section on whose tick the slot changes hands, or -1 */
};

struct model_term {
    int32_t column, coefficient;
};

/* sum coefficient * column >= need. */
struct model_row {
    struct model_term *terms;
    int32_t count;
    int64_t need;
    double weight; /* |need| + 1 + the sum of |coefficient| */
    bool implied;  /* by a section */
};

struct model {
    const struct lx_problem *p;
    int64_t capacity; /* in units */
    int32_t item_count, edge_count, section_count, row_count, row_room;
    struct model_item *items; /* in order of start */
    struct model_edge *edges;
    int64_t *need; /* per section: load - capacity, > 0 */
    int64_t *tick; /* per section */
    struct model_row *rows;
    int64_t base;       /* cost of every choice */
    int64_t cost_step;  /* every value is base plus a multiple of this */
    int64_t total_cost; /* an upper bound on any choice's value */
    /* Links between items; empty in plain problems, where `linked` is false. */
    struct model_linked *linked_costs; /* priced ones first: those have columns */
    int32_t linked_cost_count, priced_count;
    int32_t *literals;
    int32_t *linked_first, *linked_of; /* per item: the linked costs it is in */
    bool linked, hopeless;             /* hopeless: no choice is legal */
    struct arena memory;               /* everything but `rows` */
};

/* Duals scaled to integers, and their bound. */
struct certificate {
    int64_t *section; /* scaled duals */
    int64_t *row;
    int32_t row_room;
    int128 *reduced; /* of each column, scaled */
    int128 *prefix;
    int128 value; /* the bound, scaled */
    int128 scale;
};

/* `members` lists the buffers of one independent stretch of time; items are chosen from them. */
struct model *model_new(const struct lx_problem *p, const int32_t *members, int32_t count);
void model_free(struct model *m);

/* Can the buffer have a place, and is it worth one by itself? */
bool model_can_place(const struct lx_problem *p, const struct lx_buffer *b);
bool model_wants(const struct lx_problem *p, const struct lx_buffer *b);

/* The cost of being placed in the only pool. */
static inline int64_t model_on_cost(const struct lx_buffer *b)
{
    return b->on_costs && b->pool_count > 0 ? b->on_costs[0] : 0;
}

static inline const struct lx_buffer *model_buffer(const struct model *m, int32_t item)
{
    return &m->p->buffers[m->items[item].buffer];
}

/* model_links.c. Takes in linked costs, groups and musts as far as they concern items (`item_of`: per buffer
 * its item, or -1: off); adds their rows. */
void model_link(struct model *m, const int32_t *item_of);
void model_add_link_rows(struct model *m);
/* Marks the buffers that a linked cost or group names. */
void model_mark_linked(const struct lx_bonds *bonds, bool *linked);
/* The value of a legal choice (placed: address >= 0), or model_none(m) if it breaks a clause or a group. */
int64_t model_value(const struct model *m, const int64_t *address);
bool model_triggered(const struct model *m, const struct model_linked *c, const int64_t *address);
/* The change in value if the item flips; a breach counts more than any cost. */
int128 model_flip(const struct model *m, int64_t *address, int32_t i);
/* Takes items off chip one by one while that makes the choice cheaper or legal. */
void model_tidy(const struct model *m, int64_t *address);
/* Sets the w columns of a point from its items. */
void model_linked_columns(const struct model *m, bool *column);
void model_add_row(struct model *m, const struct model_term *terms, int32_t count, int64_t need);

/* Per section (section_count + 1) the size of the spilled items and handovers of a 0/1 point. */
void model_loads(const struct model *m, const bool *column, int64_t *load);
/* Does a 0/1 point satisfy every row? */
bool model_holds(const struct model *m, const bool *column);

/* The Lagrangian value of the duals (per unit of size, and per row) over the box [low, high] of the columns,
 * in integers: no rounding, valid for any duals. */
void certify(struct certificate *c, const struct model *m, const double *section_dual, const double *row_dual,
             const bool *low, const bool *high);
/* The certified bound, rounded up to the next possible spill. */
int64_t certified_bound(const struct certificate *c, const struct model *m);

/* Items and handovers: the columns to choose. */
static inline int32_t model_choices(const struct model *m)
{
    return m->item_count + m->edge_count;
}

static inline int32_t model_columns(const struct model *m)
{
    return m->item_count + m->edge_count + m->priced_count;
}

/* More than any legal choice costs: the value of an illegal one. */
static inline int64_t model_none(const struct model *m)
{
    return m->total_cost + (m->cost_step > 0 ? m->cost_step : 1);
}
