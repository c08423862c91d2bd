/* Pieces of ops on a device: fetches their inputs and records their results as holdings. */
#include "team/device_maker.h"

struct piece {
    int32_t o;
    const struct lx_op *op;
    const struct lx_team_op *how;
    struct op_index x;
    struct lx_team_space space;
    struct lx_team_box result;
    bool partial; /* the piece makes partial sums */
};

static struct lx_team_box device_ops_need(const struct maker *k, const struct piece *q, int input)
{
    return team_need_box(k->p->graph, q->op, &q->x, input, &q->space);
}

/* Fetches an input: a box of the tensor, or of this device's partial sums. */
static int32_t device_ops_fetch(struct maker *k, const struct piece *q, int i, const struct lx_team_box *need)
{
    int32_t t = q->op->inputs[i];
    if (team_reads_partial(q->op, q->how->var, i)) return maker_partial(k, t, need);
    return maker_fetch(k, q->o, t, q->how->exchange[i], need);
}

/* The tensor of the result, and a name for the op that writes the result. */
static int32_t device_ops_write(struct maker *k, const struct piece *q, const char **name)
{
    struct content *c = &k->contents[q->op->output];
    if (!q->partial) return maker_write(k, q->o, 0, &q->result, name);
    *name = maker_name(k, q->op->name, "part");
    c->writer = q->o;
    c->part.box = q->result;
    c->part.local = maker_tensor(k, *name, q->op->output, LX_INTERMEDIATE, &q->result);
    maker_hold(k, q->op->output, c->part.local, &q->result);
    return c->part.local;
}

/* Adds a slice of a holding, or of a joined tensor. */
static void device_ops_add_slice(struct maker *k, const struct piece *q)
{
    int32_t t = q->op->inputs[0], e = q->how->exchange[0];
    struct lx_team_box need = device_ops_need(k, q, 0);
    const struct holding *around = q->partial ? NULL : maker_around(k, q->o, t, e, &need);
    struct holding from = around ? *around : (struct holding){device_ops_fetch(k, q, 0, &need), need};
    int64_t offset[LX_MAX_RANK] = {0};
    const char *name;
    for (int d = 0; d < q->result.rank; d++)
        offset[d] = op_index_offset(&q->x, 0, d) + op_index_stride(&q->x, 0, d) * q->result.offset[d] -
                    from.box.offset[d];
    int32_t to = device_ops_write(k, q, &name);
    maker_view(k, LX_KIND_SLICE, name, from.local, to, offset, q->op->stride);
}

/* Shifts the whole box; the piece is a slice of the result. The box contains both read and written
 * positions, so zeros enter only at the tensor's ends. A shift over a long distance is a copy. */
static void device_ops_add_shift(struct maker *k, const struct piece *q)
{
    struct lx_team_box need = device_ops_need(k, q, 0);
    int32_t from = device_ops_fetch(k, q, 0, &need);
    bool far = team_shift_copies(&k->p->graph->tensors[q->op->inputs[0]], &q->result, &need);
    bool direct = lx_team_box_equal(&need, &q->result);
    int64_t offset[LX_MAX_RANK] = {0};
    const char *name;
    if (!far && !direct) {
        name = maker_name(k, q->op->name, "all");
        int32_t moved = maker_tensor(k, name, q->op->output, LX_INTERMEDIATE, &need);
        maker_view(k, LX_KIND_SHIFT, name, from, moved, q->op->offset, NULL);
        from = moved;
        for (int d = 0; d < need.rank; d++) offset[d] = q->result.offset[d] - need.offset[d];
    }
    int32_t to = device_ops_write(k, q, &name);
    if (direct && !far)
        maker_view(k, LX_KIND_SHIFT, name, from, to, q->op->offset, NULL);
    else
        maker_view(k, LX_KIND_SLICE, name, from, to, offset, NULL);
}

/* Inserts the part of a holding that belongs in the own block of the output. */
static void device_ops_insert_part(struct maker *k, const struct piece *q, const struct lx_team_box *held,
                                   int32_t to)
{
    const struct lx_tensor *in = &k->p->graph->tensors[q->op->inputs[0]];
    struct lx_team_box need = device_ops_need(k, q, 0), part = lx_team_box_meet(held, &need);
    if (lx_team_box_empty(&part)) return;
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
    maker_view(k, LX_KIND_INSERT, maker_name(k, q->op->name, ""), from, to, offset, q->op->stride);
}

/* Parts inserted one by one begin inside sticks, unless sticks run along another dimension. An insertion at
 * the start of its output is made at once, to leave that freedom to the others. */
static void device_ops_add_insert(struct maker *k, const struct piece *q)
{
    const struct lx_team_tensor *in = &k->p->tensors[q->op->inputs[0]];
    int32_t e = q->how->exchange[0], to = maker_join(k, q->op->output);
    const holdings *lists[] = {maker_own(k, q->o, q->op->inputs[0]), e >= 0 ? &k->arrived[e] : NULL};
    struct content *c = &k->contents[q->op->output];
    struct lx_team_box need = device_ops_need(k, q, 0);
    bool at_once = true;
    for (int a = 0; a < k->p->grid.axes; a++)
        at_once = at_once && (in->shard[a] < 0 || (op_index_offset(&q->x, 1, in->shard[a]) == 0 &&
                                                   op_index_stride(&q->x, 1, in->shard[a]) == 1));
    if (at_once) device_ops_insert_part(k, q, &need, to);
    for (size_t n = 0; lists[1] && n < lists[1]->count; n++)
        if (lx_team_box_within(&need, &lists[1]->at[n].box)) lists[0] = NULL; /* contains the own part, too */
    for (int i = 0; i < 2 && !at_once; i++)
        for (size_t n = 0; lists[i] && n < lists[i]->count; n++) {
            struct lx_team_box held = lists[i]->at[n].box;
            device_ops_insert_part(k, q, &held, to);
        }
    c->made.count = 0; /* stale copies */
    c->writer = q->o;
}

/* Adds partial sums. A mean over some of the elements is weighted by their share, to keep sums within
 * range. */
static void device_ops_add_partial(struct maker *k, const struct piece *q, struct lx_op *local)
{
    double share = 1;
    for (int l = 0; l < q->space.loops; l++)
        if (op_index_reduced(&q->x, q->space.var[l]))
            share *= (double)(q->space.range[l].end - q->space.range[l].begin) /
                     (double)q->x.extent[q->space.var[l]];
    bool mean = q->op->kind->id == LX_KIND_MEAN && share != 1;
    const char *name;
    int32_t part = device_ops_write(k, q, &name), sum = part;
    if (mean)
        sum = maker_tensor(k, maker_name(k, q->op->name, "mean"), q->op->output, LX_INTERMEDIATE, &q->result);
    local->output = sum;
    local->outputs = NULL;
    maker_op(k, local);
    struct lx_op weigh = builder_plain(name, LX_KIND_MUL, 1, &sum, part);
    weigh.has_value = true;
    weigh.value = share;
    if (mean) maker_op(k, &weigh);
}

/* Windows and views in coordinates of the piece. */
struct local_map {
    struct lx_window windows[LX_MAX_RANK];
    struct lx_view views[LX_MAX_INPUTS];
    struct {
        int64_t offset[LX_MAX_RANK], size[LX_MAX_RANK];
    } at[LX_MAX_INPUTS];
};

static struct lx_team_range device_ops_range(const struct piece *q, int v)
{
    int l = team_loop_of(&q->space, v);
    return l >= 0 ? q->space.range[l] : (struct lx_team_range){0, q->x.extent[v]};
}

/* Sets each window's padding to the distance between the begins of first input and output. */
static bool device_ops_move_windows(const struct piece *q, const struct lx_team_box *need,
                                    struct local_map *map, struct lx_op *local)
{
    for (int i = 0; i < q->op->window_count; i++) {
        const struct lx_window *w = &q->op->windows[i];
        int dim = op_index_dim(&q->x, 0, w->in);
        if (i >= LX_MAX_RANK) return false;
        map->windows[i] = *w;
        if (dim >= 0)
            map->windows[i].pad +=
                need->offset[dim] * w->hole - w->stride * device_ops_range(q, w->out).begin;
    }
    if (q->op->window_count) local->windows = map->windows;
    return true;
}

/* Moves the views into the fetched boxes. */
static void device_ops_move_views(const struct piece *q, const struct lx_team_box *needs,
                                  struct local_map *map, struct lx_op *local)
{
    if (!q->op->map || !q->op->map->walks || (q->op->kind->traits & LX_PLACES)) return;
    for (int i = 0; i < q->op->input_count; i++) {
        const struct lx_walk *walk = &q->op->map->walks[i];
        map->views[i] = q->op->views ? q->op->views[i] : (struct lx_view){q->op->offset, q->op->stride, NULL};
        if (!map->views[i].offset) continue;
        for (int d = 0; d < needs[i].rank; d++) {
            struct lx_team_range r = device_ops_range(q, q->x.var[i][d]);
            map->at[i].offset[d] = walk->first[d] + walk->by[d] * r.begin - needs[i].offset[d];
            map->at[i].size[d] = r.end - r.begin;
        }
        map->views[i].offset = map->at[i].offset;
        if (map->views[i].size) map->views[i].size = map->at[i].size;
    }
    if (q->op->views) local->views = map->views;
    if (q->op->offset) local->offset = map->views[0].offset;
}

static void device_ops_add_plain(struct maker *k, const struct piece *q)
{
    int32_t inputs[LX_MAX_INPUTS], outputs[LX_MAX_OUTPUTS];
    struct lx_team_box needs[LX_MAX_INPUTS];
    struct local_map map;
    struct lx_op local = *q->op;
    for (int i = 0; i < q->op->input_count; i++) {
        needs[i] = device_ops_need(k, q, i);
        inputs[i] = device_ops_fetch(k, q, i, &needs[i]);
    }
    local.inputs = inputs;
    local.hint_count = 0; /* hints are for whole extents, not for parts */
    device_ops_move_views(q, needs, &map, &local);
    if (!device_ops_move_windows(q, needs, &map, &local) && !k->failed) {
        status_set(k->st, LX_E_UNSUPPORTED, "op %s has too many windows for a team", q->op->name);
        k->failed = true;
    }
    if (q->partial) {
        device_ops_add_partial(k, q, &local);
        return;
    }
    for (int r = 0; r < op_operand_count(q->op) - q->op->input_count; r++) {
        int32_t t = op_operand(q->op, q->op->input_count + r);
        const struct lx_tensor *x = &k->p->graph->tensors[t];
        /* Results of one op have one shape, unless replicated. */
        struct lx_team_box result = q->space.loops ? q->result : lx_team_box_of(x->rank, x->shape);
        const char *name = q->op->name;
        if (op_keeps_rest(q->op)) { /* changed in place */
            outputs[r] = maker_join(k, t);
            k->contents[t].made.count = 0; /* stale copies */
            k->contents[t].writer = q->o;
        } else {
            outputs[r] = maker_write(k, q->o, r, &result, &name);
        }
        if (r == 0) local.name = name;
    }
    local.output = outputs[0];
    local.outputs = outputs;
    maker_op(k, &local);
}

void maker_compute(struct maker *k, int32_t o, const struct lx_team_space *space)
{
    struct piece q = {.o = o, .op = &k->p->graph->ops[o], .how = &k->p->ops[o], .space = *space};
    if (lx_team_space_empty(space)) return;
    op_index_of(k->p->graph, q.op, &q.x);
    q.result = team_result_box(k->p->graph, q.op, &q.x, space);
    q.partial = q.how->mode == LX_TEAM_COMBINE || q.how->mode == LX_TEAM_KEPT_PARTIAL;
    if (!q.op->offset || q.op->map)
        device_ops_add_plain(k, &q);
    else if (team_is_shift(q.op))
        device_ops_add_shift(k, &q);
    else if (op_is_insert(q.op))
        device_ops_add_insert(k, &q);
    else
        device_ops_add_slice(k, &q);
}
