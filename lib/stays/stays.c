/* From accesses to stays: which of a tensor's accesses one place on chip can serve, and why not the
 * others. A tensor's accesses fall into runs. A new run begins where nothing can stay: in a new bundle,
 * before which the scratchpads are wiped; behind a write that goes to HBM, which leaves copies on chip
 * stale; and where a cut was decided. In a run the accesses that see the tensor in the same way (one
 * view) make one stay. The first is the main one; the others are filled from it over the ring, or each
 * from HBM. What a place on chip saves is told in stay_prices.c. */
#include "stays/find_stays.h"
#include "base/bisect.h"
#include "base/digits.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The number of an access's view among those of the tensor. */
static void stays_label_of(struct builder *b, int32_t access, int *label)
{
    const struct draft *x = b->x;
    int32_t tensor = x->accesses[access].tensor;
    struct lx_core_view v = held_view(x, access);
    *label = LABEL_NONE;
    if (!view_holds(&x->layouts->layouts[tensor], &v, !x->how.passes.no_ring)) return;
    for (size_t i = 0; i < b->views.count; i++)
        if (views_equal(&b->views.at[i], &v)) {
            *label = (int)i;
            return;
        }
    *label = (int)b->views.count;
    VEC_PUSH(&b->views, v);
}

/* Fills b->seen with labels and runs. */
static void stays_look_at(struct builder *b, int32_t tensor)
{
    struct draft *x = b->x;
    b->seen.count = b->views.count = 0;
    int run = 0;
    while (b->next_cut < x->how.cut_count && x->how.cuts[b->next_cut].tensor < tensor) b->next_cut++;
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++) {
        struct seen s = {.access = x->tensor_access[k]};
        s.op = x->access_op[s.access];
        if (op_of(b, s.op)->kind->traits & LX_EXTERN)
            s.label = LABEL_EXTERN;
        else
            stays_label_of(b, s.access, &s.label);
        if (b->seen.count > 0) {
            const struct seen *before = &b->seen.at[b->seen.count - 1];
            bool cut = false;
            while (b->next_cut < x->how.cut_count && x->how.cuts[b->next_cut].tensor == tensor &&
                   x->how.cuts[b->next_cut].before <= s.op)
                cut |= x->how.cuts[b->next_cut++].before > before->op;
            cut = cut && !held_for_all(x, before->access, s.access);
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
    bool written = false, needed = false;
    r.first = SIZE_MAX;
    for (; r.to < b->seen.count && b->seen.at[r.to].run == b->seen.at[from].run; r.to++) {
        const struct seen *s = &b->seen.at[r.to];
        if (s->label < 0) {
            needed |= written && a[s->access].reads;
            continue;
        }
        if (r.first == SIZE_MAX)
            r.first = r.to;
        else {
            r.many_views |= s->label != b->seen.at[r.first].label;
            r.writes_later |= a[s->access].writes;
        }
        written |= a[s->access].writes;
    }
    if (r.first == SIZE_MAX) r.first = r.to;
    /* Does anyone read it behind this run? */
    bool read_on = false;
    if (r.to < b->seen.count) {
        const struct seen *next = &b->seen.at[r.to];
        read_on = a[next->access].reads;
    } else
        read_on = lx_role_leaves(b->x->graph->tensors[tensor].role);
    r.must_store = written && (needed || read_on);
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

/* Takes the access in: it is served by this stay. */
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

/* Measures a stay; one that fits no scratchpad is barred. */
static void measure_stay(struct builder *b, struct found_stay *f)
{
    struct draft *x = b->x;
    struct lx_core_view v = held_view(b->x, b->x->access_at[f->stay.view_op] + f->stay.view_operand);
    f->buffer.size = view_part_bytes(b->x->layouts, f->stay.tensor, &v);
    if (f->stay.bar || f->buffer.size <= x->problem.capacity) return;
    f->stay.bar = LX_BAR_SIZE;
    f->buffer.reason =
        arena_format(x->memory, "larger than the scratchpad: %s of %s bytes",
                     digits_in_groups(f->buffer.size).at, digits_in_groups(x->problem.capacity).at);
}

/* Is a copy that begins with `op` filled over the ring, if its source is on chip? */
static bool rings(const struct builder *b, int32_t tensor, int32_t op)
{
    const struct decisions *how = &b->x->how;
    struct cut copy = {tensor, op};
    if (how->passes.no_ring || cut_among(how->loaded, how->loaded_count, copy)) return false;
    int32_t i;
    BISECT(i, 0, how->apart_count, how->apart[i] < tensor);
    return i == how->apart_count || how->apart[i] != tensor;
}

/* All stays of one run into b->found; accesses get the number within found, offset by `base`. */
static bool stays_of_run(struct builder *b, const struct run *r)
{
    struct draft *x = b->x;
    size_t main_stay = b->found.count;
    const char *text;
    enum lx_bar bar = bar_of_run(b, r, &text);
    int label_of_stay[64];
    size_t stays = 0;
    for (size_t k = r->first; k < r->to; k++) {
        const struct seen *s = &b->seen.at[k];
        if (s->label < 0) continue;
        size_t n = 0;
        /* Barred: one stay for all, only to carry the reason. */
        while (n < stays && label_of_stay[n] != s->label && !bar) n++;
        if (n == sizeof label_of_stay / sizeof *label_of_stay) continue; /* more views than that: HBM */
        if (n == stays) {
            label_of_stay[stays++] = s->label;
            VEC_PUSH(&b->found, begin_stay(b, r, k));
            b->found.at[main_stay + n].stay.bar = bar;
            b->found.at[main_stay + n].buffer.reason = text;
        }
        if (!stays_serve(b, &b->found.at[main_stay + n], s)) return false;
        x->accesses[s->access].stay = (int32_t)(main_stay + n);
    }
    if (stays == 0) { /* nothing to serve: it only carries the reason */
        struct found_stay f = begin_stay(b, r, r->from);
        f.stay.bar = bar;
        f.buffer.reason = text;
        VEC_PUSH(&f.uses, b->seen.at[r->from].op);
        VEC_PUSH(&b->found, f);
        measure_stay(b, &b->found.at[main_stay]);
        return true;
    }
    for (size_t n = 0; n < stays; n++) {
        struct found_stay *f = &b->found.at[main_stay + n];
        measure_stay(b, f);
        if (n > 0 && !f->stay.bar && !b->found.at[main_stay].stay.bar && rings(b, r->tensor, f->stay.first))
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
    /* Inside a loop the first and the last op of the body count as uses of what is there all the time. */
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

/* The tensor's stays get their numbers: the first the tensor's own, the others behind all tensors. */
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
        f->uses.at = NULL; /* handed on */
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
            .stay = {.tensor = tensor, .ring_source = -1, .moved_from = -1, .bar = LX_BAR_UNUSED}};
        f.buffer = (struct lx_buffer){.name = b->x->graph->tensors[tensor].name,
                                      .fixed = -1,
                                      .reason = "no op uses it",
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

/* The source of a relayout is there until its last copy is made. */
static void outlive_copies(struct draft *x)
{
    for (int32_t s = 0; s < x->problem.count; s++) {
        int32_t source = x->stays[s].ring_source;
        struct cut copy = {x->stays[s].tensor, x->stays[s].first};
        if (source < 0 || (x->how.lax && !cut_among(x->how.kept, x->how.kept_count, copy))) continue;
        struct lx_buffer *b = &x->buffers[source];
        b->end = max_i64(b->end, x->stays[s].first + 1);
    }
}

bool draft_make(const struct lx_divisions *d, const struct decisions *how, struct arena *memory,
                struct draft *out, lx_status *st)
{
    *out = (struct draft){.divided = d, .memory = memory};
    if (!draft_decide(out, how, st)) return draft_free(out), false;
    const struct lx_graph *g = out->graph;
    out->problem = (struct lx_problem){.objective = LX_SPILL,
                                       .capacity = how->unlimited ? LX_INT_MAX : lx_device_usable(&g->device),
                                       .alignment = g->device.stick_bytes};
    struct builder b = {.x = out, .st = st};
    size_t tensors = (size_t)g->tensor_count;
    struct found_stay *firsts = mem_zeroed(tensors + 1, sizeof *firsts);
    bool ok = draft_bundles(out, st);
    if (ok) draft_accesses(out);
    for (int32_t t = 0; ok && t < g->tensor_count; t++) ok = stays_of_tensor(&b, t, firsts);
    if (ok) {
        out->problem.count = g->tensor_count + (int32_t)b.later.count;
        out->problem.buffers = out->buffers =
            arena_array(memory, (size_t)out->problem.count, sizeof *out->buffers);
        out->stays = arena_array(memory, (size_t)out->problem.count, sizeof *out->stays);
        ok = true;
    }
    for (int32_t t = 0; ok && t < g->tensor_count; t++) {
        finish_stay(&b, &firsts[t], t, 0);
        ok = true;
    }
    int nth = 0;
    for (size_t i = 0; ok && i < b.later.count; i++) {
        nth = i > 0 && b.later.at[i].stay.tensor == b.later.at[i - 1].stay.tensor ? nth + 1 : 1;
        finish_stay(&b, &b.later.at[i], g->tensor_count + (int32_t)i, nth);
        ok = true;
    }
    if (ok) draft_prices(out);
    if (ok) outlive_copies(out);
    if (ok) draft_moves(out);
    if (ok) draft_parents(out);
    for (size_t t = 0; t < tensors; t++) VEC_FREE(&firsts[t].uses);
    for (size_t i = 0; i < b.later.count; i++) VEC_FREE(&b.later.at[i].uses);
    for (size_t i = 0; i < b.found.count; i++) VEC_FREE(&b.found.at[i].uses);
    VEC_FREE(&b.later);
    VEC_FREE(&b.found);
    VEC_FREE(&b.seen);
    VEC_FREE(&b.views);
    mem_free(firsts);
    if (!ok) draft_free(out);
    return ok;
}
