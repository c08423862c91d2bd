/* From a request to a launch: mode, grids, and the tiles of each core.
 *
 * A core has either a run of tile numbers [start, start + count) of the whole grid, or a rectangle of its
 * own, numbered from 0: its shard, or an even part of both axes. In either case each tile of the grid belongs
 * to one core, as long as the shards cover the grid; without given sizes they do, and what a shard has beyond
 * the grid's edge is left out. The launched cores are a full rectangle: those that a shard grid does not need
 * are not among them, those that get no tile of a run are. */
#include "launch/launch.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const arg_names[LX_LAUNCH_ARGS] = {"start_id", "count", "Mt", "Kt", "Nt", "Sm",
                                                      "Sn",       "Gy",    "Gx", "sy", "sx"};

enum { DEFAULT_SIDE = 8, GLOBAL_ARGS = 5 };

/* The operand whose shards decide where work is done: the first that is sharded on chip. */
static const struct lx_launch_operand *sharded(const struct lx_launch_request *r)
{
    for (int i = 0; i < r->operand_count; i++)
        if (r->operands[i].memory == LX_MEMORY_LX && r->operands[i].placing == LX_SHARDED)
            return &r->operands[i];
    return NULL;
}

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value ? value : otherwise;
}

/* The tile is that of the operands: the first that names one. */
static int64_t launch_tile_side(const struct lx_launch_request *r, int axis)
{
    for (int i = 0; i < r->operand_count; i++)
        if (r->operands[i].tile_rank == 2) return r->operands[i].tile[axis];
    return LX_LAUNCH_TILE;
}

static bool set_grid(struct lx_launch *l, const struct lx_launch_request *r, lx_status *st)
{
    int64_t side[2], tiles;
    for (int a = 0; a < 2; a++) {
        if (r->output[a] < 0 || r->grid[a] < 0)
            return status_set(st, LX_E_LAUNCH_GRID, "the output has a negative size");
        side[a] = r->output[a] > 0 ? ceil_div_i64(r->output[a], launch_tile_side(r, a))
                                   : or_default(r->grid[a], DEFAULT_SIDE);
    }
    l->mt = side[0];
    l->nt = side[1];
    l->kt = or_default(r->k_tiles, 1);
    l->batch = or_default(r->batch, 1);
    if (l->kt < 0 || l->batch < 0)
        return status_set(st, LX_E_LAUNCH_GRID, "a negative batch or number of K tiles");
    if (!mul_i64(l->mt, l->nt, &tiles) || !mul_i64(tiles, l->batch, &tiles) || tiles > LX_INT_MAX)
        return status_set(st, LX_E_LAUNCH_GRID, "more than 2^53 tiles");
    return true;
}

static bool set_mode(struct lx_launch *l, const struct lx_launch_request *r, lx_status *st)
{
    const struct lx_launch_operand *o = sharded(r);
    l->mode = r->partition != LX_PARTITION_AUTO ? r->partition
              : o                               ? LX_PARTITION_LOCAL_SHARD
                                                : LX_PARTITION_GLOBAL;
    l->order = l->mode == LX_PARTITION_LOCAL_SHARD ? LX_MATCH_SHARD : r->order;
    bool follows_shards = l->order == LX_MATCH_SHARD;
    if (follows_shards && !o)
        return status_set(st, LX_E_LAUNCH_NO_SHARD, "%s is asked for, but no operand is sharded on chip",
                          l->mode == LX_PARTITION_LOCAL_SHARD ? "local_shard" : "match_shard");
    if (!follows_shards) return true;
    if (!lx_shard_grid(o->shard, o->name, l->shard_grid, st)) return false;
    for (int a = 0; a < 2; a++) {
        int64_t all = a ? l->nt : l->mt, given = o->shard->tiles[a], elements = o->shard->elements[a];
        if (given == 0 && elements > 0) given = ceil_div_i64(elements, launch_tile_side(r, a));
        l->shard_tiles[a] = or_default(given, ceil_div_i64(all, l->shard_grid[a]));
    }
    return true;
}

/* Shards are where they are: they need their own grid, whatever was asked for. */
static bool launch_set_cores(struct lx_launch *l, const struct lx_launch_request *r, lx_status *st)
{
    int64_t count;
    for (int a = 0; a < 2; a++) {
        l->core_grid[a] =
            l->order == LX_MATCH_SHARD ? l->shard_grid[a] : or_default(r->core_grid[a], DEFAULT_SIDE);
        if (r->device_grid[a] > 0 && l->core_grid[a] > r->device_grid[a])
            return status_set(st, LX_E_LAUNCH_GRID, "%" PRId64 " cores along %s, but the device has %" PRId64,
                              l->core_grid[a], a ? "x" : "y", r->device_grid[a]);
    }
    if (l->core_grid[0] < 1 || l->core_grid[1] < 1 || !mul_i64(l->core_grid[0], l->core_grid[1], &count) ||
        count > LX_LAUNCH_CORES)
        return status_set(st, LX_E_LAUNCH_GRID,
                          "a core grid of %" PRId64 " x %" PRId64 "; from 1 to %d cores", l->core_grid[0],
                          l->core_grid[1], LX_LAUNCH_CORES);
    l->core_count = (int32_t)count;
    l->cores = mem_zeroed((size_t)count, sizeof *l->cores);
    return true;
}

/* Column-major tiles go to cores that are counted down the columns, so that neighbours stay neighbours. */
static void set_place(const struct lx_launch *l, struct lx_launch_core *c, int32_t i)
{
    int64_t y, x;
    lx_tile_recover(l->order == LX_COLUMN_MAJOR ? LX_COLUMN_MAJOR : LX_ROW_MAJOR, l->core_grid[0],
                    l->core_grid[1], i, &y, &x);
    c->y = (int32_t)y;
    c->x = (int32_t)x;
}

/* The part of an axis that a core has: its shard, or an even part of the axis. */
static void set_part(const struct lx_launch *l, enum lx_share share, int axis, int64_t at, int64_t *first,
                     int64_t *size)
{
    int64_t all = axis ? l->nt : l->mt;
    if (l->order == LX_BLOCK) {
        int64_t parts = min_i64(l->core_grid[axis], all);
        *first = *size = 0;
        if (at < parts) lx_share_of(share, all, parts, at, first, size);
        return;
    }
    /* A shard beyond the edge of the grid has nothing to do, one across it only what lies inside. */
    int64_t each = l->shard_tiles[axis];
    *first = at <= all / each ? min_i64(at * each, all) : all;
    *size = min_i64(each, all - *first);
}

struct lx_launch *lx_launch_make(const struct lx_launch_request *request, lx_status *st)
{
    for (int i = 0; i < request->operand_count; i++)
        if (!lx_launch_check_operand(&request->operands[i], st)) return NULL;
    struct lx_launch *l = mem_zeroed(1, sizeof *l);
    if (!set_grid(l, request, st) || !set_mode(l, request, st) || !launch_set_cores(l, request, st)) {
        lx_launch_free(l);
        return NULL;
    }
    enum lx_share share = request->share;
    int64_t tiles = l->batch * l->mt * l->nt;
    for (int32_t i = 0; i < l->core_count; i++) {
        struct lx_launch_core *c = &l->cores[i];
        set_place(l, c, i);
        if (l->order == LX_BLOCK || l->order == LX_MATCH_SHARD) {
            set_part(l, share, 0, c->y, &c->row, &c->rows);
            set_part(l, share, 1, c->x, &c->column, &c->columns);
            c->count = l->batch * c->rows * c->columns;
            if (c->count == 0) c->row = c->column = c->rows = c->columns = 0;
            if (l->order == LX_MATCH_SHARD) {
                c->sy = c->y;
                c->sx = c->x;
            }
        } else
            lx_share_of(share, tiles, l->core_count, i, &c->start, &c->count);
    }
    return l;
}

void lx_launch_free(struct lx_launch *launch)
{
    if (!launch) return;
    mem_free(launch->cores);
    mem_free(launch);
}

int lx_launch_arg_count(const struct lx_launch *launch)
{
    return launch->mode == LX_PARTITION_LOCAL_SHARD ? LX_LAUNCH_ARGS : GLOBAL_ARGS;
}

const char *lx_launch_arg_name(int i)
{
    return i >= 0 && i < LX_LAUNCH_ARGS ? arg_names[i] : "?";
}

void lx_launch_args(const struct lx_launch *launch, const struct lx_launch_core *core,
                    int64_t values[LX_LAUNCH_ARGS])
{
    const int64_t all[LX_LAUNCH_ARGS] = {core->start,
                                         core->count,
                                         launch->mt,
                                         launch->kt,
                                         launch->nt,
                                         launch->shard_tiles[0],
                                         launch->shard_tiles[1],
                                         launch->shard_grid[0],
                                         launch->shard_grid[1],
                                         core->sy,
                                         core->sx};
    for (int i = 0; i < LX_LAUNCH_ARGS; i++) values[i] = all[i];
}
