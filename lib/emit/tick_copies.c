/* The copies of a tick: loads and ring copies fill a core's part of a stay, stores empty it, moves change its
 * place.
 *
 * A part is a box of sticks in LX, row by row; HBM, and the mirror of a stay in `aside`, have the whole
 * tensor. So a load, a store, a ring copy and what fills a mirror are one loop over the sticks of a box
 * with two addresses. */
#include "emit/emission.h"

/* The boxes of a stay on all cores. */
struct copy_boxes {
    int64_t holders; /* cores that have a part */
    int rank;
    const char *width[LX_MAX_DEVICE_RANK];
    const char *first;                /* the number of the first stick in the tensor, in this iteration */
    int64_t step[LX_MAX_DEVICE_RANK]; /* sticks of the tensor per position */
    int64_t run[LX_MAX_DEVICE_RANK], far[LX_MAX_DEVICE_RANK]; /* run 0: none */
    const char *sticks;
    const char *sole; /* 1 on the first core with each part */
};

static int64_t copies_first_stick(const struct box *b, const int64_t *step)
{
    int64_t at = 0;
    for (int k = 0; k < b->rank; k++) at += b->lo[k] * step[k];
    return at;
}

/* The number of the first stick, by core and by the levels of the nest that the stay follows. */
static const char *copies_first(struct emission *e, int32_t stay, const struct copy_boxes *x)
{
    int64_t *first = arena_array(&e->memory, (size_t)e->cores, sizeof *first);
    int64_t *moved = arena_array(&e->memory, (size_t)e->cores, sizeof *moved);
    for (int64_t c = 0; c < x->holders; c++) {
        struct box b = emit_stay_box(e, stay, c, -1);
        first[c] = copies_first_stick(&b, x->step);
    }
    const char *sum = core_number(e, first, x->holders);
    for (int k = 0; e->nest && k < e->nest->level_count; k++) {
        for (int64_t c = 0; c < x->holders; c++) {
            struct box b = emit_stay_box(e, stay, c, k);
            moved[c] = copies_first_stick(&b, x->step) - first[c];
        }
        const char *step = core_number(e, moved, x->holders);
        if (number_is(step, 0)) continue;
        sum = number_sum(e, sum,
                         arena_format(&e->memory, strchr(step, ' ') ? "n%d * (%s)" : "n%d * %s", k, step));
    }
    return sum;
}

static bool copies_boxes(struct emission *e, int32_t stay, struct copy_boxes *out)
{
    const struct lx_plan *p = e->plan;
    const struct lx_stay *s = &p->stays[stay];
    const struct lx_layout *l = &p->layouts->layouts[s->tensor];
    struct lx_core_view view = lx_division_held(p->divisions, s->view_op, s->view_operand, s->hold);
    int64_t *values = arena_array(&e->memory, (size_t)e->cores, sizeof *values);
    struct box whole = box_whole(l), first = emit_stay_box(e, stay, 0, -1);
    if (l->rank == 0)
        return emit_refuse(e, "%s is known by its bytes only", e->graph->tensors[s->tensor].name);
    *out = (struct copy_boxes){.holders = min_i64(view.cores, e->cores), .rank = whole.rank, .sticks = "1"};
    box_strides(&whole, out->step);
    for (int k = 0; k < out->rank; k++) {
        for (int64_t c = 0; c < out->holders; c++) {
            struct box b = emit_stay_box(e, stay, c, -1);
            values[c] = box_width(&b, k);
            if (b.run[k] != first.run[k] || b.step[k] != first.step[k])
                return emit_refuse(e, "parts of %s have runs of several lengths",
                                   e->graph->tensors[s->tensor].name);
        }
        out->width[k] = core_number(e, values, out->holders);
        out->run[k] = first.run[k];
        out->far[k] = first.step[k];
        if (strchr(out->width[k], ' ')) out->width[k] = arena_format(&e->memory, "(%s)", out->width[k]);
        if (number_is(out->width[k], 1)) continue;
        out->sticks = number_is(out->sticks, 1)
                          ? out->width[k]
                          : arena_format(&e->memory, "%s * %s", out->sticks, out->width[k]);
    }
    for (int64_t c = 0; c < out->holders; c++) {
        struct box b = emit_stay_box(e, stay, c, -1);
        values[c] = 1;
        for (int64_t a = 0; a < c && values[c]; a++) {
            struct box before = emit_stay_box(e, stay, a, -1);
            values[c] = !box_equal(&before, &b);
        }
    }
    out->sole = core_number(e, values, out->holders);
    out->first = copies_first(e, stay, out);
    return true;
}

/* The stick of the tensor that is the i-th of the part. */
static const char *copies_stick(struct emission *e, const struct copy_boxes *x)
{
    const char *sum = x->first, *inside = "1";
    for (int k = x->rank - 1; k >= 0; k--) {
        if (number_is(x->width[k], 1)) continue;
        const char *at = "s";
        bool outermost = true;
        for (int m = 0; m < k; m++) outermost &= number_is(x->width[m], 1);
        if (!number_is(inside, 1))
            at = arena_format(&e->memory, strchr(inside, ' ') ? "%s / (%s)" : "%s / %s", at, inside);
        if (!outermost) at = arena_format(&e->memory, "%s %% %s", at, x->width[k]);
        if (x->run[k])
            at = arena_format(&e->memory, "RUNS_TO(%s, %lld, %lld)", at, (long long)x->run[k],
                              (long long)x->far[k]);
        sum = number_sum(e, sum, number_times(e, at, x->step[k]));
        inside =
            number_is(inside, 1) ? x->width[k] : arena_format(&e->memory, "%s * %s", inside, x->width[k]);
    }
    return sum;
}

static const char *copies_tensor(struct emission *e, int32_t stay)
{
    return emit_comment_name(e, e->graph->tensors[e->plan->stays[stay].tensor].name);
}

/* A loop over the chunks of a part, on the cores that have one and for which `sole` holds. */
static void copies_begin_loop(struct emission *e, int32_t stay, const struct copy_boxes *x, const char *sole)
{
    const struct lx_layout *l = &e->plan->layouts->layouts[e->plan->stays[stay].tensor];
    int chunks = (int)(l->stick_bytes / EMIT_VECTOR_BYTES);
    bool some = x->holders < e->cores, all = number_is(sole, 1);
    if (some) emit_line(e, all ? "if (core < %d)" : "if (core < %d && (%s))", (int)x->holders, sole);
    if (!some && !all) emit_line(e, "if (%s)", sole);
    emit_line(e, "FOR_ITEMS(i, %s * %d) {", x->sticks, chunks);
    e->indent++;
    emit_line(e, "const int s = i / %d, chunk = i %% %d * %d;", chunks, chunks, EMIT_VECTOR_BYTES);
}

static void copies_end_loop(struct emission *e)
{
    e->indent--;
    emit_line(e, "}");
}

/* `in`: from the tensor in `memory` at `base` to the part. */
static bool copies_loop(struct emission *e, int32_t stay, const char *memory, int64_t base, bool in)
{
    struct copy_boxes x;
    if (!copies_boxes(e, stay, &x)) return false;
    copies_begin_loop(e, stay, &x, in ? "1" : x.sole);
    const char *lx = arena_format(&e->memory, "LX(%lld + i * %d)", (long long)e->plan->answer.address[stay],
                                  EMIT_VECTOR_BYTES);
    const char *there =
        arena_format(&e->memory, "%s + %lldLL + (i64)(%s) * %lld + chunk", memory, (long long)base,
                     copies_stick(e, &x), (long long)e->graph->device.stick_bytes);
    emit_line(e, "%s(%s, %s);", in ? "copy16_in" : "copy16", in ? lx : there, in ? there : lx);
    copies_end_loop(e);
    return true;
}

bool copies_mirror(struct emission *e, int32_t stay)
{
    emit_line(e, "/* what others fetch of %s */", copies_tensor(e, stay));
    return copies_loop(e, stay, "aside", e->mirror[stay], false);
}

/* A ring copy of what each core holds itself: from its part of the source. */
static bool copies_local(struct emission *e, const struct lx_transfer *t)
{
    struct copy_boxes x;
    struct box source = emit_stay_box(e, t->source, 0, -1);
    int64_t step[LX_MAX_DEVICE_RANK], *first = arena_array(&e->memory, (size_t)e->cores, sizeof *first);
    if (!copies_boxes(e, t->stay, &x)) return false;
    box_strides(&source, x.step);
    for (int64_t c = 0; c < x.holders; c++) {
        struct box to = emit_stay_box(e, t->stay, c, -1), from = emit_stay_box(e, t->source, c, -1);
        box_strides(&from, step);
        bool same = memcmp(step, x.step, (size_t)x.rank * sizeof *step) == 0;
        for (int k = 0; k < x.rank; k++) {
            same &= from.run[k] == 0 && to.lo[k] >= from.lo[k] && to.hi[k] <= from.hi[k];
            first[c] += (to.lo[k] - from.lo[k]) * step[k];
        }
        if (!same)
            return emit_refuse(e, "a relayout of %s inside cores of several shapes",
                               copies_tensor(e, t->stay));
    }
    x.first = core_number(e, first, x.holders);
    copies_begin_loop(e, t->stay, &x, "1");
    emit_line(e, "copy16(LX(%lld + i * %d), LX(%lld + (%s) * %lld + chunk));",
              (long long)e->plan->answer.address[t->stay], EMIT_VECTOR_BYTES,
              (long long)e->plan->answer.address[t->source], copies_stick(e, &x),
              (long long)e->graph->device.stick_bytes);
    copies_end_loop(e);
    return true;
}

static bool copies_move(struct emission *e, const struct lx_transfer *t)
{
    const struct lx_plan *p = e->plan;
    struct copy_boxes x;
    const struct lx_layout *l = &p->layouts->layouts[p->stays[t->stay].tensor];
    if (!copies_boxes(e, t->stay, &x)) return false;
    emit_line(e, "move_in_core(%lld, %lld, core < %d ? %s * %d : 0);", (long long)p->answer.address[t->stay],
              (long long)p->answer.address[t->source], (int)x.holders, x.sticks,
              (int)(l->stick_bytes / EMIT_VECTOR_BYTES));
    return true;
}

/* The condition under which a copy is made in an iteration; "": always. */
static const char *copies_due(struct emission *e, const struct lx_transfer *t)
{
    const struct lx_stay *s = &e->plan->stays[t->stay];
    const char *all = "";
    if (!e->nest) return all;
    bool here = s->view_op >= e->nest->first && s->view_op <= e->nest->last;
    for (int k = here ? s->hold : 0; k < e->nest->level_count; k++) {
        long long at = t->kind == LX_STORE ? e->nest->tiles[k] - 1 : 0;
        all = arena_format(&e->memory, "%s%sn%d == %lld", all, *all ? " && " : "", k, at);
    }
    /* A sum that begins needs no load. */
    unsigned summed = nest_tensor_of(e->plan->layouts, e->nest, s->tensor).summed;
    if (t->kind == LX_LOAD && s->begins_written && summed) {
        const char *later = "";
        for (int k = 0; k < e->nest->level_count; k++)
            if (summed & level_bit(k))
                later = arena_format(&e->memory, "%s%sn%d > 0", later, *later ? " || " : "", k);
        all = arena_format(&e->memory, "%s%s(%s)", all, *all ? " && " : "", later);
    }
    return all;
}

static bool copies_one(struct emission *e, const struct lx_transfer *t)
{
    const struct lx_plan *p = e->plan;
    const char *due = copies_due(e, t), *name = copies_tensor(e, t->stay);
    bool ok = true;
    emit_line(e, "/* %s of %s, %lld bytes in all%s */", lx_transfer_word(t->kind), name, (long long)t->bytes,
              t->ahead > 0 ? ", issued before" : "");
    if (*due) emit_line(e, "if (%s) {", due);
    e->indent += *due != 0;
    if (t->kind == LX_MOVE)
        ok = copies_move(e, t);
    else if (t->kind == LX_RING && t->bytes == 0)
        ok = copies_local(e, t);
    else if (t->kind == LX_RING)
        ok = copies_loop(e, t->stay, "aside", e->mirror[t->source], true);
    else if (t->ahead == 0)
        ok = copies_loop(e, t->stay, "hbm", p->hbm_address[p->stays[t->stay].tensor], t->kind == LX_LOAD);
    if (ok && t->kind != LX_STORE && e->mirror[t->stay] >= 0) {
        emit_line(e, "meet_core();");
        ok = copies_mirror(e, t->stay);
    }
    e->indent -= *due != 0;
    if (*due) emit_line(e, "}");
    return ok;
}

/* A load that is due later. */
static bool copies_early(struct emission *e, const struct lx_transfer *t)
{
    const char *first = "";
    for (int k = 0; e->nest && k < e->nest->level_count; k++)
        first = arena_format(&e->memory, "%s%sn%d == 0", first, *first ? " && " : "", k);
    emit_line(e, "/* load of %s, due at tick %d */", copies_tensor(e, t->stay), (int)t->tick);
    if (*first) emit_line(e, "if (%s) {", first);
    e->indent += *first != 0;
    const struct lx_nest *nest = e->nest;
    e->nest = NULL; /* the stay's part is the first iteration's */
    bool ok = copies_loop(e, t->stay, "hbm", e->plan->hbm_address[e->plan->stays[t->stay].tensor], true);
    e->nest = nest;
    e->indent -= *first != 0;
    if (*first) emit_line(e, "}");
    return ok;
}

static bool copies_of_tick(struct emission *e, bool stores)
{
    bool any = false;
    for (int32_t i = 0; i < e->plan->transfer_count; i++) {
        const struct lx_transfer *t = &e->plan->transfers[i];
        if (t->tick != e->tick || (t->kind == LX_STORE) != stores) continue;
        any = true;
        if (!copies_one(e, t)) return false;
    }
    for (int32_t i = 0; !stores && i < e->plan->transfer_count; i++) {
        const struct lx_transfer *t = &e->plan->transfers[i];
        if (chain_begins_load(e, t) && !copies_early(e, t)) return false;
    }
    if (any) emit_line(e, stores ? "meet_threads();" : "meet_core();");
    return true;
}

bool copies_issue(struct emission *e)
{
    for (int32_t i = 0; i < e->plan->transfer_count; i++) {
        const struct lx_transfer *t = &e->plan->transfers[i];
        if (t->ahead && lx_issue_tick(t) == e->tick && !chain_begins_load(e, t) && !copies_early(e, t))
            return false;
    }
    return true;
}

bool copies_before(struct emission *e)
{
    return copies_of_tick(e, false);
}

bool copies_after(struct emission *e)
{
    return copies_of_tick(e, true);
}
