/* Orders of dimensions for the span limit.
 *
 * The outermost device dimension decides a span, and which one that is follows from the order in which a
 * tensor happens to be declared. Where no division of an op fits, the large tensors that are made and that
 * it touches are laid out with one of its variables outermost, the same for all of them, so that one split
 * shrinks all their spans; sticks stay where they are. Other ops that no longer fit then follow with the
 * same dimension, and so on. The first variable is taken under which the op fits, and all others that did.
 * What the graph is given stays in its own order. Ops that need this are few; each looks through all ops
 * once per variable and changed tensor. */
#include "divide/divide.h"
#include "base/fail.h"
#include "divide/space.h"
#include "layout/op_index.h"
#include "layout/stated_layouts.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct orders {
    struct lx_layouts *l;
    struct lx_layout *layouts; /* the same, to be changed */
    int64_t cores;
};

/* What one choice changes: the tensors, the host dimension that is outermost now, and their layouts before
 * it. */
enum { MOST_CHANGED = 64 };
struct change {
    int count;
    int32_t tensor[MOST_CHANGED];
    int dim[MOST_CHANGED];
    struct lx_layout before[MOST_CHANGED];
};

static bool span_orders_is_large(const struct orders *s, int32_t tensor)
{
    return lx_layout_bytes(&s->layouts[tensor]) > s->l->graph->device.span_bytes;
}

/* Does some division keep all spans of the op within the limit? Small ops need no look. */
static bool span_orders_fits(const struct orders *s, int32_t o)
{
    const struct lx_op *op = &s->l->graph->ops[o];
    struct arena scratch = {0};
    struct space space;
    bool large = false, fits = true;
    for (int i = 0; i < op_operand_count(op); i++) large |= span_orders_is_large(s, op_operand(op, i));
    if (!large || op->kind->traits & LX_EXTERN) return true;
    space_of_op(s->l, o, s->cores, &scratch, &space);
    if (space.operand_count > 0) fits = span_reduce(&space, NULL);
    arena_free(&scratch);
    return fits;
}

/* Lays a tensor out with host dimension `dim` outermost. */
static bool put_outermost(struct orders *s, int32_t tensor, int dim)
{
    const struct lx_tensor *t = &s->l->graph->tensors[tensor];
    struct lx_layout *y = &s->layouts[tensor], fresh;
    struct stated_tensor stated = {0};
    int at = 0;
    layout_state(y, &stated);
    while (at < stated.order_count && stated.order[at] != dim) at++;
    if (at >= stated.order_count - 1 || at == 1) return false;
    stated.order[at] = stated.order[1];
    stated.order[1] = dim;
    if (!lx_layout_make(t->dtype, t->rank, t->shape, NULL, stated.order, stated.order_count,
                        s->l->graph->device.stick_bytes, &fresh, NULL))
        return false;
    for (int d = 0; d < t->rank; d++)
        if (stated.extents[d] && !lx_layout_pad(&fresh, d, stated.extents[d])) return false;
    *y = fresh;
    return true;
}

static bool is_changed(const struct change *c, int32_t tensor)
{
    for (int k = 0; k < c->count; k++)
        if (c->tensor[k] == tensor) return true;
    return false;
}

/* Variable `v` of the op outermost in all large tensors that have it outside their sticks. False: there is
 * no more. */
static bool change_all(struct orders *s, const struct lx_op *op, const struct op_index *x, int v,
                       struct change *c)
{
    int before = c->count;
    for (int i = 0; i < x->operand_count && c->count < MOST_CHANGED; i++) {
        int32_t tensor = op_operand(op, i);
        int dim = op_index_dim(x, i, v);
        if (dim < 0) continue;
        const struct lx_tensor *t = &s->l->graph->tensors[tensor];
        if ((t->role != LX_INTERMEDIATE && t->role != LX_OUTPUT) || t->rank < 3 ||
            s->layouts[tensor].stick_dim < 0 || !span_orders_is_large(s, tensor))
            continue;
        if (dim == s->layouts[tensor].stick_dim || is_changed(c, tensor)) continue;
        c->before[c->count] = s->layouts[tensor];
        c->tensor[c->count] = tensor;
        c->dim[c->count] = dim;
        c->count += put_outermost(s, tensor, dim);
    }
    return c->count > before;
}

/* An op that does not fit any more follows with the variable that is outermost in changed tensor `k`. */
static bool span_orders_follow(struct orders *s, const struct lx_op *op, int k, struct change *c)
{
    struct op_index x;
    op_index_of(s->l->graph, op, &x);
    for (int i = 0; x.known && i < x.operand_count; i++)
        if (op_operand(op, i) == c->tensor[k]) return change_all(s, op, &x, x.var[i][c->dim[k]], c);
    return false;
}

static bool span_orders_touches(const struct lx_op *op, int32_t tensor)
{
    for (int i = 0; i < op_operand_count(op); i++)
        if (op_operand(op, i) == tensor) return true;
    return false;
}

/* Every op that touches what has changed and fitted before fits again, or follows until it does. */
static bool others_follow(struct orders *s, struct change *c, const bool *fitted)
{
    const struct lx_graph *g = s->l->graph;
    for (int k = 0; k < c->count; k++)
        for (int32_t o = 0; o < g->op_count; o++) {
            if (!fitted[o] || !span_orders_touches(&g->ops[o], c->tensor[k]) || span_orders_fits(s, o))
                continue;
            if (!span_orders_follow(s, &g->ops[o], k, c) || !span_orders_fits(s, o)) return false;
        }
    return true;
}

void lx_layouts_fit_spans(struct lx_layouts *l, const struct lx_divide_options *options)
{
    const struct lx_graph *g = l->graph;
    struct orders s = {.l = l, .cores = options && options->cores > 0 ? options->cores : g->device.cores};
    bool *fitted = mem_zeroed((size_t)g->op_count + 1, sizeof *fitted);
    s.layouts = arena_copy_array(l->memory, l->layouts, (size_t)g->tensor_count, sizeof *l->layouts);
    l->layouts = s.layouts;
    for (int32_t o = 0; o < g->op_count; o++) fitted[o] = span_orders_fits(&s, o);
    for (int32_t o = 0; o < g->op_count; o++)
        if (!fitted[o]) {
            const struct lx_op *op = &s.l->graph->ops[o];
            struct op_index x;
            struct change c;
            op_index_of(s.l->graph, op, &x);
            for (int v = 0; !fitted[o] && x.known && v < x.var_count; v++) {
                c.count = 0;
                if (!change_all(&s, op, &x, v, &c)) continue;
                fitted[o] = span_orders_fits(&s, o) && others_follow(&s, &c, fitted);
                if (!fitted[o]) {
                    for (int i = c.count; i-- > 0;) s.layouts[c.tensor[i]] = c.before[i];
                }
            }
        }
    mem_free(fitted);
}
