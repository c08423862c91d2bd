/* Beam over the ops of a body. */
#include "scratchpad/nests/nest_body.h"
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
    int *choice;   /* per op */
    int64_t *load; /* per op */
};

struct dividing {
    const struct body *b;
    struct way now[WIDTH], next[WIDTH], trial;
    int now_count, next_count;
};

/* What is nearly full is hard to pack. */
static int64_t too_much(const struct body *b, int64_t load)
{
    return LOSS * max_i64(0, load - b->capacity) + max_i64(0, load - b->capacity * 7 / 8);
}

static void add_load(const struct body *b, struct way *w, int32_t from, int32_t to, int64_t bytes)
{
    for (int32_t t = from; t <= to; t++) {
        w->excess -= too_much(b, w->load[t]);
        w->load[t] += bytes;
        w->excess += too_much(b, w->load[t]);
    }
}

/* What the accesses before one have left of its part. */
struct past {
    bool same;     /* there is a buffer with this label, */
    int32_t until; /* up to this op */
    int main;      /* label of the first; -1: there was none */
    int64_t main_bytes;
};

/* Walks the accesses of the part before `at`, the last first. */
static struct past past_of(const struct body *b, const struct way *w, int32_t at, int label)
{
    const struct body_part *t = &b->parts[b->accesses[at].of];
    struct past p = {.same = t->before == label, .until = -1, .main = t->before};
    if (t->before >= 0) p.main_bytes = view_part_bytes(b->x->layouts, t->tensor, &t->views.at[t->before]);
    for (int32_t i = b->accesses[at].previous; i >= 0 && t->before < 0; i = b->accesses[i].previous) {
        const struct body_access *a = &b->accesses[i];
        int c = w->choice[a->op];
        if (a->label[c] >= 0) p.main = a->label[c], p.main_bytes = a->bytes[c];
    }
    for (int32_t i = b->accesses[at].previous; i >= 0; i = b->accesses[i].previous) {
        const struct body_access *a = &b->accesses[i];
        int its = a->label[w->choice[a->op]];
        if (its < 0) continue;
        if (its == label) {
            p.same = true;
            p.until = (int32_t)max_i64(p.until, a->to);
        }
    }
    return p;
}

/* Microseconds of bringing it from the first view to another. */
static double ring_us(const struct body *b, const struct body_part *t, int from, int to)
{
    if (from < 0 || from == to) return 0;
    return (double)t->fills * view_ring_us(b->x->layouts, t->tensor, &t->views.at[from], &t->views.at[to]);
}

/* Does the output lie where an input did? */
static bool lies_over(const struct body *b, const struct body_access *a, int choice)
{
    if (a->gives_way < 0) return false;
    const struct body_access *in = &b->accesses[b->access_at[a->op] + a->gives_way];
    return b->parts[in->of].wanted && in->label[choice] >= 0 && in->bytes[choice] >= a->bytes[choice];
}

/* A buffer begins: filled over the ring from the first, if there is one. The first one is there until the last access, since
 * what comes later is not known yet; others as long as they are seen to be used. */
static void begin_buffer(const struct body *b, struct way *w, const struct body_access *a,
                         const struct past *p)
{
    const struct body_part *t = &b->parts[a->of];
    int c = w->choice[a->op];
    if (p->main >= 0) {
        w->us += ring_us(b, t, p->main, a->label[c]);
        w->excess += t->stuck ? LOSS * a->lost : 0;
    }
    if (t->before >= 0 && a->previous < 0) add_load(b, w, 0, a->op, p->main_bytes);
    add_load(b, w, a->from + lies_over(b, a, c), a->previous < 0 ? t->until : a->to, a->bytes[c]);
}

static void add_access(const struct body *b, struct way *w, int32_t at)
{
    const struct body_access *a = &b->accesses[at];
    int c = w->choice[a->op];
    if (!b->parts[a->of].wanted) return;
    if (a->label[c] < 0) {
        w->excess += LOSS * a->lost;
        return;
    }
    struct past p = past_of(b, w, at, a->label[c]);
    if (p.same && a->previous < 0)
        add_load(b, w, 0, b->parts[a->of].until, a->bytes[c]);
    else if (p.same)
        add_load(b, w, p.until + 1, a->label[c] == p.main ? p.until : a->to, a->bytes[c]);
    else
        begin_buffer(b, w, a, &p);
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
    }
}

static bool is_better(const struct way *a, const struct way *b)
{
    return a->excess != b->excess ? a->excess < b->excess : a->us < b->us;
}

static void way_copy(const struct body *b, struct way *to, const struct way *from)
{
    to->excess = from->excess;
    to->us = from->us;
    memcpy(to->choice, from->choice, (size_t)b->op_count * sizeof *to->choice);
    memcpy(to->load, from->load, (size_t)b->op_count * sizeof *to->load);
}

static void keep(struct dividing *d)
{
    int at = d->next_count;
    if (at == WIDTH && !is_better(&d->trial, &d->next[at - 1])) return;
    if (at == WIDTH)
        at--;
    else
        d->next_count++;
    struct way place = d->next[at];
    for (; at > 0 && is_better(&d->trial, &d->next[at - 1]); at--) d->next[at] = d->next[at - 1];
    d->next[at] = place;
    way_copy(d->b, &d->next[at], &d->trial);
}

static void step(struct dividing *d, int32_t o)
{
    const struct body *b = d->b;
    d->next_count = 0;
    for (int k = 0; k < d->now_count; k++)
        for (int c = 0; c < b->menus[o].count; c++) {
            way_copy(b, &d->trial, &d->now[k]);
            d->trial.choice[o] = c;
            d->trial.us += b->times[o] * b->menus[o].us[c];
            for (int32_t a = b->access_at[o]; a < b->access_at[o + 1]; a++) add_access(b, &d->trial, a);
            if (o == b->op_count - 1) end_parts(b, &d->trial);
            keep(d);
        }
    for (int k = 0; k < d->next_count; k++) {
        struct way swap = d->now[k];
        d->now[k] = d->next[k];
        d->next[k] = swap;
    }
    d->now_count = d->next_count;
}

static bool reserve(struct way *w, const struct body *b, struct arena *memory)
{
    w->choice = arena_array(memory, (size_t)b->op_count, sizeof *w->choice);
    w->load = arena_array(memory, (size_t)b->op_count, sizeof *w->load);
    return w->choice && w->load;
}

static bool begin(struct dividing *d, const struct body *b, struct arena *memory)
{
    *d = (struct dividing){.b = b, .now_count = 1};
    bool ok = reserve(&d->trial, b, memory);
    for (int k = 0; ok && k < WIDTH; k++)
        ok = reserve(&d->now[k], b, memory) && reserve(&d->next[k], b, memory);
    if (ok) memcpy(d->now[0].load, b->load, (size_t)b->op_count * sizeof *b->load);
    return ok;
}

/* The chosen divisions, made. */
static bool settle(const struct body *b, const struct way *w, struct nest_menus *menus,
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
    bool ok = nest_body_make(x, first, last, menus, &scratch, &b, st) &&
              (begin(&d, &b, &scratch) ? true : status_no_memory(st));
    for (int32_t o = 0; ok && o < b.op_count; o++) step(&d, o);
    ok = ok && (d.now_count == 0 || settle(&b, &d.now[0], menus, divided, st));
    nest_body_free(&b);
    arena_free(&scratch);
    return ok;
}
