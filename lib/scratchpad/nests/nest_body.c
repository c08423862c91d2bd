/* Bodies of nests: tensors, labels of their views, and what is on chip besides. */
#include "scratchpad/nests/nest_body.h"
#include "base/checked.h"
#include "base/fail.h"

#include <string.h>

/* What the first levels fix of a tile's view, as lx_division_held has it. */
static struct lx_core_view held_of(const struct body *b, int32_t tensor, const struct nest_access *held,
                                   struct lx_core_view v)
{
    const struct lx_layout *y = &b->x->layouts->layouts[tensor];
    bool cut = false;
    for (int k = 0; k < v.rank; k++) {
        int64_t all = v.tiles[k];
        v.tiles[k] = 1;
        for (int l = 0; l < held->level; l++)
            if (held->tensor.dim[l] >= 0 && held->tensor.dim[l] == y->host_dim[k])
                v.tiles[k] *= b->nest->tiles[l];
        v.blocks[k] = all / v.tiles[k];
        cut |= v.blocks[k] > 1 && v.slices[k] > 1;
    }
    for (int k = 0; k < v.rank && !cut; k++) v.blocks[k] = 1;
    return v;
}

/* The number of a view among those of the tensor; -1: no buffer has it, -2: memory is out. */
static int label_of(const struct body *b, struct body_tensor *t, const struct lx_core_view *v)
{
    if (!view_holds(&b->x->layouts->layouts[t->tensor], v, !b->x->how.passes.no_ring)) return -1;
    for (size_t i = 0; i < t->views.count; i++)
        if (views_equal(&t->views.at[i], v)) return (int)i;
    return VEC_PUSH(&t->views, *v) ? (int)t->views.count - 1 : -2;
}

/* The accesses of a tensor next to the body: positions in tensor_access, or -1. */
static void neighbours(const struct body *b, int32_t tensor, int32_t *before, int32_t *behind)
{
    const struct draft *x = b->x;
    *before = *behind = -1;
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++) {
        int32_t op = x->access_op[x->tensor_access[k]];
        if (op < b->nest->first) *before = x->tensor_access[k];
        if (op > b->nest->last && *behind < 0) *behind = x->tensor_access[k];
    }
}

static bool cut_between(const struct draft *x, int32_t tensor, int32_t one, int32_t two)
{
    for (int32_t i = 0; i < x->how.cut_count; i++)
        if (x->how.cuts[i].tensor == tensor && x->how.cuts[i].before > x->access_op[one] &&
            x->how.cuts[i].before <= x->access_op[two])
            return true;
    return x->bundle_of[x->access_op[one]] != x->bundle_of[x->access_op[two]];
}

/* The label of an access outside that one stay may serve together with `inside`; -1: none. */
static int label_outside(const struct body *b, struct body_tensor *t, int32_t outside, int32_t inside,
                         bool before)
{
    const struct draft *x = b->x;
    if (outside < 0 || x->graph->ops[x->access_op[outside]].kind->traits & LX_EXTERN) return -1;
    if (before ? !held_together(x, outside, inside) || cut_between(x, t->tensor, outside, inside)
               : !held_together(x, inside, outside) || cut_between(x, t->tensor, inside, outside))
        return -1;
    struct lx_core_view v = held_view(x, outside);
    return label_of(b, t, &v);
}

/* Would it save anything? As stay_prices.c has it, whatever its views are. */
static bool is_wanted(const struct body *b, const struct body_tensor *t, int32_t inside, int32_t behind)
{
    const struct draft *x = b->x;
    const struct nest_access *h = &x->held[inside];
    int64_t off = 0, on = 0, whole = tensor_bytes(x->layouts, t->tensor);
    for (int32_t k = x->tensor_at[t->tensor]; k < x->tensor_at[t->tensor + 1]; k++) {
        int32_t op = x->access_op[x->tensor_access[k]];
        if (op >= b->nest->first && op <= b->nest->last) off += x->accesses[x->tensor_access[k]].bytes;
    }
    if (!h->tensor.made)
        on = t->before >= 0 ? 0 : whole * nest_product(b->nest, levels_to(h->level) & ~h->tensor.indexed);
    else if (x->graph->tensors[t->tensor].role == LX_OUTPUT || (behind >= 0 && t->behind < 0))
        on = whole * (2 * nest_product(b->nest, h->tensor.summed & levels_to(h->level)) - 1);
    return on < off;
}

static bool is_barred(const struct draft *x, int32_t access)
{
    int32_t stay = x->accesses[access].stay;
    enum lx_bar bar = stay < 0 ? LX_BAR_NONE : x->stays[stay].bar;
    return bar == LX_BAR_BOUNDARY || bar == LX_BAR_STATED || bar == LX_BAR_STAGE || bar == LX_BAR_EXTERN ||
           bar == LX_BAR_PARTIAL;
}

static bool begin_tensor(struct body *b, int32_t access)
{
    const struct draft *x = b->x;
    const struct nest_access *h = &x->held[access];
    struct body_tensor *t = &b->tensors[b->tensor_count++];
    int32_t before, behind;
    *t = (struct body_tensor){.tensor = x->accesses[access].tensor, .before = -1, .behind = -1};
    t->covers = h->level < b->nest->level_count;
    t->fills = nest_product(b->nest, levels_to(h->level));
    neighbours(b, t->tensor, &before, &behind);
    if (h->level == 0) {
        t->before = label_outside(b, t, before, access, true);
        t->behind = label_outside(b, t, behind, access, false);
    }
    t->wanted = !is_barred(x, access) && is_wanted(b, t, access, behind);
    return t->before > -2 && t->behind > -2;
}

static int32_t tensor_of(struct body *b, int32_t access)
{
    int32_t tensor = b->x->accesses[access].tensor;
    for (int32_t i = 0; i < b->tensor_count; i++)
        if (b->tensors[i].tensor == tensor) return i;
    return begin_tensor(b, access) ? b->tensor_count - 1 : -1;
}

/* Labels and sizes of one access for each choice of its op. */
static bool label_access(struct body *b, int32_t o, int operand, struct body_access *a, struct arena *memory)
{
    const struct draft *x = b->x;
    const struct nest_menu *m = &b->menus[o];
    int32_t op = b->nest->first + o, access = x->access_at[op] + operand;
    int32_t of = tensor_of(b, access);
    if (of < 0) return false;
    struct body_tensor *t = &b->tensors[of];
    *a = (struct body_access){.of = of, .op = o, .gives_way = -1};
    a->label = arena_array(memory, (size_t)m->count, sizeof *a->label);
    a->bytes = arena_array(memory, (size_t)m->count, sizeof *a->bytes);
    a->lost = x->accesses[access].bytes / b->x->divisions->cores;
    for (int c = 0; a->label && a->bytes && c < m->count; c++) {
        struct lx_core_view v =
            held_of(b, t->tensor, &x->held[access], m->views[c * m->operand_count + operand]);
        a->label[c] = label_of(b, t, &v);
        a->bytes[c] = a->label[c] < 0 ? 0 : view_part_bytes(x->layouts, t->tensor, &v);
        if (a->label[c] == -2) return false;
    }
    return a->label && a->bytes;
}

/* An input that ends with the op, so that the output may lie over it. */
static int way_of_output(const struct body *b, int32_t o)
{
    const struct draft *x = b->x;
    int32_t op = b->nest->first + o, first, last;
    const struct lx_op *is = &x->graph->ops[op];
    if (b->tensors[b->accesses[b->access_at[o + 1] - 1].of].covers) return -1;
    for (int i = 0; i < is->input_count; i++) {
        int32_t t = is->inputs[i], k = x->tensor_at[t + 1] - 1;
        while (k > x->tensor_at[t] && x->access_op[x->tensor_access[k]] > b->nest->last) k--;
        if (x->access_op[x->tensor_access[k]] == op && !held_covers(x, x->access_at[op] + i, &first, &last) &&
            t != is->output && runs_in_place_of(x->layouts, is, t))
            return i;
    }
    return -1;
}

/* An op that is not up for choice: its one division. */
static bool menu_of_one(const struct body *b, int32_t op, struct arena *memory, struct nest_menu *out)
{
    int n = b->x->graph->ops[op].input_count + 1;
    struct lx_core_view *v = arena_array(memory, (size_t)n, sizeof *v);
    double *us = arena_array(memory, 1, sizeof *us);
    if (!v || !us) return false;
    for (int i = 0; i < n; i++) v[i] = lx_division_view(b->x->divisions, op, i);
    *out = (struct nest_menu){.count = 1, .operand_count = n, .views = v, .us = us};
    return true;
}

/* What lies there without being of the body; more than half a scratchpad of it will not be there. */
static void load_beside(struct body *b)
{
    const struct draft *x = b->x;
    for (int32_t s = 0; s < x->problem.count; s++) {
        const struct lx_buffer *y = &x->buffers[s];
        bool ours = x->stays[s].bar != LX_BAR_NONE;
        for (int32_t i = 0; i < b->tensor_count && !ours; i++)
            ours = b->tensors[i].tensor == x->stays[s].tensor;
        if (ours || y->start > b->nest->first || y->end <= b->nest->last) continue;
        for (int32_t o = 0; o < b->op_count; o++) b->load[o] = min_i64(b->load[o] + y->size, b->capacity / 2);
    }
}

static bool fill_op(struct body *b, int32_t o, struct nest_menus *menus, struct arena *memory, lx_status *st)
{
    int32_t op = b->nest->first + o;
    if (!nest_menu_of(menus, b->x->divisions, op, &b->menus[o], st)) return false;
    bool ok = b->menus[o].count > 0 || menu_of_one(b, op, memory, &b->menus[o]);
    b->access_at[o] = b->access_count;
    for (int i = 0; ok && i <= b->x->graph->ops[op].input_count; i++)
        ok = label_access(b, o, i, &b->accesses[b->access_count++], memory);
    b->access_at[o + 1] = b->access_count;
    if (ok) b->accesses[b->access_count - 1].gives_way = way_of_output(b, o);
    return ok ? true : status_no_memory(st);
}

bool nest_body_make(const struct draft *x, int32_t nest, struct nest_menus *menus, struct arena *memory,
                    struct body *out, lx_status *st)
{
    const struct lx_nest *n = &x->how.nests[nest];
    size_t ops = (size_t)(n->last - n->first + 1),
           accesses = (size_t)(x->access_at[n->last + 1] - x->access_at[n->first]);
    *out = (struct body){.x = x, .nest = n, .op_count = (int32_t)ops, .capacity = x->problem.capacity};
    out->menus = arena_array(memory, ops, sizeof *out->menus);
    out->access_at = arena_array(memory, ops + 1, sizeof *out->access_at);
    out->accesses = arena_array(memory, accesses, sizeof *out->accesses);
    out->tensors = arena_array(memory, accesses, sizeof *out->tensors);
    out->load = arena_array(memory, ops, sizeof *out->load);
    if (!out->menus || !out->access_at || !out->accesses || !out->tensors || !out->load)
        return status_no_memory(st);
    bool ok = true;
    for (int32_t o = 0; ok && o < out->op_count; o++) ok = fill_op(out, o, menus, memory, st);
    if (ok) load_beside(out);
    return ok;
}

void nest_body_free(struct body *b)
{
    for (int32_t i = 0; b->tensors && i < b->tensor_count; i++) VEC_FREE(&b->tensors[i].views);
}
