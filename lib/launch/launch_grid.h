/* Tiles, shards and ranges of an op's launch, by number. Private to the stage. */
#ifndef LX_LAUNCH_LAUNCH_GRID_H
#define LX_LAUNCH_LAUNCH_GRID_H

#include "launch/launch_of_op.h"

bool launch_is_local(const struct lx_op_launch *o);
/* The t-th tile of a global launch in its order; false: there is none. */
bool launch_tile_at(const struct lx_op_launch *o, int64_t t, struct lx_tile *tile);
/* The same as [from, to) per output dimension. */
bool launch_box_of_tile(const struct lx_op_launch *o, int64_t t, int64_t *from, int64_t *to);
/* What a core of local_shard has, per output dimension; false: there is no such shard. */
bool launch_shard(const struct lx_op_launch *o, const struct lx_launch_core *c, int64_t *from, int64_t *to);
/* The range of each summed variable that a group of cores goes over; false: there is no such group. */
bool launch_sum_range(const struct lx_op_launch *o, int64_t k_slice, int64_t *from, int64_t *to);

#endif
