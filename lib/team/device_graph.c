/* The graph of one device, with local shapes, for the stages that plan a single device. It follows the steps
 * of the team's plan. */
#include "team/device_maker.h"

/* Extents, along a loop, of the left, own and right parts in a read. */
static bool device_graph_parts_of_read(const struct maker *k, int32_t o, int i, int along,
                                       int64_t parts[LX_TEAM_PARTS])
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

/* Cuts a loop into pieces shared by all ops of a group: each piece reads from one part per input. */
static void device_graph_find_loops(struct maker *k, int32_t group, int along)
{
    const struct lx_team_group *g = &k->p->groups[group];
    struct lx_team_range all = k->p->ops[g->first].space[k->device].range[along],
                         core = g->core[k->device].range[along];
    int64_t room[LX_MAX_INPUTS + 1][LX_TEAM_PARTS] = {{0, all.end - all.begin, 0}};
    const int64_t *parts[LX_MAX_INPUTS + 1] = {room[0]};
    int count = 1;
    for (int32_t o = g->first; o <= g->last; o++)
        for (int i = 0; i < k->p->graph->ops[o].input_count && count <= LX_MAX_INPUTS; i++) {
            if (!device_graph_parts_of_read(k, o, i, along, room[count])) continue;
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

static void device_graph_compute(struct maker *k, const struct lx_team_step *s)
{
    int32_t group = k->p->ops[s->op].group;
    struct lx_team_space space = lx_team_step_space(k->p, s, k->device);
    if (s->piece == LX_TEAM_ALL || s->piece == LX_TEAM_CORE) {
        maker_compute(k, s->op, &space);
        return;
    }
    if (k->loops_of != group || k->loops_along != s->along) device_graph_find_loops(k, group, s->along);
    struct lx_team_range range = space.range[s->along];
    for (int n = 0; n < k->loop_count; n++) {
        if (k->loops[n].begin < range.begin || k->loops[n].end > range.end) continue;
        space.range[s->along] = k->loops[n];
        maker_compute(k, s->op, &space);
    }
}

/* Hashes the whole text of a graph, so that no field is forgotten. Among offsets, only those before the
 * begin of a tensor, where there are no elements, change the shape. */
void device_shape_take(void *shape, const struct lx_graph *g, const char *record, size_t length)
{
    static const char key[] = "\"offset\": [";
    struct device_shape *s = shape;
    const char *end = record + length;
    if (!s->unit) {
        /* Elements per stick of the graph's smallest type. */
        int64_t most = 1;
        for (int32_t t = 0; t < g->tensor_count; t++)
            most = max_i64(most, g->device.stick_bytes * 8 / lx_dtype_bits(g->tensors[t].dtype));
        *s = (struct device_shape){most, HASH_START, HASH_START};
    }
    for (const char *at = record, *next; at; at = next) {
        next = strstr(at, key);
        s->shape = hash_words(s->shape, at, (size_t)((next ? next : end) - at));
        if (!next) continue;
        int64_t last = 0;
        for (next += sizeof key - 1; *next && *next != ']';) {
            char *behind = NULL;
            int64_t n = strtoll(next, &behind, 10);
            if (behind != next) s->shape = hash_number(s->shape, n < 0 ? n : 0), last = n;
            next = behind == next ? next + 1 : behind;
        }
        s->likely = hash_number(s->likely, last % s->unit);
    }
}

/* Assigns ops without a step to this one. */
static void device_graph_note_step(struct maker *k, int32_t step)
{
    while (k->steps.count < k->b.ops.count) VEC_PUSH(&k->steps, step);
}

static void device_graph_add_steps(struct maker *k)
{
    const struct lx_graph *g = k->p->graph;
    for (int32_t i = 0; i < k->p->step_count && !k->failed; i++) {
        const struct lx_team_step *s = &k->p->steps[i];
        switch (s->kind) {
        case LX_TEAM_START: maker_start(k, s->exchange); break;
        case LX_TEAM_WAIT: maker_wait(k, s->exchange); break;
        case LX_TEAM_COMPUTE: device_graph_compute(k, s); break;
        default: maker_combine(k, s->op);
        }
        device_graph_note_step(k, i);
    }
    for (int32_t t = 0; t < g->tensor_count && !k->failed; t++) { /* one tensor per output */
        if (!lx_role_leaves(g->tensors[t].role) || k->contents[t].own.count == 0) continue;
        struct lx_team_place place = {maker_join(k, t), t, lx_team_own(k->p, t, k->device)};
        VEC_PUSH(&k->places, place);
    }
    device_graph_note_step(k, -1);
}

static void device_graph_end(struct maker *k)
{
    for (int32_t t = k->p->graph->tensor_count; t-- > 0;) {
        VEC_FREE(&k->contents[t].own);
        VEC_FREE(&k->contents[t].old);
        VEC_FREE(&k->contents[t].made);
    }
    for (int32_t e = 0; e < k->p->exchange_count; e++) {
        VEC_FREE(&k->arrived[e]);
    }
    mem_free(k->contents);
    mem_free(k->arrived);
    VEC_FREE(&k->messages);
    VEC_FREE(&k->places);
    VEC_FREE(&k->steps);
}

struct lx_team_device *lx_team_device_make(const struct lx_team_plan *plan, int device, lx_status *st)
{
    if (device < 0 || device >= plan->devices) {
        status_set(st, LX_E_RANGE, "a team of %d has no device %d", plan->devices, device);
        return NULL;
    }
    struct maker k = {.p = plan, .device = device, .st = st};
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_team_device *m = arena_alloc(memory, sizeof *m);
    const struct lx_graph *g = k.p->graph;
    k.contents = mem_zeroed((size_t)g->tensor_count + 1, sizeof *k.contents);
    k.arrived = mem_zeroed((size_t)k.p->exchange_count + 1, sizeof *k.arrived);
    for (int32_t t = 0; t < g->tensor_count; t++)
        k.contents[t].writer = k.contents[t].named = k.contents[t].part.local = -1;
    k.loops_of = -1;
    builder_begin(&k.b, g->file, g->name);
    k.b.graph->device = g->device;
    device_graph_add_steps(&k);
    *m = (struct lx_team_device){
        .messages = arena_copy_array(memory, k.messages.at, k.messages.count, sizeof *k.messages.at),
        .message_count = (int32_t)k.messages.count,
        .places = arena_copy_array(memory, k.places.at, k.places.count, sizeof *k.places.at),
        .place_count = (int32_t)k.places.count,
        .step = arena_copy_array(memory, k.steps.at, k.steps.count, sizeof *k.steps.at),
        .memory = memory};
    if (!k.failed && k.b.ops.count > 0) {
        struct device_shape shape = {0};
        k.b.also = &(struct record_taker){device_shape_take, &shape};
        m->graph = builder_finish(&k.b, st);
        m->shape = shape.shape;
        m->likely = shape.likely ^ shape.shape;
        k.failed = !m->graph;
    } else {
        builder_abandon(&k.b);
    }
    if (k.failed) {
        lx_team_device_free(m);
        m = NULL;
    }
    device_graph_end(&k);
    return m;
}

void lx_team_device_free(struct lx_team_device *m)
{
    if (!m) return;
    OWNED struct arena *memory = m->memory; /* also contains the device */
    lx_graph_free(m->graph);
    arena_free(memory);
}
