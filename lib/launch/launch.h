/* The launch stage: which core computes which tiles of an op's output, and its runtime arguments.
 *
 * The output is a grid of tiles, Mt x Nt, or B such grids for a batch. Each core runs a persistent loop over
 * its own tiles, i = 0 .. count-1, and recovers batch, row and column of each (lx_launch_tile). Residency
 * decides how tiles are dealt:
 *
 *     global       all operands are in HBM, or on chip but interleaved: every core can reach every tile.
 *                  Tiles are numbered in some order and split into balanced runs of q + (i < r) tiles
 *     local_shard  an operand is sharded on chip: each core computes the tiles of its shard
 *
 * Conventions: the first grid axis is the slowest and a batch is slower than all (t = (b * Mt + m) * Nt + n
 * in row-major order), core coordinates are [y, x], a shard grid is [Gy, Gx].
 *
 * Sizes: grids up to 2^53 tiles (they are never listed), up to LX_LAUNCH_CORES cores. */
#pragma once

#include "graph/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LX_LAUNCH_CORES = 1 << 16, LX_LAUNCH_RANK = 8, LX_LAUNCH_TILE = 32, LX_LAUNCH_TILE_BYTES = 2048 };

enum lx_partition { LX_PARTITION_AUTO, LX_PARTITION_GLOBAL, LX_PARTITION_LOCAL_SHARD, LX_PARTITION_COUNT };

/* How tiles are numbered. block and match_shard give each core a rectangle: block splits both axes evenly
 * over the cores, match_shard follows the shards. listed takes the numbers from a formula, a file or a
 * queue. */
enum lx_tile_order {
    LX_ROW_MAJOR,
    LX_COLUMN_MAJOR,
    LX_BLOCK,
    LX_MATCH_SHARD,
    LX_MORTON,
    LX_LISTED,
    LX_TILE_ORDERS
};

/* Balanced: cores differ by at most one tile (or row, or column). Chunks: ceil(tiles / cores) per core until
 * none are left, as in other systems; for comparison. */
enum lx_share { LX_SHARE_BALANCED, LX_SHARE_CHUNKS, LX_SHARE_COUNT };
/* Static: each core has a run of tile numbers. Dynamic: a queue, from which the core that is free first
 * takes the next tile, by predicted tile times. */
enum lx_assign { LX_ASSIGN_STATIC, LX_ASSIGN_DYNAMIC, LX_ASSIGN_COUNT };

/* The words of an enum. Unknown words give its COUNT. */
/* row_major column_major block match_shard morton listed */
enum lx_tile_order lx_tile_order_find(const char *word);
const char *lx_tile_order_word(enum lx_tile_order order);
const char *lx_partition_word(enum lx_partition mode);
const char *lx_share_word(enum lx_share share);    /* balanced, chunks */
const char *lx_assign_word(enum lx_assign assign); /* static, dynamic */

/* How an operand is sharded over the cores. */
struct lx_shard {
    int axis_count, grid_rank;
    const char *const *axes; /* "M", "N", or others before these; one per grid axis */
    const int64_t *grid;     /* parts along each axis */
    int64_t elements[2];     /* rows and columns of a shard; 0: the even part of each core */
    int64_t tiles[2];        /* the same in tiles; 0: computed from `elements` */
    bool unaligned;          /* the shard may end inside a tile */
};

struct lx_launch_operand {
    const char *name;
    enum lx_memory memory;
    enum lx_placing placing;
    int element_bits; /* 0 means 16 */
    int tile_rank;    /* 0: the default 32 x 32 tile */
    int64_t tile[2];
    const struct lx_shard *shard; /* NULL: not sharded */
    bool has_halo;
};

struct lx_launch_request {
    const struct lx_launch_operand *operands;
    int operand_count;
    enum lx_partition partition; /* AUTO: by the residency of the operands */
    enum lx_tile_order order;    /* ignored in local_shard mode */
    enum lx_share share;
    int64_t batch;          /* 0 means 1 */
    int64_t output[2];      /* rows and columns of the output in elements; 0: use `grid` */
    int64_t grid[2];        /* Mt, Nt; both 0 and no output: 8 x 8 */
    int64_t k_tiles;        /* 0 means 1 */
    int64_t core_grid[2];   /* y, x of the cores to launch in global mode; 0: 8 x 8 */
    int64_t device_grid[2]; /* y, x of the device; 0: no limit */
};

struct lx_launch_core {
    int32_t y, x;
    int32_t core;          /* an op's launch: core number on the device, y * (columns of the grid) + x */
    int32_t k_slice;       /* an op's launch: its part of a split reduction */
    int64_t start, count;  /* tile numbers; start is 0 for a core with its own rectangle */
    int64_t row, column;   /* first tile of that rectangle */
    int64_t rows, columns; /* its size; 0 if tiles are numbered over the whole grid */
    int32_t sy, sx;        /* its shard coordinates */
};

/* A nest loop around the launch. In iteration i the launched tile begins i * step further along a variable
 * of the op; that offset is a runtime argument. */
enum { LX_LAUNCH_LEVELS = 3 };
struct lx_launch_level {
    char letter;         /* letter of the variable */
    int var;             /* index of the variable in the op's index map */
    int64_t tiles, step; /* step: elements per tile */
};

struct lx_launch {
    enum lx_partition mode; /* GLOBAL or LOCAL_SHARD */
    enum lx_tile_order order;
    int64_t batch, mt, nt, kt;
    int64_t core_grid[2];   /* y, x */
    int64_t shard_grid[2];  /* Gy, Gx in local_shard mode; otherwise 0 */
    int64_t shard_tiles[2]; /* Sm, Sn in local_shard mode; otherwise 0 */
    int32_t core_count;
    struct lx_launch_core *cores; /* all cores of the grid, in dealing order */
    int level_count;              /* loops of the surrounding nest, outermost first; 0: no nest */
    struct lx_launch_level level[LX_LAUNCH_LEVELS];
};

struct lx_tile {
    int64_t batch, row, column;
    int64_t id; /* row-major over batch and grid, in any order */
};

/* Whether the operand's layout can be launched. Each problem has its own code. */
bool lx_launch_check_operand(const struct lx_launch_operand *operand, lx_status *st);
/* [Gy, Gx] of a shard, from its axes "M" and "N"; other axes are ignored. */
bool lx_shard_grid(const struct lx_shard *shard, const char *operand, int64_t grid[2], lx_status *st);

struct lx_launch *lx_launch_make(const struct lx_launch_request *request, lx_status *st);
void lx_launch_free(struct lx_launch *launch);

/* The run of core i when `tiles` tiles are dealt to `cores` cores. */
void lx_share_of(enum lx_share share, int64_t tiles, int64_t cores, int64_t i, int64_t *start,
                 int64_t *count);
/* Row and column of tile `t` in a grid of rows x columns, for row_major, column_major and morton. */
void lx_tile_recover(enum lx_tile_order order, int64_t rows, int64_t columns, int64_t t, int64_t *row,
                     int64_t *column);
/* The i-th tile of a core, 0 <= i < count: index recovery in the persistent loop. */
struct lx_tile lx_launch_tile(const struct lx_launch *launch, const struct lx_launch_core *core, int64_t i);

/* Runtime arguments in canonical order: start_id, count, Mt, Kt, Nt and, for local_shard, Sm, Sn, Gy, Gx,
 * sy, sx. */
enum { LX_LAUNCH_ARGS = 11 };
int lx_launch_arg_count(const struct lx_launch *launch);
const char *lx_launch_arg_name(int i);
void lx_launch_args(const struct lx_launch *launch, const struct lx_launch_core *core,
                    int64_t values[LX_LAUNCH_ARGS]);

/* A rectangle of cores. */
struct lx_core_range {
    int64_t y, x, height, width;
};

/* Covers the launched cores with disjoint rectangles. Result from malloc, NULL when out of memory. */
struct lx_core_range *lx_launch_ranges(const struct lx_launch *launch, int *count);

/* The launch as a runtime plan with the layout of each operand. JSON from malloc, NULL when out of memory. */
char *lx_launch_to_json(const struct lx_launch *launch, const struct lx_launch_operand *operands,
                        int operand_count, size_t *length);
/* Whether a text is a launchable runtime plan: fields, version, grid, ranges, keys. */
bool lx_runtime_plan_check(const char *file, const char *text, size_t length, lx_status *st);
