/* The iteration space of an op. Axes are the output's dimensions in order, then the variables that only
 * inputs have. An axis along which some operand's sticks run counts in sticks of the operand with the most
 * elements per stick, so that slices end between sticks in every operand. On a device of tiles the last two
 * dimensions of tensors count in tiles. An axis is a reduction if no output coordinate outside the sticks
 * uses it. */
#include "divide/space.h"
#include "graph/choice.h"

void axis_settle(struct axis *a)
{
    if (a->unit < 1) a->unit = 1;
    if (a->tiles < 1) a->tiles = 1;
    a->units = ceil_div_i64(a->extent, a->unit);
    if (a->basis < 1) a->basis = a->units;
    a->legal = factors_of_divisors(a->basis);
    a->floor = 1;
    a->bound_by = -1;
}

int64_t axis_per_core(const struct axis *a, int64_t split)
{
    return split == 1 ? a->extent : min_i64(ceil_div_i64(a->units, split) * a->unit, a->extent);
}

/* Where equal slices leave more than a tenth of the cores idle, the last slice may be shorter, but never empty:
 * as many slices as cores, and as parts of the cores, can have. */
static void add_uneven(struct axis *a, int64_t cores)
{
    int64_t even = factor_most(&a->legal, cores), least = ceil_div_i64(a->units, cores);
    if (a->basis != a->units || a->units * 10 <= even * least * 11) return;
    for (int64_t part = 1; part <= cores; part++)
        factor_add(&a->legal, ceil_div_i64(a->units, ceil_div_i64(a->units, cores / part)));
}

int64_t space_used(const struct space *s, const int64_t *splits)
{
    int64_t used = 1;
    for (int i = 0; i < s->axis_count; i++)
        if (!mul_i64(used, splits[i], &used)) return INT64_MAX;
    return used;
}

double space_imbalance(const struct space *s, const int64_t *splits)
{
    double ratio = 1;
    for (int i = 0; i < s->axis_count; i++)
        if (s->axes[i].units % splits[i] != 0)
            ratio *= (double)(splits[i] * axis_per_core(&s->axes[i], splits[i])) / (double)s->axes[i].extent;
    return ratio - 1;
}

int space_reductions_split(const struct space *s, const int64_t *splits)
{
    int n = 0;
    for (int i = 0; i < s->axis_count; i++) n += s->axes[i].is_reduction && splits[i] > 1;
    return n;
}

/* On a device of tiles the last two dimensions of a tensor are divided in tiles, or in the largest part of a
 * tile that the extent is a multiple of. `dim` is of the host. */
static int64_t tile_unit(const struct lx_device *d, const struct lx_layout *y, int dim, int64_t extent)
{
    if (!d->tiled || dim < y->host_rank - 2) return 1;
    return gcd_i64(extent, dim == y->stick_dim ? d->tile_columns : d->tile_rows);
}

static void space_add_operand(struct space *s, const struct lx_layouts *l, const struct op_index *x, int i,
                              int32_t tensor, const int *axis_of_var, struct operand *o)
{
    const struct lx_layout *y = &l->layouts[tensor];
    *o = (struct operand){.name = l->graph->tensors[tensor].name,
                          .tensor = tensor,
                          .rank = y->rank,
                          .stick_bytes = y->stick_bytes};
    o->dims = arena_array(s->memory, (size_t)y->rank, sizeof *o->dims);
    struct coordinate_term *walks = arena_array(s->memory, 3 * (size_t)y->rank, sizeof *walks);
    for (int d = 0; d < y->rank; d++) {
        int h = y->host_dim[d];
        o->dims[d].size = y->size[d];
        if (h < 0 || (d == y->rank - 1)) continue;
        const struct lx_window *w = x->windows, *end = w + x->window_count;
        while (w < end && w->in != x->var[i][h]) w++;
        if (w < end) { /* indexed by the windows of a slice and their taps */
            struct coordinate_term *pair = &walks[y->rank + 2 * d];
            pair[0] =
                (struct coordinate_term){.var = axis_of_var[(int)w->out], .scale = w->stride, .divisor = 1};
            pair[1] = (struct coordinate_term){
                .var = axis_of_var[(int)w->tap], .scale = max_i64(w->dilation, -w->dilation), .divisor = 1};
            o->dims[d].walks = pair;
            o->dims[d].walk_count = 2;
            continue;
        }
        int64_t lead = op_index_offset(x, i, h) % y->step[d];
        walks[d] = (struct coordinate_term){.var = axis_of_var[x->var[i][h]],
                                            .scale = op_index_stride(x, i, h),
                                            .divisor = y->step[d],
                                            .lead = lead < 0 ? lead + y->step[d] : lead};
        o->dims[d].walks = &walks[d];
        o->dims[d].walk_count = 1;
        struct axis *a = &s->axes[walks[d].var];
        a->unit = max_i64(a->unit, tile_unit(&l->graph->device, y, h, a->extent));
        if (h == y->stick_dim && a->extent > 1) a->unit = max_i64(a->unit, y->stick_elements);
    }
}

/* In a dynamic slice a core addresses only the slice; a gather or scatter may address any element. */
static void note_picked(struct space *s, const struct lx_layouts *l, const struct lx_op *op,
                        const struct op_index *x)
{
    struct lx_choice c;
    bool starts = op->kind->id == LX_KIND_DYNAMIC_SLICE || op->kind->id == LX_KIND_DYNAMIC_INSERT;
    if (!starts || !lx_choice_of(op, &c)) return;
    const struct lx_layout *y = &l->layouts[op_operand(op, c.operand)];
    for (int a = 0; a < c.axis_count; a++)
        for (int d = 0; d < y->rank - 1; d++) {
            int h = y->host_dim[d];
            if (h < 0 || x->var[c.operand][h] != c.var[a]) continue;
            int64_t wide = c.window[a] < 0 ? 1 : x->extent[c.window[a]], step = y->step[d];
            s->operands[c.operand].dims[d].picked = wide > 1 ? (wide + step - 2) / step + 1 : 1;
        }
}

int64_t operand_tiles(const struct space *s, const struct operand *o)
{
    unsigned seen = 0;
    int64_t tiles = 1;
    for (int d = 0; d < o->rank - 1; d++)
        for (int w = 0; w < o->dims[d].walk_count; w++) {
            int a = o->dims[d].walks[w].var;
            if (!(seen >> a & 1)) tiles *= s->axes[a].tiles;
            seen |= 1u << a;
        }
    return tiles;
}

void space_of_division(const struct lx_divisions *d, int32_t op, struct arena *memory, struct space *out)
{
    int32_t n = nest_of_op(d->nests, d->nest_count, op);
    int64_t tiles[LX_MAX_VARS];
    if (n >= 0) nest_op_tiles(&d->nests[n], op, tiles);
    space_of_op(d->layouts, op, d->cores, n >= 0 ? tiles : NULL, memory, out);
}

void space_of_op(const struct lx_layouts *l, int32_t op_number, int64_t cores, const int64_t *tiles,
                 struct arena *memory, struct space *out)
{
    const struct lx_graph *g = l->graph;
    const struct lx_op *op = &g->ops[op_number];
    struct op_index x;
    int axis_of_var[LX_MAX_VARS];
    op_index_of(g, op, &x);
    *out = (struct space){
        .op_name = op->name,
        .file = g->file,
        .line = op->line,
        .cores = cores,
        .span_limit = !tiles && l->too_wide && l->too_wide[op_number] ? INT64_MAX : g->device.span_bytes,
        .memory = memory};
    if (!x.known) return;
    for (int v = 0; v < x.var_count; v++) axis_of_var[v] = -1;
    for (int d = 0; d < x.rank[x.output]; d++) axis_of_var[x.var[x.output][d]] = out->axis_count++;
    for (int v = 0; v < x.var_count; v++)
        if (axis_of_var[v] < 0) axis_of_var[v] = out->axis_count++;
    out->operand_count = x.operand_count;
    out->output = x.output;
    out->axes = arena_array(memory, (size_t)out->axis_count, sizeof *out->axes);
    out->operands = arena_array(memory, (size_t)out->operand_count, sizeof *out->operands);
    for (int v = 0; v < x.var_count; v++) {
        struct axis *a = &out->axes[axis_of_var[v]];
        a->letter = x.letter[v];
        a->tiles = tiles ? tiles[v] : 1;
        a->extent = x.extent[v] / a->tiles;
        a->unit = 1;
        a->is_summed = op_index_summed(&x, v);
        a->follows = op_index_follows(&x, v);
        a->name = arena_copy(memory, &x.letter[v], 1);
    }
    for (int i = 0; i < x.operand_count; i++)
        space_add_operand(out, l, &x, i, op_operand(op, i), axis_of_var, &out->operands[i]);
    note_picked(out, l, op, &x);
    for (int i = 0; i < out->axis_count; i++) axis_settle(&out->axes[i]);
    /* Axes of the output outside its sticks are no reductions. */
    const struct operand *made = &out->operands[out->output];
    for (int i = 0; i < out->axis_count; i++) out->axes[i].is_reduction = true;
    for (int d = 0; d < made->rank - 1; d++)
        for (int w = 0; w < made->dims[d].walk_count; w++)
            if (made->dims[d].size > 1) out->axes[made->dims[d].walks[w].var].is_reduction = false;
    for (int i = 0; g->device.uneven && i < out->axis_count; i++)
        if (!out->axes[i].is_reduction && !out->axes[i].is_summed) add_uneven(&out->axes[i], cores);
    constrain_op(l, op_number, &x, axis_of_var, out);
}

/* --- Constraints: axes that must stay whole, and factors that others may take. They accumulate. --- */

void axis_block(struct axis *a, const char *constraint)
{
    struct factor_set one = {{0}};
    factor_add(&one, 1);
    a->blocked = true;
    axis_allow(a, &one, constraint);
}

bool axis_allow(struct axis *a, const struct factor_set *allowed, const char *constraint)
{
    if (!a->constraint) a->constraint = constraint;
    for (int i = 0; i < FACTOR_WORDS; i++) a->legal.word[i] &= allowed->word[i];
    return factor_least(&a->legal, 1) > 0;
}

bool constraint_padded_reduction(int64_t extent, int64_t unit, bool is_reduction)
{
    return is_reduction && unit > 1 && extent % unit != 0;
}

bool constraint_unaligned(int64_t extent, int64_t unit)
{
    return unit > 1 && extent % unit != 0;
}

bool conv_blocks_spatial(const int64_t *stride, int count)
{
    for (int i = 0; i < count; i++)
        if (stride[i] > 1) return true;
    return false;
}

/* Whether rows along `v` are padded in an operand for a matmul elsewhere: slices of the rows are not slices
 * of the padded tensor. */
static bool pads_rows(const struct lx_layouts *l, const struct lx_op *op, const struct op_index *x, int v)
{
    bool pads = false;
    for (int k = 0; k < x->operand_count && !(op->kind->traits & LX_CONTRACTS); k++) {
        const struct lx_layout *y = &l->layouts[op_operand(op, k)];
        int d = op_index_dim(x, k, v);
        if (d < 0 || d == y->stick_dim) continue;
        for (int i = 0; i < y->rank - 1; i++) pads |= y->host_dim[i] == d && y->size[i] > y->host_shape[d];
    }
    return pads;
}

void constrain_op(const struct lx_layouts *l, int32_t op_number, const struct op_index *x,
                  const int *axis_of_var, struct space *s)
{
    const struct lx_op *op = &l->graph->ops[op_number];
    const struct lx_layout *out = &l->layouts[op->output];
    for (int v = 0; v < x->var_count; v++) {
        struct axis *a = &s->axes[axis_of_var[v]];
        /* The reason an axis of this nature stays whole; NULL: it may be split. */
        enum lx_nature n = lx_var_nature(op, v);
        static const char *const why[] = {[LX_WINDOWED] = "a window, which follows from where it is",
                                          [LX_CHOSEN] = "a dimension of which an operand chooses",
                                          [LX_JOINED] = "a dimension that the op takes as a whole",
                                          [LX_SHIFTED] = NULL};
        const char *whole = n == LX_ITERATED ? NULL : why[n];
        if (whole) axis_block(a, whole);
        if (constraint_padded_reduction(a->extent, a->unit, op_index_reduced(x, v)))
            axis_block(a, "a reduction over a partly filled stick");
        if (op_is_restickify(op) && constraint_unaligned(a->extent, a->unit))
            axis_block(a, "a restickify of a partly filled stick");
        /* Partial results of the cores cannot be added. */
        if (op_index_reduced(x, v) && (op->kind->id == LX_KIND_LOGSUMEXP || op->kind->id == LX_KIND_BLEND))
            axis_block(a, "a running sum, whose parts are not added up as they are");
        /* One core does all steps of a strided convolution. */
        int64_t stride[LX_MAX_RANK];
        bool slides = false;
        for (int i = 0; i < op->window_count; i++) {
            stride[i] = op->windows[i].stride;
            slides |= op->windows[i].out == v;
        }
        if (slides && (op->kind->traits & LX_CONTRACTS) && conv_blocks_spatial(stride, op->window_count))
            axis_block(a, "a convolution with a stride, whose steps one core does");
        /* Otherwise several cores would write parts of one stick. */
        int last = x->output, d = op_index_dim(x, last, v);
        if (op_index_shifted(x, last) && d >= 0 && d == out->stick_dim &&
            op_index_leaves_sticks(x, last, d, out->stick_elements))
            axis_block(a, "an insert that begins within a stick");
        a->apart = pads_rows(l, op, x, v) || (lx_var_nature(op, v) == LX_SHIFTED && !op_index_reduced(x, v));
    }
    /* Clears `apart` unless one core can hold all operands, or the other axes occupy all cores. */
    int64_t bytes = 0, room = lx_device_usable(&l->graph->device), cores = 1;
    for (int k = 0; k < op_operand_count(op) && bytes <= room; k++) {
        const struct lx_layout *y = &l->layouts[op_operand(op, k)];
        int64_t more = y->rank ? lx_layout_bytes(y) : l->graph->tensors[op_operand(op, k)].bytes;
        if (!add_i64(bytes, more, &bytes)) bytes = INT64_MAX;
    }
    for (int i = 0; i < s->axis_count; i++)
        if (!s->axes[i].apart && !s->axes[i].blocked && !s->axes[i].is_reduction)
            cores *= factor_most(&s->axes[i].legal, s->cores / cores);
    for (int i = 0; bytes > room && cores < s->cores && i < s->axis_count; i++) s->axes[i].apart = false;
}
