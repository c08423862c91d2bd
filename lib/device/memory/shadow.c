/* Tags: every read is checked against the program's value, every write against live buffers.
 *
 * A buffer is live at the ticks [start, end) of the plan. A write at tick t over bytes of another buffer that
 * is live at t is a fault, even if no op reads them any more: on a real device the op would still be reading
 * them. The exception is a stated handover (took_slot_of): both have one address, and the old buffer ends
 * with this op. */
#include "device/memory/machine.h"
#include "base/words/words.h"

/* The first fault of an access stands for all of them. */
static void note_fault(const struct machine *m, const struct place *p, enum lx_fault_kind kind, int64_t local,
                       int32_t owner, struct lx_fault *first)
{
    if (first->sticks++ > 0) return;
    *first = (struct lx_fault){.kind = kind,
                               .tick = m->tick,
                               .core = p->stay >= 0 ? (int32_t)p->core : -1,
                               .tensor = p->tensor,
                               .stay = p->stay,
                               .owner = owner,
                               .address = p->address + local * m->stick_bytes,
                               .sticks = 1};
}

/* The tensor that a stick of this memory belongs to; -1: none. */
static int32_t tag_owner(const struct machine *m, const struct place *p, const struct tag *t)
{
    return t->value < 0 && t->value != COMING ? -1
           : p->stay >= 0                     ? m->plan->stays[t->owner].tensor
                                              : t->owner;
}

/* A tile is gone with its iteration, and so is a buffer that does not live through the whole nest: others
 * have its place then. */
static bool gone(const struct machine *m, int32_t stay)
{
    const struct lx_nest *n = m->at.nest;
    const struct lx_buffer *b = &m->plan->problem.buffers[stay];
    if (!n || m->at.number == 0 || m->filled[stay] == m->round) return false;
    const struct stay_view *v = &m->views[stay];
    bool tile = v->known && v->nest >= 0 && &m->plan->nests[v->nest] == n &&
                m->plan->stays[stay].hold == n->level_count;
    tile &= lx_stages(&m->plan->stays[stay]) == 1;
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
    if (!skews_read(m, p, local)) note_fault(m, p, LX_FAULT_EARLY, local, tag_owner(m, p, t), first);
    if (t->value == value.value && t->owner == owner && t->stick == (uint32_t)global &&
        t->parts == value.parts && !(p->stay >= 0 && gone(m, p->stay)))
        return true;
    enum lx_fault_kind kind = t->value == NOBODY             ? LX_FAULT_UNWRITTEN
                              : t->value == WIPED            ? LX_FAULT_WIPED
                              : t->owner != owner            ? LX_FAULT_OVERWRITTEN
                              : t->value == COMING           ? LX_FAULT_EARLY
                              : t->value != value.value      ? LX_FAULT_STALE
                              : t->stick != (uint32_t)global ? LX_FAULT_MISPLACED
                              : t->parts != value.parts      ? LX_FAULT_INCOMPLETE
                                                             : LX_FAULT_LIFE;
    note_fault(m, p, kind, local, tag_owner(m, p, t), first);
    return false;
}

/* A write over bytes that another live buffer has, or waits for. */
static bool shadow_overwrites(const struct machine *m, const struct place *p, const struct tag *t)
{
    return (t->value >= 0 || t->value == COMING) && t->owner != p->stay && live(m, t->owner);
}

void shadow_stick_issue(struct machine *m, const struct place *p, int64_t local, struct content value,
                        struct lx_fault *first)
{
    struct tag *t = &p->in->tags[p->address / m->stick_bytes + local];
    if (!skews_write(m, p, local)) note_fault(m, p, LX_FAULT_HASTY, local, tag_owner(m, p, t), first);
    if (shadow_overwrites(m, p, t)) note_fault(m, p, LX_FAULT_LIVE, local, tag_owner(m, p, t), first);
    m->filled[p->stay] = m->round;
    *t = (struct tag){COMING, p->stay, 0, (uint32_t)value.value};
}

bool shadow_stick_arrives(struct machine *m, const struct place *p, int64_t local, struct content value,
                          struct lx_fault *first)
{
    const struct tag *t = &p->in->tags[p->address / m->stick_bytes + local];
    bool mine = t->value == COMING && t->owner == p->stay;
    if (mine && t->parts == (uint32_t)value.value) return true;
    note_fault(m, p, mine ? LX_FAULT_STALE : LX_FAULT_LIVE, local, tag_owner(m, p, t), first);
    return false;
}

void shadow_stick_write(struct machine *m, const struct place *p, int64_t local, int64_t global,
                        struct content value, struct lx_fault *first)
{
    struct tag *t = &p->in->tags[p->address / m->stick_bytes + local];
    if (!skews_write(m, p, local)) note_fault(m, p, LX_FAULT_HASTY, local, tag_owner(m, p, t), first);
    if (p->stay >= 0) {
        const struct lx_plan *plan = m->plan;
        const struct lx_buffer *b = plan->problem.buffers;
        bool handed_over = m->writing && plan->took_slot_of[p->stay] == t->owner && t->owner >= 0 &&
                           plan->answer.address[t->owner] == p->address && b[t->owner].end == m->tick + 1 &&
                           b[p->stay].start == m->tick;
        if (shadow_overwrites(m, p, t) && !handed_over)
            note_fault(m, p, LX_FAULT_LIVE, local, tag_owner(m, p, t), first);
        m->filled[p->stay] = m->round;
    } else {
        /* Graph inputs and outputs own their place in HBM for good. */
        int32_t owner = m->reserved[p->address / m->stick_bytes + local];
        if (owner != NOBODY && owner != p->tensor) note_fault(m, p, LX_FAULT_LIVE, local, owner, first);
    }
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

/* Counts a stick once per access, however often it is touched: in HBM for the first core, in a scratchpad for
 * its own. */
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
    /* HBM has no handovers: cores that are ahead would overwrite a tensor that others still read. */
    int64_t at = v->p->address / v->m->stick_bytes + local;
    uint32_t touched = v->p->in->touched[at];
    const struct tag *t = &v->p->in->tags[at];
    if (v->p->stay < 0 && v->m->writing && touched > v->m->before && touched <= v->m->last_read &&
        t->value >= 0 && t->owner != v->p->tensor)
        note_fault(v->m, v->p, LX_FAULT_LIVE, local, tag_owner(v->m, v->p, t), &v->first);
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

/* Faults in words: the access, its place, and the tag found there. */

static const char *tensor_name(const struct machine *m, int32_t t)
{
    return t >= 0 && t < m->graph->tensor_count ? m->graph->tensors[t].name : "nobody";
}

static void faults_keep(struct machine *m, struct lx_fault *f, const char *what)
{
    SCOPED(text_free) struct text t = {0};
    f->iteration = m->at.nest ? m->at.number : -1;
    m->fault_count++;
    if (m->faults.count >= LX_MAX_FAULTS) return;
    bool after = f->tick >= m->graph->op_count;
    if (after)
        text_add(&t, "after the last op");
    else
        text_format(&t, "op %s (tick %d", m->graph->ops[f->tick].name, (int)f->tick);
    if (!after && f->iteration >= 0)
        text_format(&t, ", iteration %lld of %lld", (long long)f->iteration + 1,
                    (long long)nest_iterations(m->at.nest));
    if (!after) text_add(&t, ")");
    if (f->core >= 0) text_format(&t, ", core %d", (int)f->core);
    if (f->stay >= 0)
        text_format(&t, ", buffer %s",
                    f->stay < m->plan->problem.count ? m->plan->problem.buffers[f->stay].name : "nobody");
    else if (f->tensor >= 0)
        text_format(&t, ", tensor %s in HBM", tensor_name(m, f->tensor));
    if (f->address >= 0)
        text_format(&t, ", %s 0x%llx", f->core >= 0 ? "LX" : "HBM", (unsigned long long)f->address);
    text_format(&t, ": %s", what);
    if (f->sticks > 1) text_format(&t, " (%lld sticks)", (long long)f->sticks);
    f->text = arena_string(m->memory, t.at);
    VEC_PUSH(&m->faults, *f);
}

void machine_fail(struct machine *m, const lx_status *why)
{
    if (!__atomic_exchange_n(&m->failed, true, __ATOMIC_ACQ_REL)) m->failure = *why;
}

void fault_add(struct machine *m, const struct lx_fault *f)
{
    /* Before and after the owner; without the latter the owner is not named. */
    static const char *const words[LX_FAULT_KINDS][2] = {
        [LX_FAULT_UNWRITTEN] = {"reads bytes that nobody has written"},
        [LX_FAULT_WIPED] = {"reads bytes that were wiped, by an extern op or between bundles"},
        [LX_FAULT_OVERWRITTEN] = {"reads bytes that belong to ", ""},
        [LX_FAULT_STALE] = {"reads another value of ", " than the program means"},
        [LX_FAULT_MISPLACED] = {"reads another part of ", " than the one it wants"},
        [LX_FAULT_INCOMPLETE] = {"reads a sum of ", " that has not all its tiles, or others"},
        [LX_FAULT_EARLY] = {"reads ", " before another core has written it, or a load of it has ended"},
        [LX_FAULT_HASTY] = {"overwrites ", " before another core has read or written it"},
        [LX_FAULT_LIVE] = {"overwrites ", ", which is live"}};
    const char *before = words[f->kind][0] ? words[f->kind][0] : lx_fault_help(f->kind),
               *after = words[f->kind][1];
    struct lx_fault copy = *f;
    char what[400];
    snprintf(what, sizeof what, "%s%.250s%s", before, after ? tensor_name(m, f->owner) : "",
             after ? after : "");
    faults_keep(m, &copy, what);
}

void fault_plain(struct machine *m, enum lx_fault_kind kind, const struct place *p, const char *format, ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    struct lx_fault f = {.kind = kind,
                         .tick = m->tick,
                         .core = p && p->stay >= 0 ? (int32_t)p->core : -1,
                         .tensor = p ? p->tensor : -1,
                         .stay = p ? p->stay : -1,
                         .owner = -1,
                         .address = -1};
    faults_keep(m, &f, what);
}

LX_WORDS(lx_fault_word, enum lx_fault_kind, LX_FAULTS)
LX_HELPS(lx_fault_help, enum lx_fault_kind, LX_FAULTS)
