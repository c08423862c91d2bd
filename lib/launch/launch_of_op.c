/* Makes the launch of a divided op from the residency of its operands: dimensions, mode, cores.
 * launch_of_op.h explains the terms.
 *
 * Mode, operand checks and grid limits are the same as in any launch (launch.c). launch_deal.c deals the
 * tiles. */
#include "launch/launch_of_op.h"
#include "base/words/words.h"
#include "launch/launch_grid.h"
#include "layout/op_index.h"

static const char *const m_and_n[] = {"M", "N"};

LX_WORDS_OF(lx_launch_kind_word, enum lx_launch_kind, [LX_LAUNCH_TILES] = "tiles",
            [LX_LAUNCH_WHOLE] = "whole", [LX_LAUNCH_NONE] = "none", [LX_LAUNCH_REFUSED] = "refused")

/* One op with all inputs of its launch. */
struct subject {
    const struct lx_divisions *divisions;
    const bool *on_chip; /* per operand: inputs in order, then results */
    const struct lx_op *op;
    const struct lx_division *division;
    const struct lx_device *device;
    struct op_index index;
};

static const struct lx_split *split_of_var(const struct subject *s, int var)
{
    const struct lx_division *d = s->division;
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].letter == s->index.letter[var]) return &d->splits[i];
    return NULL;
}

static int64_t launch_of_op_part_of(const struct lx_split *v, int64_t extent)
{
    return v && v->split > 1 ? ceil_div_i64(v->units, v->split) * v->unit : extent;
}

/* Bits of a stored element on the device. */
static int launch_of_op_element_bits(const struct lx_graph *g, int32_t tensor)
{
    enum { BYTES = 128 };
    return (int)(BYTES * 8 / lx_stick_elements(g->tensors[tensor].dtype, BYTES));
}

/* The requested tile, otherwise the device's; its rows are halved until a tile of the widest on-chip operand
 * type fits the limit. */
static void choose_tile(const struct subject *s, const struct lx_launch_options *options, int64_t tile[2])
{
    tile[0] = options->tile[0] ? options->tile[0] : s->device->tile_rows;
    tile[1] = options->tile[0] ? options->tile[1] : s->device->tile_columns;
    int64_t bits = 0;
    for (int i = 0; i < op_operand_count(s->op); i++)
        if (s->on_chip[i])
            bits =
                max_i64(bits, launch_of_op_element_bits(s->divisions->layouts->graph, op_operand(s->op, i)));
    while (!options->tile[0] && tile[0] > 1 && tile[0] * tile[1] * bits > 8 * LX_LAUNCH_TILE_BYTES)
        tile[0] /= 2;
}

/* Elements of a tile along output dimension `d`. A dimension that a constraint keeps whole is one tile:
 * cores could not write its parts without sharing sticks. */
static int64_t side_of(const int64_t tile[2], int d, int rank, const struct lx_split *v, int64_t extent)
{
    int64_t side = d >= rank - 2 ? tile[d == rank - 1] : 1;
    if (!v) return side;
    return v->constraint && v->split == 1 ? extent : round_up_i64(side, v->unit);
}

static void set_dims(const struct subject *s, const struct lx_launch_options *options, bool local,
                     struct lx_op_launch *o)
{
    int64_t tile[2];
    choose_tile(s, options, tile);
    int output = s->index.output;
    o->rank = s->index.rank[output];
    for (int d = 0; d < o->rank; d++) {
        int var = s->index.var[output][d];
        const struct lx_split *v = split_of_var(s, var);
        int64_t extent = s->index.extent[var], side = side_of(tile, d, o->rank, v, extent);
        bool cut = local && v && v->split > 1;
        o->dim[d] = (struct lx_launch_dim){.extent = extent,
                                           .side = side,
                                           .inner = side,
                                           .parts = cut ? v->split : 1,
                                           .part = cut ? launch_of_op_part_of(v, extent) : extent};
        if (options->inner[0])
            o->dim[d].inner = min_i64(side, side_of(options->inner, d, o->rank, v, extent));
    }
}

bool lx_op_launch_settle(struct lx_op_launch *o)
{
    struct lx_launch *l = o->launch;
    bool local = l->mode == LX_PARTITION_LOCAL_SHARD, ok = true;
    int64_t all = 1, elements = 1;
    o->k_slices = 1;
    for (int i = 0; i < o->sum_count; i++) {
        const struct lx_launch_sum *v = &o->sum[i];
        if (v->extent < 1 || v->parts < 1 || v->part < 1 || !mul_i64(o->k_slices, v->parts, &o->k_slices))
            return false;
        if (!mul_i64(elements, min_i64(v->part, v->extent), &elements)) elements = INT64_MAX;
    }
    if (o->k_tile < 1 || o->k_slices > LX_LAUNCH_CORES) return false;
    l->kt = ceil_div_i64(elements, o->k_tile);
    if ((l->order == LX_LISTED) != (o->tiles != NULL)) return false;
    l->batch = l->mt = l->nt = 1;
    l->shard_grid[0] = l->shard_grid[1] = l->shard_tiles[0] = l->shard_tiles[1] = local;
    for (int d = 0; ok && d < o->rank; d++) {
        const struct lx_launch_dim *v = &o->dim[d];
        int axis = d == o->rank - 1;
        if (v->extent < 1 || v->side < 1 || v->inner < 1 || v->inner > v->side || v->parts < 1 ||
            v->part < 1 || v->side > LX_INT_MAX || v->part > LX_INT_MAX || v->extent > LX_INT_MAX ||
            (!local && v->part != v->extent))
            return false;
        /* tiles along a dimension, counted per part */
        int64_t rest = v->extent % v->part;
        int64_t tiles = v->extent / v->part * ceil_div_i64(v->part, v->side) + ceil_div_i64(rest, v->side);
        int64_t *count = axis ? &l->nt : local || d == o->rank - 2 ? &l->mt : &l->batch;
        if (!mul_i64(all, tiles, &all) || all > LX_INT_MAX) return false;
        *count *= tiles;
        if (!local) continue;
        ok = mul_i64(l->shard_grid[axis], v->parts, &l->shard_grid[axis]) &&
             l->shard_grid[axis] <= LX_LAUNCH_CORES;
        l->shard_tiles[axis] *= ceil_div_i64(min_i64(v->part, v->extent), v->side);
    }
    /* No block may be empty. */
    return ok && (l->order != LX_BLOCK ||
                  (o->blocks[0] >= 1 && o->blocks[0] <= min_i64(o->launch->mt, LX_LAUNCH_CORES) &&
                   o->blocks[1] >= 1 && o->blocks[1] <= min_i64(o->launch->nt, LX_LAUNCH_CORES)));
}

/* Fills the operands of a request. `shard` applies to operands on chip. */
static void describe_operands(const struct lx_graph *g, const struct lx_op *op, const bool *on_chip,
                              const struct lx_shard *shard, const int64_t tile[2],
                              struct lx_launch_operand *list)
{
    for (int i = 0; i < op_operand_count(op); i++) {
        const struct lx_tensor *t = &g->tensors[op_operand(op, i)];
        list[i] = (struct lx_launch_operand){.name = t->name,
                                             .memory = on_chip[i] ? LX_MEMORY_LX : LX_MEMORY_HBM,
                                             .placing = on_chip[i] ? LX_SHARDED : LX_INTERLEAVED,
                                             .element_bits = launch_of_op_element_bits(g, op_operand(op, i)),
                                             .tile_rank = 2,
                                             .tile = {tile[0], tile[1]},
                                             .shard = on_chip[i] ? shard : NULL};
    }
}

static struct lx_shard launch_of_op_shard_of(const struct lx_launch *l)
{
    return (struct lx_shard){.axis_count = 2,
                             .grid_rank = 2,
                             .axes = m_and_n,
                             .grid = l->shard_grid,
                             .tiles = {l->shard_tiles[0], l->shard_tiles[1]}};
}

/* Copies the cores and strides of the division. */
static void set_dealing(const struct subject *s, struct dealing *g)
{
    int output = s->index.output, sums = 0;
    g->cores = s->division->cores_used;
    for (int i = 0; i < s->division->split_count; i++) g->stride[i] = lx_division_stride(s->division, i);
    for (int d = 0; d < s->index.rank[output]; d++) {
        const struct lx_split *v = split_of_var(s, s->index.var[output][d]);
        g->dim_stride[d] = v ? g->stride[v - s->division->splits] : 1;
    }
    for (int v = 0; v < s->index.var_count; v++) {
        const struct lx_split *split = split_of_var(s, v);
        if (op_index_summed(&s->index, v))
            g->sum_stride[sums++] = split ? g->stride[split - s->division->splits] : 1;
    }
}

static bool launch_tiles(const struct subject *s, const struct lx_launch_options *options,
                         struct lx_op_launch *o, lx_status *st)
{
    bool local = false;
    for (int i = 0; i < op_operand_count(s->op); i++) local |= s->on_chip[i];
    struct lx_launch grid = {.mode = local ? LX_PARTITION_LOCAL_SHARD : LX_PARTITION_GLOBAL};
    struct dealing g = {.device = s->device, .options = options};
    set_dims(s, options, local, o);
    o->sum = mem_zeroed((size_t)s->index.var_count + 1, sizeof *o->sum);
    for (int v = 0; v < s->index.var_count; v++) {
        if (!op_index_summed(&s->index, v)) continue;
        const struct lx_split *split = split_of_var(s, v);
        int64_t extent = s->index.extent[v];
        o->sum[o->sum_count++] =
            (struct lx_launch_sum){extent, split ? split->split : 1, launch_of_op_part_of(split, extent)};
    }
    o->launch = &grid;
    bool fits = lx_op_launch_settle(o);
    o->launch = NULL;
    if (!fits) return status_set(st, LX_E_LAUNCH_GRID, "more than 2^53 tiles");
    /* Operand checks and mode, as in any launch. */
    struct lx_launch **out = &o->launch;
    struct lx_launch_operand operands[LX_MAX_OPERANDS];
    const struct lx_shard shard = launch_of_op_shard_of(&grid);
    int64_t own[2];
    choose_tile(s, options, own);
    describe_operands(s->divisions->layouts->graph, s->op, s->on_chip, &shard,
                      options->inner[0] ? options->inner : own, operands);
    struct lx_launch_request r = {.operands = operands,
                                  .operand_count = op_operand_count(s->op),
                                  .batch = grid.batch,
                                  .grid = {grid.mt, grid.nt},
                                  .k_tiles = grid.kt,
                                  .core_grid = {1, s->division->cores_used}};
    *out = lx_launch_make(&r, st);
    if (*out == NULL) return false;
    set_dealing(s, &g);
    return launch_deal(&g, o, st);
}

void lx_op_launch_levels(const struct lx_layouts *l, const struct lx_nest *nests, int32_t count,
                         struct lx_op_launch *o)
{
    int32_t nest = nest_of_op(nests, count, o->op);
    struct op_index x;
    if (nest < 0 || !o->launch) return;
    const struct lx_nest *n = &nests[nest];
    op_index_of(l->graph, &l->graph->ops[o->op], &x);
    o->launch->level_count = n->level_count;
    for (int i = 0; i < n->level_count; i++) {
        int v = n->var[o->op - n->first][i];
        o->launch->level[i] =
            (struct lx_launch_level){x.letter[v], v, n->tiles[i], x.extent[v] / n->tiles[i]};
    }
}

struct lx_op_launch *lx_launch_of(const struct lx_divisions *d, int32_t op, const bool *on_chip,
                                  const struct lx_launch_options *options, lx_status *st)
{
    static const struct lx_launch_options defaults = {.order = LX_ROW_MAJOR};
    struct lx_op_launch *o = mem_zeroed(1, sizeof *o);
    const struct lx_graph *g = d->layouts->graph;
    struct subject s = {
        .divisions = d, .on_chip = on_chip, .op = &g->ops[op], .division = &d->at[op], .device = &g->device};
    op_index_of(g, s.op, &s.index);
    nest_tile_index(d->nests, d->nest_count, op, &s.index);
    *o = (struct lx_op_launch){
        .op = op, .kind = LX_LAUNCH_TILES, .k_slices = 1, .k_tile = s.device->tile_columns};
    bool ok = true;
    if (s.division->kind == LX_UNDIVIDED_EXTERN) {
        o->kind = LX_LAUNCH_NONE;
        o->why = "it runs off the device";
    } else if (s.division->kind == LX_UNDIVIDED_OPAQUE || !s.index.known) {
        /* An unknown index map: the whole op is one tile on one core. */
        struct lx_launch_request r = {.grid = {1, 1}, .core_grid = {1, 1}};
        o->kind = LX_LAUNCH_WHOLE;
        o->why = "its index map is unknown, so one core runs it whole";
        o->launch = lx_launch_make(&r, st);
        ok = o->launch != NULL;
        if (ok) launch_place(s.device, 0, o->launch, o->launch->cores);
    } else
        ok = launch_tiles(&s, options ? options : &defaults, o, st);
    if (ok) {
        lx_op_launch_levels(d->layouts, d->nests, d->nest_count, o);
        return o;
    }
    lx_op_launch_free(o);
    return NULL;
}

void lx_op_launch_free(struct lx_op_launch *o)
{
    if (!o) return;
    lx_launch_free(o->launch);
    mem_free(o->sum);
    mem_free(o->tiles);
    mem_free(o);
}

char *lx_op_launch_json(const struct lx_op_launch *o, const struct lx_graph *graph, const bool *on_chip,
                        size_t *length)
{
    struct lx_launch_operand operands[LX_MAX_OPERANDS];
    const struct lx_shard shard = launch_of_op_shard_of(o->launch);
    const int64_t tile[2] = {o->rank > 1 ? o->dim[o->rank - 2].inner : 1,
                             o->rank > 0 ? o->dim[o->rank - 1].inner : 1};
    describe_operands(graph, &graph->ops[o->op], on_chip, &shard, tile, operands);
    return lx_launch_to_json(o->launch, operands, op_operand_count(&graph->ops[o->op]), length);
}
