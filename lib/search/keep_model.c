/* The model of keeping: uses and costs of a draft's tensors, and the possible outcomes of a use. */
#include "search/keep.h"

/* True if a stay could serve this access after cuts or under other addresses. */
static bool may_serve(const struct draft *x, int32_t access)
{
    const struct lx_access *a = &x->accesses[access];
    if (a->stay < 0) return false;
    enum lx_exclusion bar = x->stays[a->stay].exclusion;
    bool freed = bar == LX_EXCLUDED_NONE || bar == LX_EXCLUDED_DIVISION || bar == LX_EXCLUDED_NO_GAIN ||
                 bar == LX_EXCLUDED_SIZE || (bar == LX_EXCLUDED_EXTERN && !x->how.passes.no_dump);
    if (!freed || x->graph->ops[x->access_op[access]].kind->traits & LX_EXTERN) return false;
    struct lx_core_view v = access_view(x, access);
    return view_holds(&x->layouts->layouts[a->tensor], &v, !x->how.passes.no_ring) &&
           view_part_bytes(x->layouts, a->tensor, &v) <= x->problem.capacity;
}

static void keep_model_add_access(struct keep_model *m, struct keep_use *u, int32_t access)
{
    const struct draft *x = m->x;
    const struct lx_access *a = &x->accesses[access];
    bool may = may_serve(x, access);
    if (may) {
        struct lx_core_view v = access_view(x, access);
        int64_t part = round_up_i64(view_part_bytes(x->layouts, a->tensor, &v), x->problem.alignment);
        u->size = max_i64(u->size, part);
        u->label = -1; /* index of the tensor's first access with the same view */
        for (int32_t k = x->tensor_at[a->tensor]; u->label < 0 && k < x->tensor_at[a->tensor + 1]; k++) {
            struct lx_core_view w = access_view(x, x->tensor_access[k]);
            if (views_equal(&v, &w)) u->label = k - x->tensor_at[a->tensor];
        }
    }
    if (a->writes) {
        u->writes = true;
        u->write_may = may;
        u->inserts = a->reads;
        u->written += a->bytes;
    } else if (may) {
        u->reads_may = true;
        u->served += a->bytes;
    } else {
        u->reads_hbm = true;
        u->forced += a->bytes;
    }
}

/* Lists the uses of one tensor. An op that wipes is a run of its own. */
static void list_uses(struct keep_model *m, int32_t tensor, const int32_t *run_of)
{
    const struct draft *x = m->x;
    struct keep_tensor *t = &m->tensors[tensor];
    int32_t version = 0;
    t->first = m->use_count;
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++) {
        int32_t access = x->tensor_access[k], op = x->access_op[access];
        struct keep_use *u = m->use_count > t->first ? &m->uses[m->use_count - 1] : NULL;
        if (!u || u->op != op) {
            u = &m->uses[m->use_count++];
            *u = (struct keep_use){.tensor = tensor,
                                   .op = op,
                                   .version = version,
                                   .leaves = version,
                                   .run = run_of[op],
                                   .label = -1};
        }
        keep_model_add_access(m, u, access);
        if (x->accesses[access].writes) u->leaves = ++version;
    }
    t->count = m->use_count - t->first;
}

/* Sets may_keep, needed and goes_on, for the present order of the ops. */
static void look_ahead(struct keep_model *m, struct keep_tensor *t)
{
    bool labelled = false; /* a later use of the same run can have the tensor on chip */
    for (int32_t k = t->count; k-- > 0;) {
        struct keep_use *u = &m->uses[t->first + k];
        bool last = k + 1 == t->count;
        const struct keep_use *next = last ? NULL : u + 1;
        u->needed = last ? t->output : next->version == u->leaves && keep_reads(next);
        labelled = labelled && next->run == u->run;
        u->goes_on = labelled;
        labelled |= u->label >= 0;
        for (int32_t j = k + 1; j < t->count && !u->may_keep; j++) {
            const struct keep_use *v = &m->uses[t->first + j];
            if (v->run != u->run || v->version != u->leaves) break;
            bool same = v->label == u->label || u->label < 0;
            u->may_keep = keep_serves(v) && (same || (!m->x->how.passes.no_ring && !v->inserts));
            if (!same && keep_serves(v)) break;
        }
    }
}

/* A view is made at its first use from another view on chip. Uses of a run are consecutive; `seen`: per
 * label, the last run that has it. */
static void measure_views(struct keep_model *m, const struct keep_tensor *t, int32_t *seen)
{
    int64_t before = INT64_MAX;
    int32_t run = 0;
    for (int32_t k = t->first; k < t->first + t->count; k++) {
        struct keep_use *u = &m->uses[k];
        if (k == t->first || u->run != u[-1].run) {
            before = INT64_MAX;
            run = k + 1; /* unique number over all tensors and runs */
        }
        bool again = u->label < 0 || seen[u->label] == run;
        u->extra = again || before == INT64_MAX ? 0 : before;
        u->between = min_i64(u->label < 0 ? INT64_MAX : u->size, before);
        if (u->between == INT64_MAX) u->between = t->between;
        if (u->label < 0) continue;
        before = min_i64(before, u->size);
        seen[u->label] = run;
    }
}

static void finish_tensor(struct keep_model *m, int32_t tensor, bool cuts, int32_t *seen)
{
    struct keep_tensor *t = &m->tensors[tensor];
    int label = -1;
    bool many = false, rewritten_off_chip = false; /* such a write begins a new run of accesses */
    t->between = INT64_MAX;
    t->whole = tensor_bytes(m->x->layouts, tensor);
    t->output = lx_role_leaves(m->x->graph->tensors[tensor].role);
    for (int32_t k = t->first; k < t->first + t->count; k++) {
        const struct keep_use *u = &m->uses[k];
        m->grain = gcd_i64(gcd_i64(gcd_i64(m->grain, u->served), u->forced), u->written);
        rewritten_off_chip |= u->writes && !u->write_may && t->count > 1;
        if (u->label < 0) continue;
        many |= label >= 0 && u->label != label;
        label = u->label;
        t->between = min_i64(t->between, u->size);
    }
    if (t->count) m->grain = gcd_i64(m->grain, t->whole);
    if (t->between == INT64_MAX) t->between = 0;
    for (int32_t k = t->first; k < t->first + t->count; k++)
        if (m->uses[k].label < 0) m->uses[k].size = t->between;
    t->many = many;
    t->cuts = cuts || many || rewritten_off_chip;
    measure_views(m, t, seen);
    look_ahead(m, t);
}

/* Lists uses by op, and determines which output may take the place of an input. */
static void list_ops(struct keep_model *m)
{
    const struct draft *x = m->x;
    for (int32_t u = 0; u < m->use_count; u++) m->op_at[m->uses[u].op + 2]++;
    for (int32_t o = 1; o <= m->op_count; o++) m->op_at[o + 1] += m->op_at[o];
    for (int pass = 0; pass < 2; pass++) /* the written operands come last */
        for (int32_t u = 0; u < m->use_count; u++)
            if (m->uses[u].writes == (pass == 1)) m->op_use[m->op_at[m->uses[u].op + 1]++] = u;
    if (x->how.passes.no_in_place) return;
    for (int32_t o = 0; o < m->op_count; o++) {
        int32_t first = m->op_at[o + 1] - 1; /* the first output, which may take the place of an input */
        while (m->uses[m->op_use[first]].tensor != x->graph->ops[o].output) first--;
        struct keep_use *out = &m->uses[m->op_use[first]];
        if (out->inserts || !out->write_may || out->reads_may) continue;
        for (int32_t k = m->op_at[o]; k < m->op_at[o + 1]; k++) {
            struct keep_use *in = &m->uses[m->op_use[k]];
            in->gives = in->reads_may && in->size >= out->size && draft_runs_over(x, o, in->tensor);
            out->takes |= in->gives;
        }
    }
}

void keep_model_make(const struct draft *x, bool cuts, struct arena *memory, struct keep_model *m)
{
    size_t ops = (size_t)x->graph->op_count, tensors = (size_t)x->graph->tensor_count,
           accesses = (size_t)x->access_at[ops];
    int32_t *run_of = arena_array(memory, ops, sizeof *run_of),
            *seen = arena_array(memory, accesses + 1, sizeof *seen); /* arenas return zeroed memory */
    *m =
        (struct keep_model){.x = x, .tensor_count = (int32_t)tensors, .op_count = (int32_t)ops, .cuts = cuts};
    m->uses = arena_array(memory, accesses, sizeof *m->uses);
    m->tensors = arena_array(memory, tensors, sizeof *m->tensors);
    m->op_at = arena_array(memory, ops + 2, sizeof *m->op_at);
    m->op_use = arena_array(memory, accesses, sizeof *m->op_use);
    m->price = arena_array(memory, ops + 1, sizeof *m->price);
    m->sums = arena_array(memory, ops + 1, sizeof *m->sums);
    m->ahead = arena_array(memory, KEEP_STATES * (accesses + 1), sizeof *m->ahead);
    int32_t run = 0;
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        bool wipes = x->graph->ops[o].kind->traits & LX_WIPES;
        run += o > 0 && (wipes || x->graph->ops[o - 1].kind->traits & LX_WIPES);
        run_of[o] = run;
    }
    m->capacity = round_up_i64(x->problem.capacity, x->problem.alignment);
    for (int32_t t = 0; t < m->tensor_count; t++) {
        list_uses(m, t, run_of);
        finish_tensor(m, t, cuts, seen);
    }
    m->grain = max_i64(m->grain, 1);
    list_ops(m);
}

struct outcomes {
    const struct keep_tensor *t;
    const struct keep_use *u;
    struct keep_later later;
    struct keep_outcome *out;
    int count;
    int64_t size; /* bytes at this tick, if on chip */
};

static void keep_model_add(struct outcomes *o, struct keep_outcome x)
{
    if (x.on && !x.size) x.size = o->size;
    if (o->count < KEEP_OUTCOMES) o->out[o->count++] = x;
}

/* The tensor is in state `s` after the op: adds the outcomes that keep or drop it. */
static void go_on(struct outcomes *o, struct keep_outcome x, enum keep_state s)
{
    bool on_chip = keep_on_chip(s);
    bool must = on_chip && !o->t->cuts && o->later.goes_on;
    x.after = s;
    if (on_chip && (must || (o->t->cuts && o->later.may_keep))) keep_model_add(o, x);
    if (must) return;
    bool waits = o->u->label < 0; /* no earlier use could have it on chip */
    x.after = o->t->cuts || !o->later.goes_on || on_chip || waits ? KEEP_HBM : KEEP_NEVER;
    if (s == KEEP_CHIP && o->later.needed) x.cost += o->t->whole;
    keep_model_add(o, x);
}

int keep_outcomes(const struct keep_model *m, const struct keep_use *u, enum keep_state before,
                  struct keep_later later, struct keep_outcome out[KEEP_OUTCOMES])
{
    bool there = keep_on_chip(before);
    struct outcomes o = {&m->tensors[u->tensor], u, later, out, 0, u->size + (there ? u->extra : 0)};
    if (there && o.t->many && u->reads_may && !u->writes) {
        /* The tensor stays in another view; the op reads from HBM. */
        struct keep_outcome x = {.on = true, .size = o.t->between, .cost = o.u->served + o.u->forced};
        if (before == KEEP_CHIP) x.cost += o.t->whole;
        go_on(&o, x, KEEP_BOTH);
    }
    for (int on = there; on < 2; on++) {
        enum keep_state s = there ? before : on ? KEEP_BOTH : KEEP_HBM;
        struct keep_outcome x = {.on = on};
        if (on && !there) {
            bool loads = before != KEEP_NEVER && keep_serves(u) &&
                         (later.may_keep || later.goes_on || u->inserts || u->served > o.t->whole);
            if (!loads) continue;
            x.cost = o.t->whole;
        } else if (!on)
            x.cost = u->served;
        if (u->reads_hbm) {
            x.cost += u->forced + (s == KEEP_CHIP ? o.t->whole : 0);
            if (s == KEEP_CHIP) s = KEEP_BOTH;
        }
        if (!u->writes) {
            go_on(&o, x, s);
            continue;
        }
        bool one_stay = u->reads_may || u->inserts;
        if (u->write_may && before != KEEP_NEVER && (on || !one_stay)) {
            struct keep_outcome y = x;
            y.on = true;
            y.fresh = !on;
            go_on(&o, y, KEEP_CHIP);
        }
        if (u->write_may && on && (one_stay || !o.t->cuts)) continue;
        x.cost += u->written + (u->inserts && s == KEEP_CHIP ? o.t->whole : 0);
        go_on(&o, x, KEEP_HBM);
    }
    return o.count;
}
