/* Pieces of ops on a member: what an op reads is fetched, what it writes becomes a holding. */
#include "team/member_maker.h"
#include "base/fail.h"

struct piece {
    int32_t o;
    const struct lx_op *op;
    const struct lx_team_op *how;
    struct op_index x;
    struct lx_team_space space;
};

static struct lx_team_box need_of(const struct maker *k, const struct piece *q, int input)
{
    return team_need_box(k->p->graph, q->op, &q->x, input, &q->space);
}

static struct lx_team_box result_of(const struct maker *k, const struct piece *q)
{
    return team_result_box(k->p->graph, q->op, &q->x, &q->space);
}

/* A slice of a holding, or of what is put together for it. */
static bool add_slice(struct maker *k, const struct piece *q)
{
    int32_t t = q->op->inputs[0], e = q->how->exchange[0];
    struct lx_team_box need = need_of(k, q, 0), result = result_of(k, q);
    const struct holding *around = maker_around(k, q->o, t, e, &need);
    struct holding from = around ? *around : (struct holding){maker_fetch(k, q->o, t, e, &need), need};
    int64_t offset[LX_MAX_RANK] = {0};
    const char *name;
    for (int d = 0; d < result.rank; d++)
        offset[d] = op_index_offset(&q->x, 0, d) + op_index_stride(&q->x, 0, d) * result.offset[d] -
                    from.box.offset[d];
    int32_t to = from.local < 0 ? -1 : maker_write(k, q->o, &result, &name);
    return to >= 0 && maker_view(k, LX_KIND_SLICE, name, from.local, to, offset, q->op->stride);
}

/* All of the box is shifted, and the piece taken out of it: zeros come in where the tensor ends, and there only,
 * because the box holds both the places that are read and those that are written. */
static bool add_shift(struct maker *k, const struct piece *q)
{
    struct lx_team_box need = need_of(k, q, 0), result = result_of(k, q);
    int32_t from = maker_fetch(k, q->o, q->op->inputs[0], q->how->exchange[0], &need), moved;
    bool direct = lx_team_box_equal(&need, &result);
    int64_t offset[LX_MAX_RANK] = {0};
    const char *name = NULL, *all = direct ? NULL : maker_name(k, q->op->name, "all");
    if (from < 0) return false;
    moved = direct ? -1 : maker_tensor(k, all, q->op->output, LX_INTERMEDIATE, &need);
    if (!direct && (moved < 0 || !maker_view(k, LX_KIND_SHIFT, all, from, moved, q->op->offset, NULL)))
        return false;
    int32_t to = maker_write(k, q->o, &result, &name);
    if (to < 0) return false;
    if (direct) return maker_view(k, LX_KIND_SHIFT, name, from, to, q->op->offset, NULL);
    for (int d = 0; d < result.rank; d++) offset[d] = result.offset[d] - need.offset[d];
    return maker_view(k, LX_KIND_SLICE, name, moved, to, offset, NULL);
}

/* The part of a holding that goes into the own block of the output, at the place that it has there. */
static bool insert_part(struct maker *k, const struct piece *q, const struct lx_team_box *held, int32_t to)
{
    const struct lx_tensor *in = &k->p->graph->tensors[q->op->inputs[0]];
    struct lx_team_box need = need_of(k, q, 0), part = lx_team_box_meet(held, &need);
    if (lx_team_box_empty(&part)) return true;
    const struct lx_tensor *out = &k->p->graph->tensors[q->op->output];
    int along = q->space.loops ? op_index_dim(&q->x, 1, q->space.var[0]) : 0;
    struct lx_team_box block = lx_team_own(k->p, q->op->output, k->member);
    struct lx_team_array own = lx_team_array_of_box(out->rank, out->shape, along, &block);
    struct lx_team_view slice = team_view_of(&q->x, 1);
    struct lx_team_array source = lx_team_array_of_box(in->rank, in->shape, along, &part);
    struct lx_team_insertion where = lx_team_insert_slice(&own, &slice, &source);
    int64_t offset[LX_MAX_RANK] = {0};
    for (int d = 0; d < part.rank; d++)
        offset[d] =
            op_index_offset(&q->x, 1, d) + op_index_stride(&q->x, 1, d) * part.offset[d] - own.offset[d];
    if (part.rank > 0) offset[along] = where.piece[LX_TEAM_OWN].destination;
    int32_t from = maker_fetch(k, q->o, q->op->inputs[0], q->how->exchange[0], &part);
    return from >= 0 &&
           maker_view(k, LX_KIND_INSERT, maker_name(k, q->op->name, ""), from, to, offset, q->op->stride);
}

/* Parts that are put one by one begin inside sticks, unless these run along another dimension. An insertion that
 * itself begins at the start of this one wants that freedom for others: it is made at once. */
static bool at_once(const struct maker *k, const struct piece *q)
{
    const struct lx_team_tensor *t = &k->p->tensors[q->op->inputs[0]];
    for (int a = 0; a < k->p->grid.axes; a++)
        if (t->cut[a] >= 0 &&
            (op_index_offset(&q->x, 1, t->cut[a]) != 0 || op_index_stride(&q->x, 1, t->cut[a]) != 1))
            return false;
    return true;
}

static bool add_insert(struct maker *k, const struct piece *q)
{
    int32_t t = q->op->inputs[0], e = q->how->exchange[0], to = maker_join(k, q->op->output);
    const holdings *lists[] = {maker_own(k, q->o, t), e >= 0 ? &k->arrived[e] : NULL};
    struct content *c = &k->contents[q->op->output];
    struct lx_team_box need = need_of(k, q, 0);
    bool ok = to >= 0 && lists[0], one = at_once(k, q);
    if (ok && one) ok = insert_part(k, q, &need, to);
    for (int i = 0; i < 2 && !one; i++)
        for (size_t n = 0; ok && lists[i] && n < lists[i]->count; n++) {
            struct lx_team_box held = lists[i]->at[n].box;
            ok = insert_part(k, q, &held, to);
        }
    c->made.count = 0; /* of the contents before */
    c->writer = q->o;
    return ok;
}

/* How much of what a sum has terms of is this piece's. */
static double part_of_terms(const struct piece *q)
{
    double part = 1;
    for (int l = 0; l < q->space.loops; l++)
        if (op_index_reduced(&q->x, q->space.var[l]))
            part *= (double)(q->space.range[l].end - q->space.range[l].begin) /
                    (double)q->x.extent[q->space.var[l]];
    return part;
}

/* Part of a sum. A mean is one of a part of the elements, weighted by how many these are,
 * so that no sum outgrows its type. */
static bool add_partial(struct maker *k, const struct piece *q, struct lx_op *local)
{
    struct lx_team_box whole = result_of(k, q);
    const char *name = maker_name(k, q->op->name, "part");
    bool mean = q->op->kind->id == LX_KIND_MEAN;
    int32_t part = maker_tensor(k, name, q->op->output, LX_INTERMEDIATE, &whole), sum = part;
    if (mean) sum = maker_tensor(k, q->op->name, q->op->output, LX_INTERMEDIATE, &whole);
    local->output = sum;
    struct lx_op weigh = {.name = name,
                          .kind = lx_kind_at(LX_KIND_MUL),
                          .input_count = 1,
                          .inputs = &sum,
                          .output = part,
                          .has_value = true,
                          .value = part_of_terms(q)};
    struct content *c = &k->contents[q->op->output];
    c->writer = q->o;
    c->own.count = c->made.count = 0;
    if (part < 0 || sum < 0 || !maker_op(k, local) || (mean && !maker_op(k, &weigh))) return false;
    return VEC_PUSH(&c->own, (struct holding){part, whole}) ? true : status_no_memory(k->st);
}

static bool add_plain(struct maker *k, const struct piece *q)
{
    int32_t inputs[LX_MAX_INPUTS];
    struct lx_op local = *q->op;
    struct lx_team_box result = result_of(k, q);
    for (int i = 0; i < q->op->input_count; i++) {
        struct lx_team_box need = need_of(k, q, i);
        inputs[i] = maker_fetch(k, q->o, q->op->inputs[i], q->how->exchange[i], &need);
        if (inputs[i] < 0) return false;
    }
    local.inputs = inputs;
    local.hint_count = 0; /* asked for whole extents, not for this member's part */
    if (q->how->mode == LX_TEAM_COMBINE) return add_partial(k, q, &local);
    local.output = maker_write(k, q->o, &result, &local.name);
    return local.output >= 0 && maker_op(k, &local);
}

bool maker_compute(struct maker *k, int32_t o, const struct lx_team_space *space)
{
    struct piece q = {.o = o, .op = &k->p->graph->ops[o], .how = &k->p->ops[o], .space = *space};
    if (lx_team_space_empty(space)) return true;
    op_index_of(k->p->graph, q.op, &q.x);
    if (!q.op->offset) return add_plain(k, &q);
    if (team_is_shift(q.op)) return add_shift(k, &q);
    return op_is_insert(q.op) ? add_insert(k, &q) : add_slice(k, &q);
}
