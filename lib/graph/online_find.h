/* A softmax as it stands in a graph. Private to online.c and online_find.c. */
#ifndef LX_GRAPH_ONLINE_FIND_H
#define LX_GRAPH_ONLINE_FIND_H

#include "base/arena.h"
#include "graph/graph.h"

enum { MOST_PRODUCTS = 16 };

/* Ops by their numbers; -1: there is none. */
struct softmax {
    int32_t max, sub, exp, sum;
    int32_t reciprocal;             /* of the sum, where that is multiplied with */
    int32_t div;                    /* of the powers by the sum; -1: behind the products */
    int32_t log, add;               /* of the sum, and of that and the maximum */
    int32_t product[MOST_PRODUCTS]; /* contractions with the weights */
    int32_t after[MOST_PRODUCTS];   /* the division behind each, or -1 */
    int product_count;
};

/* Who reads and writes what. */
struct online_uses {
    const struct lx_graph *g;
    int32_t *reader_at, *readers; /* of tensor t: from reader_at[t] on, each op once */
    int32_t *writer;              /* per tensor; -1: nobody, -2: several */
};

void online_uses_make(const struct lx_graph *g, struct arena *memory, struct online_uses *u);
/* Is op `max` the first of a softmax that can be rewritten? */
bool softmax_find(const struct online_uses *u, int32_t max, struct softmax *out);

#endif
