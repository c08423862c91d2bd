/* The cores of an op's launch: who they are, and which tiles each gets.
 *
 * The cores are those that the division uses, under their numbers on the device. On shards a core has its
 * own. In a global launch the cores of each group of a split sum stand in the order of their numbers, and
 * the i-th core of every group has the same tiles: the i-th run of the numbering, the i-th block, or what a
 * queue gave it. An order of the user's own, and a queue, make a list of tiles, of which a core has a run. */
#include "launch/launch_grid.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void launch_place(const struct lx_device *device, int64_t core, struct lx_launch *l, struct lx_launch_core *c)
{
    l->core_grid[1] = device->grid_x;
    l->core_grid[0] = max_i64(device->grid_y, ceil_div_i64(device->cores, device->grid_x));
    c->core = (int32_t)core;
    c->y = (int32_t)(core / device->grid_x);
    c->x = (int32_t)(core % device->grid_x);
}

/* Its slices of the sums, as one number. */
static int32_t launch_deal_group_of(const struct dealing *g, const struct lx_op_launch *o, int64_t core)
{
    int64_t k = 0;
    for (int i = 0; i < o->sum_count; i++)
        k = k * o->sum[i].parts + core / g->sum_stride[i] % o->sum[i].parts;
    return (int32_t)k;
}

static int64_t tiles_of_block(const struct lx_op_launch *o, int64_t block)
{
    int64_t first, rows, columns;
    if (block >= o->blocks[0] * o->blocks[1]) return 0;
    lx_share_of(LX_SHARE_BALANCED, o->launch->mt, o->blocks[0], block / o->blocks[1], &first, &rows);
    lx_share_of(LX_SHARE_BALANCED, o->launch->nt, o->blocks[1], block % o->blocks[1], &first, &columns);
    return o->launch->batch * rows * columns;
}

/* Runs of the numbering, one per core of a group. */
static void share_runs(const struct dealing *g, const struct lx_op_launch *o, int64_t cores, int64_t *start,
                       int64_t *count)
{
    const struct lx_launch *l = o->launch;
    int64_t all = l->batch * l->mt * l->nt, next = 0;
    for (int64_t i = 0; i < cores; i++) {
        if (l->order != LX_BLOCK) {
            lx_share_of(g->options->share, all, cores, i, &start[i], &count[i]);
            continue;
        }
        start[i] = next;
        count[i] = tiles_of_block(o, i);
        next += count[i];
    }
}

/* Row-major numbers in the order of the launch, which becomes a list. */
static bool list_tiles(struct lx_op_launch *o, lx_status *st)
{
    const struct lx_launch *l = o->launch;
    int64_t all = l->batch * l->mt * l->nt;
    struct lx_tile tile = {0};
    if (all > LX_LISTED_TILES)
        return status_set(
            st, LX_E_USAGE,
            "an order of one's own and dynamic assignment list the tiles of an op, up to %d; here are "
            "%" PRId64 ": use larger tiles (--tiles)",
            (int)LX_LISTED_TILES, all);
    int64_t *tiles = mem_alloc((size_t)all * sizeof *tiles);
    for (int64_t t = 0; t < all && launch_tile_at(o, t, &tile); t++)
        tiles[t] = (tile.batch * l->mt + tile.row) * l->nt + tile.column;
    o->tiles = tiles;
    o->tile_count = all;
    return true;
}

/* The list that an order of the user's own makes. A list from a file is for launches with as many tiles. */
static bool order_tiles(const struct dealing *g, struct lx_op_launch *o, lx_status *st)
{
    const struct lx_launch_options *how = g->options;
    const struct lx_launch *l = o->launch;
    if (how->list && how->list_count != l->batch * l->mt * l->nt) return true;
    if (!list_tiles(o, st)) return false;
    if (how->list) {
        memcpy(o->tiles, how->list, (size_t)how->list_count * sizeof *o->tiles);
        return true;
    }
    return formula_sort(how->by, l->batch, l->mt, l->nt, o->tiles, st);
}

/* Order and runs of a global launch: start and count per core of a group. */
static bool deal_global(const struct dealing *g, struct lx_op_launch *o, int64_t cores, int64_t *start,
                        int64_t *count, lx_status *st)
{
    const struct lx_launch_options *how = g->options;
    struct lx_launch *l = o->launch;
    bool named = how->order != LX_MATCH_SHARD && how->order != LX_LISTED, dynamic = how->assign;
    l->order = named ? how->order : LX_ROW_MAJOR;
    if (l->order == LX_BLOCK) {
        /* The most even rectangle of blocks for so many cores. */
        int64_t y = 1;
        for (int64_t i = 1; i * i <= cores; i++)
            if (cores % i == 0) y = i;
        o->blocks[0] = min_i64(y, o->launch->mt);
        o->blocks[1] = min_i64(cores / y, o->launch->nt);
    }
    if (how->order == LX_LISTED && !order_tiles(g, o, st)) return false;
    if (dynamic && !o->tiles && !list_tiles(o, st)) return false;
    if (!dynamic) share_runs(g, o, cores, start, count);
    if (dynamic) queue_tiles(o, cores, o->tiles, start, count);
    if (o->tiles) {
        l->order = LX_LISTED;
        o->blocks[0] = o->blocks[1] = 0;
    }
    return true;
}

static void launch_deal_set_cores(const struct dealing *g, struct lx_op_launch *o, const int64_t *start,
                                  const int64_t *count, int64_t *given)
{
    struct lx_launch *l = o->launch;
    for (int64_t i = 0; i < g->cores; i++) {
        struct lx_launch_core *c = &l->cores[i];
        launch_place(g->device, i, l, c);
        c->k_slice = launch_deal_group_of(g, o, i);
        if (launch_is_local(o)) {
            /* Its shard, and all tiles of that. */
            int64_t sy = 0;
            c->count = 1;
            for (int d = 0; d < o->rank; d++) {
                const struct lx_launch_dim *v = &o->dim[d];
                int64_t slot = c->core / g->dim_stride[d] % v->parts,
                        from = min_i64(slot * v->part, v->extent);
                if (d == o->rank - 1)
                    c->sx = (int32_t)slot;
                else
                    sy = sy * v->parts + slot;
                c->count *= ceil_div_i64(min_i64(v->part, v->extent - from), v->side);
            }
            c->sy = (int32_t)sy;
            continue;
        }
        int64_t nth = given[c->k_slice]++;
        c->start = start[nth];
        c->count = count[nth];
    }
}

bool launch_deal(const struct dealing *g, struct lx_op_launch *o, lx_status *st)
{
    struct lx_launch *l = o->launch;
    int64_t per_group = g->cores / o->k_slices;
    int64_t *room = mem_zeroed((size_t)(2 * per_group + o->k_slices), sizeof *room);
    mem_free(l->cores);
    l->core_count = (int32_t)g->cores;
    l->cores = mem_zeroed((size_t)g->cores, sizeof *l->cores);
    bool ok = true;
    ok = ok && (launch_is_local(o) || deal_global(g, o, per_group, room, room + per_group, st));
    if (ok) launch_deal_set_cores(g, o, room, room + per_group, room + 2 * per_group);
    mem_free(room);
    return ok;
}
