/* What a device holds of the tensors of the graph: see device_maker.h. */
#include "team/device_maker.h"
#include "base/fail.h"

const char *maker_name(struct maker *k, const char *of, const char *what)
{
    return arena_format(k->b.memory, "%s~%s%d", of, what, k->serial++);
}

int32_t maker_tensor(struct maker *k, const char *name, int32_t t, enum lx_role role,
                     const struct lx_team_box *box)
{
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    if (!name) return status_no_memory(k->st), -1;
    return builder_tensor(&k->b, name, role, x->dtype, x->rank, box->size, 0, k->st);
}

bool maker_op(struct maker *k, const struct lx_op *op)
{
    return op->name ? builder_op(&k->b, op, k->st) : status_no_memory(k->st);
}

bool maker_view(struct maker *k, enum lx_kind_id kind, const char *name, int32_t from, int32_t to,
                const int64_t *offset, const int64_t *stride)
{
    struct lx_op op = {.name = name,
                       .kind = lx_kind_at(kind),
                       .input_count = 1,
                       .inputs = &from,
                       .output = to,
                       .offset = offset,
                       .stride = stride};
    return maker_op(k, &op);
}

static bool device_data_hold(struct maker *k, holdings *list, int32_t local, const struct lx_team_box *box)
{
    if (local < 0) return false;
    return VEC_PUSH(list, (struct holding){local, *box}) ? true : status_no_memory(k->st);
}

/* What was given, or nobody has written: then it is zeros. */
static bool device_data_give(struct maker *k, int32_t t, const struct lx_team_box *own)
{
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    bool data = lx_role_arrives(x->role);
    const char *name = data ? x->name : maker_name(k, x->name, "zero");
    int32_t local = maker_tensor(k, name, t, data ? x->role : LX_INPUT, own);
    struct lx_team_place place = {.local = local, .tensor = data ? t : -1, .box = *own};
    if (local >= 0 && !VEC_PUSH(&k->places, place)) return status_no_memory(k->st);
    if (data) k->contents[t].named = local; /* who writes the tensor later writes this one */
    return device_data_hold(k, &k->contents[t].own, local, own);
}

const holdings *maker_own(struct maker *k, int32_t o, int32_t t)
{
    struct content *c = &k->contents[t];
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    if (o >= 0 && c->writer == o) return &c->old;
    if (c->own.count == 0 && !lx_team_box_empty(&own) && !device_data_give(k, t, &own)) return NULL;
    return &c->own;
}

static const struct holding *around(const holdings *list, const struct lx_team_box *box)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (lx_team_box_within(box, &list->at[i].box)) return &list->at[i];
    return NULL;
}

static const struct holding *device_data_same(const holdings *list, const struct lx_team_box *box)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (lx_team_box_equal(box, &list->at[i].box)) return &list->at[i];
    return NULL;
}

const struct holding *maker_around(struct maker *k, int32_t o, int32_t t, int32_t e,
                                   const struct lx_team_box *box)
{
    const holdings *own = maker_own(k, o, t), *arrived = e >= 0 ? &k->arrived[e] : NULL;
    const holdings *made = own == &k->contents[t].own ? &k->contents[t].made : NULL;
    const struct holding *found = device_data_same(own, box);
    if (!found) found = device_data_same(arrived, box);
    if (!found) found = device_data_same(made, box);
    if (!found) found = around(own, box);
    if (!found) found = around(arrived, box);
    return found ? found : around(made, box);
}

/* A part of a holding, as a slice. */
static int32_t slice_of(struct maker *k, int32_t t, const struct holding *h, const struct lx_team_box *box)
{
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    struct lx_team_array held = lx_team_array_of_box(x->rank, x->shape, k->p->tensors[t].shard[0], &h->box);
    struct lx_team_view view = {.rank = box->rank};
    for (int d = 0; d < box->rank; d++) {
        view.offset[d] = box->offset[d];
        view.size[d] = box->size[d];
        view.stride[d] = 1;
    }
    struct lx_team_subview part = lx_team_subview_of(&held, &view, NULL);
    const char *name = maker_name(k, x->name, "at");
    int32_t from = h->local, to = maker_tensor(k, name, t, LX_INTERMEDIATE, box);
    bool ok = to >= 0 && maker_view(k, LX_KIND_SLICE, name, from, to, part.part[LX_TEAM_OWN].offset, NULL);
    return ok ? to : -1;
}

/* Puts what a holding has of the box into the tensor that is to hold the box. */
static bool device_data_put(struct maker *k, int32_t o, int32_t t, int32_t e, const struct holding *h,
                            int32_t to, const struct lx_team_box *box)
{
    struct lx_team_box part = lx_team_box_meet(&h->box, box);
    int64_t offset[LX_MAX_RANK] = {0};
    if (lx_team_box_empty(&part)) return true;
    int32_t from = maker_fetch(k, o, t, e, &part);
    for (int d = 0; d < box->rank; d++) offset[d] = part.offset[d] - box->offset[d];
    return from >= 0 && maker_view(k, LX_KIND_INSERT, maker_name(k, k->p->graph->tensors[t].name, "put"),
                                   from, to, offset, NULL);
}

static bool put_all(struct maker *k, int32_t o, int32_t t, int32_t e, const holdings *list, int32_t to,
                    const struct lx_team_box *box)
{
    bool ok = true;
    for (size_t i = 0; ok && list && i < list->count; i++) {
        struct holding h = list->at[i]; /* the list may grow */
        ok = device_data_put(k, o, t, e, &h, to, box);
    }
    return ok;
}

static int64_t device_data_held_of(const holdings *list, const struct lx_team_box *box)
{
    int64_t elements = 0;
    for (size_t i = 0; list && i < list->count; i++) {
        struct lx_team_box part = lx_team_box_meet(&list->at[i].box, box);
        elements += lx_team_box_elements(&part);
    }
    return elements;
}

static int32_t assemble(struct maker *k, int32_t o, int32_t t, int32_t e, const struct lx_team_box *box)
{
    const char *tensor = k->p->graph->tensors[t].name;
    const holdings *own = maker_own(k, o, t), *arrived = e >= 0 ? &k->arrived[e] : NULL;
    if (device_data_held_of(own, box) + device_data_held_of(arrived, box) != lx_team_box_elements(box)) {
        status_set(k->st, LX_E_INTERNAL, "device %d lacks a part of %s that it needs", k->device, tensor);
        return -1;
    }
    int32_t to = maker_tensor(k, maker_name(k, tensor, "box"), t, LX_INTERMEDIATE, box);
    return to >= 0 && put_all(k, o, t, e, own, to, box) && put_all(k, o, t, e, arrived, to, box) ? to : -1;
}

int32_t maker_fetch(struct maker *k, int32_t o, int32_t t, int32_t e, const struct lx_team_box *box)
{
    struct content *c = &k->contents[t];
    const struct holding *h = maker_around(k, o, t, e, box);
    if (h && lx_team_box_equal(&h->box, box)) return h->local;
    int32_t to = h ? slice_of(k, t, h, box) : assemble(k, o, t, e, box);
    bool kept = maker_own(k, o, t) == &c->own;
    return to >= 0 && (!kept || device_data_hold(k, &c->made, to, box)) ? to : -1;
}

int32_t maker_part(struct maker *k, int32_t t, const struct lx_team_box *box)
{
    struct content *c = &k->contents[t];
    if (c->part.local >= 0)
        return lx_team_box_equal(&c->part.box, box) ? c->part.local : slice_of(k, t, &c->part, box);
    int32_t local = maker_tensor(k, maker_name(k, k->p->graph->tensors[t].name, "zero"), t, LX_INPUT, box);
    struct lx_team_place place = {.local = local, .tensor = -1, .box = *box};
    if (local >= 0 && !VEC_PUSH(&k->places, place)) return status_no_memory(k->st), -1;
    return local;
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
    int32_t t = op_operand(&k->p->graph->ops[o], k->p->graph->ops[o].input_count + result);
    struct content *c = &k->contents[t];
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    if (c->writer != o) {
        VEC_FREE(&c->old);
        c->old = c->own;
        c->own = (holdings){0};
        c->made.count = 0;
        c->writer = o;
    }
    bool whole = lx_team_box_equal(box, &own);
    *name = whole ? k->p->graph->ops[o].name : maker_name(k, k->p->graph->ops[o].name, "");
    const char *piece = result ? maker_name(k, k->p->graph->tensors[t].name, "") : *name;
    int32_t to = whole ? maker_named(k, t) : maker_tensor(k, piece, t, LX_INTERMEDIATE, box);
    return device_data_hold(k, &c->own, to, box) ? to : -1;
}

/* Its layout must suit insertions of the graph: the parts are put together elsewhere. */
static bool inserted_into(const struct maker *k, int32_t t)
{
    const struct lx_graph *g = k->p->graph;
    for (int32_t o = 0; o < g->op_count; o++)
        if (op_operand_made(&g->ops[o], t) >= 0 && op_keeps_rest(&g->ops[o])) return true;
    return false;
}

static bool copy_joined(struct maker *k, int32_t t, const struct lx_team_box *own, int32_t to)
{
    int32_t from = maker_fetch(k, -1, t, -1, own);
    struct lx_op op = {.name = maker_name(k, k->p->graph->tensors[t].name, "all"),
                       .kind = lx_kind_at(LX_KIND_CLONE),
                       .input_count = 1,
                       .inputs = &from,
                       .output = to};
    return from >= 0 && maker_op(k, &op);
}

bool maker_receives(const struct maker *k, int32_t t)
{
    return k->contents[t].named < 0 && !inserted_into(k, t);
}

int32_t maker_join(struct maker *k, int32_t t)
{
    struct content *c = &k->contents[t];
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    if (c->named >= 0 && c->own.count == 1 && c->own.at[0].local == c->named) return c->named;
    int32_t to = maker_named(k, t);
    bool apart = c->own.count > 0 && inserted_into(k, t);
    if (to < 0 || !(apart ? copy_joined(k, t, &own, to) : put_all(k, -1, t, -1, &c->own, to, &own)))
        return -1;
    c->own.count = c->made.count = 0;
    return device_data_hold(k, &c->own, to, &own) ? to : -1;
}
