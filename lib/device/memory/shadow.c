/* Tags: every read is checked against what the program means, every write against what is live.
 *
 * A buffer is live at the ticks [start, end) of the plan. A write at tick t over bytes of another buffer that
 * is live at t is a fault, though nobody may read them any more: on a real device the op would still be
 * reading them. The exception is a slot that is handed over: the plan says so (took_slot_of), both have one
 * address, and the one that gives it ends with this op. */
#include "device/memory/machine.h"

static struct lx_fault fault_at(const struct machine *m, const struct place *p, enum lx_fault_kind kind,
                                int64_t local, const struct tag *t)
{
    struct lx_fault f = {.kind = kind,
                         .tick = m->tick,
                         .core = p->stay >= 0 ? (int32_t)p->core : -1,
                         .tensor = p->tensor,
                         .stay = p->stay,
                         .owner = -1,
                         .address = p->address + local * m->stick_bytes,
                         .sticks = 1};
    if (t && t->value >= 0) f.owner = p->stay >= 0 ? m->plan->stays[t->owner].tensor : t->owner;
    return f;
}

/* The first fault of an access stands for all of them. */
static void note_fault(const struct machine *m, const struct place *p, enum lx_fault_kind kind, int64_t local,
                       const struct tag *t, struct lx_fault *first)
{
    if (first->sticks == 0)
        *first = fault_at(m, p, kind, local, t);
    else
        first->sticks++;
}

/* What a tile holds is gone with its iteration, and so is what does not live through all of the nest: others
 * have its place then. */
static bool gone(const struct machine *m, int32_t stay)
{
    const struct lx_nest *n = m->at.nest;
    const struct lx_buffer *b = &m->plan->problem.buffers[stay];
    if (!n || m->at.number == 0 || m->filled[stay] == m->round) return false;
    const struct stay_view *v = &m->views[stay];
    bool tile = v->known && v->nest >= 0 && &m->plan->nests[v->nest] == n &&
                m->plan->stays[stay].hold == n->level_count;
    return tile || b->start > n->first || b->end <= n->last;
}

static bool live(const struct machine *m, int32_t stay)
{
    const struct lx_buffer *b = &m->plan->problem.buffers[stay];
    return b->start <= m->tick && m->tick < b->end && !gone(m, stay);
}

bool shadow_stick_read(struct machine *m, const struct place *p, int64_t local, int64_t global,
                       struct content value, struct lx_fault *first)
{
    const struct tag *t = &p->in->tags[p->address / m->stick_bytes + local];
    int32_t owner = p->stay >= 0 ? p->stay : p->tensor;
    if (t->value == value.value && t->owner == owner && t->stick == (uint32_t)global &&
        t->parts == value.parts && !(p->stay >= 0 && gone(m, p->stay)))
        return true;
    enum lx_fault_kind kind = t->value == NOBODY             ? LX_FAULT_UNWRITTEN
                              : t->value == WIPED            ? LX_FAULT_WIPED
                              : t->owner != owner            ? LX_FAULT_OVERWRITTEN
                              : t->value != value.value      ? LX_FAULT_STALE
                              : t->stick != (uint32_t)global ? LX_FAULT_MISPLACED
                              : t->parts != value.parts      ? LX_FAULT_INCOMPLETE
                                                             : LX_FAULT_LIFE;
    note_fault(m, p, kind, local, t, first);
    return false;
}

/* May the stay of `p` take the bytes of `other`, which is live? */
static bool shadow_handed_over(const struct machine *m, const struct place *p, int32_t other)
{
    const struct lx_plan *plan = m->plan;
    return m->writing && plan->took_slot_of[p->stay] == other && plan->answer.address[other] == p->address &&
           plan->problem.buffers[other].end == m->tick + 1 && plan->problem.buffers[p->stay].start == m->tick;
}

/* Graph inputs and outputs have their place in HBM for good. */
static void reserved_write(const struct machine *m, const struct place *p, int64_t local,
                           struct lx_fault *first)
{
    int32_t owner = m->reserved[p->address / m->stick_bytes + local];
    if (owner == NOBODY || owner == p->tensor) return;
    if (first->sticks++ > 0) return;
    *first = fault_at(m, p, LX_FAULT_LIVE, local, NULL);
    first->owner = owner;
}

void shadow_stick_write(struct machine *m, const struct place *p, int64_t local, int64_t global,
                        struct content value, struct lx_fault *first)
{
    struct tag *t = &p->in->tags[p->address / m->stick_bytes + local];
    if (p->stay >= 0 && t->value >= 0 && t->owner != p->stay && live(m, t->owner) &&
        !shadow_handed_over(m, p, t->owner))
        note_fault(m, p, LX_FAULT_LIVE, local, t, first);
    if (p->stay < 0)
        reserved_write(m, p, local, first);
    else
        m->filled[p->stay] = m->round;
    *t = (struct tag){value.value, p->stay >= 0 ? p->stay : p->tensor, (uint32_t)global, value.parts};
}

struct visit {
    struct machine *m;
    const struct place *p;
    struct content value;
    int32_t before;
    bool counts;
    int64_t counted;
    struct lx_fault first;
};

/* Counts a stick once per access, however often it is touched: of HBM for the first core that does, of a
 * scratchpad for its own. */
static void shadow_tally(struct visit *v, int64_t local)
{
    if (!v->counts) return;
    uint32_t *touched = &v->p->in->touched[v->p->address / v->m->stick_bytes + local];
    v->counted += *touched != v->m->access;
    *touched = v->m->access;
}

static void visit_read(void *context, int64_t local, int64_t global)
{
    struct visit *v = context;
    shadow_tally(v, local);
    shadow_stick_read(v->m, v->p, local, global, v->value, &v->first);
}

static void visit_write(void *context, int64_t local, int64_t global)
{
    struct visit *v = context;
    /* In HBM no slot is handed over: cores that are ahead would overwrite what others still read of another
 * tensor. */
    int64_t at = v->p->address / v->m->stick_bytes + local;
    uint32_t touched = v->p->in->touched[at];
    const struct tag *t = &v->p->in->tags[at];
    if (v->p->stay < 0 && v->m->writing && touched > v->m->before && touched <= v->m->last_read &&
        t->value >= 0 && t->owner != v->p->tensor)
        note_fault(v->m, v->p, LX_FAULT_LIVE, local, t, &v->first);
    shadow_tally(v, local);
    shadow_stick_write(v->m, v->p, local, global, v->value, &v->first);
}

static void visit_count(void *context, int64_t local, int64_t global)
{
    (void)global;
    shadow_tally(context, local);
}

static void visit_keep(void *context, int64_t local, int64_t global)
{
    struct visit *v = context;
    struct tag *t = &v->p->in->tags[v->p->address / v->m->stick_bytes + local];
    int32_t owner = v->p->stay >= 0 ? v->p->stay : v->p->tensor;
    if (t->value == v->before && t->owner == owner && t->stick == (uint32_t)global) t->value = v->value.value;
}

int64_t shadow_read(struct machine *m, const struct place *p, const struct region *r, struct expectation want)
{
    struct visit v = {.m = m, .p = p, .value = want.content, .counts = want.counts};
    if (want.counts) m->last_read = m->access;
    region_visit(r, &m->layouts[p->tensor], &p->box, visit_read, &v);
    if (v.first.sticks > 0) fault_add(m, &v.first);
    return v.counted;
}

int64_t shadow_write(struct machine *m, const struct place *p, const struct region *r, struct content value)
{
    struct visit v = {.m = m, .p = p, .value = value, .counts = true};
    region_visit(r, &m->layouts[p->tensor], &p->box, visit_write, &v);
    if (v.first.sticks > 0) fault_add(m, &v.first);
    return v.counted;
}

int64_t shadow_count(struct machine *m, const struct place *p, const struct region *r)
{
    struct visit v = {.m = m, .p = p, .counts = true};
    region_visit(r, &m->layouts[p->tensor], &p->box, visit_count, &v);
    return v.counted;
}

void shadow_keep(struct machine *m, const struct place *p, int32_t before, int32_t value)
{
    struct visit v = {.m = m, .p = p, .value = {value, 0}, .before = before};
    box_visit(&m->layouts[p->tensor], &p->box, visit_keep, &v);
}

void shadow_in_use(const struct machine *m, int64_t *bytes)
{
    for (int64_t c = 0; c < m->cores; c++) {
        int64_t sticks = 0;
        for (int64_t i = 0; i < m->lx[c].sticks; i++)
            sticks += m->lx[c].tags[i].value >= 0 && live(m, m->lx[c].tags[i].owner);
        bytes[c] = sticks * m->stick_bytes;
    }
}
