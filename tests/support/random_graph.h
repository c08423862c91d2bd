/* Random graphs for tests of whole plans: elementwise ops, broadcasts, reductions, contractions, views,
 * tensors that are written again, and extern ops, on small shapes that still divide over many cores. */
#ifndef LX_TESTS_SUPPORT_RANDOM_GRAPH_H
#define LX_TESTS_SUPPORT_RANDOM_GRAPH_H

#include "base/rng.h"
#include "graph/builder.h"
#include "graph/op_params.h"
#include "support/kind_lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct random_tensor {
    int rank;
    int64_t shape[3];
    int32_t number;
    bool made; /* by an op: it may be written again */
};

/* `with_views`: slices, shifts and inserts; `with_externs`: ops off the device; `again`: tensors are written
 * more than once; `with_results`: ops with several results. */
struct random_graph_shape {
    int ops;
    bool with_views, with_externs, again, with_results;
    int64_t cores, largest; /* extent of a dimension; 0: any */
};

const struct lx_graph *random_graph(struct rng *r, const struct random_graph_shape *shape, lx_status *st);

#endif
