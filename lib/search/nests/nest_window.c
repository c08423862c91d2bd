/* Makes windows, compares them, and carries their decisions back. */
#include "search/nests/nest_search.h"
#include "layout/op_index.h"
#include "graph/op_params.h"
#include "graph/op_walks.h"

struct numbering {
    const struct draft *x;
    struct nest_window *w;
    int32_t *number; /* per tensor of the draft: 1 + its number in the window */
    int32_t *tensor;
    int32_t count;
};

/* Numbers the tensors in the order in which ops access them. */
static void number_ops(struct numbering *n, struct lx_op *ops, struct arena *memory)
{
    for (int32_t o = 0; o < n->w->graph.op_count; o++) {
        const struct lx_op *from = &n->x->graph->ops[n->w->first + o];
        int32_t *operands = arena_array(memory, (size_t)op_operand_count(from), sizeof *operands);
        for (int i = 0; i < op_operand_count(from); i++) {
            int32_t tensor = op_operand(from, i);
            if (!n->number[tensor]) {
                n->tensor[n->count] = tensor;
                n->number[tensor] = ++n->count;
            }
            operands[i] = n->number[tensor] - 1;
        }
        ops[o] = *from;
        ops[o].inputs = operands;
        ops[o].outputs = operands + from->input_count;
        ops[o].output = ops[o].outputs[0];
    }
}

/* Copies the tensors, with their roles in the window. */
static void nest_window_take_tensors(struct numbering *n, struct arena *memory)
{
    struct nest_window *w = n->w;
    const struct draft *x = n->x;
    struct lx_tensor *tensors = arena_array(memory, (size_t)n->count, sizeof *tensors);
    struct lx_layout *layouts = arena_array(memory, (size_t)n->count, sizeof *layouts);
    for (int32_t i = 0; i < n->count; i++) {
        int32_t tensor = n->tensor[i], from = x->tensor_at[tensor], to = x->tensor_at[tensor + 1];
        int32_t first = x->access_op[x->tensor_access[from]], last = x->access_op[x->tensor_access[to - 1]];
        enum lx_role role = x->graph->tensors[tensor].role;
        bool made = false;
        for (int32_t k = from; k < to; k++) {
            int32_t op = x->access_op[x->tensor_access[k]];
            made |= x->accesses[x->tensor_access[k]].writes && op >= w->first && op <= w->last;
        }
        tensors[i] = x->graph->tensors[tensor];
        layouts[i] = x->layouts->layouts[tensor];
        if (role == LX_STATE) continue;
        if (!made)
            tensors[i].role = role == LX_WEIGHT ? LX_WEIGHT : LX_INPUT;
        else if (last > w->last || first < w->first)
            tensors[i].role = LX_OUTPUT;
    }
    w->graph.tensors = tensors;
    w->graph.tensor_count = n->count;
    w->layouts.layouts = layouts;
    w->tensor = n->tensor;
}

void nest_window_make(const struct draft *x, int32_t first, int32_t last, struct arena *memory,
                      struct nest_window *out)
{
    size_t ops = (size_t)(last - first + 1), most = 0;
    *out = (struct nest_window){
        .first = first, .last = last, .graph = *x->graph, .layouts = *x->layouts, .divided = *x->divisions};
    for (int32_t o = first; o <= last; o++) most += (size_t)op_operand_count(&x->graph->ops[o]);
    struct numbering n = {.x = x, .w = out};
    struct lx_op *to = arena_array(memory, ops, sizeof *to);
    n.number = mem_zeroed((size_t)x->graph->tensor_count + 1, sizeof *n.number);
    n.tensor = arena_array(memory, most, sizeof *n.tensor);
    out->graph.ops = to;
    out->graph.op_count = (int32_t)ops;
    out->layouts.graph = &out->graph;
    out->layouts.op_origin += first;
    out->layouts.stick_var += first;
    if (out->layouts.too_wide) out->layouts.too_wide += first;
    out->layouts.rewritten = NULL; /* has numbers of the whole graph */
    out->layouts.restickify_count = out->layouts.padding_count = 0;
    out->divided.layouts = &out->layouts;
    out->divided.at = arena_copy_array(memory, &x->divisions->at[first], ops, sizeof *out->divided.at);
    for (size_t o = 0; o < ops; o++) out->divided.at[o].op = (int32_t)o;
    out->divided.count = (int32_t)ops;
    out->divided.nests = NULL;
    out->divided.nest_count = 0;
    out->divided.memory = NULL;
    number_ops(&n, to, memory);
    nest_window_take_tensors(&n, memory);
    mem_free(n.number);
}

static bool lists_equal(const int64_t *a, const int64_t *b, int count)
{
    if (!a || !b) return a == b;
    return count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static bool ops_alike(const struct lx_op *a, const struct lx_op *b)
{
    if (a->kind != b->kind || a->input_count != b->input_count ||
        op_operand_count(a) != op_operand_count(b) || a->hint_count || b->hint_count ||
        !a->offset != !b->offset || !a->einsum != !b->einsum || !lx_windows_equal(a, b))
        return false;
    /* A plan does not depend on the part that a slice picks or fills. */
    struct lx_op_params at = a->params ? *a->params : (struct lx_op_params){0};
    bool picks = a->kind->id == LX_KIND_DYNAMIC_SLICE || a->kind->id == LX_KIND_DYNAMIC_INSERT;
    if (picks && a->params && b->params && at.low_count == b->params->low_count) at.low = b->params->low;
    if (!op_params_equal(a->params ? &at : NULL, b->params)) return false;
    /* Compares the strides and sizes of input views; operand_alike compares the offsets. */
    bool alike = !a->views == !b->views && (!a->views || (a->map && b->map));
    for (int i = 0; a->views && alike && i < a->input_count; i++) {
        const struct lx_view *p = &a->views[i], *q = &b->views[i];
        int rank = a->map->rank[i];
        alike = rank == b->map->rank[i] && !p->offset == !q->offset &&
                lists_equal(p->stride, q->stride, rank) && lists_equal(p->size, q->size, rank);
    }
    if (!alike) return false;
    for (int i = 0; i < op_operand_count(a); i++)
        if (op_operand(a, i) != op_operand(b, i)) return false;
    return !a->einsum || strcmp(a->einsum, b->einsum) == 0;
}

/* True if the view begins after the start of the dimension and ends inside it. */
static bool nest_window_is_inside(const struct op_index *x, int operand, int dim, int64_t size)
{
    int64_t offset = op_index_offset(x, operand, dim), extent = x->extent[x->var[operand][dim]];
    return offset > 0 && offset + op_index_stride(x, operand, dim) * (extent - 1) < size;
}

/* Views of different parts are alike if they are aligned the same way on sticks, and neither begins at the
 * tensor's start. */
static bool operand_alike(const struct lx_layout *l, const struct op_index *x, const struct op_index *y,
                          int i)
{
    if (op_index_shifted(x, i) != op_index_shifted(y, i)) return false;
    for (int k = 0; op_index_shifted(x, i) && k < l->rank; k++) {
        int h = l->host_dim[k];
        if (h < 0) continue;
        int64_t p = op_index_offset(x, i, h), q = op_index_offset(y, i, h);
        if (op_index_stride(x, i, h) != op_index_stride(y, i, h)) return false;
        if (p == q) continue;
        if (p % l->step[k] != q % l->step[k] || !nest_window_is_inside(x, i, h, l->host_shape[h]) ||
            !nest_window_is_inside(y, i, h, l->host_shape[h]))
            return false;
    }
    return true;
}

bool nest_windows_alike(const struct nest_window *a, const struct nest_window *b)
{
    if (a->graph.op_count != b->graph.op_count || a->graph.tensor_count != b->graph.tensor_count)
        return false;
    for (int32_t o = 0; o < a->graph.op_count; o++) {
        const struct lx_division *one = &a->divided.at[o], *two = &b->divided.at[o];
        if (!ops_alike(&a->graph.ops[o], &b->graph.ops[o]) || one->split_count != two->split_count ||
            one->contiguous != two->contiguous)
            return false;
        for (int i = 0; i < one->split_count; i++)
            if (one->splits[i].split != two->splits[i].split) return false;
    }
    for (int32_t t = 0; t < a->graph.tensor_count; t++) {
        const struct lx_tensor *one = &a->graph.tensors[t], *two = &b->graph.tensors[t];
        if (one->role != two->role || one->dtype != two->dtype || one->bytes != two->bytes ||
            one->memory != two->memory || one->placing != two->placing ||
            !lx_layout_equal(&a->layouts.layouts[t], &b->layouts.layouts[t]))
            return false;
    }
    for (int32_t o = 0; o < a->graph.op_count; o++) {
        const struct lx_op *op = &a->graph.ops[o];
        struct op_index x, y;
        if (!op->offset && !op->views) continue;
        op_index_of(&a->graph, op, &x);
        op_index_of(&b->graph, &b->graph.ops[o], &y);
        if (!x.known || !y.known) return false;
        for (int i = 0; i < op_operand_count(op); i++)
            if (!operand_alike(&a->layouts.layouts[op_operand(op, i)], &x, &y, i)) return false;
    }
    return true;
}

static bool nest_window_carry_divisions(const struct nest_window *w, const struct draft *whole,
                                        const struct decisions *found, const struct lx_nest *nests,
                                        int32_t nest_count, struct arena *memory,
                                        const struct lx_division **divided, lx_status *st)
{
    struct lx_divisions tiled = *whole->divisions;
    tiled.nests = nests;
    tiled.nest_count = nest_count;
    for (int32_t o = 0; found->divided && o < w->graph.op_count; o++) {
        const struct lx_division *from = found->divided[o];
        int64_t splits[LX_MAX_VARS];
        int32_t op = w->first + o;
        if (!from) continue;
        struct lx_division *v = arena_array(memory, 1, sizeof *v);
        for (int i = 0; i < from->split_count; i++) splits[i] = from->splits[i].split;
        if (!lx_division_ordered(&tiled, op, splits, lx_division_front(from), memory, v, st)) return false;
        divided[whole->how.order ? whole->how.order[op] : op] = v;
    }
    return true;
}

bool nest_window_carry(const struct nest_window *w, const struct draft *whole, const struct decisions *found,
                       struct arena *memory, struct nest_set *to, const struct lx_division **divided,
                       lx_status *st)
{
    int32_t had = to->nest_count;
    struct nest_candidate c;
    for (int32_t i = 0; i < found->nest_count; i++) {
        struct nest_set with;
        struct hold *holds = arena_array(memory, (size_t)found->hold_count, sizeof *holds);
        c = (struct nest_candidate){.nest = found->nests[i], .holds = holds};
        c.nest.first += w->first;
        c.nest.last += w->first;
        c.nest.var = arena_copy_array(memory, c.nest.var, (size_t)(c.nest.last - c.nest.first + 1),
                                      sizeof *c.nest.var);
        for (int32_t k = 0; k < found->hold_count; k++)
            if (found->holds[k].nest == i)
                holds[c.hold_count++] =
                    (struct hold){w->tensor[found->holds[k].tensor], 0, found->holds[k].level};
        nest_set_add(to, &c, memory, &with);
        *to = with;
    }
    struct cut *cuts = arena_array(memory, (size_t)(to->cut_count + found->cut_count), sizeof *cuts);
    if (to->cut_count) memcpy(cuts, to->cuts, (size_t)to->cut_count * sizeof *cuts);
    for (int32_t k = 0; k < found->cut_count; k++)
        cuts[to->cut_count++] =
            (struct cut){w->tensor[found->cuts[k].tensor], w->first + found->cuts[k].before};
    if (to->cut_count > 1) qsort(cuts, (size_t)to->cut_count, sizeof *cuts, cut_compare);
    to->cuts = cuts;
    return nest_window_carry_divisions(w, whole, found, &to->nests[had], to->nest_count - had, memory,
                                       divided, st);
}
