/* Where a device is in the loops of a nest, and what that means for tensors. Private to the stage.
 *
 * The ops of a nest are walked once per iteration, the outermost level slowest. The launch of an op is that
 * of one tile, its pieces are positions in the tile; with what `iteration_offsets` says they are positions
 * of the whole tensor, as are all boxes, regions and tags. */
#ifndef LX_DEVICE_MEMORY_ITERATION_H
#define LX_DEVICE_MEMORY_ITERATION_H

#include "divide/op_nest.h"
#include "layout/op_index.h"

struct lx_plan;
struct lx_launch;

struct iteration {
    const struct lx_nest *nest; /* of the op of this tick; NULL: none */
    int64_t index[LX_MAX_LEVELS];
    int64_t number; /* from 0 on */
};

/* Are the nests of a plan nests of its graph, in order of time, and its ops divided as their tiles? */
bool iterations_valid(const struct lx_plan *p, lx_status *st);

/* At the first iteration of the op's nest, or in none. */
struct iteration iteration_at(const struct lx_plan *p, int32_t op);
/* On to the next; false: that was the last. */
bool iteration_next(struct iteration *i);
bool iteration_is_last(const struct iteration *i);
/* Of the levels inside `level`: are they all at their first, or last? */
bool iteration_inner_first(const struct iteration *i, int level);
bool iteration_inner_last(const struct iteration *i, int level);

/* Variable by variable: where the tile begins, as the launch of the op says. */
void iteration_offsets(const struct iteration *i, const struct lx_launch *l, int64_t offset[LX_MAX_VARS]);

/* Of a sum over the levels `summed`: how many tiles it has before this iteration; and after it, 0: all of
 * them. */
uint32_t iteration_parts_before(const struct iteration *i, unsigned summed);
uint32_t iteration_parts_after(const struct iteration *i, unsigned summed);

#endif
