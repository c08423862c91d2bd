/* From accesses to stays. A tensor's accesses fall into runs. A new run begins in a new bundle, after a write
 * to HBM, which leaves copies stale, and at a decided cut. In a run the accesses with one view make one stay.
 * The first is the main stay; the others are filled from it over the ring, or from HBM. */
#include "stays/stay_reasons.h"
#include "base/words/words.h"
#include "base/slot.h"

enum { LABEL_EXTERN = -2, LABEL_NONE = -1 };

struct seen {
    int32_t access, op;
    int label; /* index of its view in `views`, or a LABEL_ */
    int run;
};

struct found_stay {
    struct lx_stay stay;
    struct lx_buffer buffer;
    int64_t life_first, life_last; /* ticks */
    VEC(int64_t) uses;
};

struct builder {
    struct draft *x;
    lx_status *st;
    VEC(struct lx_core_view) views;
    VEC(struct seen) seen;
    VEC(struct found_stay) found; /* of the current tensor */
    VEC(struct found_stay) later; /* the stays after the first, of all tensors */
    int32_t next_cut;
};

struct run {
    int32_t tensor;
    size_t from, to;
    size_t first; /* the first access that could be on chip; `to`: none */
    bool many_views;
    bool writes_later; /* an access after the first writes */
};

static const struct lx_op *op_of(const struct builder *b, int32_t op)
{
    return &b->x->graph->ops[op];
}

/* Are the scratchpads wiped between two ops? */
static bool wiped_between(const struct builder *b, int32_t first, int32_t second)
{
    return b->x->wipes_before[second] != b->x->wipes_before[first];
}

/* --- Why a tensor may not be on chip: the first reason that holds. --- */

LX_WORDS(lx_exclusion_word, enum lx_exclusion, LX_EXCLUSIONS)

enum lx_exclusion exclusion_of_tensor(const struct lx_layouts *l, const struct lx_passes *how, int32_t tensor,
                                      const char **text)
{
    const struct lx_tensor *t = &l->graph->tensors[tensor];
    bool shaped = l->layouts[tensor].rank > 0;
    if (t->memory == 1 + LX_MEMORY_HBM || t->placing == 1 + LX_INTERLEAVED)
        return *text = reason_plain(t->memory ? REASON_HBM : REASON_INTERLEAVED), LX_EXCLUDED_STATED;
    if (t->role == LX_STATE) return *text = reason_plain(REASON_STATE), LX_EXCLUDED_BOUNDARY;
    bool given = lx_role_arrives(t->role);
    if (given && (how->clone == LX_CLONE_NONE || !shaped))
        return *text = reason_plain(REASON_INPUT), LX_EXCLUDED_BOUNDARY;
    if (lx_role_leaves(t->role) && (how->no_outputs || !shaped))
        return *text = reason_plain(REASON_OUTPUT), LX_EXCLUDED_BOUNDARY;
    return LX_EXCLUDED_NONE;
}

/* The first reason that bars every stay of the run, or LX_EXCLUDED_NONE. */
static enum lx_exclusion exclusion_of_run(struct builder *b, const struct run *r, const char **text)
{
    const struct draft *x = b->x;
    const struct lx_passes *how = &x->how.passes;
    int32_t first = b->seen.at[r->from].op;
    *text = NULL;
    if (b->seen.at[r->from].label == LABEL_EXTERN && r->first == r->to)
        *text = reason_text(x->memory, REASON_EXTERN, (struct reason_facts){.op = op_of(b, first)->name});
    if (*text) return LX_EXCLUDED_EXTERN;
    if (how->no_dump && b->seen.at[0].run != b->seen.at[b->seen.count - 1].run)
        for (size_t k = 0; k < b->seen.count; k++)
            if (b->seen.at[k].label == LABEL_EXTERN || wiped_between(b, b->seen.at[0].op, b->seen.at[k].op))
                return *text = reason_plain(REASON_NO_DUMP), LX_EXCLUDED_EXTERN;
    enum lx_exclusion bar = exclusion_of_tensor(x->layouts, how, r->tensor, text);
    if (bar) return bar;
    bool reduction = op_of(b, first)->reduces && !(op_of(b, first)->kind->traits & LX_CONTRACTS);
    if (how->stage == LX_STAGE_BASELINE || (how->stage == LX_STAGE_REDUCTIONS && !reduction))
        return *text = reason_plain(REASON_STAGE), LX_EXCLUDED_STAGE;
    if (r->first == r->to) {
        struct reason_facts facts = {.op = op_of(b, first)->name,
                                     .split = splits_text(x->divisions, first, x->memory)};
        *text = reason_text(x->memory, REASON_PARTIAL, facts);
        return LX_EXCLUDED_PARTIAL;
    }
    /* The nest makes the tensor and holds it for more than an iteration, and another buffer, or HBM, serves
     * another access in the nest: loops inside come back to every access, so one buffer must serve them
     * all. */
    bool late = false;
    for (size_t k = r->from; x->held && k < r->to; k++) {
        const struct seen *s = &b->seen.at[k];
        const struct nest_access *h = &x->held[s->access];
        bool by_one = h->nest >= 0 && h->tensor.made && h->level < x->how.nests[h->nest].level_count;
        for (size_t j = 0; by_one && !late && j < b->seen.count; j++)
            late = x->held[b->seen.at[j].access].nest == h->nest &&
                   (b->seen.at[j].label != s->label || b->seen.at[j].run != s->run);
    }
    if (late) return *text = reason_plain(REASON_NEST), LX_EXCLUDED_NEST;
    if (r->many_views && (how->no_ring || r->writes_later)) {
        const struct seen *one = &b->seen.at[r->first], *other = one;
        for (size_t k = r->first; k < r->to && other->label == one->label; k++)
            if (b->seen.at[k].label >= 0) other = &b->seen.at[k];
        struct reason_facts facts = {.op = op_of(b, one->op)->name,
                                     .split = splits_text(x->divisions, one->op, x->memory),
                                     .other = op_of(b, other->op)->name,
                                     .other_split = splits_text(x->divisions, other->op, x->memory)};
        *text = reason_text(x->memory, REASON_SPLIT, facts);
        return LX_EXCLUDED_DIVISION;
    }
    return LX_EXCLUDED_NONE;
}

/* --- Runs and stays. --- */

static void stays_look_at(struct builder *b, int32_t tensor)
{
    struct draft *x = b->x;
    b->seen.count = b->views.count = 0;
    int run = 0;
    while (b->next_cut < x->how.cut_count && x->how.cuts[b->next_cut].tensor < tensor) b->next_cut++;
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++) {
        struct seen s = {.access = x->tensor_access[k]};
        s.op = x->access_op[s.access];
        s.label = LABEL_EXTERN;
        if (!(op_of(b, s.op)->kind->traits & LX_EXTERN)) {
            struct lx_core_view v = held_view(x, s.access);
            for (s.label = 0; s.label < (int)b->views.count && !views_equal(&b->views.at[s.label], &v);)
                s.label++;
            if (!view_holds(&x->layouts->layouts[tensor], &v, !x->how.passes.no_ring))
                s.label = LABEL_NONE;
            else if (s.label == (int)b->views.count)
                VEC_PUSH(&b->views, v);
        }

        if (b->seen.count > 0) {
            const struct seen *before = &b->seen.at[b->seen.count - 1];
            bool cut = false;
            while (b->next_cut < x->how.cut_count && x->how.cuts[b->next_cut].tensor == tensor &&
                   x->how.cuts[b->next_cut].before <= s.op)
                cut |= x->how.cuts[b->next_cut++].before > before->op;
            /* No cut where a nest comes back from the second access to the first with the same tile. */
            const struct nest_access *h = x->held ? &x->held[s.access] : NULL;
            cut = cut && !(h && h->nest >= 0 && x->held[before->access].nest == h->nest &&
                           h->level < x->how.nests[h->nest].level_count);
            cut |= before->op != s.op && wiped_between(b, before->op, s.op);
            cut |= x->accesses[before->access].writes && before->label < 0;
            cut |= !held_together(x, before->access, s.access);
            run += cut;
        }
        s.run = run;
        VEC_PUSH(&b->seen, s);
    }
}

static struct run measure_run(const struct builder *b, int32_t tensor, size_t from)
{
    const struct lx_access *a = b->x->accesses;
    struct run r = {.tensor = tensor, .from = from, .to = from};
    r.first = SIZE_MAX;
    for (; r.to < b->seen.count && b->seen.at[r.to].run == b->seen.at[from].run; r.to++) {
        const struct seen *s = &b->seen.at[r.to];
        if (s->label < 0) continue;
        if (r.first == SIZE_MAX)
            r.first = r.to;
        else {
            r.many_views |= s->label != b->seen.at[r.first].label;
            r.writes_later |= a[s->access].writes;
        }
    }
    if (r.first == SIZE_MAX) r.first = r.to;
    return r;
}

static struct found_stay begin_stay(const struct builder *b, const struct run *r, size_t at)
{
    const struct draft *x = b->x;
    const struct seen *s = &b->seen.at[at];
    const struct lx_access *a = &x->accesses[s->access];
    struct found_stay f = {.stay = {.tensor = r->tensor,
                                    .first = s->op,
                                    .last = s->op,
                                    .view_op = s->op,
                                    .view_operand = s->access - x->access_at[s->op],
                                    .ring_source = -1,
                                    .moved_from = -1,
                                    .begins_written = a->writes && !a->reads},
                           .life_first = s->op,
                           .life_last = s->op};
    if (x->held && x->held[s->access].nest >= 0) f.stay.hold = x->held[s->access].level;
    f.buffer = (struct lx_buffer){.name = x->graph->tensors[r->tensor].name,
                                  .fixed = -1,
                                  .first_use_is_read = !f.stay.begins_written,
                                  .line = x->graph->tensors[r->tensor].line,
                                  .column = x->graph->tensors[r->tensor].column};
    return f;
}

static bool stays_serve(struct builder *b, struct found_stay *f, const struct seen *s)
{
    if (f->uses.count == 0 || f->uses.at[f->uses.count - 1] != s->op) VEC_PUSH(&f->uses, s->op);
    int32_t first = s->op, last = s->op;
    held_covers(b->x, s->access, &first, &last);
    f->life_first = min_i64(f->life_first, first);
    f->life_last = max_i64(f->life_last, last);
    f->stay.last = s->op;
    if (!add_i64(f->buffer.spill_cost, b->x->accesses[s->access].bytes, &f->buffer.spill_cost) ||
        f->buffer.spill_cost > LX_INT_MAX)
        return status_set_at(b->st, LX_E_RANGE, b->x->graph->file, f->buffer.line, f->buffer.column,
                             "tensor %s: its traffic is beyond 2^53 bytes", f->buffer.name);
    return true;
}

/* Sets the size of a stay; bars one that fits no scratchpad. */
static void measure_stay(struct builder *b, struct found_stay *f)
{
    struct draft *x = b->x;
    struct lx_core_view v = held_view(b->x, b->x->access_at[f->stay.view_op] + f->stay.view_operand);
    f->buffer.size = view_part_bytes(b->x->layouts, f->stay.tensor, &v);
    if (f->stay.exclusion || f->buffer.size <= x->problem.capacity) return;
    f->stay.exclusion = LX_EXCLUDED_SIZE;
    struct reason_facts facts = {.bytes = f->buffer.size, .room = x->problem.capacity};
    f->buffer.reason = reason_text(x->memory, REASON_SIZE, facts);
}

/* Appends the stays of one run to b->found; accesses get indices into it. */
static bool stays_of_run(struct builder *b, const struct run *r)
{
    struct draft *x = b->x;
    size_t main_stay = b->found.count;
    const char *text;
    enum lx_exclusion bar = exclusion_of_run(b, r, &text);
    int label_of_stay[64];
    size_t stays = 0;
    for (size_t k = r->first; k < r->to; k++) {
        const struct seen *s = &b->seen.at[k];
        if (s->label < 0) continue;
        size_t n = 0;
        /* Barred: one stay for all accesses, to carry the reason. */
        while (n < stays && label_of_stay[n] != s->label && !bar) n++;
        if (n == sizeof label_of_stay / sizeof *label_of_stay) continue; /* more than 64 views: HBM */
        if (n == stays) {
            label_of_stay[stays++] = s->label;
            VEC_PUSH(&b->found, begin_stay(b, r, k));
            b->found.at[main_stay + n].stay.exclusion = bar;
            b->found.at[main_stay + n].buffer.reason = text;
        }
        if (!stays_serve(b, &b->found.at[main_stay + n], s)) return false;
        x->accesses[s->access].stay = (int32_t)(main_stay + n);
    }
    if (stays == 0) { /* no access to serve: the stay only carries the reason */
        struct found_stay f = begin_stay(b, r, r->from);
        f.stay.exclusion = bar;
        f.buffer.reason = text;
        VEC_PUSH(&f.uses, b->seen.at[r->from].op);
        VEC_PUSH(&b->found, f);
        measure_stay(b, &b->found.at[main_stay]);
        return true;
    }
    for (size_t n = 0; n < stays; n++) {
        struct found_stay *f = &b->found.at[main_stay + n];
        measure_stay(b, f);
        /* A copy is filled over the ring, if its source is on chip, unless decided otherwise. */
        const struct decisions *how = &x->how;
        int32_t i;
        BISECT(i, 0, how->apart_count, how->apart[i] < r->tensor);
        bool apart = i < how->apart_count && how->apart[i] == r->tensor;
        struct cut copy = {r->tensor, f->stay.first};
        if (n > 0 && !f->stay.exclusion && !b->found.at[main_stay].stay.exclusion && !how->passes.no_ring &&
            !apart && !cut_among(how->loaded, how->loaded_count, copy))
            f->stay.ring_source = (int32_t)main_stay;
    }
    return true;
}

static void finish_stay(struct builder *b, const struct found_stay *f, int32_t number, int nth)
{
    struct draft *x = b->x;
    struct lx_buffer *out = &x->buffers[number];
    x->stays[number] = f->stay;
    *out = f->buffer;
    /* Inside a loop the first and the last op of the body count as uses of a stay that lives throughout. */
    size_t n = f->uses.count;
    int64_t *to = arena_array(x->memory, n + 2, sizeof *to);
    bool before = n > 0 && f->life_first<f->uses.at[0], after = n> 0 && f->life_last > f->uses.at[n - 1];
    if (before) to[0] = f->life_first;
    if (n) memcpy(to + before, f->uses.at, n * sizeof *to);
    if (after) to[n + before] = f->life_last;
    out->uses = to;
    out->use_count = (int32_t)(n + before + after);
    out->start = f->life_first;
    out->end = f->life_last + 1;
    if (f->uses.count == 0) out->start = 0, out->end = 1;
    if (nth > 0) out->name = arena_format(x->memory, "%s#%d", out->name, nth + 1);
}

/* Numbers the tensor's stays: the first gets the tensor's number, the others follow all tensors. */
static void number_stays(struct builder *b, int32_t tensor, struct found_stay *firsts)
{
    struct draft *x = b->x;
    int32_t behind = x->graph->tensor_count + (int32_t)b->later.count;
    for (size_t n = 0; n < b->found.count; n++) {
        struct found_stay *f = &b->found.at[n];
        int32_t source = f->stay.ring_source;
        if (source >= 0) f->stay.ring_source = source == 0 ? tensor : behind + source - 1;
        if (n == 0)
            firsts[tensor] = *f;
        else
            VEC_PUSH(&b->later, *f);
        f->uses.at = NULL; /* moved to firsts or later */
    }
    for (size_t k = 0; k < b->seen.count; k++) {
        int32_t *stay = &x->accesses[b->seen.at[k].access].stay;
        if (*stay >= 0) *stay = *stay == 0 ? tensor : behind + *stay - 1;
    }
    b->found.count = 0;
}

static bool stays_of_tensor(struct builder *b, int32_t tensor, struct found_stay *firsts)
{
    stays_look_at(b, tensor);
    if (b->seen.count == 0) {
        struct found_stay f = {
            .stay = {.tensor = tensor, .ring_source = -1, .moved_from = -1, .exclusion = LX_EXCLUDED_UNUSED}};
        f.buffer = (struct lx_buffer){.name = b->x->graph->tensors[tensor].name,
                                      .fixed = -1,
                                      .reason = reason_plain(REASON_UNUSED),
                                      .size = tensor_bytes(b->x->layouts, tensor)};
        firsts[tensor] = f;
        return true;
    }
    for (size_t from = 0; from < b->seen.count;) {
        struct run r = measure_run(b, tensor, from);
        if (!stays_of_run(b, &r)) return false;
        from = r.to;
    }
    number_stays(b, tensor, firsts);
    return true;
}

static void finish_stays(struct builder *b, const struct found_stay *firsts)
{
    struct draft *x = b->x;
    int32_t tensors = x->graph->tensor_count;
    int nth = 0;
    x->problem.count = tensors + (int32_t)b->later.count;
    x->problem.buffers = x->buffers = arena_array(x->memory, (size_t)x->problem.count, sizeof *x->buffers);
    x->stays = arena_array(x->memory, (size_t)x->problem.count, sizeof *x->stays);
    for (int32_t t = 0; t < tensors; t++) finish_stay(b, &firsts[t], t, 0);
    for (size_t i = 0; i < b->later.count; i++) {
        nth = i > 0 && b->later.at[i].stay.tensor == b->later.at[i - 1].stay.tensor ? nth + 1 : 1;
        finish_stay(b, &b->later.at[i], tensors + (int32_t)i, nth);
    }
    draft_prices(x);
    for (int32_t s = 0; s < x->problem.count; s++) { /* the source of a relayout outlives its last copy */
        int32_t source = x->stays[s].ring_source;
        struct cut copy = {x->stays[s].tensor, x->stays[s].first};
        if (source < 0 || (x->how.lax && !cut_among(x->how.kept, x->how.kept_count, copy))) continue;
        x->buffers[source].end = max_i64(x->buffers[source].end, x->stays[s].first + 1);
    }
    draft_moves(x);
    draft_early(x);
    draft_parents(x);
}

bool draft_make(const struct lx_divisions *d, const struct decisions *how, struct arena *memory,
                struct draft *out, lx_status *st)
{
    slot_end_abandoned();
    *out = (struct draft){.divided = d, .memory = memory};
    if (!draft_decide(out, how, st)) return draft_free(out), false;
    const struct lx_graph *g = out->graph;
    out->problem = (struct lx_problem){.objective = LX_SPILL,
                                       .capacity = how->unlimited ? LX_INT_MAX : lx_device_usable(&g->device),
                                       .alignment = g->device.stick_bytes};
    struct builder b = {.x = out, .st = st};
    size_t tensors = (size_t)g->tensor_count;
    OWNED struct found_stay *firsts = mem_zeroed(tensors + 1, sizeof *firsts);
    bool ok = draft_bundles(out, st);
    if (ok) draft_accesses(out);
    for (int32_t t = 0; ok && t < g->tensor_count; t++) ok = stays_of_tensor(&b, t, firsts);
    if (ok) finish_stays(&b, firsts);
    for (size_t t = 0; t < tensors; t++) VEC_FREE(&firsts[t].uses);
    for (size_t i = 0; i < b.later.count; i++) VEC_FREE(&b.later.at[i].uses);
    for (size_t i = 0; i < b.found.count; i++) VEC_FREE(&b.found.at[i].uses);
    VEC_FREE(&b.later);
    VEC_FREE(&b.found);
    VEC_FREE(&b.seen);
    VEC_FREE(&b.views);
    if (!ok) draft_free(out);
    return ok;
}
