/* Windows of ops that do not compute in fp32: each element of the output by itself, in fp64 or whole
 * numbers. Where a tap lies is computed where it is needed; one that is outside is left out. */
#include "device/execute/execute.h"
#include "base/memory.h"

struct wide_slide {
    struct rows *rows;
    const struct number_type *type; /* of the result */
    struct odometer summed;
    /* Per window: its place in the odometer of what is kept, and of what is summed; -1: it has one value. */
    int out_at[LX_MAX_RANK], tap_at[LX_MAX_RANK];
};

/* Where the windows of this term are in the input; false: one of them is outside. */
static bool slid_offset(const struct wide_slide *s, int64_t *offset)
{
    const struct chunk *c = s->rows->c;
    const struct op_index *x = &c->w->x;
    *offset = 0;
    for (int i = 0; i < x->window_count; i++) {
        const struct lx_window *w = &x->windows[i];
        int64_t out = c->slice.from[(int)w->out], tap = c->slice.from[(int)w->tap];
        if (s->out_at[i] >= 0) out += s->rows->odometer.at[s->out_at[i]];
        if (s->tap_at[i] >= 0) tap += s->summed.at[s->tap_at[i]];
        int64_t at = lx_window_at(w, out, tap);
        if (at < 0 || at >= x->extent[(int)w->in]) return false;
        *offset += (at - c->slice.from[(int)w->in]) * s->rows->strides[1].element[(int)w->in];
    }
    return true;
}

static wide_number term(const struct wide_slide *s, int64_t slid)
{
    const struct chunk *c = s->rows->c;
    const int64_t *kept = s->rows->odometer.offset, *summed = s->summed.offset;
    wide_number a = c->wide[0][kept[1] + summed[1] + slid];
    if (c->w->class != CLASS_CONTRACTION) return a;
    return c->w->wide->element(a, c->wide[1][kept[2] + summed[2]], 0, s->type);
}

static void wide_windows_slide_all(struct wide_slide *s)
{
    struct rows *r = s->rows;
    const struct op_index *x = &r->c->w->x;
    int out = r->c->w->out;
    s->type = op_number_type(r->c->w->m->graph, r->c->w->op, out);
    for (int i = 0; i < x->window_count; i++) s->out_at[i] = s->tap_at[i] = -1;
    for (int d = 0; d < x->rank[out]; d++) {
        for (int i = 0; i < x->window_count; i++)
            if (x->windows[i].out == x->var[out][d]) s->out_at[i] = d;
        odometer_add(r, &r->odometer, x->var[out][d]);
    }
    int vars[LX_MAX_VARS], count = op_index_sum_order(x, vars);
    for (int k = 0; k < count; k++) {
        if (op_index_follows(x, vars[k])) continue;
        for (int i = 0; i < x->window_count; i++)
            if (x->windows[i].tap == vars[k]) s->tap_at[i] = s->summed.count;
        odometer_add(s->rows, &s->summed, vars[k]);
    }
    do {
        const struct wide_fold *fold = s->rows->c->w->wide->fold;
        wide_number total = fold->neutral;
        int64_t slid;
        do
            if (slid_offset(s, &slid)) total = fold->join(total, term(s, slid), 0, s->type);
        while (odometer_next(&s->summed));
        r->c->strip->wide[r->first + r->odometer.offset[0]] = total;
    } while (odometer_next(&r->odometer));
}

void leaf_wide_windows(struct chunk *c)
{
    struct wide_slide *s = mem_zeroed(1, sizeof *s);
    struct rows *r = rows_make(c);
    s->rows = r;
    wide_windows_slide_all(s);
    mem_free(r);
    mem_free(s);
}
