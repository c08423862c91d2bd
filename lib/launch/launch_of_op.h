/* The launch of one divided op: the pieces of its iteration space that each core computes, and the core's
 * runtime arguments.
 *
 * The grid covers the op's output. Each output dimension is cut into tiles: the last one gives the columns,
 * the one before it the rows, the others a batch in tiles of one position. A tile has whole sticks: its side
 * is rounded up to the elements that the division keeps together. A dimension that must stay whole has one
 * tile. Residency decides the mode:
 *
 *   global       every operand is in HBM: all tiles are numbered in an order and dealt to the cores
 *   local_shard  an operand is on chip: a core computes its part of the division. Every output dimension has
 *                `parts` parts of `part` elements, the last may be shorter; tiles start anew in each part.
 *                All dimensions but the columns are folded (mixed radix, first slowest) into the Gy parts
 *                that sy counts; the columns are the Gx parts that sx counts. A core's own tiles are
 *                numbered from 0 (mixed radix, first dimension slowest)
 *
 * With two tile levels the outer tiles are numbered and dealt, and a core walks the inner tiles of each row
 * by row; an inner tile is one turn of its loop.
 *
 * Summed variables are split by the division, too. That makes `k_slices` groups of cores; each group covers
 * the whole output with its own range of the sum.
 *
 * In a nest (divide/op_nest.h) a launch covers one tile of the nest: its extents and pieces are within the
 * tile, and the tile's offsets are arguments that change between iterations.
 *
 * A core's work follows from this struct alone (launch_piece.c), not from the division, so that a wrong
 * argument is detected (lib/check). Plan files contain the whole struct. */
#pragma once

#include "launch/launch.h"
#include "divide/divide.h"

struct op_index;

enum lx_launch_kind {
    LX_LAUNCH_TILES,
    LX_LAUNCH_WHOLE,   /* unknown index map: one core, one tile for the whole op */
    LX_LAUNCH_NONE,    /* runs on the host */
    LX_LAUNCH_REFUSED, /* the device cannot launch the op; see `why` */
    LX_LAUNCH_KINDS
};

const char *lx_launch_kind_word(enum lx_launch_kind kind);

enum { LX_ORDER_TEXT = 240, LX_LISTED_TILES = 1 << 20 };

/* How tiles are cut and dealt. All zero: device tiles, mode by residency, row-major. */
struct lx_launch_options {
    enum lx_tile_order order; /* for global launches; match_shard: row_major unless there are shards */
    char by[LX_ORDER_TEXT];   /* for order listed: @FILE with a list */
    enum lx_share share;
    enum lx_assign assign;     /* for global launches */
    int64_t tile[2], inner[2]; /* rows, columns; 0: the device's tile, no inner tiles */
    /* list of @FILE: row-major tile numbers, each once; used by launches with as many tiles */
    const int64_t *list;
    int64_t list_count;
};

/* A dimension of the output, in elements. */
struct lx_launch_dim {
    int64_t extent, side; /* elements of the dimension; of a tile */
    int64_t inner;        /* elements of an inner tile, computed in one turn; equals side with one level */
    /* local_shard: number of parts, and elements of each but the last; otherwise 1, extent */
    int64_t parts, part;
};

/* A summed variable, in elements. Order: the op's variables. */
struct lx_launch_sum {
    int64_t extent, parts, part;
};

struct lx_op_launch {
    int32_t op;
    enum lx_launch_kind kind;
    const char *why;          /* reason for any kind but LX_LAUNCH_TILES; otherwise NULL */
    struct lx_launch *launch; /* mode, order, arguments, cores with device core numbers; NULL: not launched */
    int rank;                 /* output rank */
    struct lx_launch_dim dim[LX_MAX_RANK];
    int sum_count;
    struct lx_launch_sum *sum;
    int64_t k_slices;  /* groups of cores whose partial sums are added: the product of all parts of `sum` */
    int64_t k_tile;    /* elements of the reduction per step of Kt */
    int64_t blocks[2]; /* order block: rows and columns of blocks; otherwise 0 */
    int64_t *tiles;    /* order listed: row-major tile numbers in dealing order; otherwise NULL */
    int64_t tile_count;
};

/* `on_chip` is per operand: inputs in order, then results. NULL: `st`, if an on-chip operand cannot be
 * launched. */
struct lx_op_launch *lx_launch_of(const struct lx_divisions *d, int32_t op, const bool *on_chip,
                                  const struct lx_launch_options *options, lx_status *st);
void lx_op_launch_free(struct lx_op_launch *o);
/* Adds the loops of the op's nest to its launch. */
void lx_op_launch_levels(const struct lx_layouts *l, const struct lx_nest *nests, int32_t count,
                         struct lx_op_launch *o);
/* Computes grid, shards, Kt and k_slices from dimensions and sums. False: illegal sizes, or too many
 * tiles. */
bool lx_op_launch_settle(struct lx_op_launch *o);

/* Arguments of device core `core`; NULL: the core is not launched. */
const struct lx_launch_core *lx_op_launch_core(const struct lx_op_launch *o, int64_t core);

/* The piece of one turn of a core's persistent loop: [from, to) per variable of the op, in op_index numbers.
 * In a nest the ranges are within the tile, with the tile's index map (nest_tile_index). */
struct lx_launch_piece {
    int64_t from[LX_MAX_VARS], to[LX_MAX_VARS];
};

/* Whether dealt tiles are cut into inner tiles. */
bool lx_op_launch_two_levels(const struct lx_op_launch *o);
/* Turns of the loop of device core `core`; 0: no work. */
int64_t lx_op_launch_turns(const struct lx_op_launch *o, int64_t core);
/* The piece of turn `turn`. False: the core's arguments lead outside the grid, or the grid does not match
 * the op. */
bool lx_op_launch_piece(const struct lx_op_launch *o, const struct op_index *x, int64_t core, int64_t turn,
                        struct lx_launch_piece *out);

/* The same piece as [from, to) per output dimension. */
bool lx_op_launch_box(const struct lx_op_launch *o, int64_t core, int64_t turn, int64_t *from, int64_t *to);

/* The launch as a runtime plan, as lx_launch_to_json writes it; `on_chip` as in lx_launch_of. */
char *lx_op_launch_json(const struct lx_op_launch *o, const struct lx_graph *graph, const bool *on_chip,
                        size_t *length);
/* The cores' persistent loop as text from malloc, NULL when out of memory. Empty for an op that runs on the
 * host or is refused. */
char *lx_op_launch_loop(const struct lx_op_launch *o, const struct lx_graph *graph);
