/* Views of a tensor on the cores: comparing, measuring and naming them. */
#include "stays/draft.h"
#include "cost/op.h"

struct lx_core_view access_view(const struct draft *x, int32_t access)
{
    int32_t op = x->access_op[access];
    return lx_division_view(x->divisions, op, access - x->access_at[op]);
}

struct lx_core_view stay_view(const struct draft *x, int32_t stay)
{
    const struct lx_stay *s = &x->stays[stay];
    return lx_division_held(x->divisions, s->view_op, s->view_operand, s->hold);
}

bool view_holds(const struct lx_layout *l, const struct lx_core_view *v, bool sums_meet)
{
    if (!v->representable || (v->partial && !sums_meet)) return false;
    for (int i = 0; i < v->rank; i++) {
        int64_t loops = v->tiles[i] * v->blocks[i], block = l->size[i] / loops;
        if (l->size[i] % loops != 0 || block < v->slices[i]) return false;
        if (ceil_div_i64(block, ceil_div_i64(block, v->slices[i])) != v->slices[i])
            return false; /* an empty part */
    }
    return true;
}

int64_t view_part_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *v)
{
    const struct lx_layout *y = &l->layouts[tensor];
    if (y->rank == 0) return l->graph->tensors[tensor].bytes;
    int64_t bytes = y->stick_bytes;
    for (int i = 0; i < v->rank; i++) {
        /* Positions along dimension i on the core with the most. */
        int64_t tile = y->size[i] / v->tiles[i];
        int64_t part = ceil_div_i64(tile / v->blocks[i], v->slices[i]) * v->blocks[i];
        bytes *= min_i64(part + v->low[i] + v->high[i], tile);
    }
    return bytes;
}

/* Positions of dimension `dim` that core `core` has under both views, in a tile of `size` positions. */
static int64_t core_views_common_positions(int64_t size, const struct lx_core_view *a,
                                           const struct lx_core_view *b, int dim, int64_t core)
{
    int64_t wide = size / a->blocks[dim], other = size / b->blocks[dim], sum = 0, lo, hi, from, to;
    core_view_reach(a, dim, size, core, &lo, &hi);
    core_view_reach(b, dim, size, core, &from, &to);
    for (int64_t i = 0; i < a->blocks[dim]; i++)
        for (int64_t k = 0; k < b->blocks[dim]; k++)
            sum +=
                max_i64(0, min_i64(i * wide + hi, k * other + to) - max_i64(i * wide + lo, k * other + from));
    return sum;
}

/* Sticks that all cores have under `to` and under `from`. */
static int64_t sticks_at_home(const struct lx_layout *y, const struct lx_core_view *from,
                              const struct lx_core_view *to)
{
    int64_t sum = 0, whole = 1; /* along dimensions of which every core has the same */
    for (int i = 0; i < to->rank; i++)
        if (from->slices[i] <= 1 && to->slices[i] <= 1) whole *= y->size[i] / to->tiles[i];
    for (int64_t c = 0; c < to->cores && c < from->cores; c++) {
        int64_t sticks = whole;
        for (int i = 0; i < to->rank && sticks > 0; i++)
            if (from->slices[i] > 1 || to->slices[i] > 1)
                sticks *= core_views_common_positions(y->size[i] / to->tiles[i], from, to, i, c);
        sum += sticks;
    }
    return sum;
}

int64_t view_ring_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *from,
                        const struct lx_core_view *to)
{
    const struct lx_layout *y = &l->layouts[tensor];
    int64_t bytes = view_part_bytes(l, tensor, to) * to->cores;
    bool differ = false; /* parts, and halos, are shorter at the ends of a dimension */
    for (int i = 0; i < to->rank; i++)
        differ |= to->low[i] || to->high[i] || y->size[i] / to->tiles[i] / to->blocks[i] % to->slices[i] != 0;
    if (differ) bytes = sticks_at_home(y, to, to) * y->stick_bytes;
    return y->rank > 0 ? bytes - sticks_at_home(y, from, to) * y->stick_bytes : bytes;
}

int64_t stay_ring_bytes(const struct draft *x, int32_t stay)
{
    if (x->ring_bytes) return x->ring_bytes[stay];
    struct lx_core_view from = stay_view(x, x->stays[stay].ring_source), to = stay_view(x, stay);
    return view_ring_bytes(x->layouts, x->stays[stay].tensor, &from, &to);
}

void draft_rings(struct draft *x)
{
    if (x->ring_bytes) return;
    int64_t *bytes = arena_array(x->memory, (size_t)x->problem.count + 1, sizeof *bytes);
    for (int32_t i = 0; i < x->problem.count; i++)
        if (x->stays[i].ring_source >= 0) bytes[i] = stay_ring_bytes(x, i);
    x->ring_bytes = bytes;
}

double view_ring_us(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *from,
                    const struct lx_core_view *to)
{
    const struct lx_layout *y = &l->layouts[tensor];
    /* Sticks inside the innermost dimension that changes stay consecutive: a run. */
    int64_t runs = 1, parts = 1;
    bool inside = true;
    for (int i = to->rank - 1; i >= 0; i--) {
        bool moves =
            from->slices[i] != to->slices[i] || (to->slices[i] > 1 && from->stride[i] != to->stride[i]) ||
            from->blocks[i] != to->blocks[i] || from->low[i] != to->low[i] || from->high[i] != to->high[i];
        if (moves) parts = max_i64(parts, max_i64(from->slices[i], to->slices[i]));
        if (!inside) runs *= y->size[i] / to->tiles[i] / to->slices[i];
        inside = inside && !moves;
    }
    return cost_relayout(&l->graph->device, runs, parts, view_part_bytes(l, tensor, to));
}

const char *splits_text(const struct lx_divisions *d, int32_t op, struct arena *memory)
{
    const struct lx_division *v = &d->at[op];
    SCOPED(text_free) struct text t = {0};
    for (int i = 0; i < v->split_count; i++)
        if (v->splits[i].split > 1)
            text_format(&t, "%s%c/%lld", t.length ? " " : "", v->splits[i].letter,
                        (long long)v->splits[i].split);
    if (lx_division_front(v) >= 0)
        text_format(&t, ", %c on neighbours", v->splits[lx_division_front(v)].letter);
    if (v->kind == LX_UNDIVIDED_OPAQUE) text_add(&t, "whole, its index map is unknown");
    const char *text = arena_string(memory, t.length ? t.at : "whole, on one core");
    return text;
}
