/* Bundles: runs of ops that are launched as one kernel. The scratchpads are wiped between them.
 *
 * An extern op stands alone between two bundles. Where the device has a limit on the tensors of a bundle, the ops are
 * walked in their order and a new bundle begins before the op with which the tensors of all ops since the last border,
 * each counted once and as if none were on chip, would be more. So the limit holds whatever is placed, and borders do
 * not depend on it; an op with more operands than that has a bundle of its own. Decisions may state other borders. */
#include "scratchpad/stays/draft.h"
#include "base/fail.h"
#include "layout/op_index.h"

#include <stdlib.h>

struct cutter {
    const struct draft *x;
    int32_t *seen; /* per tensor: 1 + the bundle that had it last */
    int32_t bundle, next_border;
    int64_t tensors;
};

/* A call off the device; to send and to receive leaves the scratchpads as they are. */
static bool stands_alone(const struct draft *x, int32_t o)
{
    return x->graph->ops[o].kind->traits & LX_WIPES;
}

/* Tensors of op o that the bundle has not had yet. */
static int64_t new_tensors(const struct cutter *c, int32_t o, bool take)
{
    const struct lx_op *op = &c->x->graph->ops[o];
    int64_t count = 0;
    for (int i = 0; i <= op->input_count; i++) {
        int32_t t = op_operand(op, i);
        bool again = c->seen[t] == c->bundle + 1;
        for (int k = 0; k < i && !again && !take; k++) again = op_operand(op, k) == t;
        count += !again;
        if (take) c->seen[t] = c->bundle + 1;
    }
    return count;
}

static bool stated_border(struct cutter *c, int32_t o)
{
    const struct decisions *how = &c->x->how;
    while (c->next_border < how->border_count && how->borders[c->next_border] < o) c->next_border++;
    return c->next_border < how->border_count && how->borders[c->next_border] == o;
}

static bool begins_bundle(struct cutter *c, int32_t o)
{
    int64_t limit = c->x->graph->device.bundle_tensors;
    if (o == 0) return false;
    if (stands_alone(c->x, o) || stands_alone(c->x, o - 1)) return true;
    if (c->x->how.borders) return stated_border(c, o);
    return limit > 0 && c->tensors + new_tensors(c, o, false) > limit;
}

bool draft_bundles(struct draft *x, lx_status *st)
{
    struct cutter c = {.x = x, .seen = calloc((size_t)x->graph->tensor_count + 1, sizeof *c.seen)};
    x->bundle_of = arena_array(x->memory, (size_t)x->graph->op_count, sizeof *x->bundle_of);
    bool ok = c.seen && x->bundle_of;
    for (int32_t o = 0; ok && o < x->graph->op_count; o++) {
        if (begins_bundle(&c, o)) c.bundle++, c.tensors = 0;
        c.tensors += new_tensors(&c, o, true);
        x->bundle_of[o] = c.bundle;
    }
    x->bundle_count = x->graph->op_count > 0 ? c.bundle + 1 : 0;
    free(c.seen);
    return ok ? true : status_no_memory(st);
}
