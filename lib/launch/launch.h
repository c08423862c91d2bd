/* The launch stage: which core computes which tiles of an op's output, and what it is told.
 *
 * The output is a grid of tiles, Mt x Nt, and B of these for a batch. Each core runs a persistent loop over
 * its own tiles, i = 0 .. count-1, and recovers batch, row and column of each (lx_launch_tile). Residency
 * decides how tiles are dealt out:
 *
 *     global       all operands are in HBM, or on chip but interleaved: every core can reach every tile, so
 *                  the tiles are numbered in some order and cut in balanced runs of q + (i < r) tiles each
 *     local_shard  an operand is sharded on chip: each core computes the tiles whose shard it holds
 *
 * What holds everywhere: the first grid axis is the slowest and a batch is slower than all
 * (t = (b * Mt + m) * Nt + n in row-major order), core coordinates are [y, x], a shard grid is [Gy, Gx].
 *
 * Sizes: grids up to 2^53 tiles (they are never listed), up to LX_LAUNCH_CORES cores. */
#ifndef LX_LAUNCH_LAUNCH_H
#define LX_LAUNCH_LAUNCH_H

#include "base/status.h"
#include "graph/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LX_LAUNCH_CORES = 1 << 16, LX_LAUNCH_RANK = 8, LX_LAUNCH_TILE = 32, LX_LAUNCH_TILE_BYTES = 2048 };

enum lx_partition { LX_PARTITION_AUTO, LX_PARTITION_GLOBAL, LX_PARTITION_LOCAL_SHARD, LX_PARTITION_COUNT };

/* How tile numbers run over the grid. block and match_shard give each core a rectangle: block cuts both axes
 * evenly over the cores, match_shard follows the shards. listed, of an op's launch: as a list says, which a
 * formula, a file or a queue has made. */
enum lx_tile_order {
    LX_ROW_MAJOR,
    LX_COLUMN_MAJOR,
    LX_BLOCK,
    LX_MATCH_SHARD,
    LX_MORTON,
    LX_LISTED,
    LX_TILE_ORDERS
};

/* Balanced: no two cores differ by more than one tile (or row, or column). Chunks: ceil(tiles / cores) for
 * each until none are left, as other systems do; for comparison. */
enum lx_share { LX_SHARE_BALANCED, LX_SHARE_CHUNKS, LX_SHARE_COUNT };
/* Static: runs of tiles by their number. Dynamic: a queue, from which the core that is free first takes the
 * next tile; how long a tile takes is predicted. */
enum lx_assign { LX_ASSIGN_STATIC, LX_ASSIGN_DYNAMIC, LX_ASSIGN_COUNT };

/* The words of an enum; unknown words give its COUNT. */
/* row_major column_major block match_shard morton listed */
enum lx_tile_order lx_tile_order_find(const char *word);
const char *lx_tile_order_word(enum lx_tile_order order);
const char *lx_partition_word(enum lx_partition mode);
const char *lx_share_word(enum lx_share share);    /* balanced, chunks */
const char *lx_assign_word(enum lx_assign assign); /* static, dynamic */

/* How an operand is cut over the cores. */
struct lx_shard {
    int axis_count, grid_rank;
    const char *const *axes; /* "M", "N", or others before these: one per axis of the grid */
    const int64_t *grid;     /* parts along each */
    int64_t elements[2];     /* rows and columns of one shard; 0: what the grid leaves to a core */
    int64_t tiles[2];        /* the same in tiles, where that is known; 0: from `elements` */
    bool unaligned;          /* the shard may end inside a tile */
};

struct lx_launch_operand {
    const char *name;
    enum lx_memory memory;
    enum lx_placing placing;
    int element_bits; /* 0: 16 */
    int tile_rank;    /* 0: the default tile of 32 x 32 */
    int64_t tile[2];
    const struct lx_shard *shard; /* NULL: none */
    bool has_halo;
};

struct lx_launch_request {
    const struct lx_launch_operand *operands;
    int operand_count;
    enum lx_partition partition; /* AUTO: from the residency of the operands */
    enum lx_tile_order order;    /* local_shard always follows its shards */
    enum lx_share share;
    int64_t batch;          /* 0: 1 */
    int64_t output[2];      /* rows and columns of the output; 0: `grid` says it in tiles */
    int64_t grid[2];        /* Mt, Nt; both 0 and no output: 8 x 8 */
    int64_t k_tiles;        /* 0: 1 */
    int64_t core_grid[2];   /* y, x to launch on in global mode; 0: 8 x 8 */
    int64_t device_grid[2]; /* y, x that there are; 0: not limited */
};

struct lx_launch_core {
    int32_t y, x;
    int32_t core;          /* of an op's launch: its number on the device, y * (columns of the grid) + x */
    int32_t k_slice;       /* of an op's launch: its part of a split sum */
    int64_t start, count;  /* tile numbers; start is 0 where the core has a rectangle of its own */
    int64_t row, column;   /* of that rectangle: its first tile, */
    int64_t rows, columns; /* and its size; 0 where tiles are numbered over the whole grid */
    int32_t sy, sx;        /* its shard */
};

/* A loop of a nest around the launch: in iteration i of it the tile that is launched begins i * step further
 * along a variable of the op, which is an argument of the cores. */
enum { LX_LAUNCH_LEVELS = 3 };
struct lx_launch_level {
    char letter;         /* of the variable */
    int var;             /* its number in the op's index map */
    int64_t tiles, step; /* step: elements of a tile */
};

struct lx_launch {
    enum lx_partition mode; /* GLOBAL or LOCAL_SHARD */
    enum lx_tile_order order;
    int64_t batch, mt, nt, kt;
    int64_t core_grid[2];   /* y, x */
    int64_t shard_grid[2];  /* Gy, Gx and */
    int64_t shard_tiles[2]; /* Sm, Sn of local_shard; else 0 */
    int32_t core_count;
    struct lx_launch_core *cores; /* all of the core grid in the order in which tiles are dealt out */
    int level_count; /* of the nest that launches it once per iteration, outermost first; 0: it is in none */
    struct lx_launch_level level[LX_LAUNCH_LEVELS];
};

struct lx_tile {
    int64_t batch, row, column;
    int64_t id; /* row-major over batch and grid, whatever the order */
};

/* Is the layout of an operand one that can be launched? Each complaint has a code of its own. */
bool lx_launch_check_operand(const struct lx_launch_operand *operand, lx_status *st);
/* [Gy, Gx] of a shard: by the names of its axes; other axes do not count. */
bool lx_shard_grid(const struct lx_shard *shard, const char *operand, int64_t grid[2], lx_status *st);

struct lx_launch *lx_launch_make(const struct lx_launch_request *request, lx_status *st);
void lx_launch_free(struct lx_launch *launch);

/* The run of core i when `tiles` are dealt to `cores`. */
void lx_share_of(enum lx_share share, int64_t tiles, int64_t cores, int64_t i, int64_t *start,
                 int64_t *count);
/* Row and column of the t-th tile of a grid of rows x columns. For row_major, column_major and morton. */
void lx_tile_recover(enum lx_tile_order order, int64_t rows, int64_t columns, int64_t t, int64_t *row,
                     int64_t *column);
/* The i-th tile that a core works on, 0 <= i < count: the index recovery of its persistent loop. */
struct lx_tile lx_launch_tile(const struct lx_launch *launch, const struct lx_launch_core *core, int64_t i);

/* Runtime arguments in canonical order: start_id, count, Mt, Kt, Nt and for local_shard Sm, Sn, Gy, Gx, sy,
 * sx. */
enum { LX_LAUNCH_ARGS = 11 };
int lx_launch_arg_count(const struct lx_launch *launch);
const char *lx_launch_arg_name(int i);
void lx_launch_args(const struct lx_launch *launch, const struct lx_launch_core *core,
                    int64_t values[LX_LAUNCH_ARGS]);

/* A rectangle of cores. */
struct lx_core_range {
    int64_t y, x, height, width;
};

/* The launched cores as rectangles, each core in one; malloc'ed, NULL when memory is out. */
struct lx_core_range *lx_launch_ranges(const struct lx_launch *launch, int *count);

/* The launch as a runtime plan: malloc'ed JSON, NULL when memory is out. Of each operand its layout. */
char *lx_launch_to_json(const struct lx_launch *launch, const struct lx_launch_operand *operands,
                        int operand_count, size_t *length);
/* Is a text a runtime plan that can be launched: fields, version, grid, ranges, keys? */
bool lx_runtime_plan_check(const char *file, const char *text, size_t length, lx_status *st);

#endif
