/* Chooses divisions of the ops of a body that agree: a beam over the ops in order of time. It keeps the best
 * few ways to divide each prefix: least excess of the held parts over a scratchpad, then least predicted
 * time, with copies over the ring between different views. Not network/beam.h: a way carries the load of
 * every tick, most trials end while their accesses are added, and no bound is needed. */
#include "nests/nest_menus.h"
#include "base/checked.h"
#include "base/fail.h"
#include "cost/op.h"
#include "placement/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- The run of ops: menus, parts of tensors, labels of their views, and the load of other buffers. --- */

struct body_part {
    int32_t tensor;
    int32_t last_access;  /* last access so far */
    bool wanted;          /* it saves traffic on chip */
    bool stuck;           /* only one view possible: no ring, or made and held in a nest */
    int before, behind;   /* labels of its views before and after the run; -1: not on chip there */
    int32_t from, until;  /* ops of the run in which it lives */
    int64_t saved, on;    /* bytes saved on chip; bytes moved all the same */
    bool cheap;           /* its first read costs less than its load */
    int64_t least;        /* least bytes per core under any division, of all its accesses */
    int64_t smallest;     /* the same of one access */
    int64_t fills;        /* how often it is filled */
    int64_t before_bytes; /* bytes per core of view `before` */
};

struct body_access {
    int32_t of;           /* index of its part */
    int32_t op;           /* op of the run */
    int32_t from, to;     /* ops of the run in which its buffer lives */
    int32_t previous;     /* previous access of the part; -1: none */
    const int *label;     /* per choice of the op; -1: no buffer possible */
    const int64_t *bytes; /* per choice: bytes per core */
    int64_t off, lost;    /* bytes moved if off chip: HBM; per core */
    bool writes;
    bool over;     /* an output that may begin in the place of some input */
    int gives_way; /* of an output: operand number of an input whose place it may take; -1: none */
};

/* A choice of the menu and its time; by_memory: with HBM time of operands that are not wanted on chip. */
struct body_choice {
    int number;
    double us;
};

struct body {
    const struct draft *x;
    struct nest_views *views; /* gives the labels */
    int32_t *last_part;       /* per tensor: 1 + its last part so far; 0: none */
    int32_t first, last, op_count, part_count, access_count;
    struct nest_menu *menus;      /* per op */
    struct body_choice **choices; /* per op: the choices of its menu, fastest first */
    double *times;                /* per op: iterations */
    int32_t *access_at;           /* per op, and one more */
    struct body_access *accesses; /* by op, operands in order */
    struct body_part *parts;
    int64_t *load; /* per op: bytes of other buffers */
    int64_t capacity;
    bool by_memory;
};

static const struct lx_nest *nest_at(const struct draft *x, int32_t access)
{
    return x->held && x->held[access].nest >= 0 ? &x->how.nests[x->held[access].nest] : NULL;
}

static bool nest_body_is_extern(const struct draft *x, int32_t access)
{
    return x->graph->ops[x->access_op[access]].kind->traits & LX_EXTERN;
}

/* True if one stay may serve both accesses, the second after the first. */
static bool nest_body_joins(const struct draft *x, int32_t one, int32_t two)
{
    if (one < 0 || two < 0 || nest_body_is_extern(x, one) || nest_body_is_extern(x, two)) return false;
    int32_t first = x->access_op[one], second = x->access_op[two];
    bool joins = held_together(x, one, two) && x->bundle_of[first] == x->bundle_of[second];
    for (int32_t i = 0; joins && i < x->how.cut_count; i++)
        joins = x->how.cuts[i].tensor != x->accesses[one].tensor || x->how.cuts[i].before <= first ||
                x->how.cuts[i].before > second;
    return joins;
}

static int label_outside(const struct body *b, const struct body_part *t, int32_t access, int64_t *bytes)
{
    struct lx_core_view v = held_view(b->x, access);
    *bytes = view_part_bytes(b->x->layouts, t->tensor, &v);
    /* The number of a view; -1: no buffer can have it. */
    if (!view_holds(&b->x->layouts->layouts[t->tensor], &v, !b->x->how.passes.no_ring)) return -1;
    return nest_view_number(b->views, t->tensor, &v);
}

/* True if the part saves traffic on chip under any view; the costs are those of stay_prices.c. */
static bool nest_body_is_wanted(const struct draft *x, struct body_part *t, int32_t from, int32_t to)
{
    int64_t off = 0, on = 0, whole = tensor_bytes(x->layouts, t->tensor);
    int32_t first = x->tensor_access[from];
    bool written = false,
         needed = lx_role_leaves(x->graph->tensors[t->tensor].role) || to + 1 < x->tensor_at[t->tensor + 1];
    for (int32_t k = from; k <= to; k++) {
        int32_t access = x->tensor_access[k];
        const struct lx_nest *n = nest_at(x, access);
        int64_t parts =
            n ? nest_product(n, levels_to(x->held[access].level) & x->held[access].tensor.summed) : 1;
        off += x->accesses[access].bytes;
        if (x->accesses[access].writes && (needed || parts > 1)) on += whole * (2 * parts - 1);
        written |= x->accesses[access].writes;
    }
    if (t->before < 0 && x->accesses[first].reads) {
        const struct lx_nest *n = nest_at(x, first);
        on += n ? whole * nest_product(n, levels_to(x->held[first].level) & ~x->held[first].tensor.indexed)
                : whole;
    }
    t->saved = off - on;
    t->on = on;
    t->cheap = !x->accesses[first].writes && x->accesses[first].bytes < on;
    return on < off || (t->behind >= 0 && written);
}

/* Begins a part with `access`, number `k` of its tensor. */
static void begin_part(struct body *b, int32_t access, int32_t k)
{
    const struct draft *x = b->x;
    struct body_part *t = &b->parts[b->part_count++];
    const struct lx_nest *n = nest_at(x, access);
    int32_t before = -1, behind = -1, to = k, first, last;
    int64_t unused;
    *t = (struct body_part){.tensor = x->accesses[access].tensor, .before = -1, .behind = -1};
    t->fills = n ? nest_product(n, levels_to(x->held[access].level)) : 1;
    t->stuck = x->how.passes.no_ring || (x->accesses[access].writes && held_covers(x, access, &first, &last));
    for (int32_t i = x->tensor_at[t->tensor]; i < x->tensor_at[t->tensor + 1]; i++) {
        int32_t op = x->access_op[x->tensor_access[i]];
        if (op < b->first) before = x->tensor_access[i];
        if (op > b->last && behind < 0) behind = x->tensor_access[i];
    }
    if (k == x->tensor_at[t->tensor] || x->tensor_access[k - 1] == before)
        t->before = nest_body_joins(x, before, access) ? label_outside(b, t, before, &t->before_bytes) : -1;
    while (to + 1 < x->tensor_at[t->tensor + 1] && x->access_op[x->tensor_access[to + 1]] <= b->last &&
           nest_body_joins(x, x->tensor_access[to], x->tensor_access[to + 1]))
        to++;
    if (to + 1 < x->tensor_at[t->tensor + 1] && x->tensor_access[to + 1] == behind &&
        nest_body_joins(x, x->tensor_access[to], behind))
        t->behind = label_outside(b, t, behind, &unused);
    int32_t stay = x->accesses[access].stay;
    enum lx_exclusion exclusion = stay < 0 ? LX_EXCLUDED_NONE : x->stays[stay].exclusion;
    t->wanted = (exclusion != LX_EXCLUDED_BOUNDARY && exclusion != LX_EXCLUDED_STATED &&
                 exclusion != LX_EXCLUDED_STAGE && exclusion != LX_EXCLUDED_EXTERN &&
                 exclusion != LX_EXCLUDED_PARTIAL) &&
                !nest_body_is_extern(x, access) && nest_body_is_wanted(x, t, k, to);
}

/* The part of an access: the current part of its tensor if one stay can serve both, else a new one. */
static int32_t nest_body_part_of(struct body *b, int32_t access, int32_t *previous)
{
    const struct draft *x = b->x;
    int32_t tensor = x->accesses[access].tensor, k = x->tensor_at[tensor];
    int32_t i = b->last_part[tensor] - 1;
    *previous = i >= 0 ? b->parts[i].last_access : -1;
    if (i >= 0) {
        int32_t op = b->accesses[*previous].op,
                before = x->access_at[b->first + op] + *previous - b->access_at[op];
        if (nest_body_joins(x, before, access)) return i;
    }
    *previous = -1;
    while (x->tensor_access[k] != access) k++;
    b->last_part[tensor] = b->part_count + 1;
    begin_part(b, access, k);
    return b->part_count - 1;
}

/* Sets labels and sizes of one access for each choice of its op. */
static void label_access(struct body *b, int32_t o, int operand, struct nest_menus *menus,
                         struct arena *memory)
{
    const struct draft *x = b->x;
    int32_t at = b->access_count++, access = x->access_at[b->first + o] + operand, first, last;
    struct body_access *a = &b->accesses[at];
    *a = (struct body_access){.op = o, .from = o, .to = o, .gives_way = -1};
    a->of = nest_body_part_of(b, access, &a->previous);
    struct body_part *t = &b->parts[a->of];
    t->last_access = at;
    if (held_covers(x, access, &first, &last)) {
        a->from = (int32_t)max_i64(first - b->first, 0);
        a->to = (int32_t)min_i64(last - b->first, b->op_count - 1);
    }
    t->until = (int32_t)max_i64(t->until, t->behind >= 0 ? b->op_count - 1 : a->to);
    t->from = a->previous < 0 ? (t->before >= 0 ? 0 : a->from) : t->from;
    const struct menu_labels *y = nest_menu_labels(menus, &b->menus[o], x, access, memory);
    a->label = y->label;
    a->bytes = y->bytes;
    a->off = x->accesses[access].bytes;
    a->writes = x->accesses[access].writes;
    a->lost = a->off / x->divisions->cores;
    t->least = max_i64(t->least, y->least);
    t->smallest = a->previous < 0 ? y->least : min_i64(t->smallest, y->least);
}

static void nest_body_fill_op(struct body *b, int32_t o, struct nest_menus *menus, struct arena *memory)
{
    const struct draft *x = b->x;
    int32_t op = b->first + o, nest = nest_of_op(x->how.nests, x->how.nest_count, op);
    nest_menu_of(menus, x->divisions, op, &b->menus[o]);
    if (b->menus[o].count == 0) {
        /* An op without a menu keeps its one division. */
        int n = op_operand_count(&x->graph->ops[op]);
        struct lx_core_view *v = arena_array(memory, (size_t)n, sizeof *v);
        struct cost_parts *parts = arena_array(memory, 1, sizeof *parts);
        double *memory_us = arena_array(memory, (size_t)n, sizeof *memory_us);
        for (int i = 0; i < n; i++) v[i] = lx_division_view(b->x->divisions, op, i);
        b->menus[o] = (struct nest_menu){
            .count = 1, .operand_count = n, .views = v, .parts = parts, .memory_us = memory_us};
    }
    b->times[o] = nest < 0 ? 1 : (double)nest_iterations(&x->how.nests[nest]);
    b->access_at[o] = b->access_count;
    for (int i = 0; i < op_operand_count(&x->graph->ops[op]); i++) label_access(b, o, i, menus, memory);
    b->access_at[o + 1] = b->access_count;
    /* Finds an input that ends with the op, so the output may take its place. */
    const struct lx_op *is = &x->graph->ops[op];
    struct body_access *made = &b->accesses[b->access_count - 1],
                       *out = &b->accesses[b->access_at[o] + is->input_count];
    for (int i = 0; i < is->input_count && !made->over; i++)
        made->over = runs_in_place_of(x->layouts, is, is->inputs[i]);
    for (int i = 0; i < is->input_count && out->from == out->to && made->gives_way < 0; i++) {
        const struct body_access *in = &b->accesses[b->access_at[o] + i];
        int32_t k = x->tensor_at[is->inputs[i] + 1] - 1; /* last access in an iteration */
        while (nest >= 0 && k > x->tensor_at[is->inputs[i]] &&
               x->access_op[x->tensor_access[k]] > x->how.nests[nest].last)
            k--;
        if (in->from == in->to && op_operand_made(is, is->inputs[i]) < 0 &&
            x->access_op[x->tensor_access[k]] == op && runs_in_place_of(x->layouts, is, is->inputs[i]))
            made->gives_way = i;
    }
}

static bool is_there(const struct body_part *t, int32_t o)
{
    return t->wanted && t->from <= o && o <= t->until;
}

/* The op with the largest minimum load above the capacity; -1: all parts fit. */
static int32_t nest_body_fullest(const struct body *b)
{
    int64_t most = b->capacity;
    int32_t at = -1;
    for (int32_t o = 0; o < b->op_count; o++) {
        int64_t load = b->load[o];
        for (int32_t i = 0; i < b->part_count; i++)
            if (is_there(&b->parts[i], o)) load += b->parts[i].least;
        if (load > most) most = load, at = o;
    }
    return at;
}

/* The HBM bytes of the body if its tensors agree, as far as the smallest views fit together on every tick. A
 * part is in pieces, from one access to the next, each of which may be off chip alone. */
static int64_t nest_body_least(const struct body *b, struct arena *memory)
{
    struct lx_problem p = {.objective = LX_SPILL, .capacity = b->capacity, .alignment = 1};
    struct lx_buffer *pieces = arena_array(memory, (size_t)b->access_count, sizeof *pieces);
    int32_t *last = arena_array(memory, (size_t)b->part_count, sizeof *last); /* per part: 1 + its piece */
    int64_t sum = 0;
    for (int32_t i = 0; i < b->access_count; i++) {
        const struct body_access *a = &b->accesses[i];
        const struct body_part *t = &b->parts[a->of];
        bool first = a->previous < 0;
        sum += a->off;
        if (!t->wanted || t->saved <= 0) continue;
        if (first) sum -= t->saved;
        if (t->cheap) continue;
        int64_t lost = !a->writes ? first ? 0 : min_i64(a->off, tensor_bytes(b->x->layouts, t->tensor))
                       : first ? max_i64(0, a->off - t->on)
                                  : 0;
        int32_t from = first ? a->from + a->over : b->accesses[a->previous].to + 1;
        if (from <= a->to) {
            pieces[p.count] =
                (struct lx_buffer){.start = from, .end = a->to + 1, .size = t->smallest, .fixed = -1};
            last[a->of] = ++p.count;
        }
        if (last[a->of]) pieces[last[a->of] - 1].spill_cost += lost;
    }
    p.buffers = pieces;
    return sum + lx_bound(&p);
}

/* Sorts the choices of each op by time; menus are nearly in this order already. */
static void nest_body_rank(struct body *b, struct arena *memory)
{
    for (int32_t o = 0; o < b->op_count; o++) {
        const struct nest_menu *m = &b->menus[o];
        struct body_choice *list = arena_array(memory, (size_t)m->count, sizeof *list);
        for (int c = 0; c < m->count; c++) {
            const struct cost_parts *p = &m->parts[c];
            double memory_us = 0;
            for (int i = 0; i < m->operand_count && b->by_memory; i++)
                if (!b->parts[b->accesses[b->access_at[o] + i].of].wanted)
                    memory_us += m->memory_us[c * m->operand_count + i];
            struct body_choice y = {c, fmax(fmax(p->compute_us, p->port_us), memory_us) + p->extra_us +
                                           p->back_us};
            int at = c;
            for (; at > 0 && list[at - 1].us > y.us; at--) list[at] = list[at - 1];
            list[at] = y;
        }
        b->choices[o] = list;
    }
}

static void nest_body_make(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus,
                           struct arena *memory, struct body *out)
{
    size_t ops = (size_t)(last - first + 1),
           accesses = (size_t)(x->access_at[last + 1] - x->access_at[first]);
    *out = (struct body){
        .x = x, .first = first, .last = last, .op_count = (int32_t)ops, .capacity = x->problem.capacity};
    out->menus = arena_array(memory, ops, sizeof *out->menus);
    out->choices = arena_array(memory, ops, sizeof *out->choices);
    out->times = arena_array(memory, ops, sizeof *out->times);
    out->access_at = arena_array(memory, ops + 1, sizeof *out->access_at);
    out->accesses = arena_array(memory, accesses, sizeof *out->accesses);
    out->parts = arena_array(memory, accesses, sizeof *out->parts);
    out->load = arena_array(memory, ops, sizeof *out->load);
    out->last_part = arena_array(memory, (size_t)x->graph->tensor_count, sizeof *out->last_part);
    out->views = &menus->views;
    out->by_memory = menus->by_memory;
    for (int32_t o = 0; o < out->op_count; o++) nest_body_fill_op(out, o, menus, memory);
    /* Load of other buffers, capped at half a scratchpad: beyond that not all of them will stay. */
    for (int32_t s = 0; s < x->problem.count && out->op_count < x->graph->op_count; s++) {
        const struct lx_buffer *y = &x->buffers[s];
        bool ours = x->stays[s].exclusion != LX_EXCLUDED_NONE || out->last_part[x->stays[s].tensor] > 0;
        if (ours || y->start > first || y->end <= last) continue;
        for (int32_t o = 0; o < out->op_count; o++)
            out->load[o] = min_i64(out->load[o] + y->size, out->capacity / 2);
    }
}

/* Leaves the beam what it can keep, and sorts its choices. */
static void nest_body_settle(struct body *out, struct arena *memory)
{
    /* Drops parts that do not fit together; first the ones that save least for their size. */
    for (int32_t o = nest_body_fullest(out); o >= 0; o = nest_body_fullest(out)) {
        struct body_part *worst = NULL;
        for (int32_t i = 0; i < out->part_count; i++) {
            struct body_part *t = &out->parts[i];
            if (!is_there(t, o) || t->least == 0) continue;
            if (!worst || (double)t->saved * (double)worst->least < (double)worst->saved * (double)t->least)
                worst = t;
        }
        if (!worst) break;
        worst->wanted = false;
    }
    nest_body_rank(out, memory);
}

/* --- The beam. --- */

/* WIDTH: ways kept. LOSS: weight of a byte beyond capacity. */
enum { WIDTH = 12, LOSS = 8 };

struct way {
    int64_t excess; /* bytes per core beyond capacity, weighted, over all ticks */
    double us;
    uint64_t seen; /* hash of the views left for later ops: of two equal ways the worse is dropped */
    int *choice;   /* per op */
    int64_t *load; /* per op */
};

/* Load added to a way, undone after the trial. */
struct added {
    int32_t from, to;
    int64_t bytes;
};

/* State of a part before the op of an access. until[label], the last op of a buffer with this label, is valid
 * if seen[label] equals the current `turn`. */
struct past {
    int main; /* label of the first buffer; -1: none */
    int64_t main_bytes;
    int64_t *seen;
    int32_t *until;
};

struct dividing {
    const struct body *b;
    struct way now[WIDTH], next[WIDTH];
    int now_count, next_count;
    struct way trial; /* `load`: of the parent way, with `added` */
    struct added *added;
    int added_count;
    struct past *past; /* per operand of the op */
    int32_t *left;     /* last access so far of each part that later ops use */
    int32_t left_count;
    int64_t turn;
};

/* A scratchpad that is nearly full is hard to pack. */
static int64_t too_much(const struct body *b, int64_t load)
{
    return LOSS * max_i64(0, load - b->capacity) + max_i64(0, load - b->capacity * 7 / 8);
}

static void nest_divide_add_load(struct dividing *d, int32_t from, int32_t to, int64_t bytes)
{
    struct way *w = &d->trial;
    if (from > to || bytes == 0) return;
    d->added[d->added_count++] = (struct added){from, to, bytes};
    for (int32_t t = from; t <= to; t++) {
        int64_t load = w->load[t] + bytes;
        if (load > d->b->capacity * 7 / 8) w->excess += too_much(d->b, load) - too_much(d->b, w->load[t]);
        w->load[t] = load;
    }
}

/* Collects the earlier accesses of the part, before the op of `at`, into `p`; the last first. */
static void look_back(const struct dividing *d, const struct way *w, int32_t at, struct past *p)
{
    const struct body *b = d->b;
    const struct body_access *a = &b->accesses[at];
    const struct body_part *t = &b->parts[a->of];
    int32_t i = a->previous;
    p->main = t->before;
    p->main_bytes = t->before_bytes;
    while (i >= 0 && b->accesses[i].op == a->op) i = b->accesses[i].previous;
    for (; i >= 0; i = b->accesses[i].previous) {
        const struct body_access *y = &b->accesses[i];
        int c = w->choice[y->op], its = y->label[c];
        if (its < 0) continue;
        if (t->before < 0) p->main = its, p->main_bytes = y->bytes[c];
        p->until[its] = p->seen[its] == d->turn ? (int32_t)max_i64(p->until[its], y->to) : y->to;
        p->seen[its] = d->turn;
    }
}

/* True if a buffer with this label is on chip when access `at` runs, also by earlier accesses of the same
 * op. */
static bool is_there_until(const struct dividing *d, int32_t at, struct past *p, int label, int32_t *until)
{
    const struct body *b = d->b;
    const struct body_access *a = &b->accesses[at];
    const struct body_part *t = &b->parts[a->of];
    bool same = t->before == label || p->seen[label] == d->turn, first = p->main < 0;
    *until = p->seen[label] == d->turn ? p->until[label] : -1;
    for (int32_t i = a->previous; i >= 0 && b->accesses[i].op == a->op; i = b->accesses[i].previous) {
        const struct body_access *y = &b->accesses[i];
        int c = d->trial.choice[a->op], its = y->label[c];
        if (its < 0) continue;
        if (first) p->main = its, p->main_bytes = y->bytes[c];
        if (its != label) continue;
        same = true;
        *until = (int32_t)max_i64(*until, y->to);
    }
    return same;
}

/* Microseconds to relayout the part from one view to another, over all its fills. */
static double ring_us(const struct body *b, const struct body_part *t, int from, int to)
{
    if (from < 0 || from == to) return 0;
    return (double)t->fills * nest_view_ring_us(b->views, b->x->layouts, t->tensor, from, to);
}

static void nest_divide_add_access(struct dividing *d, int32_t at, struct past p)
{
    const struct body *b = d->b;
    const struct body_access *a = &b->accesses[at];
    int c = d->trial.choice[a->op];
    int32_t until;
    if (!b->parts[a->of].wanted) return;
    if (a->label[c] < 0) {
        d->trial.excess += LOSS * a->lost;
        return;
    }
    bool same = is_there_until(d, at, &p, a->label[c], &until);
    if (same && a->previous < 0)
        nest_divide_add_load(d, 0, b->parts[a->of].until, a->bytes[c]);
    else if (same)
        nest_divide_add_load(d, until + 1, a->label[c] == p.main ? until : a->to, a->bytes[c]);
    else {
        /* A buffer begins, filled over the ring from the first buffer. The first one stays until the part's
         * last access, since later ops are not known yet; others stay while they are used. */
        const struct body_part *t = &b->parts[a->of];
        if (p.main >= 0) {
            d->trial.us += ring_us(b, t, p.main, a->label[c]);
            d->trial.excess += t->stuck ? LOSS * a->lost : 0;
        }
        if (t->before >= 0 && a->previous < 0) nest_divide_add_load(d, 0, a->op, p.main_bytes);
        bool over = false; /* the output takes the place of an input */
        if (a->gives_way >= 0) {
            const struct body_access *in = &b->accesses[b->access_at[a->op] + a->gives_way];
            over = b->parts[in->of].wanted && in->label[c] >= 0 && in->bytes[c] >= a->bytes[c];
        }
        nest_divide_add_load(d, a->from + over, a->previous < 0 ? t->until : a->to, a->bytes[c]);
    }
}

static bool nest_divide_is_better(const struct way *a, const struct way *b)
{
    return a->excess != b->excess ? a->excess < b->excess : a->us < b->us;
}

/* Costs only grow: a way that is too bad stays so. */
static bool nest_divide_is_of_use(const struct dividing *d)
{
    return d->next_count < WIDTH || nest_divide_is_better(&d->trial, &d->next[WIDTH - 1]);
}

/* The index in `next` for the trial: of a way with equal views, a new one, or the worst; -1: the trial is
 * worse. */
static int place_of_trial(struct dividing *d)
{
    /* Hash of the views that the way leaves. */
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int32_t i = 0; i < d->left_count; i++)
        for (int32_t at = d->left[i]; at >= 0; at = d->b->accesses[at].previous) {
            const struct body_access *a = &d->b->accesses[at];
            hash = (hash ^ (uint64_t)(a->label[d->trial.choice[a->op]] + 2)) * UINT64_C(1099511628211);
        }
    d->trial.seen = hash;
    for (int i = 0; i < d->next_count; i++)
        if (d->next[i].seen == d->trial.seen) return nest_divide_is_better(&d->trial, &d->next[i]) ? i : -1;
    return d->next_count < WIDTH ? d->next_count++ : WIDTH - 1;
}

/* Extends the way `from` by each choice of op o; fastest first. */
static void nest_divide_step_from(struct dividing *d, const struct way *from, int32_t o)
{
    const struct body *b = d->b;
    int32_t first = b->access_at[o], end = b->access_at[o + 1];
    d->turn++;
    for (int32_t a = first; a < end; a++)
        if (b->parts[b->accesses[a].of].wanted) look_back(d, from, a, &d->past[a - first]);
    for (int k = 0; k < b->menus[o].count; k++) {
        int c = b->choices[o][k].number;
        d->trial = *from;
        d->trial.us += b->times[o] * b->choices[o][k].us;
        if (!nest_divide_is_of_use(d)) break;
        d->trial.choice[o] = c;
        for (int32_t a = first; a < end && nest_divide_is_of_use(d); a++)
            nest_divide_add_access(d, a, d->past[a - first]);
        if (o == b->op_count - 1) {
            /* A part used after the run needs a relayout if it ends in another view. */
            for (int32_t i = 0; i < b->part_count; i++) {
                const struct body_part *t = &b->parts[i];
                int last = -1;
                if (!t->wanted || t->behind < 0) continue;
                for (int32_t n = t->last_access; n >= 0 && last != t->behind; n = b->accesses[n].previous) {
                    const struct body_access *a = &b->accesses[n];
                    int its = a->label[d->trial.choice[a->op]];
                    if (its >= 0 && (last < 0 || its == t->behind)) last = its;
                }
                d->trial.us += ring_us(b, t, last, t->behind);
                if (b->x->how.passes.no_ring && last != t->behind)
                    d->trial.excess += LOSS * b->accesses[t->last_access].lost;
            }
        }
        if (nest_divide_is_of_use(d)) {
            int at = place_of_trial(d);
            if (at >= 0) {
                struct way place = d->next[at];
                for (; at > 0 && nest_divide_is_better(&d->trial, &d->next[at - 1]); at--)
                    d->next[at] = d->next[at - 1];
                d->next[at] = place;
                d->next[at].excess = d->trial.excess;
                d->next[at].us = d->trial.us;
                d->next[at].seen = d->trial.seen;
                memcpy(d->next[at].choice, d->trial.choice,
                       (size_t)d->b->op_count * sizeof *d->next[at].choice);
                memcpy(d->next[at].load, d->trial.load, (size_t)d->b->op_count * sizeof *d->next[at].load);
            }
        }
        for (; d->added_count > 0; d->added_count--) {
            struct added y = d->added[d->added_count - 1];
            for (int32_t t = y.from; t <= y.to; t++) d->trial.load[t] -= y.bytes;
        }
    }
}

static void nest_divide_step(struct dividing *d, int32_t o)
{
    d->next_count = 0;
    const struct body *b = d->b;
    d->left_count = 0;
    for (int32_t i = 0; i < b->part_count; i++) {
        const struct body_part *t = &b->parts[i];
        int32_t at = t->last_access;
        if (!t->wanted || (b->accesses[at].op <= o && t->behind < 0)) continue;
        while (at >= 0 && b->accesses[at].op > o) at = b->accesses[at].previous;
        if (at >= 0) d->left[d->left_count++] = at;
    }
    for (int k = 0; k < d->now_count; k++) nest_divide_step_from(d, &d->now[k], o);
    for (int k = 0; k < d->next_count; k++) {
        struct way swap = d->now[k];
        d->now[k] = d->next[k];
        d->next[k] = swap;
    }
    d->now_count = d->next_count;
}

static void nest_divide_begin(struct dividing *d, const struct body *b, struct arena *memory)
{
    size_t most = 0, labels = 0, ops = (size_t)b->op_count;
    *d = (struct dividing){.b = b, .now_count = 1};
    for (int32_t o = 0; o < b->op_count; o++)
        most = (size_t)max_i64((int64_t)most, b->access_at[o + 1] - b->access_at[o]);
    for (int32_t i = 0; i < b->part_count; i++)
        if ((size_t)b->parts[i].tensor < b->views->of.count &&
            b->views->of.at[b->parts[i].tensor].at.count > labels)
            labels = b->views->of.at[b->parts[i].tensor].at.count;
    d->added = arena_array(memory, 2 * most, sizeof *d->added);
    d->past = arena_array(memory, most, sizeof *d->past);
    d->left = arena_array(memory, (size_t)b->part_count, sizeof *d->left);
    for (size_t i = 0; i < most; i++) {
        d->past[i].seen = arena_array(memory, labels, sizeof *d->past[i].seen);
        d->past[i].until = arena_array(memory, labels, sizeof *d->past[i].until);
    }
    for (int k = 0; k < 2 * WIDTH; k++) {
        struct way *w = k < WIDTH ? &d->now[k] : &d->next[k - WIDTH];
        w->choice = arena_array(memory, ops, sizeof *w->choice);
        w->load = arena_array(memory, ops, sizeof *w->load);
    }
    memcpy(d->now[0].load, b->load, ops * sizeof *b->load);
}

bool nest_divide(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus, int64_t below,
                 const struct lx_division **divided, bool *useless, lx_status *st)
{
    struct arena scratch = {0};
    struct body b;
    struct dividing d;
    bool ok = true;
    nest_body_make(x, first, last, menus, &scratch, &b);
    *useless = below < INT64_MAX && nest_body_least(&b, &scratch) > below;
    if (*useless) return arena_free(&scratch), true;
    nest_body_settle(&b, &scratch);
    nest_divide_begin(&d, &b, &scratch);
    for (int32_t o = 0; o < b.op_count; o++) nest_divide_step(&d, o);
    for (int32_t o = 0; ok && d.now_count > 0 && o < b.op_count; o++) {
        int32_t op = first + o;
        if (!b.menus[o].splits) continue;
        const struct lx_division *v =
            nest_menu_division(menus, &b.menus[o], x->divisions, op, d.now[0].choice[o], st);
        ok = v != NULL;
        if (ok) divided[x->how.order ? x->how.order[op] : op] = v;
    }
    arena_free(&scratch);
    return ok;
}
