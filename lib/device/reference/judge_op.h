/* One op judged by itself: is every element of its output within its bound, given the device's inputs?
 * Private to the stage. */
#pragma once

#include "divide/op_nest.h"
#include "device/reference/storing.h"
#include "kernels/thread_pool.h"

/* Items in host order, with room up to whole words of 8 bytes. */
struct op_items {
    const struct lx_graph *g; /* with the op and the shapes of its operands */
    const struct lx_op *op;   /* with the judged result alone, */
    int result;               /* and its number among the op's results */
    const void *inputs[LX_MAX_INPUTS];
    const void *kept; /* the output before an op that keeps elements that it does not write; else NULL */
    /* For a sum over tiles: the sum of earlier tiles, or NULL; and the divisor of a mean now, 0: the op's
     * number of terms. */
    const void *before;
    int64_t divisor;
    const void *output;
};

/* The verdict does not depend on the threads of the pool. */
void judge_op(const struct op_items *x, struct pool *pool, struct judged *out);

/* An op of a nest on one tile: the same op on operands of the tile's shapes.
 *
 * Made once per op; it serves to judge every iteration, on its tiles. */

struct tile_op {
    struct lx_graph graph; /* the operands alone: inputs in order, then the one result */
    struct lx_op op;
    int64_t terms; /* terms of a whole sum, over all tiles */
};

/* `op` of `g`, with one result, is op `tick` of the nest. */
struct tile_op *tile_op_make(const struct lx_graph *g, const struct lx_op *op, const struct lx_nest *n,
                             int32_t tick, struct arena *memory);
