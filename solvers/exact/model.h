/* The Spill question as a 0/1 programme, and its certified bound.
 *
 * Columns: y of each item (1: spilled) and z of each in-place edge (1: the child takes the slot). Rows:
 *   in every overfull section:  sum size y + sum child size z >= load - capacity
 *   for every parent and child: at most one handover each, and none if it is spilled
 *   for fixed addresses that collide: not both kept (unless handed over)
 *   cuts, as the search finds sets that cannot be packed
 * This is the question without addresses, in-place reuse included: a relaxation that is nearly tight.
 *
 * Items are the buffers that may be worth keeping: placeable, of positive size and cost. Sizes are
 * counted in units (the greatest common divisor of all alignments, times that of the sizes). */
#ifndef LX_SOLVERS_EXACT_MODEL_H
#define LX_SOLVERS_EXACT_MODEL_H

#include "scratchpad/placement/problem.h"
#include "base/checked.h"

struct model_item {
    int32_t buffer;
    int32_t first, last; /* its overfull sections; first > last: none */
    int64_t size, cost, start, end;
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
};

struct model {
    const struct lx_problem *p;
    int64_t capacity; /* in units */
    int32_t item_count, edge_count, section_count, row_count, row_room;
    struct model_item *items; /* in order of start */
    struct model_edge *edges;
    int64_t *need; /* a section: load - capacity, > 0 */
    int64_t *tick; /* a section */
    struct model_row *rows;
    int64_t cost_step;  /* every spill is a multiple of it */
    int64_t total_cost; /* of all items */
};

/* Duals scaled to integers, and what they prove. */
struct certificate {
    int64_t *section; /* scaled duals */
    int64_t *row;
    int32_t row_room;
    int128 *reduced; /* of each column, scaled */
    int128 *prefix;
    int128 value; /* the bound, scaled */
    int128 scale;
};

/* Items are chosen by the caller: `members` lists buffers of one independent stretch of time. NULL when
 * memory is out. */
struct model *model_new(const struct lx_problem *p, const int32_t *members, int32_t count);
void model_free(struct model *m);

/* Is the buffer ever worth a place and able to have one? */
bool model_wants(const struct lx_problem *p, const struct lx_buffer *b);
bool model_add_row(struct model *m, const struct model_term *terms, int32_t count, int64_t need);

/* Does a 0/1 point satisfy every row? */
bool model_holds(const struct model *m, const bool *column);

bool certificate_new(struct certificate *c, const struct model *m);
void certificate_free(struct certificate *c);
/* The Lagrangian value of the duals (in cost per unit of size, and per row) over the box [low, high] of
 * each column, computed in integers: no rounding, valid for any duals. False when memory is out. */
bool certify(struct certificate *c, const struct model *m, const double *section_dual, const double *row_dual,
             const bool *low, const bool *high);
/* The certified bound, rounded up to the next possible spill. */
int64_t certified_bound(const struct certificate *c, const struct model *m);

static inline int32_t model_columns(const struct model *m)
{
    return m->item_count + m->edge_count;
}

#endif
