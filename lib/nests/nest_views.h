/* Views of tensors by number: one that is equal to an earlier one of its tensor has that one's number, so that they are
 * compared once, and what it costs to come from one to another is worked out once. Up to some hundred a tensor, and as long-lived
 * as the menus of the same graph. */
#ifndef LX_NESTS_NEST_VIEWS_H
#define LX_NESTS_NEST_VIEWS_H

#include "base/vec.h"
#include "stays/draft.h"

/* What it takes to come from a view to the others of its tensor; below 0: not known yet. */
struct view_row {
    double *us;
    int room;
};

struct tensor_views {
    VEC(struct lx_core_view) at;
    VEC(struct view_row) rows; /* per view, as far as they were asked for */
};

struct view_place {
    int32_t tensor;
    int number;
};

struct nest_views {
    VEC(struct tensor_views) of; /* per tensor */
    VEC(struct view_place) order;
    int32_t *slots; /* by hash of tensor and view: 1 + its place in `order`; 0: free */
    size_t slot_count;
};

/* Its number among those of the tensor. */
int nest_view_number(struct nest_views *n, int32_t tensor, const struct lx_core_view *v);
/* Views of the tensor so far. */
int nest_view_count(const struct nest_views *n, int32_t tensor);
/* Microseconds over the ring from a view to another. */
double nest_view_ring_us(struct nest_views *n, const struct lx_layouts *l, int32_t tensor, int from, int to);
void nest_views_free(struct nest_views *n);

#endif
