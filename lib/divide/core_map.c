/* Maps cores to slices, and derives the cores' views of tensors. Slot of dimension d on core c = (c /
 * stride_d) mod split_d, where stride_d is the product of the splits before it. A contiguous dimension comes
 * first, so that cores which add up a sum are ring neighbours. Two ops hand a tensor over on chip only if
 * each core has the same part in both, with complete values. */
#include "divide/space.h"

int64_t core_stride(const int64_t *splits, int count, int contiguous, int dim)
{
    int64_t stride = 1;
    if (dim == contiguous) return 1;
    if (contiguous >= 0 && contiguous < count) stride = splits[contiguous];
    for (int i = 0; i < dim; i++)
        if (i != contiguous) stride *= splits[i];
    return stride;
}

int64_t core_slot(const int64_t *splits, int count, int contiguous, int dim, int64_t core)
{
    return core / core_stride(splits, count, contiguous, dim) % splits[dim];
}

bool core_count_fits(const int64_t *splits, int count, int64_t cores, lx_status *st)
{
    int64_t used = 1;
    for (int i = 0; i < count; i++)
        if (!mul_i64(used, splits[i], &used)) used = INT64_MAX;
    if (used <= cores && cores % used == 0) return true;
    return status_set(st, LX_E_CORES, "%lld cores are no whole number of groups of %lld slices",
                      (long long)cores, (long long)used);
}

bool core_slots_valid(const int64_t *slots, const int64_t *splits, int count, int64_t cores, lx_status *st)
{
    for (int64_t c = 0; c < cores; c++)
        for (int d = 0; d < count; d++) {
            int64_t slot = slots[c * count + d];
            if (slot < 0 || slot >= splits[d])
                return status_set(st, LX_E_RANGE,
                                  "core %lld has slot %lld of dimension %d, outside its split into %lld",
                                  (long long)c, (long long)slot, d, (long long)splits[d]);
        }
    return true;
}

int64_t physical_span(int rank, const int64_t *size, const int64_t *extent, int64_t stick_bytes)
{
    int64_t last = 0, behind = stick_bytes;
    for (int d = rank - 2; d >= 0; d--) {
        last += (extent[d] - 1) * behind;
        behind *= size[d];
    }
    return last + stick_bytes;
}

static void splits_of(const struct lx_division *d, int64_t *splits)
{
    for (int i = 0; i < d->split_count; i++) splits[i] = d->splits[i].split;
}

int64_t lx_division_slot(const struct lx_division *d, int split, int64_t core)
{
    int64_t splits[LX_MAX_VARS];
    splits_of(d, splits);
    return core_slot(splits, d->split_count, d->contiguous, split, core);
}

int64_t lx_division_stride(const struct lx_division *d, int split)
{
    int64_t splits[LX_MAX_VARS];
    splits_of(d, splits);
    return core_stride(splits, d->split_count, d->contiguous, split);
}

void lx_division_slice(const struct lx_division *d, int split, int64_t core, int64_t *from, int64_t *to)
{
    const struct lx_split *v = &d->splits[split];
    *from = 0;
    *to = v->extent;
    if (v->split == 1) return; /* fast path: most variables are not split, and callers ask for every core */
    int64_t slot = lx_division_slot(d, split, core), width = ceil_div_i64(v->units, v->split) * v->unit;
    *from = min_i64(slot * width, v->extent);
    *to = min_i64(*from + width, v->extent);
}

void core_view_reach(const struct lx_core_view *v, int dim, int64_t size, int64_t core, int64_t *lo,
                     int64_t *hi)
{
    const int64_t slices = v->slices[dim], block = v->blocks[dim] > 1 ? size / v->blocks[dim] : size;
    *lo = 0;
    *hi = block;
    if (slices <= 1) return;
    const int64_t part = ceil_div_i64(block, slices), at = core / v->stride[dim] % slices * part;
    *lo = max_i64(min_i64(at, block) - v->low[dim], 0);
    *hi = min_i64(at + part + v->high[dim], block);
}

/* A split of a window's output splits the input, too, if positions correspond; otherwise each core has the
 * whole input. */
static void cut_by_window(const struct lx_layout *y, const struct op_index *x, const struct lx_split *v,
                          int var, int64_t stride, struct lx_core_view *view)
{
    for (int i = 0; i < x->window_count; i++) {
        const struct lx_window *w = &x->windows[i];
        int h = w->out == var && w->hole == 1 ? op_index_dim(x, 0, w->in) : -1;
        for (int k = 0; h >= 0 && k < view->rank; k++) {
            int64_t size = y->size[k], low = 0, high = 0;
            if (y->host_dim[k] != h || y->step[k] != 1 || size != y->host_shape[h] || size % v->split != 0 ||
                v->extent % v->split != 0 || size > INT32_MAX)
                continue;
            /* How far the windows of an output slice reach beyond the same slice of the input. */
            int64_t own = size / v->split, each = v->extent / v->split, reach = w->dilation * (w->size - 1);
            for (int64_t s = 0; s < v->split; s++) {
                int64_t first = w->stride * each * s + min_i64(reach, 0) - w->pad;
                int64_t last = w->stride * (each * (s + 1) - 1) + max_i64(reach, 0) - w->pad;
                if (last < 0 || first >= size) continue;
                low = max_i64(low, own * s - max_i64(first, 0));
                high = max_i64(high, min_i64(last, size - 1) + 1 - own * (s + 1));
            }
            if (size / v->split + low + high >= size) continue;
            view->slices[k] = v->split;
            view->stride[k] = stride;
            view->low[k] = (int32_t)low;
            view->high[k] = (int32_t)high;
        }
    }
}

struct lx_core_view core_view_of(const struct lx_layouts *l, const struct op_index *x,
                                 const struct lx_division *d, int operand)
{
    const struct lx_op *op = &l->graph->ops[d->op];
    const struct lx_layout *y = &l->layouts[op_operand(op, operand)];
    struct lx_core_view view = {
        .cores = d->cores_used, .rank = y->rank > 0 ? y->rank - 1 : 0, .representable = true};
    int64_t splits[LX_MAX_VARS];
    splits_of(d, splits);
    for (int i = 0; i < view.rank; i++) view.slices[i] = view.tiles[i] = view.blocks[i] = 1;
    if (d->kind != LX_DIVIDED || !x->known) return view;
    for (int s = 0; s < d->split_count; s++) {
        const struct lx_split *v = &d->splits[s];
        int var = 0;
        while (var < x->var_count && x->letter[var] != v->letter) var++;
        int h = op_index_dim(x, operand, var);
        for (int i = 0; i < view.rank && h >= 0; i++)
            if (y->host_dim[i] == h) view.tiles[i] = v->tiles;
        if (v->split == 1) continue;
        if (h < 0 && operand == 0 && x->window_count)
            cut_by_window(y, x, v, var, core_stride(splits, d->split_count, d->contiguous, s), &view);
        if (h < 0) { /* All cores along this axis see the same part; for an output they hold partial sums. */
            view.partial |= operand >= x->output;
            continue;
        }
        bool found = false;
        for (int i = 0; i < view.rank; i++) {
            if (y->host_dim[i] != h) continue;
            /* A view reads of each `step` positions one: whole groups of them are a core's. */
            int64_t step = op_index_stride(x, operand, h), offset = op_index_offset(x, operand, h);
            bool jumps = op_index_shifted(x, operand) &&
                         (step < 1 || offset < 0 || offset >= step || (step > 1 && operand >= x->output) ||
                          y->host_shape[h] != v->extent * v->tiles * step);
            int64_t per_slice = ceil_div_i64(v->units, v->split) * v->unit * (jumps ? 1 : step);
            /* Parts must be equal boxes of the layout: half of 130 rows padded to 192 is 65 rows, not 96. */
            if (jumps || per_slice % y->step[i] != 0 ||
                per_slice / y->step[i] != ceil_div_i64(y->size[i] / v->tiles, v->split))
                view.representable = false;
            view.slices[i] = v->split;
            view.stride[i] = core_stride(splits, d->split_count, d->contiguous, s);
            found = true;
        }
        view.representable &= found;
    }
    return view;
}

struct lx_core_view lx_division_view(const struct lx_divisions *all, int32_t op, int operand)
{
    const struct lx_graph *g = all->layouts->graph;
    struct op_index x;
    op_index_of(g, &g->ops[op], &x);
    return core_view_of(all->layouts, &x, &all->at[op], operand);
}

struct lx_core_view core_view_held(const struct lx_layout *y, const struct lx_nest *n,
                                   const struct nest_tensor *t, int hold, struct lx_core_view v)
{
    bool cut = false;
    for (int k = 0; k < v.rank; k++) {
        int64_t all = v.tiles[k];
        v.tiles[k] = 1;
        for (int l = 0; l < hold; l++)
            if (t->dim[l] >= 0 && t->dim[l] == y->host_dim[k]) v.tiles[k] *= n->tiles[l];
        v.blocks[k] = all / v.tiles[k];
        cut |= v.blocks[k] > 1 && v.slices[k] > 1;
    }
    for (int k = 0; k < v.rank && !cut; k++) v.blocks[k] = 1;
    return v;
}

struct lx_core_view lx_division_held(const struct lx_divisions *d, int32_t op, int operand, int hold)
{
    struct lx_core_view v = lx_division_view(d, op, operand);
    int32_t nest = nest_of_op(d->nests, d->nest_count, op),
            tensor = op_operand(&d->layouts->graph->ops[op], operand);
    if (nest < 0) return v;
    struct nest_tensor t = nest_tensor_of(d->layouts, &d->nests[nest], tensor);
    return core_view_held(&d->layouts->layouts[tensor], &d->nests[nest], &t, hold, v);
}

bool views_equal(const struct lx_core_view *a, const struct lx_core_view *b)
{
    if (a->cores != b->cores || a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->slices[i] != b->slices[i] || (a->slices[i] > 1 && a->stride[i] != b->stride[i]) ||
            a->tiles[i] != b->tiles[i] || a->blocks[i] != b->blocks[i] || a->low[i] != b->low[i] ||
            a->high[i] != b->high[i])
            return false;
    return true;
}

bool lx_core_views_match(const struct lx_core_view *a, const struct lx_core_view *b)
{
    return !a->partial && !b->partial && a->representable && b->representable && views_equal(a, b);
}

bool lx_core_div_mismatch(const struct lx_divisions *d, int32_t a, int32_t b, int32_t tensor)
{
    struct lx_core_view first = {0};
    bool seen = false;
    int32_t ops[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        const struct lx_op *op = &d->layouts->graph->ops[ops[k]];
        for (int i = 0; i < op_operand_count(op); i++) {
            if (op_operand(op, i) != tensor) continue;
            struct lx_core_view view = lx_division_view(d, ops[k], i);
            if (seen && !lx_core_views_match(&first, &view)) return true;
            if (!seen && (view.partial || !view.representable)) return true;
            first = view;
            seen = true;
        }
    }
    return false;
}
