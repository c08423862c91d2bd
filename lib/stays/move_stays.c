/* Stays that share or change addresses. A move makes another stay for the rest of a life: same tensor and
 * view, the later accesses. The off-chip cost of the tensor stays with the first. In place: an op may write
 * its output over an input that dies with it, if both hold the same elements at the same places of the same
 * cores. Of several results only the first may. */
#include "stays/draft.h"

void stays_find_fixed(const struct draft *x, bool *fixed)
{
    for (int32_t i = 0; i < x->problem.count; i++)
        fixed[i] = x->stays[i].exclusion || x->stays[i].ring_source >= 0;
    for (int32_t i = 0; i < x->problem.count; i++)
        if (x->stays[i].ring_source >= 0) fixed[x->stays[i].ring_source] = true;
}

int64_t view_all_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *v)
{
    return view_part_bytes(l, tensor, v) * max_i64(v->cores, 1);
}

static void move_stays_divide(struct draft *x, int32_t old, struct cut move)
{
    int32_t new = x->problem.count, first = 0;
    struct lx_buffer *a = &x->buffers[old], *b = &x->buffers[new];
    *b = *a;
    x->stays[new] = x->stays[old];
    while (first < a->use_count && a->uses[first] < move.before) first++;
    /* Uses of the new stay: the copy, then the old uses from `first` on. */
    int64_t copy = move.before;
    bool at_once = first < a->use_count && a->uses[first] == copy;
    int64_t *uses = arena_array(x->memory, (size_t)(a->use_count - first) + 1, sizeof *uses);
    b->use_count = 0;
    if (!at_once) uses[b->use_count++] = copy;
    for (int32_t k = first; k < a->use_count; k++) uses[b->use_count++] = a->uses[k];
    a->use_count = first;
    b->uses = uses;
    a->end = b->start = move.before;
    b->first_use_is_read = true;
    b->spill_cost = 0;
    b->name = arena_format(x->memory, "%s@%d", a->name, (int)move.before);
    x->stays[new].first = (int32_t)b->start;
    x->stays[new].moved_from = old;
    x->stays[new].begins_written = false;
    for (int32_t k = x->tensor_at[move.tensor]; k < x->tensor_at[move.tensor + 1]; k++) {
        struct lx_access *use = &x->accesses[x->tensor_access[k]];
        if (use->stay == old && x->access_op[x->tensor_access[k]] >= move.before) use->stay = new;
    }
    for (int32_t i = 0; i < 2;
         i++) { /* first and last op that each serves; without accesses, its whole life */
        int32_t stay = i ? new : old;
        struct lx_stay *s = &x->stays[stay];
        bool any = false;
        s->last = (int32_t)x->buffers[stay].end - 1;
        for (int32_t k = x->tensor_at[s->tensor]; k < x->tensor_at[s->tensor + 1]; k++) {
            int32_t access = x->tensor_access[k];
            if (x->accesses[access].stay != stay) continue;
            if (!any) s->first = x->access_op[access];
            s->last = x->access_op[access];
            any = true;
        }
        if (!any) s->first = (int32_t)x->buffers[stay].start;
    }
    x->problem.count++;
}

void draft_moves(struct draft *x)
{
    size_t n = (size_t)x->problem.count, room = n + (size_t)x->how.move_count;
    if (x->how.move_count == 0) return;
    struct lx_buffer *buffers = arena_array(x->memory, room, sizeof *buffers);
    struct lx_stay *stays = arena_array(x->memory, room, sizeof *stays);
    int64_t *copies = arena_array(x->memory, room, sizeof *copies);
    for (size_t i = 0; i < n; i++)
        buffers[i] = x->buffers[i], stays[i] = x->stays[i], copies[i] = x->copy_bytes[i];
    x->copy_bytes = copies;
    x->problem.buffers = x->buffers = buffers;
    x->stays = stays;
    for (int32_t m = 0; m < x->how.move_count; m++) {
        struct cut move = x->how.moves[m];
        int32_t nest = nest_of_op(x->how.nests, x->how.nest_count, move.before), i = 0;
        /* Inside a nest only a tile that is filled anew in every iteration may move. */
        int level = nest < 0 || move.before == x->how.nests[nest].first ? 0 : x->how.nests[nest].level_count;
        OWNED bool *fixed = mem_zeroed((size_t)x->problem.count, sizeof *fixed);
        stays_find_fixed(x, fixed);
        while (i < x->problem.count &&
               (x->stays[i].tensor != move.tensor || x->buffers[i].start >= move.before ||
                move.before >= x->buffers[i].end || fixed[i] || x->stays[i].hold < level))
            i++;
        if (i < x->problem.count) move_stays_divide(x, i, move);
    }
}

/* The same bytes in the same order at every read: x + transpose(x) must not overwrite x. */
bool runs_in_place_of(const struct lx_layouts *l, const struct lx_op *op, int32_t tensor)
{
    const struct lx_tensor *in = &l->graph->tensors[tensor], *out = &l->graph->tensors[op->output];
    const struct lx_layout *from = &l->layouts[tensor], *to = &l->layouts[op->output];
    for (int i = 0; i < op->input_count; i++) {
        if (op->inputs[i] != tensor) continue;
        if (!(op->kind->traits & LX_IN_PLACE) || op->reduces) return false;
        if (in->bytes != out->bytes || (in->rank >= 0) != (out->rank >= 0)) return false;
        if (op->map ? in->rank != out->rank || !lx_layout_equal(from, to) : from->rank != to->rank)
            return false;
        if (op->map && op->map->walks && op->map->walks[i].offset) return false;
        if (op->map && memcmp(op->map->index[i], op->map->index[op->input_count], (size_t)in->rank) != 0)
            return false;
    }
    return true;
}

bool draft_runs_over(const struct draft *x, int32_t o, int32_t tensor)
{
    const struct lx_op *op = &x->graph->ops[o];
    struct lx_core_view out = access_view(x, x->access_at[o] + op->input_count);
    if (op_operand_made(op, tensor) >= 0 || !runs_in_place_of(x->layouts, op, tensor)) return false;
    for (int i = 0; i < op->input_count; i++) {
        struct lx_core_view in = access_view(x, x->access_at[o] + i);
        if (op->inputs[i] == tensor && views_equal(&in, &out)) return true;
    }
    return false;
}

/* Does the stay live through all iterations of an inner loop? Then it does not end with the op. */
static bool covers_nest(const struct draft *x, int32_t o, int32_t stay)
{
    int32_t first, last;
    for (int32_t a = x->access_at[o]; a < x->access_at[o + 1]; a++)
        if (x->accesses[a].stay == stay && held_covers(x, a, &first, &last)) return true;
    return false;
}

static bool may_take(const struct draft *x, int32_t o, int32_t child, int32_t parent)
{
    const struct lx_op *op = &x->graph->ops[o];
    const struct lx_buffer *c = &x->problem.buffers[child], *p = &x->problem.buffers[parent];
    if (x->stays[parent].exclusion || x->stays[parent].tensor == x->stays[child].tensor) return false;
    if (p->end != c->start + 1 || c->size > p->size || lx_read_count(p) == 0) return false;
    if (!runs_in_place_of(x->layouts, op, x->stays[parent].tensor) || covers_nest(x, o, parent) ||
        covers_nest(x, o, child))
        return false;
    struct lx_core_view a = stay_view(x, parent), b = stay_view(x, child);
    return views_equal(&a, &b);
}

void draft_parents(struct draft *x)
{
    if (x->how.passes.no_in_place) return;
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        const struct lx_op *op = &x->graph->ops[o];
        const struct lx_access *a = &x->accesses[x->access_at[o]];
        int32_t child = a[op->input_count].stay, parents[LX_MAX_INPUTS], count = 0;
        if (child < 0 || x->stays[child].exclusion || x->stays[child].first != o ||
            !x->stays[child].begins_written)
            continue;
        for (int i = 0; i < op->input_count; i++) {
            bool again = false;
            for (int32_t k = 0; k < count; k++) again |= parents[k] == a[i].stay;
            if (!again && a[i].stay >= 0 && may_take(x, o, child, a[i].stay)) parents[count++] = a[i].stay;
        }
        struct lx_buffer *b = &x->buffers[child];
        b->parents = arena_copy_array(x->memory, parents, (size_t)count, sizeof *parents);
        b->parent_count = count;
    }
}
