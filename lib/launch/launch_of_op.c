/* From a divided op and where its operands are to its launch: grid, residency, shards. See launch_of_op.h for what is what.
 *
 * Rows are an axis of mixed base: the folded dimensions in order, the row dimension last and in tiles. A
 * core's part of it is one run exactly when, from the first dimension of which a core has more than one
 * position, none further in is cut. All parts but the last are equally long; a last part that is shorter,
 * because sticks were rounded up, is only in order where nothing further out is cut. */
#include "launch/launch_of_op.h"
#include "base/fail.h"
#include "base/checked.h"
#include "layout/op_index.h"

#include <stdlib.h>

static const char *const m_and_n[] = {"M", "N"};

static const char *const kind_words[LX_LAUNCH_KINDS] = {[LX_LAUNCH_TILES] = "tiles",
                                                        [LX_LAUNCH_WHOLE] = "whole",
                                                        [LX_LAUNCH_NONE] = "none",
                                                        [LX_LAUNCH_REFUSED] = "refused"};

const char *lx_launch_kind_word(enum lx_launch_kind kind)
{
    return (int)kind >= 0 && kind < LX_LAUNCH_KINDS ? kind_words[kind] : "?";
}

/* One op with all that its launch depends on. */
struct subject {
    const struct lx_divisions *divisions;
    const bool *on_chip; /* per operand, inputs in order, then the output */
    const struct lx_op *op;
    const struct lx_division *division;
    const struct lx_device *device;
    struct op_index index;
};

/* An axis of the grid: how long it is, how it is cut, and what each core has of it; all in tiles. */
struct grid_axis {
    int64_t tiles, parts, each;
};

static struct subject subject_of(const struct lx_divisions *d, int32_t op, const bool *on_chip)
{
    const struct lx_graph *g = d->layouts->graph;
    struct subject s = {
        .divisions = d, .on_chip = on_chip, .op = &g->ops[op], .division = &d->at[op], .device = &g->device};
    op_index_of(g, s.op, &s.index);
    return s;
}

static const struct lx_split *split_of_var(const struct subject *s, int var)
{
    const struct lx_division *d = s->division;
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].letter == s->index.letter[var]) return &d->splits[i];
    return NULL;
}

/* The split of an output dimension, or NULL for one that is not there (dim -1). */
static const struct lx_split *split_of_dim(const struct subject *s, int dim)
{
    return dim < 0 ? NULL : split_of_var(s, s->index.var[s->index.operand_count - 1][dim]);
}

static int64_t extent_of_dim(const struct subject *s, int dim)
{
    return dim < 0 ? 1 : s->index.extent[s->index.var[s->index.operand_count - 1][dim]];
}

static int64_t parts_of(const struct lx_split *v)
{
    return v ? v->split : 1;
}

/* Which dimensions are columns and rows. A sparse output has no two elements in one stick. */
static void choose_dims(const struct subject *s, struct lx_op_launch *o)
{
    const struct lx_layout *y = &s->divisions->layouts->layouts[s->op->output];
    int rank = s->index.rank[s->index.operand_count - 1];
    o->column_dim = y->stick_dim < 0 ? -1 : rank - 1;
    o->row_dim = o->column_dim < 0 ? rank - 1 : rank - 2;
    /* Dimensions that are not cut stay a batch, up to the first that is. */
    o->fold_from = o->row_dim;
    for (int d = o->row_dim; d >= 0; d--)
        if (parts_of(split_of_dim(s, d)) > 1) o->fold_from = d;
}

/* One dimension of `extent` in tiles of `side`, cut as `v` says. False: parts end inside a tile. */
static bool axis_of(const struct lx_split *v, int64_t extent, int64_t side, struct grid_axis *a)
{
    a->tiles = ceil_div_i64(extent, side);
    a->parts = parts_of(v);
    a->each = a->tiles;
    if (a->parts == 1) return true;
    a->each = v->per_core / side;
    return v->per_core % side == 0 && a->each > 0;
}

/* The rows with all that is folded into them; NULL, or why they make no shards. */
static const char *fold_rows(const struct subject *s, const struct lx_op_launch *o, struct grid_axis *rows)
{
    *rows = (struct grid_axis){1, 1, 1};
    bool whole_from_here = false;
    for (int d = o->fold_from; d >= 0 && d <= o->row_dim; d++) {
        const struct lx_split *v = split_of_dim(s, d);
        struct grid_axis a;
        if (!axis_of(v, extent_of_dim(s, d), d == o->row_dim ? o->tile[0] : 1, &a))
            return "a core's rows end inside a tile";
        bool uneven = a.parts * a.each != a.tiles;
        if (a.parts > 1 && (whole_from_here || (uneven && rows->parts > 1)))
            return "batch and rows are cut so that a core's part is no run of rows";
        whole_from_here |= a.each > 1;
        if (!mul_i64(rows->tiles, a.tiles, &rows->tiles)) return "more rows than can be counted";
        rows->parts *= a.parts;
        rows->each *= a.each;
    }
    return NULL;
}

/* Positions along the batch dimensions that are not folded into the rows. */
static int64_t batch_of(const struct subject *s, int end)
{
    int64_t batch = 1;
    for (int d = 0; d < end; d++) batch *= extent_of_dim(s, d); /* a tensor has less than 2^53 elements */
    return batch;
}

/* Elements of a core's part along output dimensions [from, to]; the largest part. */
static int64_t local_of(const struct subject *s, int from, int to)
{
    int64_t local = 1;
    for (int d = from; d >= 0 && d <= to; d++) {
        const struct lx_split *v = split_of_dim(s, d);
        local *= v ? min_i64(v->per_core, v->extent) : extent_of_dim(s, d);
    }
    return local;
}

/* Elements that are summed into one of the output: all of them, or one core's. */
static int64_t summed(const struct subject *s, bool of_core, int64_t *slices)
{
    int64_t sum = 1;
    *slices = 1;
    for (int v = 0; v < s->index.var_count; v++) {
        const struct lx_split *split = split_of_var(s, v);
        if (!op_index_reduced(&s->index, v)) continue;
        int64_t extent = of_core && split ? split->per_core : s->index.extent[v];
        if (!mul_i64(sum, extent, &sum)) return INT64_MAX;
        if (of_core) *slices *= parts_of(split);
    }
    return sum;
}

/* The rectangle to launch on: all cores that may be used if some rectangle of the device has as many, wide
 * before high; else whole rows of the device. */
static void core_rectangle(const struct lx_device *d, int64_t cores, int64_t grid[2])
{
    for (int64_t y = 1; y <= min_i64(d->grid_y, cores); y++) {
        if (cores % y != 0 || cores / y > d->grid_x) continue;
        grid[0] = y;
        grid[1] = cores / y;
        return;
    }
    grid[0] = min_i64(cores / d->grid_x, d->grid_y);
    grid[1] = d->grid_x;
}

static bool any_on_chip(const struct subject *s)
{
    for (int i = 0; i <= s->op->input_count; i++)
        if (s->on_chip[i]) return true;
    return false;
}

/* The operands as the request wants them. `shard` NULL: what is on chip is reached from everywhere. */
static void describe_operands(const struct subject *s, const struct lx_op_launch *o,
                              const struct lx_shard *shard, struct lx_launch_operand *list)
{
    for (int i = 0; i <= s->op->input_count; i++) {
        const struct lx_tensor *t = &s->divisions->layouts->graph->tensors[op_operand(s->op, i)];
        bool placed = s->on_chip[i];
        list[i] = (struct lx_launch_operand){.name = t->name,
                                             .memory = placed ? LX_MEMORY_LX : LX_MEMORY_HBM,
                                             .placing = placed && shard ? LX_SHARDED : LX_INTERLEAVED,
                                             .element_bits = lx_dtype_bits(t->dtype),
                                             .tile_rank = 2,
                                             .tile = {o->tile[0], o->tile[1]},
                                             .shard = placed ? shard : NULL};
    }
}

static bool launch_tiles(const struct subject *s, const struct lx_launch_options *options,
                         struct lx_op_launch *o, lx_status *st)
{
    struct lx_launch_operand operands[LX_MAX_INPUTS + 1];
    struct grid_axis rows, columns;
    choose_dims(s, o);
    const char *no_rows = fold_rows(s, o, &rows);
    bool columns_fit =
        axis_of(split_of_dim(s, o->column_dim), extent_of_dim(s, o->column_dim), o->tile[1], &columns);
    if (any_on_chip(s))
        o->why = no_rows ? no_rows : columns_fit ? NULL : "a core's columns end inside a tile";
    bool sharded = any_on_chip(s) && !o->why;
    if (!sharded) o->fold_from = o->row_dim;
    const int64_t grid[2] = {rows.parts, columns.parts};
    const struct lx_shard shard = {
        .axis_count = 2, .grid_rank = 2, .axes = m_and_n, .grid = grid, .tiles = {rows.each, columns.each}};
    describe_operands(s, o, sharded ? &shard : NULL, operands);
    struct lx_launch_request r = {.operands = operands,
                                  .operand_count = s->op->input_count + 1,
                                  .order = options->order,
                                  .share = options->share,
                                  .batch = batch_of(s, o->fold_from > 0 ? o->fold_from : 0),
                                  .grid = {rows.tiles, columns.tiles}};
    o->rows = extent_of_dim(s, o->row_dim);
    o->columns = extent_of_dim(s, o->column_dim);
    if (sharded) {
        for (int d = o->fold_from; d >= 0 && d < o->row_dim; d++) o->rows *= extent_of_dim(s, d);
        o->local[0] = local_of(s, o->fold_from, o->row_dim);
        o->local[1] = local_of(s, o->column_dim, o->column_dim);
    } else {
        r.grid[0] = ceil_div_i64(o->rows, o->tile[0]);
        if (r.order == LX_MATCH_SHARD) r.order = LX_ROW_MAJOR;
        core_rectangle(s->device, s->divisions->cores, r.core_grid);
    }
    r.k_tiles = ceil_div_i64(summed(s, sharded, &o->k_slices), s->device->tile_columns);
    o->launch = lx_launch_make(&r, st);
    return o->launch != NULL;
}

/* Nothing is known of what it writes where: all of it is one piece of work. */
static bool launch_whole(struct lx_op_launch *o, lx_status *st)
{
    struct lx_launch_request r = {.grid = {1, 1}, .core_grid = {1, 1}};
    o->kind = LX_LAUNCH_WHOLE;
    o->why = "its index map is unknown, so one core runs it whole";
    o->launch = lx_launch_make(&r, st);
    return o->launch != NULL;
}

struct lx_op_launch *lx_launch_of(const struct lx_divisions *d, int32_t op, const bool *on_chip,
                                  const struct lx_launch_options *options, lx_status *st)
{
    static const struct lx_launch_options defaults = {.order = LX_ROW_MAJOR, .share = LX_SHARE_BALANCED};
    struct lx_op_launch *o = calloc(1, sizeof *o);
    if (!o) return status_no_memory(st), NULL;
    struct subject s = subject_of(d, op, on_chip);
    *o = (struct lx_op_launch){.op = op,
                               .kind = LX_LAUNCH_TILES,
                               .tile = {s.device->tile_rows, s.device->tile_columns},
                               .k_slices = 1,
                               .fold_from = -1,
                               .row_dim = -1,
                               .column_dim = -1};
    bool ok = true;
    if (s.division->kind == LX_UNDIVIDED_EXTERN) {
        o->kind = LX_LAUNCH_NONE;
        o->why = "it runs off the device";
    } else if (s.division->kind == LX_UNDIVIDED_OPAQUE || !s.index.known) {
        ok = launch_whole(o, st);
    } else {
        ok = launch_tiles(&s, options ? options : &defaults, o, st);
    }
    if (ok) return o;
    lx_op_launch_free(o);
    return NULL;
}

void lx_op_launch_free(struct lx_op_launch *o)
{
    if (!o) return;
    lx_launch_free(o->launch);
    free(o);
}

static int64_t slot_of_dim(const struct subject *s, int dim, int64_t core)
{
    const struct lx_split *v = split_of_dim(s, dim);
    return v ? lx_division_slot(s->division, (int)(v - s->division->splits), core) : 0;
}

static const struct lx_launch_core *find_core(const struct lx_launch *l, int64_t y, int64_t x)
{
    for (int32_t i = 0; i < l->core_count; i++)
        if (l->cores[i].y == y && l->cores[i].x == x) return &l->cores[i];
    return NULL;
}

const struct lx_launch_core *lx_op_launch_core(const struct lx_op_launch *o, const struct lx_divisions *d,
                                               int64_t core, int64_t *k_slice)
{
    const struct lx_launch *l = o->launch;
    int64_t unused, *slice = k_slice ? k_slice : &unused;
    *slice = 0;
    if (!l || core < 0) return NULL;
    if (l->mode != LX_PARTITION_LOCAL_SHARD)
        return find_core(l, core / l->core_grid[1], core % l->core_grid[1]);
    struct subject s = subject_of(d, o->op, NULL);
    if (core >= s.division->cores_used) return NULL;
    int64_t y = 0;
    for (int dim = o->fold_from; dim >= 0 && dim <= o->row_dim; dim++)
        y = y * parts_of(split_of_dim(&s, dim)) + slot_of_dim(&s, dim, core);
    for (int i = 0; i < s.division->split_count; i++) {
        const struct lx_split *v = &s.division->splits[i];
        if (v->is_summed) *slice = *slice * v->split + lx_division_slot(s.division, i, core);
    }
    return find_core(l, y, slot_of_dim(&s, o->column_dim, core));
}
