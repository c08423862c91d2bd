/* The cheapest choice of sticks for a whole graph. Private to the stage. */
#ifndef LX_LAYOUT_PROPAGATE_H
#define LX_LAYOUT_PROPAGATE_H

#include "base/arena.h"
#include "graph/repeats.h"
#include "layout/stick_rules.h"

/* stick_cost.c: what layouts of single tensors cost. An option is a stick dimension, or -1 for sparse. */

/* Device elements of every option of every tensor: at[tensor][option + 1]; INT64_MAX where it cannot be. */
struct stick_costs {
    int64_t (*at)[LX_MAX_RANK + 1];
};

void stick_costs_make(const struct lx_graph *g, struct arena *memory, struct stick_costs *out);
static inline int64_t stick_elements_of(const struct stick_costs *c, int32_t tensor, int stick)
{
    return c->at[tensor][stick + 1];
}

/* The existing option (bit option + 1 of `have`) that a restickify reads from: the smallest, `primary` if
 * equal. */
int stick_source(const struct stick_costs *c, int32_t tensor, unsigned have, int primary);
/* What the restickify moves: the elements of the larger of the two layouts,
 * or sparse ones would look cheap. */
int64_t stick_move_cost(const struct stick_costs *c, int32_t tensor, unsigned have, int wanted);
/* The option with which a new copy satisfies a need. */
int stick_for_need(int need);
/* Does a tensor with this option satisfy the need as it stands? */
bool stick_satisfies(const struct lx_tensor *t, int stick, int need);
/* The default: along the last dimension; -1 for scalars and tensors without a shape. */
int stick_default(const struct lx_tensor *t);
/* a + b, or INT64_MAX. */
int64_t add_saturated(int64_t a, int64_t b);

struct stick_plan {
    struct stick_way *way; /* per op */
    int64_t moved, bound;  /* device elements through restickifies; no choice of ways moves less than bound */
    int64_t footprint;     /* device elements of results and copies */
    struct stick_costs costs;
    int32_t repeated; /* layers that are laid out like the one before them, without a search */
};

/* `alive`: per op; the others are passed over. `runs`: layers that the graph has several times; with none of
 * them the answer is the same, but later. Memory from `memory`. */
bool propagate_sticks(const struct lx_graph *g, const bool *alive, const struct lx_repeat *runs,
                      int32_t run_count, struct arena *memory, struct stick_plan *out, lx_status *st);

#endif
