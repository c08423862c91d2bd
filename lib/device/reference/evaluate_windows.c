/* Windows in fp64: the terms of a row of the output, tap by tap, each with the sum of its absolute terms.
 *
 * Written apart from the device's: the elements of a row that a tap has are not looked up but computed.
 * Elements with (stride i + c) divisible by the hole follow each other at equal distances, and so do their
 * places in the input. Both operands are decoded once; the second operand of a product is laid out with its
 * output variables innermost. */
#include "device/reference/evaluate.h"

enum { BLOCK = JUDGED_MOST, TASKS = 64 };

struct windowed {
    struct evaluation *e;
    const struct lx_einsum *map;
    double *in[2];
    int64_t step[2][LX_MAX_VARS];                                    /* in the arrays above */
    int taps[LX_MAX_VARS], tap_count, rest[LX_MAX_VARS], rest_count; /* summed variables */
    int64_t per_task;
};

static const struct lx_window *window_with(const struct lx_op *op, int v)
{
    for (int i = 0; i < op->window_count; i++)
        if (op->windows[i].in == v || op->windows[i].out == v || op->windows[i].tap == v)
            return &op->windows[i];
    return NULL;
}

static bool evaluate_windows_follows(const struct lx_op *op, int v)
{
    const struct lx_window *w = window_with(op, v);
    return w && w->in == v;
}

static bool in_output(const struct lx_op *op, int v)
{
    for (int d = 0; d < op->map->rank[op->input_count]; d++)
        if (op->map->index[op->input_count][d] == v) return true;
    return false;
}

/* In the operand's own order. */
static void evaluate_windows_decode(struct windowed *x, int i)
{
    int64_t n = 1;
    for (int d = x->map->rank[i] - 1; d >= 0; d--) {
        x->step[i][(int)x->map->index[i][d]] = n;
        n *= x->map->extent[(int)x->map->index[i][d]];
    }
    x->in[i] = mem_alloc((size_t)max_i64(n, 1) * sizeof(double));
    operand_row(&x->e->in[i], 0, 1, n, x->in[i]);
}

/* Transposes the second operand: its output variables become innermost. */
static void turn(struct windowed *x)
{
    const struct lx_einsum *m = x->map;
    int64_t to[LX_MAX_VARS] = {0}, n = 1, at[LX_MAX_RANK] = {0};
    int rank = m->rank[1];
    for (int kept = 1; kept >= 0; kept--)
        for (int d = rank - 1; d >= 0; d--) {
            int v = m->index[1][d];
            if (in_output(x->e->op, v) != (kept == 1)) continue;
            to[v] = n;
            n *= m->extent[v];
        }
    double *turned = mem_alloc((size_t)max_i64(n, 1) * sizeof *turned);
    for (int64_t i = 0; i < n; i++) {
        int64_t place = 0;
        for (int d = 0; d < rank; d++) place += at[d] * to[(int)m->index[1][d]];
        turned[place] = x->in[1][i];
        for (int d = rank - 1; d >= 0 && ++at[d] == m->extent[(int)m->index[1][d]]; d--) at[d] = 0;
    }
    mem_free(x->in[1]);
    x->in[1] = turned;
    for (int d = 0; d < rank; d++) x->step[1][(int)m->index[1][d]] = to[(int)m->index[1][d]];
}

/* ---- one row ---- */

struct row {
    int64_t index[LX_MAX_VARS]; /* of all variables; of the row's, its first index */
    int last;                   /* variable of the row; -1: rows of one */
    int64_t count;
    double *value, *absolute;
};

/* Elements first, first + period, ... below end of the row, whose places in the input are `apart` elements
 * apart. */
struct reach {
    int64_t first, end, period, at[2], apart[2];
};

/* Restricts the reach to one window along the row; false: nothing is left. */
static bool reach_along(const struct windowed *x, const struct row *r, const struct lx_window *w,
                        struct reach *to)
{
    int64_t c = w->stride * r->index[(int)w->out] + w->dilation * r->index[(int)w->tap] - w->pad;
    int64_t last = (x->map->extent[(int)w->in] - 1) * w->hole, shared = gcd_i64(w->stride, w->hole);
    to->period = w->hole / shared;
    to->first = c >= 0 ? 0 : -floor_div_i64(c, w->stride);
    to->end = floor_div_i64(last - c, w->stride) + 1;
    if (to->end > r->count) to->end = r->count;
    int64_t tried = 0;
    while (tried < to->period && (w->stride * to->first + c) % w->hole != 0) to->first++, tried++;
    if (tried == to->period || to->first >= to->end) return false;
    to->at[0] += (w->stride * to->first + c) / w->hole * x->step[0][(int)w->in];
    to->apart[0] = w->stride / shared * x->step[0][(int)w->in];
    return true;
}

/* The two cases with rows side by side, for the compiler to see. */
static void add_side_by_side(const struct row *r, const struct reach *t, const double *a, const double *b,
                             const double *one)
{
    double *value = r->value + t->first, *absolute = r->absolute + t->first;
    for (int64_t i = 0; b && i < t->end - t->first; i++) {
        double term = a[i] * b[i];
        value[i] += term;
        absolute[i] += fabs(term);
    }
    for (int64_t i = 0; one && i < t->end - t->first; i++) {
        double term = a[i] * *one;
        value[i] += term;
        absolute[i] += fabs(term);
    }
}

static void evaluate_windows_add_products(const struct windowed *x, const struct row *r,
                                          const struct reach *t)
{
    const double *a = x->in[0] + t->at[0], *b = x->in[1] + t->at[1];
    if (t->period == 1 && t->apart[0] == 1 && t->apart[1] == 1) {
        add_side_by_side(r, t, a, b, NULL);
        return;
    }
    if (t->period == 1 && (t->apart[0] ? t->apart[0] == 1 && t->apart[1] == 0 : t->apart[1] == 1)) {
        add_side_by_side(r, t, t->apart[0] ? a : b, NULL, t->apart[0] ? b : a);
        return;
    }
    for (int64_t i = t->first; i < t->end; i += t->period, a += t->apart[0], b += t->apart[1]) {
        double term = *a * *b;
        r->value[i] += term;
        r->absolute[i] += fabs(term);
    }
}

/* The next term besides the taps, which only moves in the operands. */
static bool evaluate_windows_next_term(const struct windowed *x, int64_t *index, struct reach *t)
{
    for (int k = x->rest_count - 1; k >= 0; k--) {
        int v = x->rest[k];
        int64_t by = ++index[k] < x->map->extent[v] ? 1 : 1 - x->map->extent[v];
        for (int i = 0; i < x->e->op->input_count; i++) t->at[i] += by * x->step[i][v];
        if (by == 1) return true;
        index[k] = 0;
    }
    return false;
}

static void add_tap(const struct windowed *x, const struct row *r)
{
    struct reach t;
    int64_t index[LX_MAX_VARS] = {0};
    bool product = x->e->op->input_count == 2;
    struct reach *to = &t;
    const struct lx_op *op = x->e->op;
    *to = (struct reach){.end = r->count, .period = 1};
    for (int i = 0; i < op->window_count; i++) {
        const struct lx_window *w = &op->windows[i];
        if (w->out == r->last) {
            if (!reach_along(x, r, w, to)) return;
            continue;
        }
        int64_t c = w->stride * r->index[(int)w->out] + w->dilation * r->index[(int)w->tap] - w->pad;
        if (c < 0 || c % w->hole || c / w->hole >= x->map->extent[(int)w->in]) return;
        to->at[0] += c / w->hole * x->step[0][(int)w->in];
    }
    for (int v = 0; v < x->map->var_count; v++)
        for (int i = 0; i < op->input_count; i++)
            if (v != r->last && !evaluate_windows_follows(op, v)) to->at[i] += r->index[v] * x->step[i][v];
    for (int i = 0; r->last >= 0 && i < op->input_count; i++) {
        to->at[i] += (r->index[r->last] + to->first) * x->step[i][r->last];
        to->apart[i] += to->period * x->step[i][r->last];
    }
    do
        if (product)
            evaluate_windows_add_products(x, r, &t);
        else {
            const struct meaning_fold *fold = x->e->meaning->fold;
            const double *a = x->in[0] + t.at[0];
            for (int64_t i = t.first; i < t.end; i += t.period, a += t.apart[0]) {
                r->value[i] = fold->adds ? r->value[i] + *a : fold->in_double((double[]){r->value[i], *a});
                r->absolute[i] = fold->adds ? r->absolute[i] + fabs(*a) : fmax(r->absolute[i], fabs(*a));
            }
        }
    while (evaluate_windows_next_term(x, index, &t));
}

static void evaluate_windows_finish(const struct windowed *x, int worker, int64_t at, const struct row *r)
{
    struct evaluation own = *x->e;
    double slack[BLOCK];
    bool divides = own.meaning->fold && own.meaning->fold->divides;
    bool rounds = own.bounded && own.op->kind->error != LX_ERROR_NONE;
    for (int64_t i = 0; i < r->count; i++) {
        if (divides) {
            /* Terms of a mean: for each window the taps inside, or all. */
            const struct lx_op *op = x->e->op;
            int64_t n = x->e->terms;
            for (int k = 0; k < op->window_count; k++) {
                const struct lx_window *w = &op->windows[k];
                int64_t out = r->index[(int)w->out] + (w->out == r->last ? i : 0), inside = 0;
                for (int64_t tap = 0; tap < w->size; tap++) {
                    int64_t c = w->stride * out + w->dilation * tap - w->pad;
                    inside += w->count_all ||
                              (c >= 0 && c % w->hole == 0 && c / w->hole < x->map->extent[(int)w->in]);
                }
                n = n / w->size * inside;
            }
            own.divisor = n;
        }
        if (divides) r->value[i] = own.divisor > 0 ? r->value[i] * one_part_of(&own) : 0;
        own.divisor = max_i64(own.divisor, 1);
        if (rounds) slack[i] = slack_of_sum(&own, r->absolute[i], r->value[i]);
    }
    own.take(own.context, worker, at,
             &(struct expected){.count = r->count,
                                .value = r->value,
                                .slack = rounds ? slack : NULL,
                                .peak = rounds ? r->absolute : NULL,
                                .signless = true});
}

static void evaluate_windows_task(void *context, int64_t number, int worker)
{
    const struct windowed *x = context;
    double value[BLOCK], absolute[BLOCK];
    struct row r = {.value = value, .absolute = absolute};
    int64_t from = number * x->per_task, to = min_i64(from + x->per_task, x->e->out_count);
    for (int64_t n = from; n < to && !cancel_requested(); n += r.count) {
        /* Output element `n`: its indices, and the number of elements of its row that follow at most. */
        int out = x->e->op->input_count, rank = x->map->rank[out];
        int64_t rest = n;
        for (int v = 0; v < x->map->var_count; v++) r.index[v] = 0;
        for (int d = rank - 1; d >= 0; d--) {
            int v = x->map->index[out][d];
            r.index[v] = rest % x->map->extent[v];
            rest /= x->map->extent[v];
        }
        r.last = rank > 0 ? x->map->index[out][rank - 1] : -1;
        r.count = r.last >= 0 ? x->map->extent[r.last] - r.index[r.last] : 1;
        r.count = min_i64(min_i64(r.count, to - n), BLOCK);
        const struct evaluation *e = x->e;
        const struct meaning_fold *fold = e->op->input_count == 1 ? e->meaning->fold : NULL;
        for (int64_t i = 0; i < r.count; i++) {
            r.value[i] = fold ? fold->start : 0;
            r.absolute[i] = 0;
        }
        if (e->before.items) operand_row(&e->before, n, 1, r.count, r.value);
        for (int64_t i = 0; e->before.items && i < r.count; i++) r.absolute[i] = fabs(r.value[i]);
        for (int k = 0; k >= 0;) {
            add_tap(x, &r);
            for (k = x->tap_count - 1; k >= 0; k--) {
                if (++r.index[x->taps[k]] < x->map->extent[x->taps[k]]) break;
                r.index[x->taps[k]] = 0;
            }
        }
        evaluate_windows_finish(x, worker, n, &r);
    }
}

void evaluate_windows(struct evaluation *e, struct pool *pool)
{
    struct windowed x = {.e = e, .map = e->op->map, .per_task = e->out_count / TASKS + 1};
    x.e->terms = 1;
    for (int v = 0; v < x.map->var_count; v++) {
        if (in_output(x.e->op, v) || evaluate_windows_follows(x.e->op, v)) continue;
        x.e->terms *= x.map->extent[v];
        if (window_with(x.e->op, v))
            x.taps[x.tap_count++] = v;
        else
            x.rest[x.rest_count++] = v;
    }
    evaluate_growth(e);
    evaluate_windows_decode(&x, 0);
    if (e->op->input_count > 1) {
        evaluate_windows_decode(&x, 1);
        turn(&x);
    }
    pool_run(pool, ceil_div_i64(e->out_count, x.per_task), evaluate_windows_task, &x);
    mem_free(x.in[0]);
    mem_free(x.in[1]);
}

/* Windows of whole numbers: each element of the output by itself, its terms one after the other; exact. The
 * operands are decoded once. */

enum { WHOLE_BLOCK = 256 };

struct slid {
    const struct evaluation *e;
    const struct whole_meaning *m;
    whole_number *in[2];
    int64_t step[2][LX_MAX_VARS];
    int summed[LX_MAX_VARS], summed_count; /* variables that the output lacks, except inputs of windows */
    int64_t per_task;
};

static void decode_whole(struct slid *s, int operand)
{
    const struct lx_einsum *map = s->e->op->map;
    int64_t n = 1;
    for (int d = map->rank[operand] - 1; d >= 0; d--) {
        s->step[operand][(int)map->index[operand][d]] = n;
        n *= map->extent[(int)map->index[operand][d]];
    }
    s->in[operand] = mem_alloc((size_t)n * sizeof *s->in[operand]);
    for (int64_t at = 0, count; at < n; at += count) {
        wide_number row[WHOLE_BLOCK];
        count = min_i64(n - at, WHOLE_BLOCK);
        operand_wide_row(&s->e->in[operand], at, 1, count, row);
        for (int64_t i = 0; i < count; i++) s->in[operand][at + i] = number_whole(row[i]);
    }
}

/* Sets the input indices of windows from the other indices; false: an index is outside. */
static bool slide(const struct lx_op *op, int64_t *index)
{
    for (int i = 0; i < op->window_count; i++) {
        const struct lx_window *w = &op->windows[i];
        int64_t at = w->stride * index[(int)w->out] + w->dilation * index[(int)w->tap] - w->pad;
        if (at < 0 || at % w->hole != 0 || at / w->hole >= op->map->extent[(int)w->in]) return false;
        index[(int)w->in] = at / w->hole;
    }
    return true;
}

/* A maximum of no terms is infinite: stored as an end of its type. */
static wide_number evaluate_whole_windows_element_at(const struct slid *s, int64_t n)
{
    const struct evaluation *e = s->e;
    const struct lx_tensor *out = &e->g->tensors[e->op->output];
    int64_t index[LX_MAX_VARS] = {0}, rest = n;
    whole_number total = s->m->start;
    bool none = s->m->from_first;
    for (int d = out->rank - 1; d >= 0; d--) {
        index[(int)e->op->map->index[e->op->input_count][d]] = rest % out->shape[d];
        rest /= out->shape[d];
    }
    if (e->before.items) {
        wide_number before;
        operand_wide_row(&e->before, n, 1, 1, &before);
        total = number_whole(before);
        none = false;
    }
    for (int k = 0; k >= 0;) {
        if (slide(e->op, index)) {
            int64_t at[2] = {0, 0};
            for (int v = 0; v < e->op->map->var_count; v++)
                for (int i = 0; i < e->op->input_count; i++) at[i] += index[v] * s->step[i][v];
            whole_number a = s->in[0][at[0]];
            whole_number term = s->in[1] ? s->m->element(a, s->in[1][at[1]], 0, 64) : a;
            total = none ? term : s->m->fold(total, term, 0, 64);
            none = false;
        }
        for (k = s->summed_count - 1; k >= 0; k--) {
            if (++index[s->summed[k]] < e->op->map->extent[s->summed[k]]) break;
            index[s->summed[k]] = 0;
        }
    }
    return none ? (wide_number)e->meaning->fold->start : number_wrapped(&number_types[out->dtype], total);
}

static void slide_task(void *context, int64_t number, int worker)
{
    const struct slid *s = context;
    int64_t from = number * s->per_task, to = min_i64(from + s->per_task, s->e->out_count);
    for (int64_t n = from, count; n < to && !cancel_requested(); n += count) {
        wide_number exact[WHOLE_BLOCK];
        count = min_i64(to - n, WHOLE_BLOCK);
        for (int64_t i = 0; i < count; i++) exact[i] = evaluate_whole_windows_element_at(s, n + i);
        s->e->take(s->e->context, worker, n, &(struct expected){.count = count, .exact = exact});
    }
}

void evaluate_whole_windows(struct evaluation *e, struct pool *pool)
{
    struct slid s = {.e = e, .m = whole_meaning_of(e->op->kind), .per_task = e->out_count / TASKS + 1};
    for (int v = 0; v < e->op->map->var_count; v++)
        if (!in_output(e->op, v) && !evaluate_windows_follows(e->op, v)) s.summed[s.summed_count++] = v;
    decode_whole(&s, 0);
    if (e->op->input_count > 1) decode_whole(&s, 1);
    pool_run(pool, ceil_div_i64(e->out_count, s.per_task), slide_task, &s);
    mem_free(s.in[0]);
    mem_free(s.in[1]);
}
