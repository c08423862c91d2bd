/* Beam over the ops of a body.
 *
 * It is none of network/beam.h: a way carries the load of every tick of the body, which no row of slots tells, its accesses are
 * weighed against the worst of twelve ways while they are added, most trials end there, and nothing is proved of what is
 * dropped. */
#include "nests/nest_body.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

/* Ways that are kept; and what a byte too much counts. */
enum { WIDTH = 12, LOSS = 8 };

/* One way to divide the ops so far. */
struct way {
    int64_t excess; /* bytes that a core has too much, over all ticks */
    double us;
    uint64_t seen; /* how it leaves what later ops use: of two that leave it alike the worse is of no use */
    int *choice;   /* per op */
    int64_t *load; /* per op */
};

/* Added to the load of a way, to be taken away again. */
struct added {
    int32_t from, to;
    int64_t bytes;
};

/* What a way has left of the part of an access, before its op. `until[label]` is there where
 * `seen[label]` is the number of the way's turn: the last op of a buffer with this label. */
struct past {
    int main; /* label of the first buffer; -1: there was none */
    int64_t main_bytes;
    int64_t *seen;
    int32_t *until;
};

struct dividing {
    const struct body *b;
    struct way now[WIDTH], next[WIDTH];
    int now_count, next_count;
    struct way trial; /* `load` is that of the way it comes from, with what is added */
    struct added *added;
    int added_count;
    struct past *past; /* per operand of the op */
    int32_t *left;     /* per part that later ops use: its last access so far */
    int32_t left_count;
    int64_t turn;
};

/* What is nearly full is hard to pack. */
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

/* Walks the accesses of the part before the op of `at`, the last first. */
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

/* What accesses of the same op add to that. */
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

/* Microseconds of bringing it from the first view to another. */
static double ring_us(const struct body *b, const struct body_part *t, int from, int to)
{
    if (from < 0 || from == to) return 0;
    return (double)t->fills * nest_view_ring_us(b->views, b->x->layouts, t->tensor, from, to);
}

/* Does the output lie where an input did? */
static bool lies_over(const struct body *b, const struct body_access *a, int choice)
{
    if (a->gives_way < 0) return false;
    const struct body_access *in = &b->accesses[b->access_at[a->op] + a->gives_way];
    return b->parts[in->of].wanted && in->label[choice] >= 0 && in->bytes[choice] >= a->bytes[choice];
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
        /* A buffer begins: filled over the ring from the first, if there is one. The first one is there
         * until the last access, since what comes later is not known yet; others as long as they are seen
         * to be used. */
        const struct body_part *t = &b->parts[a->of];

        if (p.main >= 0) {
            d->trial.us += ring_us(b, t, p.main, a->label[c]);
            d->trial.excess += t->stuck ? LOSS * a->lost : 0;
        }
        if (t->before >= 0 && a->previous < 0) nest_divide_add_load(d, 0, a->op, p.main_bytes);
        nest_divide_add_load(d, a->from + lies_over(b, a, c), a->previous < 0 ? t->until : a->to,
                             a->bytes[c]);
    }
}

/* What goes on behind the run is there in another view. */
static void end_parts(const struct body *b, struct way *w)
{
    for (int32_t i = 0; i < b->part_count; i++) {
        const struct body_part *t = &b->parts[i];
        int last = -1;
        if (!t->wanted || t->behind < 0) continue;
        for (int32_t k = t->last_access; k >= 0 && last != t->behind; k = b->accesses[k].previous) {
            const struct body_access *a = &b->accesses[k];
            int its = a->label[w->choice[a->op]];
            if (its >= 0 && (last < 0 || its == t->behind)) last = its;
        }
        w->us += ring_us(b, t, last, t->behind);
        if (b->x->how.passes.no_ring && last != t->behind)
            w->excess += LOSS * b->accesses[t->last_access].lost;
    }
}

static bool nest_divide_is_better(const struct way *a, const struct way *b)
{
    return a->excess != b->excess ? a->excess < b->excess : a->us < b->us;
}

/* Nothing makes a way better again. */
static bool nest_divide_is_of_use(const struct dividing *d)
{
    return d->next_count < WIDTH || nest_divide_is_better(&d->trial, &d->next[WIDTH - 1]);
}

/* The place that the trial takes: of the one like it, a new one, or of the worst; -1: the one like it is
 * better. */
static int place_of_trial(struct dividing *d)
{
    /* In which views a way leaves them. */
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

/* Way `k` goes on with each choice; the quickest stand first. */
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
        if (o == b->op_count - 1) end_parts(b, &d->trial);
        if (nest_divide_is_of_use(d)) {
            int at = place_of_trial(d);
            if (!(at < 0)) {
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
    /* Parts that ops behind `o` use. */
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

static void nest_divide_reserve(struct way *w, const struct body *b, struct arena *memory)
{
    w->choice = arena_array(memory, (size_t)b->op_count, sizeof *w->choice);
    w->load = arena_array(memory, (size_t)b->op_count, sizeof *w->load);
}

/* Places for the labels that accesses can meet. */
static void reserve_past(struct dividing *d, struct arena *memory)
{
    const struct body *b = d->b;
    size_t most = 0, labels = 0;
    for (int32_t o = 0; o < b->op_count; o++)
        most = (size_t)max_i64((int64_t)most, b->access_at[o + 1] - b->access_at[o]);
    for (int32_t i = 0; i < b->part_count; i++)
        labels = (size_t)max_i64((int64_t)labels, nest_view_count(b->views, b->parts[i].tensor));
    d->added = arena_array(memory, 2 * most, sizeof *d->added);
    d->past = arena_array(memory, most, sizeof *d->past);
    d->left = arena_array(memory, (size_t)b->part_count, sizeof *d->left);
    for (size_t i = 0; i < most; i++) {
        d->past[i].seen = arena_array(memory, labels, sizeof *d->past[i].seen);
        d->past[i].until = arena_array(memory, labels, sizeof *d->past[i].until);
    }
}

static void nest_divide_begin(struct dividing *d, const struct body *b, struct arena *memory)
{
    *d = (struct dividing){.b = b, .now_count = 1};
    reserve_past(d, memory);
    for (int k = 0; k < WIDTH; k++) {
        nest_divide_reserve(&d->now[k], b, memory);
        nest_divide_reserve(&d->next[k], b, memory);
    }
    memcpy(d->now[0].load, b->load, (size_t)b->op_count * sizeof *b->load);
}

/* The chosen divisions, made. */
static bool nest_divide_settle(const struct body *b, const struct way *w, struct nest_menus *menus,
                               const struct lx_division **divided, lx_status *st)
{
    const struct draft *x = b->x;
    for (int32_t o = 0; o < b->op_count; o++) {
        int32_t op = b->first + o;
        if (!b->menus[o].splits) continue;
        const struct lx_division *v =
            nest_menu_division(menus, &b->menus[o], x->divisions, op, w->choice[o], st);
        if (!v) return false;
        divided[x->how.order ? x->how.order[op] : op] = v;
    }
    return true;
}

bool nest_divide(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus,
                 const struct lx_division **divided, lx_status *st)
{
    struct arena scratch = {0};
    struct body b;
    struct dividing d;
    nest_body_make(x, first, last, menus, &scratch, &b);
    nest_divide_begin(&d, &b, &scratch);
    for (int32_t o = 0; o < b.op_count; o++) nest_divide_step(&d, o);
    bool ok = d.now_count == 0 || nest_divide_settle(&b, &d.now[0], menus, divided, st);
    arena_free(&scratch);
    return ok;
}
