/* The layouts of operands: which can be launched, and what each complaint is called.
 *
 * The checks stand in one table in the order in which they are asked; the first that fails is the answer. */
#include "launch/launch.h"
#include "base/fail.h"
#include "base/checked.h"

#include <inttypes.h>
#include <string.h>

const char *lx_partition_word(enum lx_partition mode)
{
    return mode == LX_PARTITION_GLOBAL ? "global" : mode == LX_PARTITION_LOCAL_SHARD ? "local_shard" : "auto";
}

typedef bool operand_check(const struct lx_launch_operand *o, lx_status *st);

static bool check_memory(const struct lx_launch_operand *o, lx_status *st)
{
    if ((int)o->memory >= 0 && o->memory < LX_MEMORY_COUNT) return true;
    return status_set(st, LX_E_LAUNCH_MEMORY, "%s is in a memory that does not exist; there are hbm and lx",
                      o->name);
}

static bool check_placing(const struct lx_launch_operand *o, lx_status *st)
{
    if ((int)o->placing >= 0 && o->placing < LX_PLACING_COUNT) return true;
    return status_set(st, LX_E_LAUNCH_LAYOUT, "%s has no known layout; there are interleaved and sharded",
                      o->name);
}

static bool check_has_shard(const struct lx_launch_operand *o, lx_status *st)
{
    if (o->memory != LX_MEMORY_LX || o->placing != LX_SHARDED || o->shard) return true;
    return status_set(st, LX_E_LAUNCH_NO_SHARD,
                      "%s is sharded on chip, but nothing says how; give axes and grid", o->name);
}

static int64_t operand_tile_side(const struct lx_launch_operand *o, int axis)
{
    return o->tile_rank == 2 ? o->tile[axis] : LX_LAUNCH_TILE;
}

static bool check_aligned(const struct lx_launch_operand *o, lx_status *st)
{
    if (!o->shard) return true;
    if (o->shard->unaligned)
        return status_set(st, LX_E_LAUNCH_ALIGN, "%s has shards that need not end with a tile; align them",
                          o->name);
    for (int a = 0; a < 2; a++) {
        int64_t side = operand_tile_side(o, a), elements = o->shard->elements[a];
        if (o->memory == LX_MEMORY_LX && side > 0 && elements % side != 0)
            return status_set(st, LX_E_LAUNCH_ALIGN,
                              "a shard of %s has %" PRId64 " %s, not a multiple of the tile's %" PRId64,
                              o->name, elements, a ? "columns" : "rows", side);
    }
    return true;
}

static bool check_tile_bytes(const struct lx_launch_operand *o, lx_status *st)
{
    int64_t bits = 0, bits_each = o->element_bits ? o->element_bits : 16;
    if (o->memory != LX_MEMORY_LX) return true;
    bool fits =
        mul_i64(operand_tile_side(o, 0), operand_tile_side(o, 1), &bits) && mul_i64(bits, bits_each, &bits);
    int64_t bytes = fits ? ceil_div_i64(bits, 8) : INT64_MAX;
    if (bytes <= LX_LAUNCH_TILE_BYTES) return true;
    return status_set(st, LX_E_LAUNCH_TILE_BYTES,
                      "a tile of %s takes %" PRId64 " bytes on chip, more than %d", o->name, bytes,
                      LX_LAUNCH_TILE_BYTES);
}

static bool check_halo(const struct lx_launch_operand *o, lx_status *st)
{
    return o->has_halo
               ? status_set(st, LX_E_LAUNCH_HALO, "%s has a halo; exchange it in the team stage", o->name)
               : true;
}

static bool check_tile_rank(const struct lx_launch_operand *o, lx_status *st)
{
    if (o->tile_rank != 0 && (o->tile_rank != 2 || o->tile[0] < 1 || o->tile[1] < 1))
        return status_set(st, LX_E_LAUNCH_TILE_SHAPE, "a tile of %s is not rows x columns", o->name);
    return true;
}

static bool check_shard_axes(const struct lx_launch_operand *o, lx_status *st)
{
    int64_t grid[2];
    return !o->shard || lx_shard_grid(o->shard, o->name, grid, st);
}

static operand_check *const checks[] = {check_memory,     check_placing, check_has_shard, check_aligned,
                                        check_tile_bytes, check_halo,    check_tile_rank, check_shard_axes};

static int64_t operand_parts_along(const struct lx_shard *s, const char *axis)
{
    for (int i = 0; i < s->axis_count; i++)
        if (strcmp(s->axes[i], axis) == 0) return s->grid[i];
    return 0;
}

bool lx_shard_grid(const struct lx_shard *s, const char *operand, int64_t grid[2], lx_status *st)
{
    if (s->axis_count == 0 || s->grid_rank == 0)
        return status_set(st, LX_E_LAUNCH_SHARD_AXES, "the shards of %s have no %s", operand,
                          s->axis_count == 0 ? "axes" : "grid");
    if (s->axis_count != s->grid_rank)
        return status_set(st, LX_E_LAUNCH_SHARD_AXES, "the shards of %s have %d axes, but a grid of %d",
                          operand, s->axis_count, s->grid_rank);
    int64_t m = operand_parts_along(s, "M"), n = operand_parts_along(s, "N");
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

bool lx_launch_check_operand(const struct lx_launch_operand *operand, lx_status *st)
{
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (!checks[i](operand, st)) return false;
    return true;
}
