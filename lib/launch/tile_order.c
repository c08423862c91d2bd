/* The orders in which tiles are numbered, and how many of them a core gets.
 *
 * Every order is a bijection of 0 .. rows*columns-1 onto the grid, for all sizes. Morton order on a grid that
 * is no square of a power of two is that of the smallest one around it with the missing tiles left out: the
 * t-th tile is found by going down the quadrants and counting the tiles of each that exist, in at most 53
 * steps. */
#include "launch/launch.h"
#include "base/checked.h"

#include <string.h>

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
        /* Compared by division: i * chunk may be beyond an int64 where tiles is not. */
        *start = chunk > 0 && i <= tiles / chunk ? i * chunk : tiles;
        *count = min_i64(chunk, tiles - *start);
        return;
    }
    int64_t q = tiles / cores, r = tiles % cores;
    *start = i * q + min_i64(i, r);
    *count = q + (i < r);
}

/* How many tiles of a quadrant of `side` that begins at `from` exist along an axis. */
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
        /* Quadrants in the order of the code: the even bit is the column, the odd one the row. */
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
    case LX_MORTON:
        recover_morton(rows, columns, t, row, column);
        break;
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
