/* The cheapest choice of sticks for a whole graph. Private to the stage. */
#pragma once

#include "base/base.h"
#include "layout/op_index.h"
#include "layout/layout.h"

/* stick_rules.c: costs of a tensor's layouts. An option is a stick dimension, or -1 for sparse. */

/* at[tensor][option + 1]: device elements of the tensor with that option; INT64_MAX if impossible. */
struct stick_costs {
    int64_t (*at)[LX_MAX_RANK + 1];
};

void stick_costs_make(const struct lx_graph *g, struct arena *memory, struct stick_costs *out);
static inline int64_t stick_elements_of(const struct stick_costs *c, int32_t tensor, int stick)
{
    return c->at[tensor][stick + 1];
}

/* The cheapest existing option (bit option + 1 of `have`) to restickify from; `primary` wins ties. */
int stick_source(const struct stick_costs *c, int32_t tensor, unsigned have, int primary);
/* Elements that the restickify moves: the larger of source and target layout. */
int64_t stick_move_cost(const struct stick_costs *c, int32_t tensor, unsigned have, int wanted);
/* The option with which a new copy satisfies a need. */
int stick_for_need(int need);
/* Whether a tensor with option `stick` satisfies `need` without a copy. */
bool stick_satisfies(const struct lx_tensor *t, int stick, int need);
/* The default: along the last dimension; -1 for scalars and tensors without a shape. */
int stick_default(const struct lx_tensor *t);
/* The stick of a free tensor by the need of its first reader. */
int stick_first(const struct lx_tensor *t, int need);
/* a + b, or INT64_MAX on overflow. */
int64_t add_saturated(int64_t a, int64_t b);

struct stick_plan {
    struct stick_way *way; /* per op */
    int *stick;            /* per tensor: of a graph input, the stick with which it comes */
    int64_t moved, bound;  /* device elements that restickifies move; a lower bound over all ways */
    int64_t footprint;     /* device elements of results and copies */
    struct stick_costs costs;
};

/* `alive` is per op. */
bool propagate_sticks(const struct lx_graph *g, const bool *alive, enum lx_weights weights,
                      struct arena *memory, struct stick_plan *out, lx_status *st);

enum {
    STICK_ANY = -2,  /* any stick will do */
    STICK_NONE = -1, /* no variable along the stick: sparse, or a dimension of one element */
};

struct stick_way {
    int stick_var;  /* of the output, or STICK_NONE */
    int kernel_row; /* matmul: the summed variable along which the kernel's rows are padded; -1: none */
    int kernel;     /* matmul: the operand with those rows */
    bool realigns;  /* elements change their position within sticks */
    bool turns;     /* a restickify: the input may have any layout but the output's */
    signed char need[LX_MAX_OPERANDS]; /* per operand: the host dimension of its stick, or one of the above */
};

/* A stick variable each, four times: the operands of a matmul may swap roles, and the kernel may be turned. */
enum { MAX_STICK_WAYS = 4 * LX_MAX_VARS + 2 };

/* Lists the ways in order of preference: aligned before unaligned, the output's last dimension first.
 * Returns their number. */
int stick_ways(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
               struct stick_way *out);

/* Sets alive[op] for ops that reach an output or an extern op. Drops dead results from `ops`, a copy of the
 * graph's ops. Returns the number of dead ops. */
int32_t find_dead_ops(const struct lx_graph *g, bool *alive, struct lx_op *ops, struct arena *memory);
/* Fills graph, layouts, origins and lists of `out`; `out->memory` must exist. */
bool insert_restickifies(const struct lx_graph *g, const bool *alive, const struct stick_plan *plan,
                         struct lx_layouts *out, lx_status *st);
