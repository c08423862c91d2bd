/* Ops that order elements along an axis (LX_RANKS): the largest of them, or all, and where they stood. */
#ifndef LX_GRAPH_RANKING_H
#define LX_GRAPH_RANKING_H

#include "graph/graph.h"

struct lx_ranking {
    int from;        /* the variable of the input that is ordered */
    int to;          /* that of the output that counts what came out; a sort's is the same */
    bool descending; /* the largest first */
    bool places;     /* of each its place in the input, not itself */
};

/* False: the op orders nothing. */
bool lx_ranking_of(const struct lx_op *op, struct lx_ranking *out);
/* Is a, which stands at `i`, before b at `j`? Equal ones as they stand; what is no number is the largest. */
bool lx_ranks_before(const struct lx_ranking *r, long double a, int64_t i, long double b, int64_t j);

#endif
