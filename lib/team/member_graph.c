/* The graph that one member runs, with local shapes, for the stages that plan a single device.
 *
 * A tensor is what the member owns of it. A box that arrives is a tensor of its own, NAME~K, written by an
 * extern op (the exchange; it also sends); partial results are NAME~part and combined by an extern op.
 * Whatever an op reads must have the extents of its loops, so a part of a box or of an own block is taken by
 * a slice first. Pieces are not told apart: the stages below cut an op over cores in their own way. */
#include "team/team_private.h"
#include "base/fail.h"
#include "graph/builder.h"

#include <stdlib.h>

struct maker {
    const struct lx_team_plan *p;
    int member;
    struct graph_builder b;
    int32_t *own, *box; /* local tensor of a tensor and of an exchange; -1: none yet */
    lx_status *st;
};

/* A tensor of the member: a part of tensor `t`. -1: `st` is set. */
static int32_t add_tensor(struct maker *k, const char *name, int32_t t, enum lx_role role,
                          const struct lx_team_box *box)
{
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    if (!name) return status_no_memory(k->st), -1;
    return builder_tensor(&k->b, name, role, x->dtype, x->rank, box->size, 0, k->st);
}

static int32_t own_tensor(struct maker *k, int32_t t, bool to_write)
{
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    struct lx_team_box own = lx_team_own(k->p, t, k->member);
    bool given = x->role == LX_INPUT || x->role == LX_WEIGHT || (x->role == LX_OUTPUT && to_write);
    if (k->own[t] < 0) k->own[t] = add_tensor(k, x->name, t, given ? x->role : LX_ROLE_COUNT, &own);
    return k->own[t];
}

static bool add_op(struct maker *k, const char *name, enum lx_kind_id kind, const int32_t *inputs, int count,
                   int32_t output, const int64_t *offset, const int64_t *stride)
{
    if (!name) return status_no_memory(k->st);
    struct lx_op op = {.name = name,
                       .kind = lx_kind_at(kind),
                       .input_count = count,
                       .inputs = inputs,
                       .output = output,
                       .offset = offset,
                       .stride = stride};
    return builder_op(&k->b, &op, k->st);
}

static bool receive(struct maker *k, int32_t e)
{
    const struct lx_team_exchange *x = &k->p->exchanges[e];
    const struct lx_tensor *t = &k->p->graph->tensors[x->tensor];
    const struct lx_team_box *box = &x->box[k->member];
    struct arena *memory = k->b.memory;
    if (k->box[e] >= 0 || lx_team_box_empty(box)) return true;
    struct lx_team_box own = lx_team_own(k->p, x->tensor, k->member);
    /* what was never written here is not sent either */
    bool sends = !lx_team_box_empty(&own) && (x->after < 0 || k->own[x->tensor] >= 0);
    int32_t from = sends ? own_tensor(k, x->tensor, false) : 0;
    int32_t to = from < 0 ? -1
                          : add_tensor(k, arena_format(memory, "%s~%d", t->name, (int)e), x->tensor,
                                       LX_ROLE_COUNT, box);
    k->box[e] = to;
    return to >= 0 && add_op(k, arena_format(memory, "exchange~%d", (int)e), LX_KIND_EXTERN, &from, sends, to,
                             NULL, NULL);
}

struct source {
    int32_t tensor; /* local; -1: st is set */
    struct lx_team_box box;
};

static struct source source_of(struct maker *k, int32_t o, int i)
{
    int32_t t = k->p->graph->ops[o].inputs[i], e = k->p->ops[o].exchange[i];
    struct source s = {-1, {0}};
    if (e >= 0) {
        if (!receive(k, e)) return s;
        s.tensor = k->box[e];
        s.box = k->p->exchanges[e].box[k->member];
    } else {
        s.tensor = own_tensor(k, t, false);
        s.box = lx_team_own(k->p, t, k->member);
    }
    return s;
}

/* A local tensor that holds the box `want` of what `from` holds. */
static int32_t take(struct maker *k, int32_t o, const char *what, int i, int32_t t, const struct source *from,
                    const struct lx_team_box *want)
{
    if (from->tensor < 0 || lx_team_box_equal(&from->box, want)) return from->tensor;
    const char *name = arena_format(k->b.memory, "%s~%s%d", k->p->graph->ops[o].name, what, i);
    int64_t offset[LX_MAX_RANK] = {0};
    for (int d = 0; d < want->rank; d++) offset[d] = want->offset[d] - from->box.offset[d];
    int32_t to = add_tensor(k, name, t, LX_ROLE_COUNT, want);
    return to >= 0 && add_op(k, name, LX_KIND_SLICE, &from->tensor, 1, to, offset, NULL) ? to : -1;
}

/* Views: slice and insert keep their kind with a local offset, a shift is one of the whole box. */
static bool add_view(struct maker *k, int32_t o, const struct op_index *x, struct lx_team_range range)
{
    const struct lx_op *op = &k->p->graph->ops[o];
    struct lx_team_box own = lx_team_own(k->p, op->output, k->member);
    struct source from = source_of(k, o, 0);
    if (from.tensor < 0) return false;
    int var = k->p->ops[o].var, rank = x->rank[0];
    int64_t offset[LX_MAX_RANK] = {0};
    int32_t out;
    if (team_is_shift(op)) {
        if (lx_team_box_equal(&from.box, &own)) {
            out = own_tensor(k, op->output, true);
            return out >= 0 && add_op(k, op->name, op->kind->id, &from.tensor, 1, out, op->offset, NULL);
        }
        const char *name = arena_format(k->b.memory, "%s~all", op->name);
        struct source moved = {add_tensor(k, name, op->inputs[0], LX_ROLE_COUNT, &from.box), from.box};
        if (moved.tensor < 0 ||
            !add_op(k, name, op->kind->id, &from.tensor, 1, moved.tensor, op->offset, NULL))
            return false;
        out = own_tensor(k, op->output, true);
        for (int d = 0; d < rank; d++) offset[d] = own.offset[d] - from.box.offset[d];
        return out >= 0 && add_op(k, op->name, LX_KIND_SLICE, &moved.tensor, 1, out, offset, NULL);
    }
    const struct lx_team_box *whole = &own; /* what the offset counts in: an insertion's output */
    if (!op_is_insert(op))
        whole = &from.box;
    else {
        struct lx_team_box need = team_need_box(k->p->graph, op, x, 0, var, range);
        from.tensor = take(k, o, "in", 0, op->inputs[0], &from, &need);
    }
    for (int d = 0; d < rank; d++)
        offset[d] = x->offset[d] + x->stride[d] * (d == var ? range.begin : 0) - whole->offset[d];
    out = own_tensor(k, op->output, true);
    return from.tensor >= 0 && out >= 0 &&
           add_op(k, op->name, op->kind->id, &from.tensor, 1, out, offset, op->stride);
}

static bool combine(struct maker *k, int32_t o, int32_t partial, bool any)
{
    const struct lx_op *op = &k->p->graph->ops[o];
    int32_t out = own_tensor(k, op->output, true);
    return out >= 0 && add_op(k, arena_format(k->b.memory, "%s~combine", op->name), LX_KIND_EXTERN, &partial,
                              any, out, NULL, NULL);
}

static bool add_local_op(struct maker *k, int32_t o)
{
    const struct lx_op *op = &k->p->graph->ops[o];
    const struct lx_team_op *how = &k->p->ops[o];
    struct lx_team_range range = how->range[k->member];
    bool empty = how->var >= 0 && range.end <= range.begin, partial = how->mode == LX_TEAM_COMBINE;
    if (empty) return partial ? combine(k, o, 0, false) : true;
    struct op_index x;
    op_index_of(k->p->graph, op, &x);
    if (op->offset) return add_view(k, o, &x, range);
    int32_t inputs[LX_MAX_INPUTS];
    struct lx_op local = *op;
    for (int i = 0; i < op->input_count; i++) {
        struct source from = source_of(k, o, i);
        struct lx_team_box need = team_need_box(k->p->graph, op, &x, i, how->var, range);
        inputs[i] = take(k, o, "in", i, op->inputs[i], &from, &need);
        if (inputs[i] < 0) return false;
    }
    local.inputs = inputs;
    local.hint_count = 0; /* asked for whole extents, not for this member's part */
    if (partial) {
        const struct lx_tensor *out = &k->p->graph->tensors[op->output];
        struct lx_team_box whole = lx_team_box_of(out->rank, out->shape);
        local.output =
            add_tensor(k, arena_format(k->b.memory, "%s~part", op->name), op->output, LX_ROLE_COUNT, &whole);
        /* a mean is divided when the sum is complete */
        if (local.kind->id == LX_KIND_MEAN) local.kind = lx_kind_at(LX_KIND_SUM);
    } else
        local.output = own_tensor(k, op->output, true);
    if (local.output < 0 || !builder_op(&k->b, &local, k->st)) return false;
    return partial ? combine(k, o, local.output, true) : true;
}

static bool add_ops(struct maker *k)
{
    bool ok = true;
    for (int32_t o = 0; o < k->p->graph->op_count && ok; o++) ok = add_local_op(k, o);
    if (ok && k->b.ops.count == 0)
        ok = status_set(k->st, LX_E_NO, "member %d of %d has nothing to do in %s", k->member, k->p->members,
                        k->p->graph->name);
    return ok;
}

const struct lx_graph *lx_team_member_graph(const struct lx_team_plan *plan, int member, lx_status *st)
{
    const struct lx_graph *g = plan->graph;
    if (member < 0 || member >= plan->members) {
        status_set(st, LX_E_RANGE, "a team of %d has no member %d", plan->members, member);
        return NULL;
    }
    struct maker k = {.p = plan, .member = member, .st = st};
    k.own = malloc(((size_t)g->tensor_count + 1) * sizeof *k.own);
    k.box = malloc(((size_t)plan->exchange_count + 1) * sizeof *k.box);
    bool ok = k.own && k.box ? true : status_no_memory(st);
    for (int32_t t = 0; ok && t < g->tensor_count; t++) k.own[t] = -1;
    for (int32_t e = 0; ok && e < plan->exchange_count; e++) k.box[e] = -1;
    const struct lx_graph *local = NULL;
    if (ok) {
        ok = builder_begin(&k.b, g->file, g->name, st);
        if (ok) k.b.graph->device = g->device;
        if (ok && add_ops(&k))
            local = builder_finish(&k.b, st);
        else
            builder_abandon(&k.b);
    }
    free(k.own);
    free(k.box);
    return local;
}
