/* The order of the ops: ops may be reordered as long as every op reads the same values. */
#pragma once

#include "search/plan_search.h"

/* An engine: other orders of the ops, if the plan moves less. */
bool reorder_search(struct search *search);
/* True if every op reads the same values in this order. */
bool reorder_legal(const struct lx_graph *g, const int32_t *order);

/* Op `before` must run before op `after`. */
struct edge {
    int32_t before, after;
};

struct op_order {
    const struct lx_graph *g;
    VEC(struct edge) edges;
    int32_t *first_edge; /* per op, and one more: its first edge; edges are sorted by `before` */
    int32_t *waits;      /* per op: number of ops that must still come before it */
};

/* op_order_free frees it. */
void op_order_make(struct op_order *s, const struct lx_graph *g);
void op_order_free(struct op_order *s);
