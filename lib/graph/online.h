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

#endif
