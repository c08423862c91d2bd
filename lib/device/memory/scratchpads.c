/* The memories, and the places of tensors and stays in them. */
#include "device/execute/execute.h"

/* False: no memory for the bytes; tags and the like are a fraction of the bytes. */
static bool memory_make(struct memory *x, int64_t bytes, int64_t stick_bytes)
{
    x->sticks = ceil_div_i64(bytes, stick_bytes);
    x->bytes = mem_try_zeroed((size_t)x->sticks + 1, (size_t)stick_bytes);
    if (!x->bytes) return false;
    x->tags = mem_alloc(((size_t)x->sticks + 1) * sizeof *x->tags);
    x->touched = mem_zeroed((size_t)x->sticks + 1, sizeof *x->touched);
    for (int64_t i = 0; i < x->sticks; i++) x->tags[i] = (struct tag){NOBODY, NOBODY, 0, 0};
    return true;
}

static void memory_free(struct memory *x)
{
    mem_free(x->bytes);
    mem_free(x->tags);
    mem_free(x->touched);
    mem_free(x->times);
}

static bool view_sound(const struct machine *m, const struct lx_stay *s)
{
    if (s->tensor < 0 || s->tensor >= m->graph->tensor_count || s->view_op < 0 ||
        s->view_op >= m->graph->op_count || s->view_operand < 0 ||
        s->view_operand >= op_operand_count(&m->graph->ops[s->view_op]) ||
        op_operand(&m->graph->ops[s->view_op], s->view_operand) != s->tensor)
        return false;
    int32_t nest = nest_of_op(m->plan->nests, m->plan->nest_count, s->view_op);
    if (s->hold == 0) return true;
    if (nest < 0 || s->hold < 0 || s->hold > m->plan->nests[nest].level_count) return false;
    return nest_tensor_of(m->plan->layouts, &m->plan->nests[nest], s->tensor).indexed &
           level_bit(s->hold - 1);
}

void machine_reserve(struct machine *m)
{
    const struct lx_graph *g = m->graph;
    /* A plan states the hold of every stay, also off chip. */
    for (int32_t s = 0; s < m->plan->problem.count; s++) {
        struct place p = {.tensor = m->plan->stays[s].tensor, .stay = s, .core = -1};
        if (m->plan->stays[s].hold != 0 && !stay_placed(m, s) && !view_sound(m, &m->plan->stays[s]))
            fault_plain(m, LX_FAULT_PLAN, &p, "it is held for a loop that does not cut it");
    }
    for (int64_t i = 0; i < m->hbm.sticks; i++) m->reserved[i] = NOBODY;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        /* HBM has two segments: tensors that stay for good, and the pool that intermediates share. */
        const struct lx_plan *plan = m->plan;
        int64_t at = plan->hbm_address[t], pool_end = plan->pool_at + plan->pool_bytes;
        int64_t bytes = sticks_to_bytes(m, t, lx_layout_bytes(&m->layouts[t]) / m->stick_bytes), end;
        bool kept = m->graph->tensors[t].role != LX_INTERMEDIATE;
        struct place p = {.tensor = t, .stay = -1};
        if (at < 0 || !add_i64(at, bytes, &end)) continue;
        if (kept ? at < pool_end && plan->pool_at < end : at < plan->pool_at || end > pool_end)
            fault_plain(m, LX_FAULT_BOUNDS, &p, "it stands %s the pool at [%lld, %lld)",
                        kept ? "in" : "outside", (long long)plan->pool_at, (long long)pool_end);
    }
    for (int32_t t = 0; t < g->tensor_count; t++) {
        if (g->tensors[t].role == LX_INTERMEDIATE || m->first_op[t] >= g->op_count) continue;
        struct place p = place_in_hbm(m, t);
        int64_t first = p.address / m->stick_bytes, n = p.in ? box_sticks(&p.box) : 0;
        for (int64_t i = first; i < first + n; i++) {
            if (m->reserved[i] != NOBODY) {
                fault_plain(m, LX_FAULT_LIVE, &p, "it shares bytes with %.200s, which is kept",
                            g->tensors[m->reserved[i]].name);
                break;
            }
            m->reserved[i] = t;
        }
    }
}

bool machine_make(struct machine *m, lx_status *st)
{
    const struct lx_plan *p = m->plan;
    size_t tensors = (size_t)m->graph->tensor_count;
    m->stick_bytes = m->graph->device.stick_bytes;
    m->cores = p->divisions->cores;
    m->launches = p->launches;
    m->round = 1;
    if (!iterations_valid(p, st)) return false;
    program_make(p->graph, m->memory, &m->program);
    m->layouts = arena_array(m->memory, tensors, sizeof *m->layouts);
    m->current = arena_array(m->memory, tensors, sizeof *m->current);
    m->first_op = arena_array(m->memory, tensors, sizeof *m->first_op);
    m->summed = arena_array(m->memory, tensors + 1, sizeof *m->summed);
    m->views = arena_array(m->memory, (size_t)p->problem.count + 1, sizeof *m->views);
    m->lx = mem_zeroed((size_t)m->cores, sizeof *m->lx);
    m->filled = arena_array(m->memory, (size_t)p->problem.count + 1, sizeof *m->filled);
    /* Sums that are made tile by tile. */
    for (int32_t n = 0; n < m->plan->nest_count; n++)
        for (int32_t o = m->plan->nests[n].first; o <= m->plan->nests[n].last; o++)
            for (int i = 0; i < m->graph->ops[o].output_count; i++) {
                int32_t t = m->graph->ops[o].outputs[i];
                m->summed[t] = nest_tensor_of(m->plan->layouts, &m->plan->nests[n], t).summed;
            }
    for (int32_t t = 0; t < m->graph->tensor_count; t++) {
        if (!device_layout(m->graph, &p->layouts->layouts[t], t, &m->layouts[t], st)) return false;
        m->current[t] = p->layouts->origin[t];
        m->first_op[t] = m->graph->op_count;
    }
    for (int32_t o = m->graph->op_count - 1; o >= 0; o--)
        for (int i = 0; i < op_operand_count(&m->graph->ops[o]); i++)
            m->first_op[op_operand(&m->graph->ops[o], i)] = o;
    if (!memory_make(&m->hbm, max_i64(p->segment_bytes, 0), m->stick_bytes)) return status_no_memory(st);
    m->reserved = mem_alloc(((size_t)m->hbm.sticks + 1) * sizeof *m->reserved);
    /* Scratchpads end with the highest byte of a placed stay, within the capacity. */
    int64_t most = 0, end, limit = p->problem.capacity;
    if (p->problem.objective == LX_HEIGHT) limit = max_i64(limit, p->figures.height_bytes);
    for (int32_t s = 0; s < p->problem.count; s++)
        if (p->answer.address[s] >= 0 && add_i64(p->answer.address[s], p->problem.buffers[s].size, &end))
            most = max_i64(most, end);
    int64_t bytes = min_i64(round_up_i64(most, m->stick_bytes), round_up_i64(limit, m->stick_bytes));
    for (int64_t c = 0; c < m->cores; c++) {
        if (!memory_make(&m->lx[c], bytes, m->stick_bytes)) return status_no_memory(st);
        memset(m->lx[c].bytes, POISON, (size_t)bytes);
    }
    return true;
}

void machine_free(struct machine *m)
{
    memory_free(&m->hbm);
    mem_free(m->reserved);
    mem_free(m->clock);
    for (int64_t c = 0; m->lx && c < m->cores; c++) memory_free(&m->lx[c]);
    mem_free(m->lx);
    VEC_FREE(&m->faults);
}

void machine_wipe(struct machine *m)
{
    for (int64_t c = 0; c < m->cores; c++) {
        memset(m->lx[c].bytes, POISON, (size_t)(m->lx[c].sticks * m->stick_bytes));
        for (int64_t i = 0; i < m->lx[c].sticks; i++)
            if (m->lx[c].tags[i].value != NOBODY) m->lx[c].tags[i].value = WIPED;
    }
}

bool stay_placed(const struct machine *m, int32_t stay)
{
    return stay >= 0 && stay < m->plan->problem.count && m->plan->answer.address[stay] >= 0;
}

int64_t stay_turn(const struct machine *m, int32_t stay)
{
    int64_t turn = 0;
    for (int l = 0; m->at.nest && l < m->plan->stays[stay].hold && l < m->at.nest->level_count; l++)
        turn = turn * m->at.nest->tiles[l] + m->at.index[l];
    return turn;
}

/* Sets `in` if the box lies in the memory at a whole stick. */
static void memory_settle(struct machine *m, struct place *p, struct memory *in)
{
    int64_t bytes = box_sticks(&p->box) * m->stick_bytes, end;
    if (p->address >= 0 && p->address % m->stick_bytes == 0 && add_i64(p->address, bytes, &end) &&
        end <= in->sticks * m->stick_bytes) {
        p->in = in;
        return;
    }
    fault_plain(m, LX_FAULT_BOUNDS, p, "%lld bytes at %lld do not stand at whole sticks in %lld bytes",
                (long long)bytes, (long long)p->address, (long long)(in->sticks * m->stick_bytes));
}

struct place place_in_hbm(struct machine *m, int32_t tensor)
{
    struct place p = {.address = m->plan->hbm_address[tensor],
                      .box = box_whole(&m->layouts[tensor]),
                      .tensor = tensor,
                      .stay = -1};
    if (p.address < 0)
        fault_plain(m, LX_FAULT_PLACE, &p, "it has no address in HBM");
    else
        memory_settle(m, &p, &m->hbm);
    return p;
}

const struct stay_view *machine_view(struct machine *m, int32_t stay)
{
    const struct lx_stay *s = &m->plan->stays[stay];
    struct stay_view *v = &m->views[stay];
    struct place p = {.tensor = s->tensor, .stay = stay, .core = -1};
    if (v->known) return v;
    if (!view_sound(m, s)) {
        fault_plain(
            m, LX_FAULT_PLAN, &p,
            "it has the view of an op that does not access it, or is held for a loop that does not cut it");
        return NULL;
    }
    v->known = true;
    v->view = lx_division_held(m->plan->divisions, s->view_op, s->view_operand, s->hold);
    /* The level of the nest that cuts each device dimension, up to the hold. */
    const struct lx_layout *l = &m->layouts[s->tensor];
    int32_t nest = nest_of_op(m->plan->nests, m->plan->nest_count, s->view_op);
    v->nest = nest >= 0 && s->hold > 0 ? nest : -1;
    for (int k = 0; k < LX_MAX_DEVICE_RANK; k++) v->level[k] = -1;
    if (v->nest < 0) return v;
    const struct lx_nest *n = &m->plan->nests[nest];
    struct nest_tensor t = nest_tensor_of(m->plan->layouts, n, s->tensor);
    for (int level = 0; level < s->hold && level < n->level_count; level++)
        for (int k = 0; k < l->rank - 1; k++)
            if (t.dim[level] >= 0 && l->host_dim[k] == t.dim[level]) v->level[k] = (signed char)level;
    return v;
}

bool stay_box(struct machine *m, int32_t stay, int64_t core, struct box *out)
{
    const struct stay_view *v = machine_view(m, stay);
    const struct lx_layout *l = &m->layouts[m->plan->stays[stay].tensor];
    struct place p = {.tensor = m->plan->stays[stay].tensor, .stay = stay, .core = core};
    int64_t begin[LX_MAX_DEVICE_RANK] = {0};
    if (!v) return false;
    if (v->nest >= 0 && m->at.nest != &m->plan->nests[v->nest]) {
        fault_plain(m, LX_FAULT_LIFE, &p, "it holds a tile, which is there only while its nest runs");
        return false;
    }
    for (int k = 0; k < l->rank - 1; k++)
        if (v->level[k] >= 0) begin[k] = l->size[k] / v->view.tiles[k] * m->at.index[(int)v->level[k]];
    *out = box_of_slice(l, &v->view, begin, core);
    return true;
}

/* Does an op of this tick's nest make the tensor? */
static bool made_here(const struct machine *m, int32_t tensor)
{
    const struct lx_nest *n = m->at.nest;
    for (int32_t o = n->first; o <= n->last; o++)
        if (op_operand_made(&m->graph->ops[o], tensor) >= 0) return true;
    return false;
}

struct content content_before(const struct machine *m, int32_t tensor)
{
    return (struct content){m->current[tensor], m->at.nest && m->summed[tensor] && made_here(m, tensor)
                                                    ? iteration_parts_before(&m->at, m->summed[tensor])
                                                    : 0};
}

struct content content_after(const struct machine *m, int32_t tensor)
{
    return (struct content){m->current[tensor], m->at.nest && m->summed[tensor] && made_here(m, tensor)
                                                    ? iteration_parts_after(&m->at, m->summed[tensor])
                                                    : 0};
}

struct place place_in_stay(struct machine *m, int32_t stay, int64_t core)
{
    const struct lx_plan *plan = m->plan;
    const struct lx_stay *s = &plan->stays[stay];
    struct place p = {.address = plan->answer.address[stay], .tensor = s->tensor, .stay = stay, .core = core};
    const struct lx_buffer *b = &plan->problem.buffers[stay];
    int64_t stages = lx_stages(s), size = b->size / stages;
    if (!stay_box(m, stay, core, &p.box)) return p;
    p.address += size * (stay_turn(m, stay) % stages);
    /* Cores at an edge have a shorter halo, or a shorter slice, so parts may differ in size. */
    const struct lx_core_view *v = &m->views[stay].view;
    const struct lx_layout *l = &plan->layouts->layouts[s->tensor];
    bool differ = false;
    for (int k = 0; k < v->rank; k++)
        differ |= v->low[k] || v->high[k] || l->size[k] / v->tiles[k] / v->blocks[k] % v->slices[k] != 0;
    if (core >= m->views[stay].view.cores)
        fault_plain(m, LX_FAULT_PART, &p, "only %lld cores hold a part of it",
                    (long long)m->views[stay].view.cores);
    else if (m->tick < b->start || m->tick >= b->end)
        fault_plain(m, LX_FAULT_LIFE, &p, "it lives from tick %lld to %lld", (long long)b->start,
                    (long long)b->end - 1);
    else if (round_up_i64(size, m->stick_bytes) < box_sticks(&p.box) * m->stick_bytes)
        fault_plain(m, LX_FAULT_BOUNDS, &p, "a part of %lld bytes in a slot of %lld",
                    (long long)(box_sticks(&p.box) * m->stick_bytes), (long long)size);
    else if (m->views[stay].nest >= 0 && !differ &&
             round_up_i64(size, m->stick_bytes) != box_sticks(&p.box) * m->stick_bytes)
        fault_plain(m, LX_FAULT_BOUNDS, &p,
                    "a tile of %lld bytes in a slot of %lld: it is held for other loops",
                    (long long)(box_sticks(&p.box) * m->stick_bytes), (long long)size);
    else
        memory_settle(m, &p, &m->lx[core]);
    if (p.in) m->height = max_i64(m->height, p.address + size);
    return p;
}

struct place place_of_access(struct machine *m, int operand, int64_t core)
{
    const struct lx_access *a = &m->plan->accesses[m->plan->access_at[m->tick] + operand];
    int32_t tensor = op_operand(machine_op(m), operand);
    if (!stay_placed(m, a->stay)) return place_in_hbm(m, tensor);
    if (m->plan->stays[a->stay].tensor == tensor) return place_in_stay(m, a->stay, core);
    struct place p = {.tensor = tensor, .stay = a->stay, .core = core};
    fault_plain(m, LX_FAULT_PLAN, &p, "it is not the buffer of %.200s", m->graph->tensors[tensor].name);
    return p;
}

void machine_put_input(struct machine *m, int32_t tensor, const void *items)
{
    const struct lx_layout *l = &m->layouts[tensor];
    struct place p = place_in_hbm(m, tensor);
    struct region r;
    SCOPED(arena_free) struct arena scratch = {0};
    struct lx_fault first = {0};
    bool bytes = machine_is_bytes(m, tensor);
    m->actor = -1;
    if (p.in) {
        unsigned char *at = m->hbm.bytes + p.address;
        int64_t sticks = box_sticks(&p.box);
        const struct content whole = {m->current[tensor], 0};
        region_whole(l, &p.box, bytes, &scratch, &r);
        memset(at, 0, (size_t)(sticks * m->stick_bytes));
        if (items && bytes)
            memcpy(at, items, (size_t)m->graph->tensors[tensor].bytes);
        else if (items)
            pack_items_in(l, &r, items, at);
        for (int64_t i = 0; i < sticks; i++) shadow_stick_write(m, &p, i, i, whole, &first);
    }
}
