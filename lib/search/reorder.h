/* The order of the ops: they may change places as long as every op still reads what it read before. */
#ifndef LX_SEARCH_REORDER_H
#define LX_SEARCH_REORDER_H

#include "base/vec.h"
#include "search/plan_search.h"

/* An engine: another order of the ops, where that moves less. */
bool reorder_search(struct search *search);
/* Does every op still read what it read before? */
bool reorder_legal(const struct lx_graph *g, const int32_t *order);

/* Op `before` must run before op `after`. */
struct edge {
    int32_t before, after;
};

struct op_order {
    const struct lx_graph *g;
    VEC(struct edge) edges;
    int32_t *first_edge; /* per op, and one more: edges by `before` */
    int32_t *waits;      /* per op: how many must still come before it */
};

/* To be freed. */
void op_order_make(struct op_order *s, const struct lx_graph *g);
void op_order_free(struct op_order *s);

#endif
