/* Bundles: runs of ops that are launched as one kernel. The scratchpads are wiped between them. An extern
 * op stands alone between two bundles. Where the device has a limit on the tensors of a bundle, the ops
 * are walked in their order and a new bundle begins before the op with which the tensors of all ops since
 * the last border, each counted once and as if none were on chip, would be more. So the limit holds
 * whatever is placed, and borders do not depend on it; an op with more operands than that has a bundle of
 * its own. Decisions may state other borders. A nest is in one bundle, whatever they state: its ops are
 * walked together, and counted together. */
#include "stays/draft.h"
#include "base/fail.h"
#include "base/memory.h"
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

/* Does an operand of the ops [first, o] before operand i of op o have tensor t? */
static bool seen_before(const struct cutter *c, int32_t first, int32_t o, int i, int32_t t)
{
    for (int32_t k = first; k <= o; k++) {
        const struct lx_op *op = &c->x->graph->ops[k];
        for (int j = 0; j < op_operand_count(op) && (k < o || j < i); j++)
            if (op_operand(op, j) == t) return true;
    }
    return false;
}

/* Tensors of the ops [first, last] that the bundle has not had yet. */
static int64_t new_tensors(const struct cutter *c, int32_t first, int32_t last)
{
    int64_t count = 0;
    for (int32_t o = first; o <= last; o++)
        for (int i = 0; i < op_operand_count(&c->x->graph->ops[o]); i++) {
            int32_t t = op_operand(&c->x->graph->ops[o], i);
            count += c->seen[t] != c->bundle + 1 && !seen_before(c, first, o, i, t);
        }
    return count;
}

static bool bundles_begins_bundle(struct cutter *c, int32_t o)
{
    int64_t limit = c->x->graph->device.bundle_tensors;
    int32_t n = nest_of_op(c->x->how.nests, c->x->how.nest_count, o), last = o;
    if (n >= 0) last = c->x->how.nests[n].last;
    if (o == 0 || (n >= 0 && o > c->x->how.nests[n].first)) return false;
    if (stands_alone(c->x, o) || stands_alone(c->x, o - 1)) return true;
    if (c->x->how.borders) {
        const struct decisions *how = &c->x->how;
        while (c->next_border < how->border_count && how->borders[c->next_border] < o) c->next_border++;
        return c->next_border < how->border_count && how->borders[c->next_border] == o;
    }
    return limit > 0 && c->tensors + new_tensors(c, o, last) > limit;
}

/* Has a nest more tensors than a bundle may have? */
static bool nests_fit(const struct cutter *c, lx_status *st)
{
    const struct decisions *how = &c->x->how;
    int64_t limit = c->x->graph->device.bundle_tensors;
    const struct cutter none = {.x = c->x, .seen = c->seen, .bundle = INT32_MAX - 1};
    for (int32_t i = 0; limit > 0 && !how->borders && i < how->nest_count; i++) {
        const struct lx_nest *n = &how->nests[i];
        if (n->first < n->last && new_tensors(&none, n->first, n->last) > limit)
            return status_set(
                st, LX_E_NEST,
                "the nest from op %s on has more than the %lld tensors that the device launches "
                "together; let it have fewer ops",
                c->x->graph->ops[n->first].name, (long long)limit);
    }
    return true;
}

bool draft_bundles(struct draft *x, lx_status *st)
{
    struct cutter c = {.x = x, .seen = mem_zeroed((size_t)x->graph->tensor_count + 1, sizeof *c.seen)};
    x->bundle_of = arena_array(x->memory, (size_t)x->graph->op_count, sizeof *x->bundle_of);
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        if (bundles_begins_bundle(&c, o)) c.bundle++, c.tensors = 0;
        c.tensors += new_tensors(&c, o, o);
        for (int i = 0; i < op_operand_count(&c.x->graph->ops[o]); i++)
            c.seen[op_operand(&c.x->graph->ops[o], i)] = c.bundle + 1;
        x->bundle_of[o] = c.bundle;
    }
    x->bundle_count = x->graph->op_count > 0 ? c.bundle + 1 : 0;
    bool fits = nests_fit(&c, st);
    mem_free(c.seen);
    return fits;
}
