/* Transfers: loads from HBM, stores to it, copies from one view of a tensor to another over the data ring, and moves
 * inside the scratchpads.
 *
 * A stick that several cores want is read from HBM once (multicast); of a stick that several cores hold, the
 * first stores it. A relayout takes what a core holds itself from there and the rest from the first core that
 * holds it; only the rest crosses the ring. A move takes all of a core's part up and then puts it down, so that the two
 * places may overlap. */
#include "device/memory/machine.h"
#include "device/execute/execute.h"
#include "base/checked.h"

#include <string.h>

struct move {
    struct machine *m;
    struct place lx, hbm;
    int32_t value;
    int64_t core, counted;
    struct lx_fault source_fault, target_fault;
    /* Of a relayout. */
    struct lx_core_view from;
    int32_t source;
    /* Of a move. */
    struct place old;
    unsigned char *taken;
};

static void copy_stick(const struct machine *m, const struct place *from, int64_t i, const struct place *to,
                       int64_t k)
{
    memcpy(to->in->bytes + to->address + k * m->stick_bytes,
           from->in->bytes + from->address + i * m->stick_bytes, (size_t)m->stick_bytes);
}

static void count(struct move *v, int64_t global)
{
    struct machine *m = v->m;
    uint32_t *touched = &m->hbm.touched[v->hbm.address / m->stick_bytes + global];
    v->counted += *touched != m->access;
    *touched = m->access;
}

static void load_stick(void *context, int64_t local, int64_t global)
{
    struct move *v = context;
    count(v, global);
    shadow_stick_read(v->m, &v->hbm, global, global, v->value, &v->source_fault);
    shadow_stick_write(v->m, &v->lx, local, global, v->value, &v->target_fault);
    copy_stick(v->m, &v->hbm, global, &v->lx, local);
}

static void store_stick(void *context, int64_t local, int64_t global)
{
    struct move *v = context;
    if (v->m->hbm.touched[v->hbm.address / v->m->stick_bytes + global] == v->m->access)
        return; /* is stored */
    count(v, global);
    shadow_stick_read(v->m, &v->lx, local, global, v->value, &v->source_fault);
    shadow_stick_write(v->m, &v->hbm, global, global, v->value, &v->target_fault);
    copy_stick(v->m, &v->lx, local, &v->hbm, global);
}

/* Where a stick is: its place in the part of core `core`, or -1. */
static int64_t place_on_core(const struct lx_layout *l, const struct lx_core_view *v, const int64_t *position,
                             int64_t core)
{
    int64_t at = 0;
    if (core >= v->cores) return -1;
    for (int k = 0; k < l->rank - 1; k++) {
        bool cut = k < v->rank && v->slices[k] > 1;
        int64_t part = cut ? ceil_div_i64(l->size[k], v->slices[k]) : l->size[k];
        int64_t lo = cut ? core / v->stride[k] % v->slices[k] * part : 0, p = position[k] - lo;
        if (p < 0 || p >= part) return -1;
        at = at * min_i64(part, l->size[k] - lo) + p;
    }
    return at;
}

/* The first core that holds it: the slots of all variables that do not cut the tensor are 0. */
static int64_t first_holder(const struct lx_layout *l, const struct lx_core_view *v, const int64_t *position)
{
    int64_t core = 0;
    for (int k = 0; k < l->rank - 1 && k < v->rank; k++)
        if (v->slices[k] > 1) core += position[k] / ceil_div_i64(l->size[k], v->slices[k]) * v->stride[k];
    return core;
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
    int64_t at = place_on_core(l, &v->from, position, v->core); /* at home, if it is there */
    if (at < 0) {
        from.core = first_holder(l, &v->from, position);
        at = place_on_core(l, &v->from, position, from.core);
    }
    if (at < 0) { /* views whose strides are no slots of one division */
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

/* The source lives up to this tick; its bytes are as many as the target's. */
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
    m->no_memory |= !v->taken;
    if (!v->taken) return;
    box_visit(&m->layouts[v->lx.tensor], &v->lx.box, take_stick, v);
    box_visit(&m->layouts[v->lx.tensor], &v->lx.box, put_stick, v);
}

static stick_visit *const visits[] = {
    [LX_LOAD] = load_stick, [LX_STORE] = store_stick, [LX_RING] = ring_stick, [LX_MOVE] = NULL};

/* Is everything that the transfer names there? */
static bool transfer_valid(struct machine *m, const struct lx_transfer *t)
{
    int32_t count_of_stays = m->plan->problem.count;
    bool known = (unsigned)t->kind < LX_TRANSFER_KINDS && t->stay >= 0 && t->stay < count_of_stays;
    if (known && !lx_through_hbm(t->kind))
        known = t->source >= 0 && t->source < count_of_stays && stay_placed(m, t->source) &&
                m->plan->stays[t->source].tensor == m->plan->stays[t->stay].tensor;
    if (known && stay_placed(m, t->stay)) return true;
    fault_plain(m, LX_FAULT_PLAN, NULL, "a transfer of a buffer that is not on chip, or of another tensor");
    return false;
}

static int64_t count_bytes(struct move *v, const struct lx_transfer *t)
{
    struct machine *m = v->m;
    struct lx_counters *c = &m->counted[v->core];
    int64_t bytes = sticks_to_bytes(m, v->lx.tensor, v->counted);
    if (t->kind == LX_MOVE) {
        c->lx_read += bytes;
        c->lx_written += bytes;
        return bytes;
    }
    *(t->kind == LX_LOAD ? &c->hbm_read : t->kind == LX_STORE ? &c->hbm_written : &c->ring) += bytes;
    return bytes;
}

/* Of a move: does each core have the same part before and after, and did the source live until now? */
static bool same_parts(struct machine *m, const struct lx_transfer *t, const struct lx_core_view *to)
{
    const struct lx_layout *l = &m->layouts[m->plan->stays[t->stay].tensor];
    struct place p = {.tensor = m->plan->stays[t->stay].tensor, .stay = t->source, .core = -1};
    struct lx_core_view from;
    if (!machine_view(m, t->source, &from)) return false;
    bool same = from.cores == to->cores;
    for (int64_t c = 0; same && c < to->cores && c < m->cores; c++) {
        struct box a = box_of_view(l, &from, c), b = box_of_view(l, to, c);
        same = memcmp(a.lo, b.lo, sizeof a.lo) == 0 && memcmp(a.hi, b.hi, sizeof a.hi) == 0;
    }
    const struct lx_buffer *old = &m->plan->problem.buffers[t->source];
    if (!same)
        fault_plain(m, LX_FAULT_PART, &p, "it is moved to a buffer with other parts");
    else if (m->tick <= old->start || m->tick > old->end)
        fault_plain(m, LX_FAULT_LIFE, &p, "it is moved at a tick up to which it does not live");
    return same && m->tick > old->start && m->tick <= old->end;
}

static void move_one(struct machine *m, const struct lx_transfer *t, int64_t *bytes)
{
    if (!transfer_valid(m, t)) return;
    const struct lx_stay *s = &m->plan->stays[t->stay];
    struct lx_core_view view;
    struct move v = {.m = m, .value = m->current[s->tensor], .source = t->source};
    if (!machine_view(m, t->stay, &view)) return;
    if (t->kind == LX_MOVE) {
        if (!same_parts(m, t, &view)) return;
    } else if (t->kind == LX_RING) {
        if (!machine_view(m, t->source, &v.from)) return;
        bool all = v.from.cores <= m->cores;
        for (int64_t c = 0; c < v.from.cores && all; c++) all = place_in_stay(m, t->source, c).in != NULL;
        if (!all) return;
    } else {
        v.hbm = place_in_hbm(m, s->tensor);
        if (!v.hbm.in) return;
    }
    /* Only an op that writes a buffer can take over the slot of one that it reads. */
    if (t->kind != LX_STORE && m->plan->took_slot_of[t->stay] >= 0) {
        struct place p = {.tensor = s->tensor, .stay = t->stay, .core = -1};
        fault_plain(m, LX_FAULT_HANDOVER, &p, "it is filled by a copy and cannot take another's place");
    }
    m->access++;
    for (int64_t c = 0; c < view.cores && c < m->cores; c++) {
        v.core = c;
        v.counted = v.source_fault.sticks = v.target_fault.sticks = 0;
        v.lx = place_in_stay(m, t->stay, c);
        if (!v.lx.in) continue;
        if (t->kind == LX_MOVE)
            move_part(&v);
        else
            box_visit(&m->layouts[s->tensor], &v.lx.box, visits[t->kind], &v);
        *bytes += count_bytes(&v, t);
        if (v.source_fault.sticks) fault_add(m, &v.source_fault);
        if (v.target_fault.sticks) fault_add(m, &v.target_fault);
    }
}

void move_transfers(struct machine *m, bool stores)
{
    const struct lx_plan *p = m->plan;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (t->tick == m->tick && (t->kind == LX_STORE) == stores) move_one(m, t, &m->transfer_bytes[i]);
    }
}
