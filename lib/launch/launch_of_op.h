/* The launch of one divided op: which pieces of its iteration space each core computes, and what it is told.
 *
 * The grid is that of what the op writes. Each dimension of its output is cut into tiles: the last one is the
 * columns, the one before it the rows, the others are a batch in tiles of one position. A tile has whole
 * sticks: its side is rounded up to the elements that the division keeps together; a dimension that must stay
 * whole has one tile. Residency decides who gets which:
 *
 *     global       every operand is in HBM: all tiles are numbered in an order and dealt out over the cores
 *     local_shard  an operand is on chip: a core computes what the division gives it. Every output dimension is
 *                  in `parts` parts of `part` elements, the last one may be shorter; tiles begin anew in each
 *                  part and never leave it. All dimensions but the columns are folded, mixed radix, first
 *                  slowest, to the Gy parts that sy counts; the columns are the Gx parts that sx counts. A core's
 *                  own tiles are numbered from 0, mixed radix, first dimension slowest
 *
 * With two levels of tiles the outer ones are numbered and dealt out, and a core goes over the inner tiles of
 * each, row by row; an inner tile is one turn of its loop.
 *
 * The variables that are summed are cut as the division says, too: that makes `k_slices` groups of cores, each
 * of which goes over the whole output with its own range of the sum.
 *
 * In a nest (divide/op_nest.h) a launch is that of one tile of the nest: its extents are the tile's, its pieces are within
 * the tile, and the offsets of the tile are arguments that change from iteration to iteration.
 *
 * What a core does follows from this struct alone (launch_piece.c), not from the division, so that a wrong
 * argument shows (lib/check says where). All of it is in plan files. */
#ifndef LX_LAUNCH_LAUNCH_OF_OP_H
#define LX_LAUNCH_LAUNCH_OF_OP_H

#include "launch/launch.h"
#include "divide/divide.h"

struct op_index;

enum lx_launch_kind {
    LX_LAUNCH_TILES,
    LX_LAUNCH_WHOLE,   /* its index map is unknown: one core, one "tile" that is all of it */
    LX_LAUNCH_NONE,    /* it runs off the device */
    LX_LAUNCH_REFUSED, /* the device cannot launch it; `why` says why */
    LX_LAUNCH_KINDS
};

const char *lx_launch_kind_word(enum lx_launch_kind kind);

enum { LX_ORDER_TEXT = 240, LX_LISTED_TILES = 1 << 20 };

/* How tiles are cut and dealt out. All zero: as the device and the residency have it, row by row. */
struct lx_launch_options {
    enum lx_tile_order order; /* of global launches; match_shard: where there are shards, else row_major */
    char by[LX_ORDER_TEXT];   /* of order listed: a formula (launch_grid.h), or @FILE with a list */
    enum lx_share share;
    enum lx_assign assign;     /* of global launches */
    int64_t tile[2], inner[2]; /* rows, columns; 0: the device's tile; no inner tiles */
    const int64_t *list; /* of @FILE: row-major numbers of tiles, each once; for launches with so many */
    int64_t list_count;
};

/* A dimension of the output, in elements. */
struct lx_launch_dim {
    int64_t extent, side; /* of all of it; of a tile */
    int64_t inner;        /* of a tile in a tile: what one turn computes; one level: side */
    int64_t parts, part;  /* of local_shard: how many, and how long each but the last is; else 1, extent */
};

/* A variable that is summed, in elements; in the order of the op's variables. */
struct lx_launch_sum {
    int64_t extent, parts, part;
};

struct lx_op_launch {
    int32_t op;
    enum lx_launch_kind kind;
    const char *why;          /* of a kind other than tiles; NULL */
    struct lx_launch *launch; /* mode, order, arguments, cores by device core number; NULL: none */
    int rank;                 /* of the output */
    struct lx_launch_dim dim[LX_MAX_RANK];
    int sum_count;
    struct lx_launch_sum *sum;
    int64_t k_slices;  /* groups of cores that add up one output: all parts of `sum` */
    int64_t k_tile;    /* elements of a sum that Kt counts as one */
    int64_t blocks[2]; /* of order block: rows and columns of blocks that tiles are numbered by; else 0 */
    int64_t *tiles; /* of order listed: row-major numbers in the order in which cores count them; else NULL */
    int64_t tile_count;
};

/* `on_chip`: per operand of the op, inputs in order, then the output. NULL: `st`, where something on chip
 * cannot be launched. */
struct lx_op_launch *lx_launch_of(const struct lx_divisions *d, int32_t op, const bool *on_chip,
                                  const struct lx_launch_options *options, lx_status *st);
void lx_op_launch_free(struct lx_op_launch *o);
/* The loops around it, as the nests have them. */
void lx_op_launch_levels(const struct lx_layouts *l, const struct lx_nest *nests, int32_t count,
                         struct lx_op_launch *o);
/* Grid, shards, Kt and k_slices from the dimensions and sums. False: they are none, or too many tiles. */
bool lx_op_launch_settle(struct lx_op_launch *o);

/* The arguments of device core `core`; NULL: it is not launched. */
const struct lx_launch_core *lx_op_launch_core(const struct lx_op_launch *o, int64_t core);

/* What one turn of a core's persistent loop computes: [from, to) of each variable of the op, as struct
 * op_index numbers them; in a nest within the tile, whose index map (nest_tile_index) is then asked for. */
struct lx_launch_piece {
    int64_t from[LX_MAX_VARS], to[LX_MAX_VARS];
};

/* Are the tiles that are dealt out cut into smaller ones? */
bool lx_op_launch_two_levels(const struct lx_op_launch *o);
/* Turns of the loop of device core `core`; 0: it has nothing to do. */
int64_t lx_op_launch_turns(const struct lx_op_launch *o, int64_t core);
/* Turn `turn` of it. False: its arguments lead outside of the grid, or the grid is not the op's. */
bool lx_op_launch_piece(const struct lx_op_launch *o, const struct op_index *x, int64_t core, int64_t turn,
                        struct lx_launch_piece *out);

/* The same as [from, to) per output dimension. */
bool lx_op_launch_box(const struct lx_op_launch *o, int64_t core, int64_t turn, int64_t *from, int64_t *to);

/* The launch as a runtime plan, as lx_launch_to_json; `on_chip` as of lx_launch_of. */
char *lx_op_launch_json(const struct lx_op_launch *o, const struct lx_graph *graph, const bool *on_chip,
                        size_t *length);
/* The persistent loop that its cores run, as text: malloc'ed, NULL when memory is out; empty for what runs
 * off the device or is refused. */
char *lx_op_launch_loop(const struct lx_op_launch *o, const struct lx_graph *graph);

#endif
