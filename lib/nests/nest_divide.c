/* Chooses divisions of the ops of a body that agree: a beam over the ops in order of time. It keeps the best
 * few ways to divide each prefix: least excess of the held parts over a scratchpad, then least predicted
 * time, with copies over the ring between different views. Not network/beam.h: a way carries the load of
 * every tick, most trials end while their accesses are added, and no bound is needed. */
#include "nests/nest_body.h"

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

/* A scratchpad that is nearly full is hard to pack; no reason to take more time. */
static int64_t too_much(const struct body *b, int64_t load)
{
    return LOSS * max_i64(0, load - b->capacity) + max_i64(0, load - b->nearly_full);
}

static void nest_divide_add_load(struct dividing *d, int32_t from, int32_t to, int64_t bytes)
{
    struct way *w = &d->trial;
    if (from > to || bytes == 0) return;
    d->added[d->added_count++] = (struct added){from, to, bytes};
    for (int32_t t = from; t <= to; t++) {
        int64_t load = w->load[t] + bytes;
        if (load > d->b->nearly_full) w->excess += too_much(d->b, load) - too_much(d->b, w->load[t]);
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

/* The op whose load exceeds the capacity most under the best way; -1: there is none. */
static int32_t nest_divide_fullest(const struct dividing *d)
{
    int64_t most = d->b->capacity;
    int32_t at = -1;
    for (int32_t o = 0; d->now_count > 0 && o < d->b->op_count; o++)
        if (d->now[0].load[o] > most) most = d->now[0].load[o], at = o;
    return at;
}

static void nest_divide_run(struct dividing *d, struct body *b, struct arena *memory)
{
    nest_body_settle(b, memory);
    nest_divide_begin(d, b, memory);
    for (int32_t o = 0; o < b->op_count; o++) nest_divide_step(d, o);
}

bool nest_divide(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus, int64_t below,
                 const struct lx_division **divided, bool *useless, lx_status *st)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct body b;
    struct dividing d;
    bool ok = true;
    nest_body_make(x, first, last, menus, &scratch, &b);
    *useless = below < INT64_MAX && nest_body_least(&b, &scratch) > below;
    if (*useless) return true;
    nest_divide_run(&d, &b, &scratch);
    menus->overfull |= nest_divide_fullest(&d) >= 0;
    while (menus->sparing && nest_divide_fullest(&d) >= 0 && nest_body_drop(&b, nest_divide_fullest(&d)))
        nest_divide_run(&d, &b, &scratch);
    for (int32_t o = 0; ok && d.now_count > 0 && o < b.op_count; o++) {
        int32_t op = first + o;
        if (!b.menus[o].splits) continue;
        const struct lx_division *v =
            nest_menu_division(menus, &b.menus[o], x->divisions, op, d.now[0].choice[o], st);
        ok = v != NULL;
        if (ok) divided[x->how.order ? x->how.order[op] : op] = v;
    }
    return ok;
}
