/* An op of a nest as it is on one tile: the same op on operands of the tile's shapes. Private to the stage.
 *
 * Made once per op; every iteration is judged by it, on the tiles that it has. */
#ifndef LX_DEVICE_REFERENCE_TILE_OP_H
#define LX_DEVICE_REFERENCE_TILE_OP_H

#include "base/arena.h"
#include "divide/op_nest.h"
#include "graph/graph.h"

struct tile_op {
    struct lx_graph graph; /* of the operands alone: inputs in order, then the one result */
    struct lx_op op;
    int64_t terms; /* of a whole sum, over all tiles */
};

/* `op` of `g`, with one result, is op `tick` of the nest. NULL: memory is out. */
struct tile_op *tile_op_make(const struct lx_graph *g, const struct lx_op *op, const struct lx_nest *n,
                             int32_t tick, struct arena *memory);

#endif
