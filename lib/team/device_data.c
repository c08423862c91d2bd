/* Holdings of a device: see device_maker.h. */
#include "team/device_maker.h"

const char *maker_name(struct maker *k, const char *of, const char *what)
{
    return arena_format(k->b.memory, "%s~%s%d", of, what, k->serial++);
}

int32_t maker_tensor(struct maker *k, const char *name, int32_t t, enum lx_role role,
                     const struct lx_team_box *box)
{
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    if (k->failed) return -1;
    int32_t local = builder_tensor(&k->b, name, role, x->dtype, x->rank, box->size, 0, k->st);
    k->failed = local < 0;
    return local;
}

void maker_op(struct maker *k, const struct lx_op *op)
{
    k->failed = k->failed || !builder_op(&k->b, op, k->st);
}

void maker_view(struct maker *k, enum lx_kind_id kind, const char *name, int32_t from, int32_t to,
                const int64_t *offset, const int64_t *stride)
{
    struct lx_op op = builder_plain(name, kind, 1, &from, to);
    op.offset = offset;
    op.stride = stride;
    maker_op(k, &op);
}

/* Adds an input of zeros. */
static int32_t device_data_zeros(struct maker *k, int32_t t, const struct lx_team_box *box)
{
    const char *name = maker_name(k, k->p->graph->tensors[t].name, "zero");
    int32_t local = maker_tensor(k, name, t, LX_INPUT, box);
    VEC_PUSH(&k->places, ((struct lx_team_place){.local = local, .tensor = -1, .box = *box}));
    return local;
}

const holdings *maker_own(struct maker *k, int32_t o, int32_t t)
{
    struct content *c = &k->contents[t];
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    if (o >= 0 && c->writer == o) return &c->old;
    if (c->own.count > 0 || lx_team_box_empty(&own)) return &c->own;
    int32_t local;
    if (lx_role_arrives(x->role)) { /* the op that writes the tensor later writes this one */
        local = c->named = maker_tensor(k, x->name, t, x->role, &own);
        VEC_PUSH(&k->places, ((struct lx_team_place){.local = local, .tensor = t, .box = own}));
    } else {
        local = device_data_zeros(k, t, &own);
    }
    VEC_PUSH(&c->own, ((struct holding){local, own}));
    return &c->own;
}

/* The first holding equal to the box, otherwise the first that contains it. */
const struct holding *maker_around(struct maker *k, int32_t o, int32_t t, int32_t e,
                                   const struct lx_team_box *box)
{
    const holdings *own = maker_own(k, o, t);
    const holdings *lists[] = {own, e >= 0 ? &k->arrived[e] : NULL,
                               own == &k->contents[t].own ? &k->contents[t].made : NULL};
    for (int n = 0; n < 6; n++) {
        const holdings *list = lists[n % 3];
        for (size_t i = 0; list && i < list->count; i++) {
            const struct holding *h = &list->at[i];
            if (n < 3 ? lx_team_box_equal(box, &h->box) : lx_team_box_within(box, &h->box)) return h;
        }
    }
    return NULL;
}

/* Adds a slice of a holding. */
static int32_t device_data_slice(struct maker *k, int32_t t, const struct holding *h,
                                 const struct lx_team_box *box)
{
    struct holding from = *h; /* a copy: lists may grow */
    const char *name = maker_name(k, k->p->graph->tensors[t].name, "at");
    int32_t to = maker_tensor(k, name, t, LX_INTERMEDIATE, box);
    int64_t offset[LX_MAX_RANK] = {0};
    for (int d = 0; d < box->rank; d++)
        offset[d] = max_i64(0, min_i64(box->offset[d] - from.box.offset[d], from.box.size[d]));
    maker_view(k, LX_KIND_SLICE, name, from.local, to, offset, NULL);
    return to;
}

/* Inserts the list's parts of the box into tensor `to`, which then holds the box. */
static void device_data_put(struct maker *k, int32_t o, int32_t t, int32_t e, const holdings *list,
                            int32_t to, const struct lx_team_box *box)
{
    for (size_t i = 0; list && i < list->count; i++) {
        struct lx_team_box part = lx_team_box_meet(&list->at[i].box, box);
        int64_t offset[LX_MAX_RANK] = {0};
        if (lx_team_box_empty(&part)) continue;
        int32_t from = maker_fetch(k, o, t, e, &part);
        for (int d = 0; d < box->rank; d++) offset[d] = part.offset[d] - box->offset[d];
        maker_view(k, LX_KIND_INSERT, maker_name(k, k->p->graph->tensors[t].name, "put"), from, to, offset,
                   NULL);
    }
}

static int32_t device_data_assemble(struct maker *k, int32_t o, int32_t t, int32_t e,
                                    const struct lx_team_box *box)
{
    const char *tensor = k->p->graph->tensors[t].name;
    const holdings *lists[] = {maker_own(k, o, t), e >= 0 ? &k->arrived[e] : NULL};
    int64_t lacking = lx_team_box_elements(box);
    for (int n = 0; n < 2; n++)
        for (size_t i = 0; lists[n] && i < lists[n]->count; i++) {
            struct lx_team_box part = lx_team_box_meet(&lists[n]->at[i].box, box);
            lacking -= lx_team_box_elements(&part);
        }
    if (lacking != 0 && !k->failed) {
        status_set(k->st, LX_E_INTERNAL, "device %d lacks a part of %s that it needs", k->device, tensor);
        k->failed = true;
    }
    if (k->failed) return -1;
    int32_t to = maker_tensor(k, maker_name(k, tensor, "box"), t, LX_INTERMEDIATE, box);
    for (int n = 0; n < 2; n++) device_data_put(k, o, t, e, lists[n], to, box);
    return to;
}

int32_t maker_fetch(struct maker *k, int32_t o, int32_t t, int32_t e, const struct lx_team_box *box)
{
    struct content *c = &k->contents[t];
    const struct holding *h = maker_around(k, o, t, e, box);
    if (h && lx_team_box_equal(&h->box, box)) return h->local;
    int32_t to = h ? device_data_slice(k, t, h, box) : device_data_assemble(k, o, t, e, box);
    if (maker_own(k, o, t) == &c->own) VEC_PUSH(&c->made, ((struct holding){to, *box}));
    return to;
}

int32_t maker_partial(struct maker *k, int32_t t, const struct lx_team_box *box)
{
    const struct holding *part = &k->contents[t].part;
    if (part->local < 0) return device_data_zeros(k, t, box);
    return lx_team_box_equal(&part->box, box) ? part->local : device_data_slice(k, t, part, box);
}

int32_t maker_named(struct maker *k, int32_t t)
{
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    struct content *c = &k->contents[t];
    if (c->named < 0) c->named = maker_tensor(k, x->name, t, x->role, &own);
    return c->named;
}

int32_t maker_write(struct maker *k, int32_t o, int result, const struct lx_team_box *box, const char **name)
{
    const struct lx_op *op = &k->p->graph->ops[o];
    int32_t t = op_operand(op, op->input_count + result);
    struct content *c = &k->contents[t];
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    if (c->writer != o) {
        VEC_FREE(&c->old);
        c->old = c->own;
        c->own = (holdings){0};
        c->made.count = 0;
        c->writer = o;
    }
    bool all = lx_team_box_equal(box, &own);
    *name = all ? op->name : maker_name(k, op->name, "");
    const char *piece = result ? maker_name(k, k->p->graph->tensors[t].name, "") : *name;
    int32_t to = all ? maker_named(k, t) : maker_tensor(k, piece, t, LX_INTERMEDIATE, box);
    VEC_PUSH(&c->own, ((struct holding){to, *box}));
    return to;
}

/* Whether an insertion of the graph writes the tensor; its layout must suit that. */
static bool device_data_is_inserted(const struct maker *k, int32_t t)
{
    const struct lx_graph *g = k->p->graph;
    for (int32_t o = 0; o < g->op_count; o++)
        if (op_operand_made(&g->ops[o], t) >= 0 && op_keeps_rest(&g->ops[o])) return true;
    return false;
}

bool maker_receives(const struct maker *k, int32_t t)
{
    return k->contents[t].named < 0 && !device_data_is_inserted(k, t);
}

void maker_hold(struct maker *k, int32_t t, int32_t local, const struct lx_team_box *box)
{
    struct content *c = &k->contents[t];
    c->own.count = c->made.count = 0;
    VEC_PUSH(&c->own, ((struct holding){local, *box}));
}

int32_t maker_join(struct maker *k, int32_t t)
{
    struct content *c = &k->contents[t];
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    if (c->named >= 0 && c->own.count == 1 && c->own.at[0].local == c->named) return c->named;
    int32_t to = maker_named(k, t);
    if (c->own.count > 0 && device_data_is_inserted(k, t)) { /* joined in another tensor, then copied */
        int32_t from = maker_fetch(k, -1, t, -1, &own);
        maker_view(k, LX_KIND_CLONE, maker_name(k, k->p->graph->tensors[t].name, "all"), from, to, NULL,
                   NULL);
    } else {
        device_data_put(k, -1, t, -1, &c->own, to, &own);
    }
    maker_hold(k, t, to, &own);
    return to;
}
