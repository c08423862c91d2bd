/* Transfers: loads from HBM, stores to it, copies from one view of a tensor to another over the data ring,
 * and moves inside the scratchpads.
 *
 * A stick that several cores want is read from HBM once (multicast); a stick that several cores hold is
 * stored by the first. A relayout takes sticks that a core holds itself from there and the rest from the
 * first core that holds them; only the rest crosses the ring. A move reads a core's whole part before it
 * writes, so that the two places may overlap. */
#include "device/execute/execute.h"

struct move {
    struct machine *m;
    struct place lx, hbm;
    struct content value;
    bool arrives; /* a load that was issued before */
    int64_t core, counted;
    struct lx_fault source_fault, target_fault;
    /* Relayout: the parts of the source's cores. */
    const struct stay_view *from;
    const struct box *parts;
    int32_t source;
    /* Move. */
    struct place old;
    unsigned char *taken;
};

static void copy_stick(const struct machine *m, const struct place *from, int64_t i, const struct place *to,
                       int64_t k)
{
    memcpy(to->in->bytes + to->address + k * m->stick_bytes,
           from->in->bytes + from->address + i * m->stick_bytes, (size_t)m->stick_bytes);
}

static void transfers_count(struct move *v, int64_t global)
{
    struct machine *m = v->m;
    uint32_t *touched = &m->hbm.touched[v->hbm.address / m->stick_bytes + global];
    v->counted += *touched != m->access;
    *touched = m->access;
}

/* A load begins: it reads its source from now on, and its target is garbage. */
static void issue_stick(void *context, int64_t local, int64_t global)
{
    struct move *v = context;
    shadow_stick_read(v->m, &v->hbm, global, global, v->value, &v->source_fault);
    shadow_stick_issue(v->m, &v->lx, local, v->value, &v->target_fault);
    memset(v->lx.in->bytes + v->lx.address + local * v->m->stick_bytes, POISON, (size_t)v->m->stick_bytes);
}

static void load_stick(void *context, int64_t local, int64_t global)
{
    struct move *v = context;
    if (v->arrives) shadow_stick_arrives(v->m, &v->lx, local, v->value, &v->target_fault);
    transfers_count(v, global);
    shadow_stick_read(v->m, &v->hbm, global, global, v->value, &v->source_fault);
    shadow_stick_write(v->m, &v->lx, local, global, v->value, &v->target_fault);
    copy_stick(v->m, &v->hbm, global, &v->lx, local);
}

static void store_stick(void *context, int64_t local, int64_t global)
{
    struct move *v = context;
    if (v->m->hbm.touched[v->hbm.address / v->m->stick_bytes + global] == v->m->access)
        return; /* stored already */
    transfers_count(v, global);
    shadow_stick_read(v->m, &v->lx, local, global, v->value, &v->source_fault);
    shadow_stick_write(v->m, &v->hbm, global, global, v->value, &v->target_fault);
    copy_stick(v->m, &v->lx, local, &v->hbm, global);
}

static void ring_stick(void *context, int64_t local, int64_t global)
{
    struct move *v = context;
    struct machine *m = v->m;
    const struct lx_layout *l = &m->layouts[v->lx.tensor];
    int64_t position[LX_MAX_DEVICE_RANK], rest = global;
    for (int k = l->rank - 2; k >= 0; k--) {
        position[k] = rest % l->size[k];
        rest /= l->size[k];
    }
    struct place from = {.address = m->plan->answer.address[v->source],
                         .tensor = v->lx.tensor,
                         .stay = v->source,
                         .core = v->core};
    int64_t cores = v->from->view.cores;
    int64_t at = v->core < cores ? box_stick(&v->parts[v->core], position) : -1; /* at home, if there */
    if (at < 0) {
        /* The first core that holds it: slots of variables that do not cut the tensor are 0. */
        const struct lx_core_view *view = &v->from->view;
        const struct box *b = &v->parts[0]; /* the first core's part begins where the slice does */
        from.core = 0;
        for (int k = 0; k < b->rank && k < view->rank; k++) {
            if (view->slices[k] <= 1) continue;
            int64_t place = position[k] - b->lo[k];
            int64_t part = b->run[k] ? b->run[k] : b->hi[k] - b->lo[k] - view->high[k]; /* without its halo */
            if (b->run[k]) place %= b->step[k];
            from.core += place / part * view->stride[k];
        }
        at = from.core >= 0 && from.core < cores ? box_stick(&v->parts[from.core], position) : -1;
    }
    if (at < 0) { /* strides of the view are no slots of one division */
        fault_plain(m, LX_FAULT_PART, &from, "no core holds a stick that is to be copied");
        return;
    }
    v->counted += from.core != v->core;
    from.in = &m->lx[from.core];
    shadow_stick_read(m, &from, at, global, v->value, &v->source_fault);
    shadow_stick_write(m, &v->lx, local, global, v->value, &v->target_fault);
    copy_stick(m, &from, at, &v->lx, local);
}

static void take_stick(void *context, int64_t local, int64_t global)
{
    struct move *v = context;
    int64_t stick = v->m->stick_bytes;
    shadow_stick_read(v->m, &v->old, local, global, v->value, &v->source_fault);
    memcpy(v->taken + local * stick, v->old.in->bytes + v->old.address + local * stick, (size_t)stick);
}

static void put_stick(void *context, int64_t local, int64_t global)
{
    struct move *v = context;
    int64_t stick = v->m->stick_bytes;
    v->counted++;
    shadow_stick_write(v->m, &v->lx, local, global, v->value, &v->target_fault);
    memcpy(v->lx.in->bytes + v->lx.address + local * stick, v->taken + local * stick, (size_t)stick);
}

/* The source lives up to this tick and has the same number of bytes. */
static void move_part(struct move *v)
{
    struct machine *m = v->m;
    int64_t bytes = box_sticks(&v->lx.box) * m->stick_bytes;
    v->old = v->lx;
    v->old.stay = v->source;
    v->old.address = m->plan->answer.address[v->source];
    if (v->old.address % m->stick_bytes || v->old.address + bytes > v->lx.in->sticks * m->stick_bytes) {
        fault_plain(m, LX_FAULT_BOUNDS, &v->old, "%lld bytes at %lld are not in the scratchpad",
                    (long long)bytes, (long long)v->old.address);
        return;
    }
    v->taken = arena_alloc(m->scratch, (size_t)bytes + 1);
    box_visit(&m->layouts[v->lx.tensor], &v->lx.box, take_stick, v);
    box_visit(&m->layouts[v->lx.tensor], &v->lx.box, put_stick, v);
}

static stick_visit *const visits[] = {
    [LX_LOAD] = load_stick, [LX_STORE] = store_stick, [LX_RING] = ring_stick, [LX_MOVE] = NULL};

/* Move: does each core have the same part before and after, and does the source live up to now? */
static bool same_parts(struct machine *m, const struct lx_transfer *t, int64_t cores)
{
    struct place p = {.tensor = m->plan->stays[t->stay].tensor, .stay = t->source, .core = -1};
    const struct stay_view *from = machine_view(m, t->source);
    if (!from) return false;
    bool same = from->view.cores == cores;
    for (int64_t c = 0; same && c < cores && c < m->cores; c++) {
        struct box a, b;
        if (!stay_box(m, t->source, c, &a) || !stay_box(m, t->stay, c, &b)) return false;
        same = box_equal(&a, &b);
    }
    const struct lx_buffer *old = &m->plan->problem.buffers[t->source];
    if (!same)
        fault_plain(m, LX_FAULT_PART, &p, "it is moved to a buffer with other parts");
    else if (m->tick <= old->start || m->tick > old->end)
        fault_plain(m, LX_FAULT_LIFE, &p, "it is moved at a tick up to which it does not live");
    return same && m->tick > old->start && m->tick <= old->end;
}

/* Finds the source, or the HBM place, of a transfer. */
static bool find_other_side(struct machine *m, const struct lx_transfer *t, int64_t cores, struct move *v)
{
    if (t->kind == LX_MOVE) return same_parts(m, t, cores);
    if (t->kind == LX_RING) {
        /* Relayout: the parts of all cores of the source. */
        v->from = machine_view(m, t->source);
        if (!v->from || v->from->view.cores > m->cores) return false;
        struct box *parts = arena_array(m->scratch, (size_t)v->from->view.cores, sizeof *parts);
        bool all = true;
        for (int64_t c = 0; c < v->from->view.cores && all; c++) {
            struct place p = place_in_stay(m, t->source, c);
            all = p.in != NULL;
            parts[c] = p.box;
        }
        v->parts = parts;
        return all;
    }
    v->hbm = place_in_hbm(m, m->plan->stays[t->stay].tensor);
    return v->hbm.in != NULL;
}

static void move_one(struct machine *m, const struct lx_transfer *t, int64_t *bytes)
{
    int32_t count_of_stays = m->plan->problem.count;
    bool known = (unsigned)t->kind < LX_TRANSFER_KINDS && t->stay >= 0 && t->stay < count_of_stays;
    if (known && !lx_through_hbm(t->kind))
        known = t->source >= 0 && t->source < count_of_stays && stay_placed(m, t->source) &&
                m->plan->stays[t->source].tensor == m->plan->stays[t->stay].tensor;
    if (!known || !stay_placed(m, t->stay)) {
        fault_plain(m, LX_FAULT_PLAN, NULL,
                    "a transfer of a buffer that is not on chip, or of another tensor");
        return;
    }
    const struct stay_view *view = machine_view(m, t->stay);
    int32_t tensor = m->plan->stays[t->stay].tensor;
    struct move v = {.m = m,
                     .value = t->kind == LX_STORE ? content_after(m, tensor) : content_before(m, tensor),
                     .arrives =
                         t->ahead > 0 || (t->kind == LX_LOAD && lx_stages(&m->plan->stays[t->stay]) > 1 &&
                                          stay_turn(m, t->stay) > 0),
                     .source = t->source};
    if (!view || !find_other_side(m, t, view->view.cores, &v)) return;
    /* Only an op that writes a buffer can take over the slot of a buffer that it reads. */
    if (t->kind != LX_STORE && m->plan->took_slot_of[t->stay] >= 0) {
        struct place p = {.tensor = tensor, .stay = t->stay, .core = -1};
        fault_plain(m, LX_FAULT_HANDOVER, &p, "it is filled by a copy and cannot take another's place");
    }
    m->access++;
    for (v.core = 0; v.core < view->view.cores && v.core < m->cores; v.core++) {
        struct lx_counters *c = &m->counted[v.core];
        v.counted = v.source_fault.sticks = v.target_fault.sticks = 0;
        m->actor = v.core;
        v.lx = place_in_stay(m, t->stay, v.core);
        if (!v.lx.in) continue;
        if (t->kind == LX_MOVE)
            move_part(&v);
        else
            box_visit(&m->layouts[tensor], &v.lx.box, visits[t->kind], &v);
        int64_t moved = sticks_to_bytes(m, tensor, v.counted);
        if (t->kind == LX_MOVE) c->lx_read += moved, c->lx_written += moved;
        if (t->kind == LX_RING) c->ring += moved;
        if (lx_through_hbm(t->kind)) *(t->kind == LX_LOAD ? &c->hbm_read : &c->hbm_written) += moved;
        *bytes += moved;
        if (v.source_fault.sticks) fault_add(m, &v.source_fault);
        if (v.target_fault.sticks) fault_add(m, &v.target_fault);
    }
    skews_step(m);
}

static void issue_one(struct machine *m, const struct lx_transfer *t)
{
    bool known = t->kind == LX_LOAD && t->stay >= 0 && t->stay < m->plan->problem.count;
    const struct stay_view *view = known && stay_placed(m, t->stay) ? machine_view(m, t->stay) : NULL;
    if (!view) {
        fault_plain(m, LX_FAULT_PLAN, NULL, "a copy is issued that is no load of a buffer on chip");
        return;
    }
    int32_t tensor = m->plan->stays[t->stay].tensor;
    struct move v = {.m = m, .value = content_before(m, tensor), .hbm = place_in_hbm(m, tensor)};
    for (v.core = 0; v.hbm.in && v.core < view->view.cores && v.core < m->cores; v.core++) {
        v.source_fault.sticks = v.target_fault.sticks = 0;
        m->actor = v.core;
        v.lx = place_in_stay(m, t->stay, v.core);
        if (v.lx.in) box_visit(&m->layouts[tensor], &v.lx.box, issue_stick, &v);
        if (v.source_fault.sticks) fault_add(m, &v.source_fault);
        if (v.target_fault.sticks) fault_add(m, &v.target_fault);
    }
    skews_step(m);
}

/* The next slices of a stay with several stages: with the first all that have a slot, then one each time. */
static void issue_stages(struct machine *m, const struct lx_transfer *t)
{
    const struct lx_stay *s = &m->plan->stays[t->stay];
    struct iteration now = m->at;
    int stages = lx_stages(s);
    for (int k = stay_turn(m, t->stay) ? stages - 1 : 1; k < stages; k++) {
        bool more = true;
        m->at = now;
        for (int step = 0; more && step < k; step++) {
            int l = s->hold - 1;
            while (l >= 0 && ++m->at.index[l] == m->at.nest->tiles[l]) m->at.index[l--] = 0;
            more = l >= 0;
        }
        if (more) issue_one(m, t);
    }
    m->at = now;
}

void issue_transfers(struct machine *m)
{
    const struct lx_plan *p = m->plan;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        bool known = t->kind == LX_LOAD && t->stay >= 0 && t->stay < p->problem.count;
        const struct lx_stay *s = known ? &p->stays[t->stay] : NULL;
        if (t->ahead != 0 && lx_issue_tick(t) == m->tick && m->at.number == 0) issue_one(m, t);
        if (s && lx_stages(s) > 1 && t->tick == m->tick && m->at.nest && s->hold <= m->at.nest->level_count &&
            iteration_inner_first(&m->at, s->hold))
            issue_stages(m, t);
    }
}

void move_transfers(struct machine *m, bool stores)
{
    const struct lx_plan *p = m->plan;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (t->tick != m->tick || (t->kind == LX_STORE) != stores) continue;
        if (m->at.nest && t->stay >= 0 && t->stay < p->problem.count) {
            /* A stay's content changes when a level up to its hold steps on: then it is filled, and before
             * that stored. A sum that begins needs no fill. */
            const struct lx_stay *s = &p->stays[t->stay];
            bool here = s->view_op >= m->at.nest->first && s->view_op <= m->at.nest->last;
            int hold = here ? s->hold : 0;
            if (!(stores ? iteration_inner_last(&m->at, hold) : iteration_inner_first(&m->at, hold)))
                continue;
            if (t->kind == LX_LOAD && s->begins_written && s->tensor >= 0 &&
                s->tensor < m->graph->tensor_count && content_before(m, s->tensor).parts == 0 &&
                m->summed[s->tensor])
                continue;
        }
        move_one(m, t, &m->transfer_bytes[i]);
    }
}
