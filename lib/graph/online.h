/* Online reductions: graphs that write softmax plainly, written so that the summed axis can be walked tile by tile.
 *
 * `max, sub, exp, sum, div, matmul` over one set of indices needs whole rows: nothing can be exponentiated before the
 * maximum is known, nothing divided before the sum is. The same in other words,
 *
 *     l = logsumexp(s)    p = exp(s - l)    o = blend(p, v)
 *
 * does not: of part of a row l is what it would be if the rest were not there, p are the weights that go with it, and
 * when more comes, what o was counts 1 - (sum of the new weights) = e^(l before - l now), no more and no less. So l and o
 * are carried from tile to tile as sums are (divide/op_nest.h says which ops may read l meanwhile); there is no division,
 * and nothing is left to do behind the loop. Equal to the plain form in real numbers, tiled or not.
 *
 * Found are: division before the matmuls or behind them, or by the reciprocal; any number of matmuls; any number of
 * softmaxes; the logarithm of the sum (log and add) beside them or alone. Whatever else reads a part of it keeps it as
 * it is: then it is wanted for itself. */
#ifndef LX_GRAPH_ONLINE_H
#define LX_GRAPH_ONLINE_H

#include "base/arena.h"
#include "graph/graph.h"

/* `out`: the graph with all that was found rewritten, which knows what it came from; NULL: there is nothing
 * to rewrite. False: `st` says why. */
bool graph_online(const struct lx_graph *g, const struct lx_graph **out, lx_status *st);
/* The number that a tensor or an op has in the graph that its graph came from, which is the caller's: its
 * own, where nothing was rewritten; -1: it is not there. */
int32_t graph_origin_tensor(const struct lx_graph *g, int32_t tensor);
int32_t graph_origin_op(const struct lx_graph *g, int32_t op);

/* A softmax as it stands in a graph. Private to online.c and online_find.c. */

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
    const struct lx_op *ops;      /* of g */
    int32_t *reader_at, *readers; /* of tensor t: from reader_at[t] on, each op once */
    int32_t *writer;              /* per tensor; -1: nobody, -2: several */
};

void online_uses_make(const struct lx_graph *g, struct arena *memory, struct online_uses *u);
/* Is op `max` the first of a softmax that can be rewritten? */
bool softmax_find(const struct online_uses *u, int32_t max, struct softmax *out);

#endif
