/* The launch of one divided op.
 *
 * The grid is that of what the op writes: the last dimension of its output is the columns, the one before it
 * the rows, the others are a batch; an output whose sticks hold one element each is a single column. Tiles
 * are the device's. Where every operand is in HBM, tiles are dealt out evenly over the device's cores. Where
 * one is on chip, a core computes what it holds, which the division of the op says: its slices of rows and
 * columns are the shard grid. Batch dimensions that are cut are folded into the rows as long as a core's part
 * stays one run of rows. A division that makes no such grid is launched as if all were in HBM, and `why` says
 * so.
 *
 * A split sum does not show in the grid: each of the `k_slices` groups of cores launches the whole grid over
 * its own part of the sum, and Kt counts the tiles of that part. */
#ifndef LX_LAUNCH_LAUNCH_OF_OP_H
#define LX_LAUNCH_LAUNCH_OF_OP_H

#include "launch/launch.h"
#include "divide/divide.h"

enum lx_launch_kind {
    LX_LAUNCH_TILES,
    LX_LAUNCH_WHOLE,   /* its index map is unknown: one core, one "tile" that is all of it */
    LX_LAUNCH_NONE,    /* it runs off the device */
    LX_LAUNCH_REFUSED, /* the device cannot launch it; `why` says why */
    LX_LAUNCH_KINDS
};

const char *lx_launch_kind_word(enum lx_launch_kind kind);

struct lx_launch_options {
    enum lx_tile_order order; /* of global launches; match_shard: where there are shards, else row_major */
    enum lx_share share;
};

struct lx_op_launch {
    int32_t op;
    enum lx_launch_kind kind;
    const char *why;          /* of a kind other than tiles, or of a mode other than residency says; NULL */
    struct lx_launch *launch; /* NULL: none */
    int64_t tile[2];          /* rows, columns */
    int64_t rows, columns;    /* of the grid, elements; rows of all folded dimensions together */
    int64_t local[2];         /* of local_shard: rows and columns of a core's part, elements; else 0 */
    int64_t k_slices;         /* groups of cores that add up one output */
    int fold_from, row_dim;   /* output dimensions [fold_from, row_dim] are the rows; -1: none */
    int column_dim;           /* -1: a single column */
};

/* `on_chip`: per operand of the op, inputs in order, then the output. NULL: `st`, where something on chip cannot
 * be launched. */
struct lx_op_launch *lx_launch_of(const struct lx_divisions *d, int32_t op, const bool *on_chip,
                                  const struct lx_launch_options *options, lx_status *st);
void lx_op_launch_free(struct lx_op_launch *o);

/* What core `core` of the device runs: the core of the launch, or NULL if it has none. `*k_slice` (may be
 * NULL): its part of a split sum. */
const struct lx_launch_core *lx_op_launch_core(const struct lx_op_launch *o, const struct lx_divisions *d,
                                               int64_t core, int64_t *k_slice);

#endif
