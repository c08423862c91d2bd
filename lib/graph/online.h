/* Online softmax: rewrites plain softmaxes so that the reduced axis can be processed tile by tile.
 *
 * `max, sub, exp, sum, div, matmul` over one set of indices needs whole rows: no exponential before the
 * maximum is known, no division before the sum is known. The equivalent form
 *
 *     l = logsumexp(s)     p = exp(s - l)     o = blend(p, v)
 *
 * needs no whole rows. For part of a row, l and p are the result for that part alone. When more comes, the
 * old o is scaled by 1 - (sum of the new weights) = e^(old l - new l). So l and o are carried from tile to
 * tile as sums are (divide/op_nest.h says which ops may read l meanwhile). There is no division, and no work
 * after the loop. The two forms are equal in real numbers, tiled or not.
 *
 * Recognized: division before or after the matmuls, or by the reciprocal; any number of matmuls and
 * softmaxes; the logarithm of the sum (log and add) beside them or alone. A softmax stays unchanged if other
 * ops read its parts. */
#pragma once

#include "base/base.h"
#include "graph/graph.h"

/* Sets `*out` to the graph with all softmaxes found rewritten (came_from refers to `g`), or NULL if there
 * are none. False: see `st`. */
bool graph_online(const struct lx_graph *g, const struct lx_graph **out, lx_status *st);
/* The number of a tensor or op in the graph before rewriting: unchanged if nothing was rewritten, -1 if it
 * is new. */
int32_t graph_origin_tensor(const struct lx_graph *g, int32_t tensor);
int32_t graph_origin_op(const struct lx_graph *g, int32_t op);
