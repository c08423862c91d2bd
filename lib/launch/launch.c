/* Makes a launch from a request: mode, grids, and the tiles of each core.
 *
 * A core has either a run of tile numbers [start, start + count) of the whole grid, or a rectangle of its
 * own, numbered from 0: its shard, or an even part of both axes. Each tile of the grid belongs to one core
 * if the shards cover the grid; without given sizes they do. Tiles of a shard beyond the grid's edge are
 * dropped. The launched cores are a full rectangle: cores outside the shard grid are left out, cores whose
 * run is empty are kept. */
#include "launch/launch.h"
#include "base/base.h"

static const char *const arg_names[LX_LAUNCH_ARGS] = {"start_id", "count", "Mt", "Kt", "Nt", "Sm",
                                                      "Sn",       "Gy",    "Gx", "sy", "sx"};

enum { DEFAULT_SIDE = 8, GLOBAL_ARGS = 5 };

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value ? value : otherwise;
}

/* The tile side of the first operand with a tile. */
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
    /* The first operand that is sharded on chip; its shards decide where work is done. */
    const struct lx_launch_operand *o = NULL;
    for (int i = r->operand_count - 1; i >= 0; i--)
        if (r->operands[i].memory == LX_MEMORY_LX && r->operands[i].placing == LX_SHARDED)
            o = &r->operands[i];
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

/* Shards fix their own core grid and override the request. */
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

/* The part of an axis that a core has: its shard, or an even part. */
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
    /* A shard beyond the grid's edge is empty; a shard across the edge is clipped. */
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
        /* In column-major order cores are numbered down the columns, so that neighbours stay neighbours. */
        int64_t y, x;
        lx_tile_recover(l->order == LX_COLUMN_MAJOR ? LX_COLUMN_MAJOR : LX_ROW_MAJOR, l->core_grid[0],
                        l->core_grid[1], i, &y, &x);
        c->y = (int32_t)y;
        c->x = (int32_t)x;
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

/* Tile orders, and the number of tiles per core.
 *
 * Every order is a bijection of 0 .. rows*columns-1 onto the grid, for all sizes. Morton order on other
 * grids than a square of a power of two is the order of the smallest such square around the grid, without
 * the missing tiles. recover_morton finds the t-th tile by descending the quadrants and counting the
 * existing tiles of each, in at most 53 steps. */

static const char *const order_words[LX_TILE_ORDERS] = {
    [LX_ROW_MAJOR] = "row_major", [LX_COLUMN_MAJOR] = "column_major",
    [LX_BLOCK] = "block",         [LX_MATCH_SHARD] = "match_shard",
    [LX_MORTON] = "morton",       [LX_LISTED] = "listed",
};

enum lx_tile_order lx_tile_order_find(const char *word)
{
    int i = 0;
    if (strcmp(word, "z_order") == 0) return LX_MORTON;
    while (i < LX_TILE_ORDERS && strcmp(order_words[i], word) != 0) i++;
    return (enum lx_tile_order)i;
}

const char *lx_tile_order_word(enum lx_tile_order order)
{
    return order < LX_TILE_ORDERS ? order_words[order] : "?";
}

const char *lx_share_word(enum lx_share share)
{
    return share == LX_SHARE_CHUNKS ? "chunks" : "balanced";
}

const char *lx_assign_word(enum lx_assign assign)
{
    return assign == LX_ASSIGN_DYNAMIC ? "dynamic" : "static";
}

void lx_share_of(enum lx_share share, int64_t tiles, int64_t cores, int64_t i, int64_t *start, int64_t *count)
{
    if (share == LX_SHARE_CHUNKS) {
        int64_t chunk = ceil_div_i64(tiles, cores);
        /* compare by division: i * chunk may overflow even if tiles does not */
        *start = chunk > 0 && i <= tiles / chunk ? i * chunk : tiles;
        *count = min_i64(chunk, tiles - *start);
        return;
    }
    int64_t q = tiles / cores, r = tiles % cores;
    *start = i * q + min_i64(i, r);
    *count = q + (i < r);
}

/* Existing tiles along an axis in a quadrant of `side` that begins at `from`. */
static int64_t tile_order_along(int64_t from, int64_t side, int64_t extent)
{
    return from >= extent ? 0 : min_i64(side, extent - from);
}

static void recover_morton(int64_t rows, int64_t columns, int64_t t, int64_t *row, int64_t *column)
{
    int64_t side = 1;
    while (side < max_i64(rows, columns)) side *= 2;
    *row = *column = 0;
    while ((side /= 2) > 0) {
        /* Quadrants in Morton order: the even bit is the column, the odd bit the row. */
        for (int quadrant = 0; quadrant < 4; quadrant++) {
            int64_t r = *row + (quadrant / 2) * side, c = *column + (quadrant % 2) * side;
            int64_t held = tile_order_along(r, side, rows) * tile_order_along(c, side, columns);
            if (t < held) {
                *row = r;
                *column = c;
                break;
            }
            t -= held;
        }
    }
}

void lx_tile_recover(enum lx_tile_order order, int64_t rows, int64_t columns, int64_t t, int64_t *row,
                     int64_t *column)
{
    switch (order) {
    case LX_COLUMN_MAJOR:
        *row = t % rows;
        *column = t / rows;
        break;
    case LX_MORTON: recover_morton(rows, columns, t, row, column); break;
    default:
        *row = t / columns;
        *column = t % columns;
        break;
    }
}

struct lx_tile lx_launch_tile(const struct lx_launch *launch, const struct lx_launch_core *core, int64_t i)
{
    bool own = core->rows > 0;
    int64_t rows = own ? core->rows : launch->mt, columns = own ? core->columns : launch->nt;
    int64_t t = core->start + i, each = rows * columns;
    struct lx_tile tile = {.batch = t / each};
    lx_tile_recover(own ? LX_ROW_MAJOR : launch->order, rows, columns, t % each, &tile.row, &tile.column);
    tile.row += core->row;
    tile.column += core->column;
    tile.id = (tile.batch * launch->mt + tile.row) * launch->nt + tile.column;
    return tile;
}

/* Checks which operand layouts can be launched. The first problem found is reported. */

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
