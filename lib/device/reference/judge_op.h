/* One op judged by itself: is every element of its output within its bound, given its inputs as they are?
 * Private to the stage. */
#ifndef LX_DEVICE_REFERENCE_JUDGE_OP_H
#define LX_DEVICE_REFERENCE_JUDGE_OP_H

#include "graph/graph.h"
#include "divide/op_nest.h"
#include "base/arena.h"
#include "device/reference/storing.h"
#include "kernels/thread_pool.h"

/* Items in host order, with room up to whole words of 8 bytes. */
struct op_items {
    const struct lx_graph *g; /* of the op and the shapes of its operands */
    const struct lx_op *op;   /* with the one result that is judged, */
    int result;               /* and which of its results it is */
    const void *inputs[LX_MAX_INPUTS];
    const void *kept; /* the output before an op that keeps what it does not write; else NULL */
    /* Of a sum over tiles: what the tiles before have made of it, or NULL; and by how much a mean is divided
     * now, 0: by the number of terms that the op has. */
    const void *before;
    int64_t divisor;
    const void *output;
};

/* The verdict does not depend on the threads of the pool. */
void judge_op(const struct op_items *x, struct pool *pool, struct judged *out);

/* An op of a nest as it is on one tile: the same op on operands of the tile's shapes.
 *
 * Made once per op; every iteration is judged by it, on the tiles that it has. */

struct tile_op {
    struct lx_graph graph; /* of the operands alone: inputs in order, then the one result */
    struct lx_op op;
    int64_t terms; /* of a whole sum, over all tiles */
};

/* `op` of `g`, with one result, is op `tick` of the nest. */
struct tile_op *tile_op_make(const struct lx_graph *g, const struct lx_op *op, const struct lx_nest *n,
                             int32_t tick, struct arena *memory);

#endif
