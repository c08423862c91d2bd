/* The cheapest choice of sticks for a whole graph. Private to the stage. */
#ifndef LX_LAYOUT_PROPAGATE_H
#define LX_LAYOUT_PROPAGATE_H

#include "base/arena.h"
#include "graph/graph.h"
#include "layout/op_index.h"
#include "layout/layout.h"

/* stick_rules.c: what layouts of single tensors cost. An option is a stick dimension, or -1 for sparse. */

/* Device elements of every option of every tensor: at[tensor][option + 1]; INT64_MAX where it cannot be. */
struct stick_costs {
    int64_t (*at)[LX_MAX_RANK + 1];
};

void stick_costs_make(const struct lx_graph *g, struct arena *memory, struct stick_costs *out);
static inline int64_t stick_elements_of(const struct stick_costs *c, int32_t tensor, int stick)
{
    return c->at[tensor][stick + 1];
}

/* The existing option (bit option + 1 of `have`) to restickify from: the smallest, `primary` if equal. */
int stick_source(const struct stick_costs *c, int32_t tensor, unsigned have, int primary);
/* Elements that the restickify moves: those of the larger layout. */
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

/* `alive`: per op. `runs`: repeated layers; without them the answer is the same, but later. */
bool propagate_sticks(const struct lx_graph *g, const bool *alive, const struct lx_repeat *runs,
                      int32_t run_count, struct arena *memory, struct stick_plan *out, lx_status *st);

enum {
    STICK_ANY = -2,  /* the op does not look at sticks */
    STICK_NONE = -1, /* no variable along the stick: sparse, or a dimension of one element */
};

struct stick_way {
    int stick_var;  /* of the output; STICK_NONE: none */
    int kernel_row; /* matmul: the summed variable of which a kernel's rows are padded; -1 */
    int kernel;     /* matmul: the operand with those rows */
    bool realigns;  /* elements change their place within the sticks */
    bool turns;     /* a restickify: the input may be in any layout but the output's */
    signed char need[LX_MAX_OPERANDS]; /* per operand: the host dimension of its stick, or one of the above */
};

/* At most this many ways: a stick variable for each, twice (the operands of a matmul may change roles). */
enum { MAX_STICK_WAYS = 2 * LX_MAX_VARS + 2 };

/* The ways in order of preference: aligned before unaligned, the output's last dimension first. */
int stick_ways(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
               struct stick_way *out);

/* Which ops an output or extern op needs. `ops`, a copy of g's, lose dead results. The number of dead ops. */
int32_t find_dead_ops(const struct lx_graph *g, bool *alive, struct lx_op *ops, struct arena *memory);
/* Fills graph, layouts, origins and lists of `out`, whose memory exists. */
bool insert_restickifies(const struct lx_graph *g, const bool *alive, const struct stick_plan *plan,
                         struct lx_layouts *out, lx_status *st);

#endif
