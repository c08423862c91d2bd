/* Windows on a core: convolutions and pools, tap by tap, along rows of the output.
 *
 * The place of a tap of an output index in the input is looked up in tables, one per window of the chunk:
 * width x taps numbers, -1 for places outside. The innermost variable of the output is a row; if it slides
 * itself, the row is as long as the tap stays inside. Terms outside are never touched, so that padding costs
 * nothing and a maximum does not see it. */
#include "device/execute/execute.h"

enum { TO, X, W, ARRAYS };

/* An odometer over some variables. */
struct walk {
    int count;
    int var[LX_MAX_VARS];
    int64_t at[LX_MAX_VARS];
};

struct slide {
    struct chunk *c;
    const struct op_index *x;
    struct dense_strides stride[ARRAYS];
    int inner; /* variable of the rows; -1: rows of one */
    const struct lx_window *inner_window;
    struct walk kept, taps, rest;
    int64_t *table[LX_MAX_RANK]; /* per window */
    float *to;
};

static int64_t window_leaf_width(const struct slide *s, int v)
{
    return s->c->slice.to[v] - s->c->slice.from[v];
}

void narrow_windows(const struct op_index *x, struct slice *s)
{
    for (int i = 0; i < x->window_count; i++) {
        const struct lx_window *w = &x->windows[i];
        int64_t low = w->stride * s->from[(int)w->out], high = w->stride * (s->to[(int)w->out] - 1);
        int64_t reach = w->dilation * (w->size - 1), size = x->extent[(int)w->in];
        low = (low + min_i64(reach, 0) - w->pad) / w->hole;
        high = (high + max_i64(reach, 0) - w->pad) / w->hole;
        s->from[(int)w->in] = max_i64(0, min_i64(low, size - 1));
        s->to[(int)w->in] = max_i64(s->from[(int)w->in], min_i64(high, size - 1)) + 1;
    }
}

static void slide_begin(struct slide *s, struct chunk *c)
{
    int64_t size[LX_MAX_VARS];
    *s = (struct slide){.c = c, .x = &c->w->x, .to = c->strip->out};
    const struct op_index *x = s->x;
    int out = x->output, vars[LX_MAX_VARS], count = op_index_sum_order(x, vars);
    s->inner = x->rank[out] > 0 ? x->var[out][x->rank[out] - 1] : -1;
    for (int i = x->window_count - 1; i >= 0; i--)
        if (x->windows[i].out == s->inner) s->inner_window = &x->windows[i];
    for (int d = 0; d < x->rank[out] - 1; d++) s->kept.var[s->kept.count++] = x->var[out][d];
    for (int i = 0; i < count; i++) {
        bool tap = false;
        for (int k = 0; k < x->window_count; k++) tap |= x->windows[k].tap == vars[i];
        if (tap)
            s->taps.var[s->taps.count++] = vars[i];
        else if (!op_index_follows(x, vars[i]))
            s->rest.var[s->rest.count++] = vars[i];
    }
    for (int v = 0; v < s->x->var_count; v++) size[v] = window_leaf_width(s, v);
    dense_part(&c->strip->layout, size, &s->stride[TO]);
    for (int i = 0; i < c->w->op->input_count; i++) dense_part(&c->layout[i], size, &s->stride[X + i]);
    for (int v = 0; v < s->x->var_count; v++)
        s->to += (c->slice.from[v] - c->strip->slice.from[v]) * s->stride[TO].element[v];
    for (int i = 0; i < x->window_count; i++) {
        const struct lx_window *w = &x->windows[i];
        int64_t outs = window_leaf_width(s, w->out), taps = window_leaf_width(s, w->tap);
        int64_t *at = s->table[i] = mem_alloc((size_t)max_i64(outs * taps, 1) * sizeof *at);
        for (int64_t k = 0; k < taps; k++)
            for (int64_t p = 0; p < outs; p++) {
                int64_t n = lx_window_at(w, c->slice.from[(int)w->out] + p, c->slice.from[(int)w->tap] + k);
                bool inside = n >= 0 && n < x->extent[(int)w->in];
                at[k * outs + p] = inside ? n - c->slice.from[(int)w->in] : -1;
            }
    }
}

static bool window_leaf_walk_next(const struct slide *s, struct walk *w)
{
    for (int k = w->count - 1; k >= 0; k--) {
        if (++w->at[k] < window_leaf_width(s, w->var[k])) return true;
        w->at[k] = 0;
    }
    return false;
}

static int64_t window_leaf_offset_of(const struct slide *s, const struct walk *w, int array)
{
    int64_t offset = 0;
    for (int k = 0; k < w->count; k++) offset += w->at[k] * s->stride[array].element[w->var[k]];
    return offset;
}

static int64_t at_variable(const struct walk *w, int v)
{
    for (int k = 0; k < w->count; k++)
        if (w->var[k] == v) return w->at[k];
    return 0;
}

/* The elements of a row that one tap reads: [from, to), and the offset of the first. */
struct row {
    int64_t from, to, x; /* x: offset in the input from slid variables */
    int64_t step;        /* in the input, per element of the row */
    const int64_t *places;
};

static struct row row_of_tap(const struct slide *s)
{
    struct row r = {.to = s->inner >= 0 ? window_leaf_width(s, s->inner) : 1};
    if (s->inner >= 0) r.step = s->stride[X].element[s->inner];
    for (int i = 0; i < s->x->window_count; i++) {
        const struct lx_window *w = &s->x->windows[i];
        const int64_t *places = s->table[i] + at_variable(&s->taps, w->tap) * window_leaf_width(s, w->out);
        if (w == s->inner_window) {
            r.places = places;
            r.step = s->stride[X].element[(int)w->in];
            continue;
        }
        int64_t place = places[at_variable(&s->kept, w->out)];
        if (place < 0) return (struct row){0};
        r.x += place * s->stride[X].element[(int)w->in];
    }
    return r;
}

/* The next stretch of a row whose places in the input are equally far apart; false: none is left. */
static bool next_stretch(const struct row *r, int64_t *from, int64_t *to, int64_t *step)
{
    while (r->places && *from < r->to && r->places[*from] < 0) ++*from;
    if (*from >= r->to) return false;
    *to = r->places ? *from + 1 : r->to;
    *step = r->places && *to < r->to && r->places[*to] >= 0 ? r->places[*to] - r->places[*from] : 1;
    while (r->places && *to < r->to && r->places[*to] >= 0 && r->places[*to] - r->places[*to - 1] == *step)
        ++*to;
    return true;
}

/* The next term besides the taps, which only moves in the inputs. */
static bool window_leaf_next_term(struct slide *s, int64_t *x, int64_t *w)
{
    struct walk *t = &s->rest;
    for (int k = t->count - 1; k >= 0; k--) {
        int v = t->var[k];
        bool on = ++t->at[k] < window_leaf_width(s, v);
        int64_t by = on ? 1 : 1 - window_leaf_width(s, v);
        *x += by * s->stride[X].element[v];
        *w += by * s->stride[W].element[v];
        if (on) return true;
        t->at[k] = 0;
    }
    return false;
}

typedef void stretch_function(const struct slide *s, float *to, const float *x, int64_t step, int64_t count,
                              int64_t w_offset, int64_t first);

static void window_leaf_slide_all(struct slide *s, stretch_function *each)
{
    do do {
            struct row r = row_of_tap(s);
            for (int64_t from = r.from, to = 0, step = 1; next_stretch(&r, &from, &to, &step); from = to) {
                /* All terms besides the taps, along one stretch. */
                int64_t place = r.places ? r.places[from] * r.step : from * r.step;
                int64_t x = r.x + place + window_leaf_offset_of(s, &s->kept, X), w = 0;
                float *at = s->to + window_leaf_offset_of(s, &s->kept, TO);
                if (s->inner >= 0) at += from * s->stride[TO].element[s->inner];
                if (s->c->w->op->input_count > 1)
                    w = window_leaf_offset_of(s, &s->kept, W) + window_leaf_offset_of(s, &s->taps, W);
                do each(s, at, s->c->operand[0] + x, step * r.step, to - from, w, from);
                while (window_leaf_next_term(s, &x, &w));
            }
        } while (window_leaf_walk_next(s, &s->taps));
    while (window_leaf_walk_next(s, &s->kept));
    for (int i = 0; i < s->x->window_count; i++) mem_free(s->table[i]);
}

static void window_leaf_add_products(const struct slide *s, float *to, const float *x, int64_t step,
                                     int64_t count, int64_t w_offset, int64_t first)
{
    int64_t w_step = s->inner >= 0 ? s->stride[W].element[s->inner] : 0;
    int64_t to_step = s->inner >= 0 ? s->stride[TO].element[s->inner] : 1;
    const float *w = s->c->operand[1] + w_offset + first * w_step;
    if (to_step == 1 && step == 1 && w_step == 0)
        for (int64_t i = 0; i < count; i++) to[i] += x[i] * w[0];
    else if (to_step == 1 && step == 0 && w_step == 1)
        for (int64_t i = 0; i < count; i++) to[i] += x[0] * w[i];
    else if (to_step == 1 && step == 1 && w_step == 1)
        for (int64_t i = 0; i < count; i++) to[i] += x[i] * w[i];
    else
        for (int64_t i = 0; i < count; i++) to[i * to_step] += x[i * step] * w[i * w_step];
}

static void window_leaf_fold_terms(const struct slide *s, float *to, const float *x, int64_t step,
                                   int64_t count, int64_t w_offset, int64_t first)
{
    int64_t to_step = s->inner >= 0 ? s->stride[TO].element[s->inner] : 1;
    const struct reduction *sum = s->c->w->arith->sum;
    (void)w_offset, (void)first;
    if (to_step == 1 && step == 1)
        sum->join(to, x, count);
    else
        for (int64_t i = 0; i < count; i++) sum->join(to + i * to_step, x + i * step, 1);
}

void leaf_window_products(struct chunk *c)
{
    struct slide s;
    slide_begin(&s, c);
    window_leaf_slide_all(&s, window_leaf_add_products);
}

void leaf_window_fold(struct chunk *c)
{
    struct slide s;
    slide_begin(&s, c);
    int64_t row = s.inner >= 0 ? window_leaf_width(&s, s.inner) : 1;
    int64_t step = s.inner >= 0 ? s.stride[TO].element[s.inner] : 1;
    do {
        float *to = s.to + window_leaf_offset_of(&s, &s.kept, TO);
        for (int64_t i = 0; i < row; i++) to[i * step] = c->w->arith->sum->neutral;
    } while (window_leaf_walk_next(&s, &s.kept));
    window_leaf_slide_all(&s, window_leaf_fold_terms);
}

void divide_window_means(const struct op_work *w, const struct strip_work *s)
{
    const struct op_index *x = &w->x;
    int out = w->out;
    int64_t all = w->terms, index[LX_MAX_RANK] = {0};
    for (int i = 0; i < x->window_count; i++) all /= x->windows[i].size;
    for (int64_t k = 0; k < s->layout.floats; k++) {
        int64_t n = all;
        for (int i = 0; i < x->window_count; i++) {
            /* Taps of the output index that lie inside, or all taps. */
            const struct lx_window *t = &x->windows[i];
            int v = t->out, d = op_index_dim(x, out, v);
            int64_t inside = 0;
            for (int64_t tap = 0; tap < t->size; tap++) {
                int64_t at = lx_window_at(t, s->slice.from[v] + (d >= 0 ? index[d] : 0), tap);
                inside += t->count_all || (at >= 0 && at < x->extent[(int)t->in]);
            }
            n *= inside;
        }
        if (w->wide)
            s->wide[k] = n > 0 ? (wide_number)((double)s->wide[k] * (1 / (double)n)) : 0;
        else
            s->out[k] = n > 0 ? s->out[k] * (1 / (float)n) : 0;
        for (int d = x->rank[out] - 1; d >= 0; d--) {
            int v = x->var[out][d];
            if (++index[d] < s->slice.to[v] - s->slice.from[v]) break;
            index[d] = 0;
        }
    }
}
