/* The layouts of operands: which can be launched. The first complaint is the answer. */
#include "launch/launch.h"
#include "base/fail.h"
#include "base/checked.h"

#include <inttypes.h>
#include <string.h>

const char *lx_partition_word(enum lx_partition mode)
{
    return mode == LX_PARTITION_GLOBAL ? "global" : mode == LX_PARTITION_LOCAL_SHARD ? "local_shard" : "auto";
}

bool lx_shard_grid(const struct lx_shard *s, const char *operand, int64_t grid[2], lx_status *st)
{
    if (s->axis_count == 0 || s->grid_rank == 0)
        return status_set(st, LX_E_LAUNCH_SHARD_AXES, "the shards of %s have no %s", operand,
                          s->axis_count == 0 ? "axes" : "grid");
    if (s->axis_count != s->grid_rank)
        return status_set(st, LX_E_LAUNCH_SHARD_AXES, "the shards of %s have %d axes, but a grid of %d",
                          operand, s->axis_count, s->grid_rank);
    int64_t m = 0, n = 0;
    for (int i = s->axis_count - 1; i >= 0; i--) {
        if (strcmp(s->axes[i], "M") == 0) m = s->grid[i];
        if (strcmp(s->axes[i], "N") == 0) n = s->grid[i];
    }
    for (int i = 0; i < s->grid_rank; i++)
        if (s->grid[i] < 1)
            return status_set(st, LX_E_LAUNCH_SHARD_AXES, "the shard grid of %s has a side of %" PRId64,
                              operand, s->grid[i]);
    if (s->grid_rank == 1 ? !m && !n : !m || !n)
        return status_set(st, LX_E_LAUNCH_SHARD_AXES, "the axes of the shards of %s must include %s", operand,
                          s->grid_rank == 1 ? "M or N" : "M and N");
    grid[0] = m ? m : 1;
    grid[1] = n ? n : 1;
    return true;
}

bool lx_launch_check_operand(const struct lx_launch_operand *o, lx_status *st)
{
    bool on_chip = o->memory == LX_MEMORY_LX;
    if ((int)o->memory < 0 || o->memory >= LX_MEMORY_COUNT)
        return status_set(st, LX_E_LAUNCH_MEMORY,
                          "%s is in a memory that does not exist; there are hbm and lx", o->name);
    if ((int)o->placing < 0 || o->placing >= LX_PLACING_COUNT)
        return status_set(st, LX_E_LAUNCH_LAYOUT, "%s has no known layout; there are interleaved and sharded",
                          o->name);
    if (on_chip && o->placing == LX_SHARDED && !o->shard)
        return status_set(st, LX_E_LAUNCH_NO_SHARD,
                          "%s is sharded on chip, but nothing says how; give axes and grid", o->name);
    if (o->shard && o->shard->unaligned)
        return status_set(st, LX_E_LAUNCH_ALIGN, "%s has shards that need not end with a tile; align them",
                          o->name);
    int64_t side[2], bits = 0, bytes = INT64_MAX;
    for (int a = 0; a < 2; a++) {
        int64_t elements = o->shard ? o->shard->elements[a] : 0;
        side[a] = o->tile_rank == 2 ? o->tile[a] : LX_LAUNCH_TILE;
        if (on_chip && side[a] > 0 && elements % side[a] != 0)
            return status_set(st, LX_E_LAUNCH_ALIGN,
                              "a shard of %s has %" PRId64 " %s, not a multiple of the tile's %" PRId64,
                              o->name, elements, a ? "columns" : "rows", side[a]);
    }
    if (mul_i64(side[0], side[1], &bits) && mul_i64(bits, o->element_bits ? o->element_bits : 16, &bits))
        bytes = ceil_div_i64(bits, 8);
    if (on_chip && bytes > LX_LAUNCH_TILE_BYTES)
        return status_set(st, LX_E_LAUNCH_TILE_BYTES,
                          "a tile of %s takes %" PRId64 " bytes on chip, more than %d", o->name, bytes,
                          LX_LAUNCH_TILE_BYTES);
    if (o->has_halo)
        return status_set(st, LX_E_LAUNCH_HALO, "%s has a halo; exchange it in the team stage", o->name);
    if (o->tile_rank != 0 && (o->tile_rank != 2 || o->tile[0] < 1 || o->tile[1] < 1))
        return status_set(st, LX_E_LAUNCH_TILE_SHAPE, "a tile of %s is not rows x columns", o->name);
    int64_t grid[2];
    return !o->shard || lx_shard_grid(o->shard, o->name, grid, st);
}
