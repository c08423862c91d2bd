/* The innermost work of ops that do not compute in fp32: element by element, with the strides of each
 * operand. Sums run in the order of op_index_sum_order. */
#include "device/execute/execute.h"

struct wide_leaf {
    struct rows *rows;
    const struct wide_arith *arith;
    const struct number_type *type; /* of the result */
    struct odometer summed;
};

bool work_folds(const struct op_work *w)
{
    return w->class == CLASS_REDUCTION || w->class == CLASS_CONTRACTION;
}

void wide_join(const struct op_work *w, wide_number *to, const wide_number *from, int64_t count)
{
    const struct number_type *t = op_number_type(w->m->graph, w->op, w->out);
    for (int64_t i = 0; i < count; i++) to[i] = w->wide->fold->join(to[i], from[i], 0, t);
}

/* The element at the odometer plus `further` in each array. */
static wide_number wide_leaves_element(const struct wide_leaf *l, const int64_t *further)
{
    const struct chunk *c = l->rows->c;
    const struct lx_op *op = c->w->op;
    wide_number v[4] = {0};
    for (int i = 0; i < op->input_count && i < 3; i++)
        v[i] = c->wide[i][l->rows->odometer.offset[i + 1] + further[i + 1]];
    if (op->has_value) v[op->input_count] = op_constant(op);
    return c->w->class == CLASS_REDUCTION ? v[0] : l->arith->element(v[0], v[1], v[2], l->type);
}

static wide_number wide_leaves_folded(struct wide_leaf *l)
{
    if (l->arith->picks) {
        /* The place of the best: the first of equal ones; a NaN before all. */
        wide_number best = NAN;
        int64_t place = 0, at = 0;
        do {
            wide_number x = wide_leaves_element(l, l->summed.offset) * l->arith->picks;
            if (at == 0 || x > best || (isnan(x) && !isnan(best))) {
                best = x;
                place = at;
            }
            at++;
        } while (odometer_next(&l->summed));
        return number_wrapped(l->type, place);
    }
    wide_number total = l->arith->fold->neutral;
    do total = l->arith->fold->join(total, wide_leaves_element(l, l->summed.offset), 0, l->type);
    while (odometer_next(&l->summed));
    return total;
}

void leaf_wide(struct chunk *c)
{
    static const int64_t here[MOST_ARRAYS] = {0};
    const struct op_work *w = c->w;
    OWNED struct wide_leaf *l = mem_zeroed(1, sizeof *l);
    OWNED struct rows *r = rows_make(c);
    int out = w->out;
    l->rows = r;
    l->arith = w->wide;
    l->type = op_number_type(w->m->graph, w->op, out);
    for (int h = 0; h < w->x.rank[out]; h++) odometer_add(r, &r->odometer, w->x.var[out][h]);
    /* Places are counted along the reduced indices in the order of the variables. */
    int vars[LX_MAX_VARS], count = op_index_sum_order(&w->x, vars);
    for (int i = 0; !l->arith->picks && i < count; i++) odometer_add(l->rows, &l->summed, vars[i]);
    for (int v = 0; l->arith->picks && v < w->x.var_count; v++)
        if (op_index_reduced(&w->x, v)) odometer_add(l->rows, &l->summed, v);
    do
        c->strip->wide[r->first + r->odometer.offset[0]] =
            work_folds(w) ? wide_leaves_folded(l) : wide_leaves_element(l, here);
    while (odometer_next(&r->odometer));
}

/* Windows of ops that do not compute in fp32: each element of the output by itself, in fp64 or whole numbers.
 * Places of taps are computed when needed; taps outside are left out. */

struct wide_slide {
    struct rows *rows;
    const struct number_type *type; /* of the result */
    struct odometer summed;
    /* Per window: index in the odometer of output variables, and of summed ones; -1: it has one value. */
    int out_at[LX_MAX_RANK], tap_at[LX_MAX_RANK];
};

/* Sets the offset of this term in the input; false: a window is outside. */
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

void leaf_wide_windows(struct chunk *c)
{
    OWNED struct wide_slide *s = mem_zeroed(1, sizeof *s);
    OWNED struct rows *r = s->rows = rows_make(c);
    const struct op_index *x = &c->w->x;
    int out = c->w->out;
    s->type = op_number_type(c->w->m->graph, c->w->op, out);
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
        odometer_add(r, &s->summed, vars[k]);
    }
    do {
        const struct wide_fold *fold = c->w->wide->fold;
        wide_number total = fold->neutral;
        int64_t slid;
        do
            if (slid_offset(s, &slid)) {
                const int64_t *kept = r->odometer.offset, *summed = s->summed.offset;
                wide_number x_term = c->wide[0][kept[1] + summed[1] + slid];
                if (c->w->class == CLASS_CONTRACTION)
                    x_term = c->w->wide->element(x_term, c->wide[1][kept[2] + summed[2]], 0, s->type);
                total = fold->join(total, x_term, 0, s->type);
            }
        while (odometer_next(&s->summed));
        c->strip->wide[r->first + r->odometer.offset[0]] = total;
    } while (odometer_next(&r->odometer));
}
