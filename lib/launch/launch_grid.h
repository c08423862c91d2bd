/* Numbering of an op launch's tiles, shards and ranges. Private to the stage. */
#pragma once

#include "base/base.h"
#include "launch/launch_of_op.h"

bool launch_is_local(const struct lx_op_launch *o);
/* The t-th tile of a global launch in its order; false if there is none. */
bool launch_tile_at(const struct lx_op_launch *o, int64_t t, struct lx_tile *tile);
/* Ranges [from, to) per output dimension of the tile with a row-major number. */
void launch_box_of_number(const struct lx_op_launch *o, int64_t number, int64_t *from, int64_t *to);

/* launch_deal.c: input of the dealing of one op's tiles. */
struct dealing {
    const struct lx_device *device;
    const struct lx_launch_options *options;
    int64_t cores;                   /* 0 .. cores-1 of the device */
    int64_t stride[LX_MAX_VARS];     /* per split of the division: core c has slice (c / stride) mod split */
    int64_t dim_stride[LX_MAX_RANK]; /* the same per output dimension */
    int64_t sum_stride[LX_MAX_VARS]; /* the same per summed variable */
};
/* Fills the cores of `o`, and its tile list if the order needs one. The grid of `o` must be set. */
bool launch_deal(const struct dealing *g, struct lx_op_launch *o, lx_status *st);
/* Sets a core's number and its place on the device. */
void launch_place(const struct lx_device *device, int64_t core, struct lx_launch *l,
                  struct lx_launch_core *c);
