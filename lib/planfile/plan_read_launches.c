/* Reads the launches of a plan file: one per op, with the tiles of every core. */
#include "planfile/plan_file.h"
#include "plan/launch_options.h"

enum { CORE_FIELDS = 8, DIM_FIELDS = 4, SUM_FIELDS = 3 };

ORDER(launch_cores_order, struct lx_launch_core, ORDER_UP(core));

/* Rows may have any order; the cores of a launch rise. */
static void take_cores(const struct int_list *rows, struct arena *memory, struct lx_launch *out)
{
    out->core_count = rows->count / CORE_FIELDS;
    out->cores = arena_array(memory, (size_t)out->core_count, sizeof *out->cores);
    for (int32_t i = 0; i < out->core_count; i++) {
        const int64_t *v = &rows->at[i * CORE_FIELDS];
        out->cores[i] = (struct lx_launch_core){.core = (int32_t)v[0],
                                                .y = (int32_t)v[1],
                                                .x = (int32_t)v[2],
                                                .start = v[3],
                                                .count = v[4],
                                                .sy = (int32_t)v[5],
                                                .sx = (int32_t)v[6],
                                                .k_slice = (int32_t)v[7]};
    }
    qsort(out->cores, (size_t)out->core_count, sizeof *out->cores, launch_cores_order);
}

static void take_grid(const struct plan_launch *x, struct arena *memory, struct lx_op_launch *o)
{
    o->rank = x->dims.count / DIM_FIELDS;
    for (int d = 0; d < o->rank; d++) {
        const int64_t *v = &x->dims.at[d * DIM_FIELDS];
        o->dim[d] =
            (struct lx_launch_dim){.extent = v[0], .side = v[1], .inner = v[1], .parts = v[2], .part = v[3]};
        if (x->inner.count > 0) o->dim[d].inner = x->inner.at[d];
    }
    o->sum_count = x->sums.count / SUM_FIELDS;
    o->sum = arena_array(memory, (size_t)o->sum_count, sizeof *o->sum);
    for (int i = 0; i < o->sum_count; i++) {
        const int64_t *v = &x->sums.at[i * SUM_FIELDS];
        o->sum[i] = (struct lx_launch_sum){.extent = v[0], .parts = v[1], .part = v[2]};
    }
    for (int i = 0; i < x->blocks.count; i++) o->blocks[i] = x->blocks.at[i];
    if (x->tiles.count > 0) o->tiles = x->tiles.at;
    o->tile_count = x->tiles.count;
}

static bool take_launch(const struct json *j, const struct json_value *at, const struct plan_launch *x,
                        int32_t op, struct arena *memory, struct lx_op_launch *o, lx_status *st)
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
    *o = (struct lx_op_launch){.op = op, .kind = (enum lx_launch_kind)kind, .why = x->why, .k_slices = 1};
    if (kind == LX_LAUNCH_NONE || kind == LX_LAUNCH_REFUSED) {
        bool none = !x->mode && !x->order && x->k_tile == -1 &&
                    x->dims.count + x->inner.count + x->sums.count + x->blocks.count + x->tiles.count +
                            x->core_grid.count + x->cores.count ==
                        0;
        return none ? true
                    : json_error(j, at, st, LX_E_SCHEMA, "a launch that is %s has neither tiles nor cores",
                                 x->kind);
    }
    /* The fields of a launch with tiles. */
    bool blocks = x->order && lx_tile_order_find(x->order) == LX_BLOCK;
    bool listed = x->order && lx_tile_order_find(x->order) == LX_LISTED;
    bool global = x->mode && strcmp(x->mode, lx_partition_word(LX_PARTITION_GLOBAL)) == 0;
    bool local = x->mode && strcmp(x->mode, lx_partition_word(LX_PARTITION_LOCAL_SHARD)) == 0;
    if ((!local && !global) || !x->order || lx_tile_order_find(x->order) == LX_TILE_ORDERS ||
        x->dims.count > LX_MAX_RANK * DIM_FIELDS || x->sums.count > LX_MAX_VARS * SUM_FIELDS ||
        (x->inner.count != 0 && x->inner.count != x->dims.count / DIM_FIELDS) ||
        x->blocks.count != (blocks ? 2 : 0) || (x->tiles.count > 0) != listed || x->core_grid.count != 2 ||
        x->k_tile < 1 || x->cores.count <= 0)
        return json_error(
            j, at, st, LX_E_SCHEMA,
            "a launch of tiles has mode, order, dims, sums, k_tile, core_grid and cores, and of "
            "order block 2 blocks, of order listed tiles");
    for (int32_t i = 0; i < x->cores.count; i++) /* all but start and count become int32_t */
        if (i % CORE_FIELDS != 3 && i % CORE_FIELDS != 4 &&
            (x->cores.at[i] < INT32_MIN || x->cores.at[i] > INT32_MAX))
            return json_error(j, at, st, LX_E_RANGE, "a number or coordinate of a core is beyond 2^31");
    struct lx_launch *l = arena_alloc(memory, sizeof *l);
    *l = (struct lx_launch){.mode = global ? LX_PARTITION_GLOBAL : LX_PARTITION_LOCAL_SHARD,
                            .order = lx_tile_order_find(x->order),
                            .core_grid = {x->core_grid.at[0], x->core_grid.at[1]}};
    o->k_tile = x->k_tile;
    o->launch = l;
    take_grid(x, memory, o);
    take_cores(&x->cores, memory, l);
    lx_status why = {0};
    if (!lx_op_launch_settle(o))
        return json_error(j, at, st, LX_E_RANGE,
                          "extents, sides, parts and lengths of dims and sums are from 1 on, "
                          "a global launch has one part, and there are at most 2^53 tiles");
    /* Local shards: whole groups of cores, one slot per core, and every slot exists. */
    const int64_t splits[3] = {l->shard_grid[0], l->shard_grid[1], o->k_slices};
    if (l->mode != LX_PARTITION_LOCAL_SHARD) return true;
    int64_t *slots = arena_array(memory, (size_t)l->core_count * 3, sizeof *slots), *slot = slots;
    for (int32_t i = 0; i < l->core_count; i++)
        *slot++ = l->cores[i].sy, *slot++ = l->cores[i].sx, *slot++ = l->cores[i].k_slice;
    return (core_count_fits(splits, 3, l->core_count, &why) &&
            core_slots_valid(slots, splits, 3, l->core_count, &why)) ||
           json_error(j, at, st, why.code, "%s", why.text);
}

/* Reads the launch options, with the words of the command line. */
bool plan_read_launching(const struct json *j, const struct json_value *at, const struct plan_graph *x,
                         struct lx_launch_options *out, lx_status *st)
{
    bool chunks = x->tile_share && strcmp(x->tile_share, lx_share_word(LX_SHARE_CHUNKS)) == 0;
    bool dynamic = x->tile_assign && strcmp(x->tile_assign, lx_assign_word(LX_ASSIGN_DYNAMIC)) == 0;
    const struct int_list *sides = &x->tile_sides;
    *out = (struct lx_launch_options){.share = chunks ? LX_SHARE_CHUNKS : LX_SHARE_BALANCED,
                                      .assign = dynamic ? LX_ASSIGN_DYNAMIC : LX_ASSIGN_STATIC};
    lx_status why = {0};
    /* Before 0.3 an order could be a formula: the launches in the file have it. */
    bool formula = x->tile_order && x->tile_order[0] != '@' && strpbrk(x->tile_order, "+-*/%(0");
    if (x->tile_order && !formula && !launch_option_set(out, LX_OPTION_ORDER, x->tile_order, &why))
        return json_error(j, at, st, status_cause(&why, LX_E_SCHEMA), "tile_order: %.200s", why.text);
    if ((x->tile_share && !chunks) || (x->tile_assign && !dynamic))
        return json_error(j, at, st, LX_E_SCHEMA,
                          "tile_share is chunks or absent, tile_assign dynamic or absent");
    for (int i = 0; i < sides->count; i++)
        if (sides->count % 2 != 0 || sides->count > 4 || sides->at[i] < 1 || sides->at[i] > LX_LISTED_TILES)
            return json_error(j, at, st, LX_E_SCHEMA,
                              "tile_sides has two or four sides of tiles, from 1 to 2^20");
    for (int i = 0; i < sides->count; i++) (i < 2 ? out->tile : out->inner)[i % 2] = sides->at[i];
    return true;
}

bool plan_read_launches(const struct json *j, const struct json_value *graph, struct lx_plan *p,
                        lx_status *st)
{
    int32_t ops = p->layouts->graph->op_count;
    struct records list;
    if (!json_find(graph, "launches")) return true;
    if (!plan_read_records(j, graph, "launches", PLAN_LAUNCH, p->memory, &list, st)) return false;
    if (list.count != ops)
        return json_error(j, json_find(graph, "launches"), st, LX_E_MISMATCH, "%d launches for %d ops",
                          (int)list.count, (int)ops);
    struct lx_op_launch *launches = arena_array(p->memory, (size_t)ops, sizeof *launches);
    for (int32_t o = 0; o < ops; o++) {
        const struct plan_launch *x = (const struct plan_launch *)list.at + o;
        if (!take_launch(j, list.where[o], x, o, p->memory, &launches[o], st)) return false;
        lx_op_launch_levels(p->layouts, p->nests, p->nest_count, &launches[o]);
    }
    p->launches = launches;
    return true;
}
