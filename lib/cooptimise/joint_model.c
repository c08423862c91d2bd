/* Makes the model from the joint problem: labels that can matter, touches merged per op, choices. A choice is
 * left out if another offers the same labels and never costs more; of equals the seed stays, then the
 * first. */
#include "cooptimise/joint_model.h"

struct label_marks {
    int32_t *seen;  /* per label: accesses that offer it; valid for labels of the buffer's first access */
    int32_t *stamp; /* per label: the access that counted it last */
    int32_t *list;
    int32_t access;
};

/* Labels that fit and that every access offers, in the order of the first access's choices. */
static int32_t common_labels(const struct lx_joint_problem *p, const struct lx_joint_buffer *b,
                             struct label_marks *marks)
{
    int32_t count = 0, kept = 0;
    for (int32_t k = 0; k < b->access_count; k++) {
        const struct lx_joint_access *a = &b->accesses[k];
        if (!a->label) return 0;
        marks->access++;
        for (int32_t c = 0; c < p->ops[a->op].choice_count; c++) {
            int32_t l = a->label[c];
            if (l < 0 || marks->stamp[l] == marks->access || p->label_size[l] > p->capacity) continue;
            marks->stamp[l] = marks->access;
            if (k == 0) {
                marks->seen[l] = 1;
                marks->list[count++] = l;
            } else if (marks->seen[l] == k)
                marks->seen[l] = k + 1;
        }
    }
    for (int32_t i = 0; i < count; i++)
        if (marks->seen[marks->list[i]] == b->access_count) marks->list[kept++] = marks->list[i];
    return kept;
}

static bool saves_anything(const struct lx_joint_problem *p, const struct lx_joint_buffer *b)
{
    for (int32_t k = 0; k < b->access_count; k++) {
        const struct lx_joint_access *a = &b->accesses[k];
        if (a->always) continue;
        if (a->toll > 0) return true;
        for (int32_t c = 0; c < p->ops[a->op].choice_count; c++)
            if (joint_at(a->memory, c) > 0) return true;
    }
    return false;
}

static void make_var(struct joint_model *m, int32_t buffer, const int32_t *labels, int32_t count)
{
    const struct lx_joint_problem *p = m->p;
    const struct lx_joint_buffer *b = &p->buffers[buffer];
    struct joint_var *v = &m->vars[m->var_count];
    *v = (struct joint_var){.buffer = buffer, .from = b->accesses[0].op, .state_count = count + 1};
    v->to = b->accesses[b->access_count - 1].op + 1;
    while (v->to < p->op_count && p->ops[v->to].tick < b->end) v->to++;
    v->size = arena_array(&m->memory, (size_t)count + 1, sizeof *v->size);
    v->label = arena_array(&m->memory, (size_t)count + 1, sizeof *v->label);
    v->future = arena_array(&m->memory, (size_t)count + 1, sizeof *v->future);
    v->label[0] = -1;
    for (int32_t i = 0; i < count; i++) {
        v->label[i + 1] = labels[i];
        v->size[i + 1] = round_up_i64(p->label_size[labels[i]], p->alignment);
    }
    m->var_of[buffer] = m->var_count++;
}

static void joint_model_make_vars(struct joint_model *m)
{
    const struct lx_joint_problem *p = m->p;
    struct arena scratch = {0};
    size_t labels = (size_t)p->label_count + 1;
    struct label_marks marks = {.seen = arena_array(&scratch, labels, sizeof *marks.seen),
                                .stamp = arena_array(&scratch, labels, sizeof *marks.stamp),
                                .list = arena_array(&scratch, labels, sizeof *marks.list)};
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_joint_buffer *b = &p->buffers[i];
        m->var_of[i] = -1;
        if (b->reason || b->access_count == 0 || !saves_anything(p, b)) continue;
        int32_t count = common_labels(p, b, &marks);
        if (count > 0) make_var(m, i, marks.list, count);
    }
    arena_free(&scratch);
    for (int32_t v = 0; v < m->var_count; v++) {
        struct joint_var *child = &m->vars[v];
        const struct lx_joint_buffer *b = &p->buffers[child->buffer];
        child->parents = arena_array(&m->memory, (size_t)b->parent_count, sizeof *child->parents);
        for (int32_t k = 0; k < b->parent_count; k++) {
            int32_t parent = m->var_of[b->parents[k]];
            if (parent >= 0 && p->buffers[b->parents[k]].end == b->start + 1 && !b->first_use_is_read)
                child->parents[child->parent_count++] = parent;
        }
    }
}

/* One op's factor before choices are left out, in arrays of the problem's size. */
struct draft {
    struct joint_touch touch[JOINT_MAX_TOUCHES];
    int32_t touch_count;
    int64_t toll;
    int32_t *state;
    int64_t *memory, *compute, *steady, *extra;
};

struct op_accesses {
    int32_t *first, *buffer, *access; /* first: per op, start of its accesses in the two lists */
};

/* Merges an access into the draft. Two accesses of one op to one variable must agree for it to be on chip. */
static void draft_access(const struct joint_model *m, int32_t o, const struct lx_joint_access *a, int32_t v,
                         struct draft *d)
{
    int32_t n = m->p->ops[o].choice_count, t = 0;
    if (v >= 0)
        while (t < d->touch_count && d->touch[t].var != v) t++;
    bool fresh = v >= 0 && t == d->touch_count;
    if (fresh) {
        const struct lx_joint_buffer *b = &m->p->buffers[m->vars[v].buffer];
        d->touch[d->touch_count++] =
            (struct joint_touch){v, m->vars[v].from == o, b->accesses[b->access_count - 1].op == o, 0};
    }
    for (int32_t c = 0; c < n; c++) {
        bool saved = v >= 0 && !a->always;
        if (v >= 0) {
            int32_t *state = &d->state[c * JOINT_MAX_TOUCHES + t], here = m->vars[v].state_count - 1;
            while (here > 0 && m->vars[v].label[here] != a->label[c]) here--;
            *state = fresh || *state == here ? here : 0;
            if (fresh) d->memory[c * JOINT_MAX_TOUCHES + t] = 0;
        }
        if (saved)
            d->memory[c * JOINT_MAX_TOUCHES + t] += joint_at(a->memory, c);
        else
            d->steady[c] += joint_at(a->memory, c);
    }
    if (v >= 0 && !a->always)
        d->touch[t].toll += a->toll;
    else
        d->toll += a->toll;
}

static bool joint_model_dominates(const struct draft *d, int32_t a, int32_t b)
{
    if (d->compute[a] > d->compute[b] || d->steady[a] > d->steady[b] || d->extra[a] > d->extra[b])
        return false;
    const int32_t *sa = &d->state[a * JOINT_MAX_TOUCHES], *sb = &d->state[b * JOINT_MAX_TOUCHES];
    const int64_t *ma = &d->memory[a * JOINT_MAX_TOUCHES], *mb = &d->memory[b * JOINT_MAX_TOUCHES];
    for (int32_t t = 0; t < d->touch_count; t++)
        if ((sb[t] != 0 && sb[t] != sa[t]) || ma[t] > mb[t]) return false;
    return true;
}

static void store_factor(struct joint_model *m, const struct draft *d, const int32_t *kept, int32_t count,
                         struct joint_factor *f)
{
    size_t n = (size_t)count, cells = n * (size_t)d->touch_count;
    int32_t order[JOINT_MAX_TOUCHES], messages = 0;
    *f = (struct joint_factor){.touch_count = d->touch_count, .choice_count = count, .toll = d->toll};
    for (int32_t t = 0; t < d->touch_count; t++)
        if (!d->touch[t].first) order[f->old_count++] = t;
    for (int32_t t = 0, k = f->old_count; t < d->touch_count; t++)
        if (d->touch[t].first) order[k++] = t;
    struct arena *a = &m->memory;
    f->touch = arena_array(a, (size_t)d->touch_count, sizeof *f->touch);
    f->origin = arena_array(a, n, sizeof *f->origin);
    f->state = arena_array(a, cells, sizeof *f->state);
    f->memory = arena_array(a, cells, sizeof *f->memory);
    f->compute = arena_array(a, n, sizeof *f->compute);
    f->steady = arena_array(a, n, sizeof *f->steady);
    f->extra = arena_array(a, n, sizeof *f->extra);
    f->message_at = arena_array(a, (size_t)d->touch_count, sizeof *f->message_at);
    for (int32_t t = 0; t < d->touch_count; t++) {
        f->touch[t] = d->touch[order[t]];
        f->message_at[t] = messages;
        if (t < f->old_count) messages += m->vars[f->touch[t].var].state_count;
    }
    f->message = arena_array(a, (size_t)messages, sizeof *f->message);
    for (int32_t c = 0; c < count; c++) {
        int32_t from = kept[c];
        f->origin[c] = from;
        f->compute[c] = d->compute[from];
        f->steady[c] = d->steady[from];
        f->extra[c] = d->extra[from];
        for (int32_t t = 0; t < d->touch_count; t++) {
            f->state[c * d->touch_count + t] = d->state[from * JOINT_MAX_TOUCHES + order[t]];
            f->memory[c * d->touch_count + t] = d->memory[from * JOINT_MAX_TOUCHES + order[t]];
        }
    }
}

static void make_factor(struct joint_model *m, const struct op_accesses *l, int32_t o, struct draft *d,
                        int32_t *kept)
{
    const struct lx_joint_op *op = &m->p->ops[o];
    d->touch_count = 0;
    d->toll = 0;
    for (int32_t c = 0; c < op->choice_count; c++) {
        d->compute[c] = joint_at(op->compute, c);
        d->extra[c] = joint_at(op->extra, c);
        d->steady[c] = 0;
    }
    for (int32_t i = l->first[o]; i < l->first[o + 1]; i++) {
        const struct lx_joint_access *a = &m->p->buffers[l->buffer[i]].accesses[l->access[i]];
        draft_access(m, o, a, m->var_of[l->buffer[i]], d);
    }
    int32_t n = 0;
    for (int32_t k = 0; k < op->choice_count; k++) {
        int32_t c = k == 0 ? op->seed : k - (k <= op->seed);
        bool beaten = false;
        for (int32_t i = 0; i < n && !beaten; i++) beaten = joint_model_dominates(d, kept[i], c);
        if (beaten) continue;
        int32_t left = 0;
        for (int32_t i = 0; i < n; i++)
            if (!joint_model_dominates(d, c, kept[i])) kept[left++] = kept[i];
        n = left;
        kept[n++] = c;
    }
    store_factor(m, d, kept, n, &m->factors[o]);
}

static bool make_factors(struct joint_model *m, lx_status *st)
{
    const struct lx_joint_problem *p = m->p;
    SCOPED(arena_free) struct arena scratch = {0};
    struct op_accesses l = {0};
    size_t most = 1;
    for (int32_t o = 0; o < p->op_count; o++)
        if ((size_t)p->ops[o].choice_count > most) most = (size_t)p->ops[o].choice_count;
    int32_t *kept = arena_array(&scratch, most, sizeof *kept);
    struct draft d = {.state = arena_array(&scratch, most * JOINT_MAX_TOUCHES, sizeof *d.state),
                      .memory = arena_array(&scratch, most * JOINT_MAX_TOUCHES, sizeof *d.memory),
                      .compute = arena_array(&scratch, most, sizeof *d.compute),
                      .steady = arena_array(&scratch, most, sizeof *d.steady),
                      .extra = arena_array(&scratch, most, sizeof *d.extra)};
    bool ok = true;
    size_t total = 0;
    for (int32_t i = 0; i < p->buffer_count; i++) total += (size_t)p->buffers[i].access_count;
    l.first = arena_array(&scratch, (size_t)p->op_count + 2, sizeof *l.first);
    l.buffer = arena_array(&scratch, total, sizeof *l.buffer);
    l.access = arena_array(&scratch, total, sizeof *l.access);
    for (int32_t i = 0; i < p->buffer_count; i++)
        for (int32_t k = 0; k < p->buffers[i].access_count; k++) l.first[p->buffers[i].accesses[k].op + 2]++;
    for (int32_t o = 0; o < p->op_count; o++) l.first[o + 2] += l.first[o + 1];
    for (int32_t i = 0; i < p->buffer_count; i++)
        for (int32_t k = 0; k < p->buffers[i].access_count; k++) {
            int32_t here = l.first[p->buffers[i].accesses[k].op + 1]++;
            l.buffer[here] = i;
            l.access[here] = k;
        }
    for (int32_t o = 0; ok && o < p->op_count; o++) {
        make_factor(m, &l, o, &d, kept); /* compares all pairs of the op's choices */
        if (cancel_requested()) ok = status_cancelled(st);
    }
    return ok;
}

/* True if no op touches more than JOINT_MAX_TOUCHES buffers. */
static bool touches_fit(const struct lx_joint_problem *p, lx_status *st)
{
    OWNED int32_t *count = mem_zeroed((size_t)p->op_count + 1, sizeof *count);
    bool ok = true;
    for (int32_t i = 0; i < p->buffer_count && ok; i++)
        for (int32_t k = 0; k < p->buffers[i].access_count && ok; k++) {
            int32_t o = p->buffers[i].accesses[k].op;
            if (k > 0 && p->buffers[i].accesses[k - 1].op == o) continue;
            if (++count[o] > JOINT_MAX_TOUCHES)
                ok = status_set(st, LX_E_LIMIT, "op %s touches more than %d buffers", p->ops[o].name,
                                JOINT_MAX_TOUCHES);
        }
    return ok;
}

bool joint_model_make(struct joint_model *m, const struct lx_joint_problem *p, lx_status *st)
{
    *m = (struct joint_model){.p = p, .factor_count = p->op_count};
    if (!touches_fit(p, st)) return false;
    /* Prices need fractional bits only if costs are small. */
    int64_t toll = 0;
    for (int32_t i = 0; i < p->buffer_count; i++)
        for (int32_t k = 0; k < p->buffers[i].access_count; k++)
            toll = max_i64(toll, p->buffers[i].accesses[k].toll);
    int bits = toll > (int64_t)1 << 40 ? 0 : 16;
    prices_make(&m->room, p->op_count, bits, round_up_i64(p->capacity, p->alignment), &m->memory);
    m->vars = arena_array(&m->memory, (size_t)p->buffer_count, sizeof *m->vars);
    m->var_of = arena_array(&m->memory, (size_t)p->buffer_count, sizeof *m->var_of);
    m->factors = arena_array(&m->memory, (size_t)p->op_count, sizeof *m->factors);
    joint_model_make_vars(m);
    size_t vars = (size_t)m->var_count;
    int32_t *from = arena_array(&m->memory, vars, sizeof *from),
            *to = arena_array(&m->memory, vars, sizeof *to);
    int32_t *slot = arena_array(&m->memory, vars, sizeof *slot);
    for (int32_t v = 0; v < m->var_count; v++) from[v] = m->vars[v].from, to[v] = m->vars[v].to;
    m->slot_count = beam_slots(from, to, m->var_count, slot);
    for (int32_t v = 0; v < m->var_count; v++) m->vars[v].slot = slot[v];
    bool ok = make_factors(m, st);
    if (!ok) arena_free(&m->memory);
    return ok;
}
