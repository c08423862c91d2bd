/* Deals tiles to the cores of an op's launch.
 *
 * The launched cores are the division's, with their device numbers. In a local_shard launch each core has
 * its own shard. In a global launch a split reduction makes groups of cores, ordered by number. The i-th
 * core of every group has the same tiles: the i-th run of the numbering, the i-th block, or the queue's
 * choice. A user-given order and a queue make a list of tiles, and each core has a run of the list. */
#include "launch/launch_grid.h"

/* Dynamic assignment: the core that is free first takes the next tile of a queue.
 *
 * A tile's predicted time is its number of elements, because every element is summed over the same range;
 * edge tiles have fewer. Ties go to the lower core number, so the result is deterministic. A heap of cores
 * by (time, number): O(tiles log cores). */

struct free_at {
    int64_t time, core;
};

#define TILE_QUEUE_BEFORE(none, a, b) ((a).time != (b).time ? (a).time < (b).time : (a).core < (b).core)

/* Deals tiles to the core that is free first. `tiles` comes in queue order and is sorted by core; core c
 * then has count[c] tiles from start[c] on. */
static void queue_tiles(const struct lx_op_launch *o, int64_t cores, int64_t *tiles, int64_t *start,
                        int64_t *count)
{
    size_t n = (size_t)o->tile_count;
    OWNED int64_t *sorted = mem_alloc(n * sizeof *sorted);
    OWNED int32_t *taker = mem_alloc(n * sizeof *taker);
    OWNED struct free_at *heap = mem_alloc((size_t)cores * sizeof *heap);
    /* taker[i]: the core that takes tile i of the queue. */
    for (int64_t c = 0; c < cores; c++) heap[c] = (struct free_at){0, c};
    for (int64_t i = 0; i < o->tile_count; i++) {
        taker[i] = (int32_t)heap[0].core;
        count[taker[i]]++;
        int64_t from[LX_MAX_RANK], to[LX_MAX_RANK], elements = 1;
        launch_box_of_number(o, tiles[i], from, to);
        for (int d = 0; d < o->rank; d++) elements *= to[d] - from[d];
        heap[0].time += elements;
        HEAP_SINK(struct free_at, heap, cores, 0, TILE_QUEUE_BEFORE, NULL);
    }
    for (int64_t c = 1; c < cores; c++) start[c] = start[c - 1] + count[c - 1];
    for (int64_t c = 0; c < cores; c++) heap[c].time = start[c];
    for (int64_t c = 0; c < cores; c++) heap[c].core = c;
    for (size_t i = 0; i < n; i++) sorted[heap[taker[i]].time++] = tiles[i];
    memcpy(tiles, sorted, n * sizeof *tiles);
}

void launch_place(const struct lx_device *device, int64_t core, struct lx_launch *l, struct lx_launch_core *c)
{
    l->core_grid[1] = device->grid_x;
    l->core_grid[0] = max_i64(device->grid_y, ceil_div_i64(device->cores, device->grid_x));
    c->core = (int32_t)core;
    c->y = (int32_t)(core / device->grid_x);
    c->x = (int32_t)(core % device->grid_x);
}

/* Turns the launch's order into a list of row-major numbers. */
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

/* Copies a user-given list, which applies only to launches with as many tiles. */
static bool order_tiles(const struct dealing *g, struct lx_op_launch *o, lx_status *st)
{
    const struct lx_launch_options *how = g->options;
    const struct lx_launch *l = o->launch;
    if (how->list_count != l->batch * l->mt * l->nt) return true;
    if (!list_tiles(o, st)) return false;
    memcpy(o->tiles, how->list, (size_t)how->list_count * sizeof *o->tiles);
    return true;
}

/* Sets the order of a global launch, and start and count per core of a group. */
static bool deal_global(const struct dealing *g, struct lx_op_launch *o, int64_t cores, int64_t *start,
                        int64_t *count, lx_status *st)
{
    const struct lx_launch_options *how = g->options;
    struct lx_launch *l = o->launch;
    bool named = how->order != LX_MATCH_SHARD && how->order != LX_LISTED, dynamic = how->assign;
    l->order = named ? how->order : LX_ROW_MAJOR;
    if (l->order == LX_BLOCK) {
        /* The most even rectangle of blocks for this number of cores. */
        int64_t y = 1;
        for (int64_t i = 1; i * i <= cores; i++)
            if (cores % i == 0) y = i;
        o->blocks[0] = min_i64(y, o->launch->mt);
        o->blocks[1] = min_i64(cores / y, o->launch->nt);
    }
    if (how->order == LX_LISTED && !order_tiles(g, o, st)) return false;
    if (dynamic && !o->tiles && !list_tiles(o, st)) return false;
    int64_t next = 0, all = l->batch * l->mt * l->nt;
    for (int64_t i = 0; !dynamic && i < cores; i++) {
        /* Runs of the numbering, one per core of a group. */
        if (l->order != LX_BLOCK) {
            lx_share_of(how->share, all, cores, i, &start[i], &count[i]);
            continue;
        }
        int64_t first, rows, columns;
        start[i] = next;
        count[i] = 0;
        if (i >= o->blocks[0] * o->blocks[1]) continue;
        lx_share_of(LX_SHARE_BALANCED, l->mt, o->blocks[0], i / o->blocks[1], &first, &rows);
        lx_share_of(LX_SHARE_BALANCED, l->nt, o->blocks[1], i % o->blocks[1], &first, &columns);
        count[i] = l->batch * rows * columns;
        next += count[i];
    }
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
        int64_t group = 0; /* the reduction slices, as one number */
        for (int k = 0; k < o->sum_count; k++)
            group = group * o->sum[k].parts + i / g->sum_stride[k] % o->sum[k].parts;
        c->k_slice = (int32_t)group;
        if (launch_is_local(o)) {
            /* All tiles of the core's shard. */
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
    OWNED int64_t *room = mem_zeroed((size_t)(2 * per_group + o->k_slices), sizeof *room);
    mem_free(l->cores);
    l->core_count = (int32_t)g->cores;
    l->cores = mem_zeroed((size_t)g->cores, sizeof *l->cores);
    bool ok = (launch_is_local(o) || deal_global(g, o, per_group, room, room + per_group, st));
    if (ok) launch_deal_set_cores(g, o, room, room + per_group, room + 2 * per_group);
    return ok;
}
