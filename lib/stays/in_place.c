/* In-place edges: an op may write its output over an input that dies with it, if both hold the same
 * elements at the same places of the same cores. Of several results the first may take a place; the
 * others have their own. */
#include "stays/draft.h"
#include "base/fail.h"

#include <string.h>

/* May `op` write its output over input i? Same bytes in the same order. */
static bool runs_in_place(const struct lx_layouts *l, const struct lx_op *op, int i)
{
    const struct lx_tensor *in = &l->graph->tensors[op->inputs[i]], *out = &l->graph->tensors[op->output];
    const struct lx_layout *from = &l->layouts[op->inputs[i]], *to = &l->layouts[op->output];
    if (!(op->kind->traits & LX_IN_PLACE) || op->reduces) return false;
    if (in->bytes != out->bytes || (in->rank >= 0) != (out->rank >= 0)) return false;
    if (!op->map) return from->rank == to->rank;
    if (op->map->walks && op->map->walks[i].offset) return false;
    return in->rank == out->rank && lx_layout_equal(from, to) &&
           memcmp(op->map->index[i], op->map->index[op->input_count], (size_t)in->rank) == 0;
}

/* The same for every place where the op reads that tensor: x + transpose(x) must not overwrite x. */
bool runs_in_place_of(const struct lx_layouts *l, const struct lx_op *op, int32_t tensor)
{
    for (int i = 0; i < op->input_count; i++)
        if (op->inputs[i] == tensor && !runs_in_place(l, op, i)) return false;
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

/* Are op o's operands of this stay there for all iterations of a loop inside? Then it does not end with
 * the op. */
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
    if (x->stays[parent].bar || x->stays[parent].tensor == x->stays[child].tensor) return false;
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
        if (child < 0 || x->stays[child].bar || x->stays[child].first != o || !x->stays[child].begins_written)
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
