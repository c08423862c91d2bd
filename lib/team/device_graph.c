/* The graph that one device runs, with local shapes, for the stages that plan a single device: the steps of the
 * team's plan, one after the other. */
#include "team/device_maker.h"
#include "team/device_shape.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/stop.h"

#include <stdlib.h>

/* Extents, along a loop, of the left, own and right part that a read meets. */
static bool parts_of_read(const struct maker *k, int32_t o, int i, int along, int64_t parts[LX_TEAM_PARTS])
{
    const struct lx_op *op = &k->p->graph->ops[o];
    const struct lx_team_space *space = &k->p->ops[o].space[k->device];
    int32_t t = op->inputs[i], e = k->p->ops[o].exchange[i];
    struct op_index x;
    if (e < 0 || team_is_shift(op)) return false; /* zeros beyond the ends belong to no part */
    op_index_of(k->p->graph, op, &x);
    int cut = op_index_dim(&x, i, space->var[along]);
    if (cut < 0 || !k->p->tensors[t].bound[cut]) return false;
    const struct lx_tensor *tensor = &k->p->graph->tensors[t];
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    struct lx_team_array a = lx_team_array_of_box(tensor->rank, tensor->shape, cut, &own);
    int64_t own_view[LX_MAX_RANK];
    a = lx_team_repartition(&a, &k->p->exchanges[e].box[k->device], own_view);
    struct lx_team_view view = team_view_of(&x, i);
    struct lx_team_box target = {.rank = view.rank};
    for (int d = 0; d < view.rank; d++) target.size[d] = view.size[d];
    target.offset[cut] = space->range[along].begin;
    target.size[cut] = space->range[along].end - space->range[along].begin;
    struct lx_team_subview part = lx_team_subview_of(&a, &view, &target);
    for (int n = 0; n < LX_TEAM_PARTS; n++) parts[n] = part.part[n].size[cut];
    return true;
}

/* The pieces of a loop that all ops of a group share: each runs within one part of everything that is read. */
static void find_loops(struct maker *k, int32_t group, int along)
{
    const struct lx_team_group *g = &k->p->groups[group];
    struct lx_team_range all = k->p->ops[g->first].space[k->device].range[along],
                         core = g->core[k->device].range[along];
    int64_t room[LX_MAX_INPUTS + 1][LX_TEAM_PARTS] = {{0, all.end - all.begin, 0}};
    const int64_t *parts[LX_MAX_INPUTS + 1] = {room[0]};
    int count = 1;
    for (int32_t o = g->first; o <= g->last; o++)
        for (int i = 0; i < k->p->graph->ops[o].input_count && count <= LX_MAX_INPUTS; i++) {
            if (!parts_of_read(k, o, i, along, room[count])) continue;
            parts[count] = room[count];
            count++;
        }
    core = (struct lx_team_range){core.begin - all.begin, core.end - all.begin};
    k->loop_count = lx_team_elementwise_loops(parts, count, &core, k->loops);
    for (int n = 0; n < k->loop_count; n++) {
        k->loops[n].begin += all.begin;
        k->loops[n].end += all.begin;
    }
    k->loops_of = group;
    k->loops_along = along;
}

static bool device_graph_compute(struct maker *k, const struct lx_team_step *s)
{
    int32_t group = k->p->ops[s->op].group;
    struct lx_team_space space = lx_team_step_space(k->p, s, k->device);
    if (s->piece == LX_TEAM_ALL || s->piece == LX_TEAM_CORE) return maker_compute(k, s->op, &space);
    if (k->loops_of != group || k->loops_along != s->along) find_loops(k, group, s->along);
    struct lx_team_range range = space.range[s->along];
    bool ok = true;
    for (int n = 0; ok && n < k->loop_count; n++) {
        if (k->loops[n].begin < range.begin || k->loops[n].end > range.end) continue;
        space.range[s->along] = k->loops[n];
        ok = maker_compute(k, s->op, &space);
    }
    return ok;
}

static bool device_graph_add_step(struct maker *k, const struct lx_team_step *s)
{
    enum { EACH_STEP = 2000 };
    stop_look(EACH_STEP);
    switch (s->kind) {
    case LX_TEAM_START:
        return maker_start(k, s->exchange);
    case LX_TEAM_WAIT:
        return maker_wait(k, s->exchange);
    case LX_TEAM_COMPUTE:
        return device_graph_compute(k, s);
    default:
        return maker_combine(k, s->op);
    }
}

/* Ops that have none yet are of this step. */
static bool note_step(struct maker *k, int32_t step)
{
    while (k->steps.count < k->b.ops.count)
        if (!VEC_PUSH(&k->steps, step)) return status_no_memory(k->st);
    return true;
}

/* Outputs in one tensor each, and where they belong. */
static bool place_outputs(struct maker *k)
{
    const struct lx_graph *g = k->p->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        if (!lx_role_leaves(g->tensors[t].role) || k->contents[t].own.count == 0) continue;
        struct lx_team_place place = {maker_join(k, t), t, lx_team_own(k->p, t, k->device)};
        if (place.local < 0) return false;
        if (!VEC_PUSH(&k->places, place)) return status_no_memory(k->st);
    }
    return true;
}

static bool maker_begin(struct maker *k)
{
    enum { EACH_CONTENT = 100 };
    const struct lx_graph *g = k->p->graph;
    k->contents = mem_zeroed((size_t)g->tensor_count + 1, sizeof *k->contents);
    k->arrived = mem_zeroed((size_t)k->p->exchange_count + 1, sizeof *k->arrived);
    if (!k->contents || !k->arrived) return status_no_memory(k->st);
    for (int32_t t = 0; t < g->tensor_count; t++, (void)stop_round(t, EACH_CONTENT))
        k->contents[t].writer = k->contents[t].named = k->contents[t].part.local = -1;
    k->loops_of = -1;
    builder_begin(&k->b, g->file, g->name);
    k->b.graph->device = g->device;
    builder_reserve(&k->b, g->tensor_count + g->tensor_count / 2, g->op_count + g->op_count / 2);
    return true;
}

static void maker_end(struct maker *k)
{
    enum { EACH_FREED = 60 };
    /* From the last: so that what goes back to the system does so bit by bit. */
    for (int32_t t = k->p->graph->tensor_count; k->contents && t-- > 0;) {
        stop_look(EACH_FREED);
        VEC_FREE(&k->contents[t].own);
        VEC_FREE(&k->contents[t].old);
        VEC_FREE(&k->contents[t].made);
    }
    for (int32_t e = 0; k->arrived && e < k->p->exchange_count; e++) {
        stop_look(EACH_FREED);
        VEC_FREE(&k->arrived[e]);
    }
    mem_free(k->contents);
    mem_free(k->arrived);
    VEC_FREE(&k->messages);
    VEC_FREE(&k->places);
    VEC_FREE(&k->steps);
}

/* Everything of the result but its graph. */
static struct lx_team_device *device_graph_device_of(struct maker *k)
{
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_team_device *m = memory ? arena_alloc(memory, sizeof *m) : NULL;
    if (!m) return mem_free(memory), status_no_memory(k->st), NULL;
    *m = (struct lx_team_device){.message_count = (int32_t)k->messages.count,
                                 .place_count = (int32_t)k->places.count,
                                 .memory = memory};
    m->messages = arena_copy_array(memory, k->messages.at, k->messages.count, sizeof *k->messages.at);
    m->places = arena_copy_array(memory, k->places.at, k->places.count, sizeof *k->places.at);
    m->step = arena_copy_array(memory, k->steps.at, k->steps.count, sizeof *k->steps.at);
    if (m->messages && m->places && m->step) return m;
    lx_team_device_free(m);
    return status_no_memory(k->st), NULL;
}

struct lx_team_device *lx_team_device_make(const struct lx_team_plan *plan, int device, lx_status *st)
{
    if (device < 0 || device >= plan->devices) {
        status_set(st, LX_E_RANGE, "a team of %d has no device %d", plan->devices, device);
        return NULL;
    }
    struct maker k = {.p = plan, .device = device, .st = st};
    bool ok = maker_begin(&k);
    for (int32_t s = 0; ok && s < plan->step_count; s++)
        ok = device_graph_add_step(&k, &plan->steps[s]) && note_step(&k, s);
    ok = ok && place_outputs(&k) && note_step(&k, -1);
    struct lx_team_device *m = ok ? device_graph_device_of(&k) : NULL;
    if (m && k.b.ops.count > 0) {
        struct device_shape shape = {0};
        k.b.also = &(struct record_taker){device_shape_take, &shape};
        m->graph = builder_finish(&k.b, st);
        m->shape = shape.shape;
        m->likely = shape.likely ^ shape.shape;
        if (!m->graph) {
            lx_team_device_free(m);
            m = NULL;
        }
    } else if (k.b.memory)
        builder_abandon(&k.b);
    maker_end(&k);
    return m;
}

void lx_team_device_free(struct lx_team_device *m)
{
    if (!m) return;
    struct arena *memory = m->memory; /* the device itself lives in it */
    lx_graph_free(m->graph);
    arena_free(memory);
    mem_free(memory);
}
