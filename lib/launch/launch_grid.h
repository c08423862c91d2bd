/* Tiles, shards and ranges of an op's launch, by number. Private to the stage. */
#ifndef LX_LAUNCH_LAUNCH_GRID_H
#define LX_LAUNCH_LAUNCH_GRID_H

#include "base/status.h"
#include "launch/launch_of_op.h"

#include <stdint.h>
#include <stdbool.h>

bool launch_is_local(const struct lx_op_launch *o);
/* The t-th tile of a global launch in its order; false: there is none. */
bool launch_tile_at(const struct lx_op_launch *o, int64_t t, struct lx_tile *tile);
/* The tile with a row-major number, [from, to) per output dimension. */
void launch_box_of_number(const struct lx_op_launch *o, int64_t number, int64_t *from, int64_t *to);

/* launch_deal.c: the cores of an op whose tiles are dealt out. */
struct dealing {
    const struct lx_device *device;
    const struct lx_launch_options *options;
    int64_t cores;                   /* 0 .. cores-1 of the device */
    int64_t stride[LX_MAX_VARS];     /* per split of the division: core c has slice (c / stride) mod split */
    int64_t dim_stride[LX_MAX_RANK]; /* the same per output dimension, */
    int64_t sum_stride[LX_MAX_VARS]; /* and per summed variable */
};
/* Fills in the cores, and the list of tiles where one is needed; the grid is settled. */
bool launch_deal(const struct dealing *g, struct lx_op_launch *o, lx_status *st);
/* Number and place of a core on the device. */
void launch_place(const struct lx_device *device, int64_t core, struct lx_launch *l,
                  struct lx_launch_core *c);

/* Orders of tiles by a formula: tiles run by increasing value of an integer expression, ties row by row.
 *
 *     sum     = product { ("+" | "-") product }
 *     product = factor { ("*" | "/" | "%") factor }
 *     factor  = "-" factor | number | name | "(" sum ")" | "min" "(" sum "," sum ")" | "max" ... | "abs" "(" sum ")"
 *
 * Names: m and n, row and column of the tile; b, its batch; Mt and Nt, rows and columns of the grid; B, batches.
 * "/" and "%" round down. */

/* Can it be read? False: `st` says where and why not. */
bool formula_valid(const char *text, lx_status *st);
/* Puts the row-major numbers of all tiles in its order. False: `st` also where it has no value. */
bool formula_sort(const char *text, int64_t batch, int64_t mt, int64_t nt, int64_t *tiles, lx_status *st);

#endif
