/* Pieces of ops on a device: what an op reads is fetched, what it writes becomes a holding. */
#include "team/device_maker.h"
#include "base/fail.h"

struct piece {
    int32_t o;
    const struct lx_op *op;
    const struct lx_team_op *how;
    struct op_index x;
    struct lx_team_space space;
};

static struct lx_team_box device_ops_need_of(const struct maker *k, const struct piece *q, int input)
{
    return team_need_box(k->p->graph, q->op, &q->x, input, &q->space);
}

static struct lx_team_box device_ops_result_of(const struct maker *k, const struct piece *q)
{
    return team_result_box(k->p->graph, q->op, &q->x, &q->space);
}

static bool device_ops_makes_parts(const struct piece *q)
{
    return q->how->mode == LX_TEAM_COMBINE || q->how->mode == LX_TEAM_KEPT_PARTIAL;
}

/* What an op reads of an input: of the tensor, or of this device's part of it. */
static int32_t device_ops_fetch(struct maker *k, const struct piece *q, int i, const struct lx_team_box *need)
{
    int32_t t = q->op->inputs[i];
    if (team_reads_partial(q->op, q->how->var, i)) return maker_part(k, t, need);
    return maker_fetch(k, q->o, t, q->how->exchange[i], need);
}

/* The tensor of this device's part of a sum, and the name of the op that writes it. */
static int32_t write_part(struct maker *k, const struct piece *q, const struct lx_team_box *box,
                          const char **name)
{
    struct content *c = &k->contents[q->op->output];
    *name = maker_name(k, q->op->name, "part");
    c->writer = q->o;
    c->own.count = c->made.count = 0;
    c->part = (struct holding){maker_tensor(k, *name, q->op->output, LX_INTERMEDIATE, box), *box};
    if (c->part.local >= 0 && !VEC_PUSH(&c->own, c->part)) return status_no_memory(k->st), -1;
    return c->part.local;
}

static int32_t write_to(struct maker *k, const struct piece *q, const struct lx_team_box *box,
                        const char **name)
{
    return device_ops_makes_parts(q) ? write_part(k, q, box, name) : maker_write(k, q->o, 0, box, name);
}

/* A slice of a holding, or of what is put together for it. */
static bool add_slice(struct maker *k, const struct piece *q)
{
    int32_t t = q->op->inputs[0], e = q->how->exchange[0];
    struct lx_team_box need = device_ops_need_of(k, q, 0), result = device_ops_result_of(k, q);
    const struct holding *around = device_ops_makes_parts(q) ? NULL : maker_around(k, q->o, t, e, &need);
    struct holding from = around ? *around : (struct holding){device_ops_fetch(k, q, 0, &need), need};
    int64_t offset[LX_MAX_RANK] = {0};
    const char *name;
    for (int d = 0; d < result.rank; d++)
        offset[d] = op_index_offset(&q->x, 0, d) + op_index_stride(&q->x, 0, d) * result.offset[d] -
                    from.box.offset[d];
    int32_t to = from.local < 0 ? -1 : write_to(k, q, &result, &name);
    return to >= 0 && maker_view(k, LX_KIND_SLICE, name, from.local, to, offset, q->op->stride);
}

/* What comes from afar, as it is. */
static bool add_far(struct maker *k, const struct piece *q, int32_t from, const struct lx_team_box *result)
{
    static const int64_t start[LX_MAX_RANK];
    const char *name = NULL;
    int32_t to = write_to(k, q, result, &name);
    return to >= 0 && maker_view(k, LX_KIND_SLICE, name, from, to, start, NULL);
}

/* All of the box is shifted, and the piece taken out of it: zeros come in where the tensor ends, and there only,
 * because the box holds both the places that are read and those that are written. */
static bool device_ops_add_shift(struct maker *k, const struct piece *q)
{
    struct lx_team_box need = device_ops_need_of(k, q, 0), result = device_ops_result_of(k, q);
    int32_t from = device_ops_fetch(k, q, 0, &need), moved;
    bool direct = lx_team_box_equal(&need, &result);
    int64_t offset[LX_MAX_RANK] = {0};
    if (from >= 0 && team_shift_copies(&k->p->graph->tensors[q->op->inputs[0]], &result, &need))
        return add_far(k, q, from, &result);
    const char *name = NULL, *all = direct ? NULL : maker_name(k, q->op->name, "all");
    if (from < 0) return false;
    moved = direct ? -1 : maker_tensor(k, all, q->op->output, LX_INTERMEDIATE, &need);
    if (!direct && (moved < 0 || !maker_view(k, LX_KIND_SHIFT, all, from, moved, q->op->offset, NULL)))
        return false;
    int32_t to = write_to(k, q, &result, &name);
    if (to < 0) return false;
    if (direct) return maker_view(k, LX_KIND_SHIFT, name, from, to, q->op->offset, NULL);
    for (int d = 0; d < result.rank; d++) offset[d] = result.offset[d] - need.offset[d];
    return maker_view(k, LX_KIND_SLICE, name, moved, to, offset, NULL);
}

/* The part of a holding that goes into the own block of the output, at the place that it has there. */
static bool insert_part(struct maker *k, const struct piece *q, const struct lx_team_box *held, int32_t to)
{
    const struct lx_tensor *in = &k->p->graph->tensors[q->op->inputs[0]];
    struct lx_team_box need = device_ops_need_of(k, q, 0), part = lx_team_box_meet(held, &need);
    if (lx_team_box_empty(&part)) return true;
    const struct lx_tensor *out = &k->p->graph->tensors[q->op->output];
    int along = q->space.loops ? op_index_dim(&q->x, 1, q->space.var[0]) : 0;
    struct lx_team_box block = lx_team_own(k->p, q->op->output, k->device);
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
static bool device_ops_at_once(const struct maker *k, const struct piece *q)
{
    const struct lx_team_tensor *t = &k->p->tensors[q->op->inputs[0]];
    for (int a = 0; a < k->p->grid.axes; a++)
        if (t->shard[a] >= 0 &&
            (op_index_offset(&q->x, 1, t->shard[a]) != 0 || op_index_stride(&q->x, 1, t->shard[a]) != 1))
            return false;
    return true;
}

static bool add_insert(struct maker *k, const struct piece *q)
{
    int32_t t = q->op->inputs[0], e = q->how->exchange[0], to = maker_join(k, q->op->output);
    const holdings *lists[] = {maker_own(k, q->o, t), e >= 0 ? &k->arrived[e] : NULL};
    struct content *c = &k->contents[q->op->output];
    struct lx_team_box need = device_ops_need_of(k, q, 0);
    bool ok = to >= 0 && lists[0], one = device_ops_at_once(k, q);
    for (size_t n = 0; ok && lists[1] && n < lists[1]->count; n++)
        if (lx_team_box_within(&need, &lists[1]->at[n].box)) lists[0] = NULL; /* the own part is there, too */
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
    struct lx_team_box whole = device_ops_result_of(k, q);
    bool mean = q->op->kind->id == LX_KIND_MEAN && part_of_terms(q) != 1;
    const char *name = NULL;
    int32_t part = write_part(k, q, &whole, &name), sum = part;
    if (mean)
        sum = maker_tensor(k, maker_name(k, q->op->name, "mean"), q->op->output, LX_INTERMEDIATE, &whole);
    local->output = sum;
    local->outputs = NULL;
    struct lx_op weigh = {.name = name,
                          .kind = lx_kind_at(LX_KIND_MUL),
                          .input_count = 1,
                          .inputs = &sum,
                          .output = part,
                          .has_value = true,
                          .value = part_of_terms(q)};
    return part >= 0 && sum >= 0 && maker_op(k, local) && (!mean || maker_op(k, &weigh));
}

/* What a piece of an op says of its index map beside the letters: where its part of windows and views begins. */
struct local_map {
    struct lx_window windows[LX_MAX_RANK];
    struct lx_view views[LX_MAX_INPUTS];
    struct {
        int64_t offset[LX_MAX_RANK], size[LX_MAX_RANK];
    } at[LX_MAX_INPUTS];
};

/* Of a variable, where the piece begins and how long it is. */
static struct lx_team_range device_ops_piece_of(const struct piece *q, int v)
{
    int l = team_loop_of(&q->space, v);
    return l >= 0 ? q->space.range[l] : (struct lx_team_range){0, q->x.extent[v]};
}

/* The first input begins elsewhere, and so does the output: what lies between them is the padding. */
static bool localise_windows(const struct piece *q, const struct lx_team_box *need, struct local_map *map,
                             struct lx_op *local)
{
    for (int i = 0; i < q->op->window_count; i++) {
        const struct lx_window *w = &q->op->windows[i];
        int dim = op_index_dim(&q->x, 0, w->in);
        if (i >= LX_MAX_RANK) return false;
        map->windows[i] = *w;
        if (dim >= 0)
            map->windows[i].pad +=
                need->offset[dim] * w->hole - w->stride * device_ops_piece_of(q, w->out).begin;
    }
    if (q->op->window_count) local->windows = map->windows;
    return true;
}

static void localise_view(const struct piece *q, int i, const struct lx_team_box *need, struct local_map *map)
{
    const struct lx_walk *walk = &q->op->map->walks[i];
    struct lx_view said =
        q->op->views ? q->op->views[i] : (struct lx_view){q->op->offset, q->op->stride, NULL};
    map->views[i] = said;
    if (!said.offset) return;
    for (int d = 0; d < need->rank; d++) {
        struct lx_team_range r = device_ops_piece_of(q, q->x.var[i][d]);
        map->at[i].offset[d] = walk->first[d] + walk->by[d] * r.begin - need->offset[d];
        map->at[i].size[d] = r.end - r.begin;
    }
    map->views[i].offset = map->at[i].offset;
    if (said.size) map->views[i].size = map->at[i].size;
}

/* Views name places in the box that is fetched. */
static void localise_views(const struct piece *q, const struct lx_team_box *needs, struct local_map *map,
                           struct lx_op *local)
{
    if (!q->op->map || !q->op->map->walks || (q->op->kind->traits & LX_PLACES)) return;
    for (int i = 0; i < q->op->input_count; i++) localise_view(q, i, &needs[i], map);
    if (q->op->views) local->views = map->views;
    if (q->op->offset) local->offset = map->views[0].offset;
}

/* Results of one op have one shape, but for what is computed whole. */
static struct lx_team_box box_of_result(const struct maker *k, const struct piece *q, int32_t t)
{
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    return q->space.loops ? device_ops_result_of(k, q) : lx_team_box_of(x->rank, x->shape);
}

/* Where the results of a piece go: what is changed in place is joined first. */
static bool device_ops_write_results(struct maker *k, const struct piece *q, int32_t *outputs,
                                     struct lx_op *local)
{
    const char *name = NULL;
    for (int r = 0; r < op_operand_count(q->op) - q->op->input_count; r++) {
        int32_t t = op_operand(q->op, q->op->input_count + r);
        struct lx_team_box result = box_of_result(k, q, t);
        outputs[r] = op_keeps_rest(q->op) ? maker_join(k, t) : maker_write(k, q->o, r, &result, &name);
        if (outputs[r] < 0) return false;
        if (r == 0) local->name = name ? name : q->op->name;
        if (!op_keeps_rest(q->op)) continue;
        k->contents[t].made.count = 0; /* of the contents before */
        k->contents[t].writer = q->o;
    }
    local->output = outputs[0];
    local->outputs = outputs;
    return true;
}

static bool add_plain(struct maker *k, const struct piece *q)
{
    int32_t inputs[LX_MAX_INPUTS], outputs[LX_MAX_OUTPUTS];
    struct lx_team_box needs[LX_MAX_INPUTS];
    struct local_map map;
    struct lx_op local = *q->op;
    for (int i = 0; i < q->op->input_count; i++) {
        needs[i] = device_ops_need_of(k, q, i);
        inputs[i] = device_ops_fetch(k, q, i, &needs[i]);
        if (inputs[i] < 0) return false;
    }
    local.inputs = inputs;
    local.hint_count = 0; /* asked for whole extents, not for this device's part */
    localise_views(q, needs, &map, &local);
    if (!localise_windows(q, needs, &map, &local))
        return status_set(k->st, LX_E_UNSUPPORTED, "op %s has too many windows for a team", q->op->name);
    if (device_ops_makes_parts(q)) return add_partial(k, q, &local);
    return device_ops_write_results(k, q, outputs, &local) && maker_op(k, &local);
}

bool maker_compute(struct maker *k, int32_t o, const struct lx_team_space *space)
{
    struct piece q = {.o = o, .op = &k->p->graph->ops[o], .how = &k->p->ops[o], .space = *space};
    if (lx_team_space_empty(space)) return true;
    op_index_of(k->p->graph, q.op, &q.x);
    if (!q.op->offset || q.op->map) return add_plain(k, &q);
    if (team_is_shift(q.op)) return device_ops_add_shift(k, &q);
    return op_is_insert(q.op) ? add_insert(k, &q) : add_slice(k, &q);
}
