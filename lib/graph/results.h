/* Ops with several results. */
#ifndef LX_GRAPH_RESULTS_H
#define LX_GRAPH_RESULTS_H

#include "graph/graph.h"

/* The kind of an op that makes only this result of an op of that kind; NULL: it has not so many. */
const struct lx_kind *lx_result_kind(const struct lx_kind *kind, int result);
/* The op with this result alone; it points to what `op` points to. */
struct lx_op op_of_result(const struct lx_op *op, int result);
/* The op with the results `which` alone, which are in order and are written to `outputs`. False: there is no
 * such op. */
bool op_with_results(const struct lx_op *op, const int *which, const int32_t *outputs, int count,
                     struct lx_op *out);

#endif
