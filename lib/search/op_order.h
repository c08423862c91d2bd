/* What must run before what: ops may change places as long as every op still reads what it read before. Private to the
 * stage. */
#ifndef LX_SEARCH_OP_ORDER_H
#define LX_SEARCH_OP_ORDER_H

#include "base/vec.h"
#include "graph/graph.h"

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

/* False: memory is out; it is to be freed all the same. */
bool op_order_make(struct op_order *s, const struct lx_graph *g);
void op_order_free(struct op_order *s);

#endif
