/* The launches of a plan file: one per op, with the tiles of every core. */
#include "plan/plan_file.h"
#include "base/checked.h"
#include "base/fail.h"

#include <string.h>

enum { CORE_FIELDS = 10 };

/* Coordinates of cores and numbers of dimensions are small: int32_t, once they are read. */
static bool fits_int32(int64_t v)
{
    return v >= INT32_MIN && v <= INT32_MAX;
}

static bool small_numbers(const struct plan_launch *x)
{
    bool ok = true;
    for (int i = 0; i < x->dims.count; i++) ok &= fits_int32(x->dims.at[i]);
    for (int32_t i = 0; i < x->cores.count; i += CORE_FIELDS) {
        const int64_t *v = &x->cores.at[i];
        ok &= fits_int32(v[0]) && fits_int32(v[1]) && fits_int32(v[8]) && fits_int32(v[9]);
    }
    return ok;
}

/* Lists of one length: those of a launch that has tiles. */
static bool whole_lists(const struct plan_launch *x)
{
    bool local = x->mode && strcmp(x->mode, lx_partition_word(LX_PARTITION_LOCAL_SHARD)) == 0;
    bool global = x->mode && strcmp(x->mode, lx_partition_word(LX_PARTITION_GLOBAL)) == 0;
    return (local || global) && x->order && x->tile.count == 2 && x->extent.count == 2 &&
           x->dims.count == 3 && x->grid.count == 4 && x->core_grid.count == 2 && x->k_slices >= 1 &&
           x->cores.count > 0 && x->local.count == (local ? 2 : 0) &&
           x->shard_grid.count == (local ? 2 : 0) && x->shard_tiles.count == (local ? 2 : 0);
}

/* What runs off the device, or is refused, has none of it. */
static bool no_lists(const struct plan_launch *x)
{
    return !x->mode && !x->order && x->k_slices == -1 &&
           x->tile.count + x->extent.count + x->local.count + x->dims.count + x->grid.count +
                   x->core_grid.count + x->shard_grid.count + x->shard_tiles.count + x->cores.count ==
               0;
}

static bool take_cores(const struct int_list *rows, struct arena *memory, struct lx_launch *out)
{
    out->core_count = rows->count / CORE_FIELDS;
    out->cores = arena_array(memory, (size_t)out->core_count, sizeof *out->cores);
    for (int32_t i = 0; out->cores && i < out->core_count; i++) {
        const int64_t *v = &rows->at[i * CORE_FIELDS];
        out->cores[i] = (struct lx_launch_core){.y = (int32_t)v[0],
                                                .x = (int32_t)v[1],
                                                .start = v[2],
                                                .count = v[3],
                                                .row = v[4],
                                                .column = v[5],
                                                .rows = v[6],
                                                .columns = v[7],
                                                .sy = (int32_t)v[8],
                                                .sx = (int32_t)v[9]};
    }
    return out->cores != NULL;
}

static void take_pair(const struct int_list *list, int64_t out[2])
{
    for (int i = 0; i < 2 && i < list->count; i++) out[i] = list->at[i];
}

static bool take_tiles(const struct plan_launch *x, struct arena *memory, struct lx_op_launch *o)
{
    struct lx_launch *l = arena_alloc(memory, sizeof *l);
    if (!l) return false;
    l->mode = LX_PARTITION_GLOBAL;
    if (strcmp(x->mode, lx_partition_word(LX_PARTITION_LOCAL_SHARD)) == 0) l->mode = LX_PARTITION_LOCAL_SHARD;
    l->order = lx_tile_order_find(x->order);
    l->batch = x->grid.at[0];
    l->mt = x->grid.at[1];
    l->kt = x->grid.at[2];
    l->nt = x->grid.at[3];
    take_pair(&x->core_grid, l->core_grid);
    take_pair(&x->shard_grid, l->shard_grid);
    take_pair(&x->shard_tiles, l->shard_tiles);
    take_pair(&x->tile, o->tile);
    take_pair(&x->local, o->local);
    o->rows = x->extent.at[0];
    o->columns = x->extent.at[1];
    o->k_slices = x->k_slices;
    o->fold_from = (int)x->dims.at[0];
    o->row_dim = (int)x->dims.at[1];
    o->column_dim = (int)x->dims.at[2];
    o->launch = l;
    return take_cores(&x->cores, memory, l);
}

static bool take_launch(const struct json *j, const cJSON *at, const struct plan_launch *x, int32_t op,
                        struct arena *memory, struct lx_op_launch *o, lx_status *st)
{
    int kind = 0;
    while (kind < LX_LAUNCH_KINDS && strcmp(lx_launch_kind_word((enum lx_launch_kind)kind), x->kind) != 0)
        kind++;
    if (kind == LX_LAUNCH_KINDS)
        return json_error(j, at, st, LX_E_SCHEMA, "kind is tiles, whole, none or refused, not \"%s\"",
                          x->kind);
    if (x->op != op)
        return json_error(j, at, st, LX_E_MISMATCH, "op is %lld; the launch of op %d stands here",
                          (long long)x->op, (int)op);
    *o = (struct lx_op_launch){.op = op,
                               .kind = (enum lx_launch_kind)kind,
                               .why = x->why,
                               .k_slices = 1,
                               .fold_from = -1,
                               .row_dim = -1,
                               .column_dim = -1};
    if (kind == LX_LAUNCH_NONE || kind == LX_LAUNCH_REFUSED)
        return no_lists(x) ? true
                           : json_error(j, at, st, LX_E_SCHEMA,
                                        "a launch that is %s has neither tiles nor cores", x->kind);
    if (!whole_lists(x) || lx_tile_order_find(x->order) == LX_TILE_ORDERS)
        return json_error(
            j, at, st, LX_E_SCHEMA,
            "a launch of tiles has mode, order, tile, extent, dims, grid, k_slices, core_grid and "
            "cores, and of local_shard local, shard_grid and shard_tiles, each of its length");
    if (!small_numbers(x))
        return json_error(j, at, st, LX_E_RANGE, "a coordinate of a core or an entry of dims is beyond 2^31");
    return take_tiles(x, memory, o) ? true : status_no_memory(st);
}

bool plan_read_launches(const struct json *j, const cJSON *graph, struct lx_plan *p, lx_status *st)
{
    int32_t ops = p->layouts->graph->op_count;
    struct records list;
    if (!plan_read_records(j, graph, "launches", PLAN_LAUNCH, p->memory, &list, st)) return false;
    if (list.count != ops)
        return json_error(j, json_find(graph, "launches"), st, LX_E_MISMATCH, "%d launches for %d ops",
                          (int)list.count, (int)ops);
    struct lx_op_launch *launches = arena_array(p->memory, (size_t)ops, sizeof *launches);
    if (!launches) return status_no_memory(st);
    for (int32_t o = 0; o < ops; o++) {
        const struct plan_launch *x = (const struct plan_launch *)list.at + o;
        if (!take_launch(j, list.where[o], x, o, p->memory, &launches[o], st)) return false;
    }
    p->launches = launches;
    return true;
}
