/* The meaning of ops that choose by indices, on whole tensors: element by element for ops that take out,
 * update by update for ops that put in. */
#include "device/reference/evaluate.h"
#include "graph/choice.h"

struct choosing {
    const struct evaluation *e;
    struct lx_choice c;
    int64_t step[LX_MAX_OPERANDS][LX_MAX_VARS]; /* per operand and variable, in elements */
    int64_t at[LX_MAX_VARS];                    /* index of each variable */
    int walk[LX_MAX_VARS], walk_count;          /* variables of the walk, outermost first */
    wide_number *value;                         /* of the output */
    double *size;                               /* of all terms of an element, in absolute values */
};

static int64_t choose_reference_place_in(const struct choosing *k, int operand)
{
    int64_t n = 0;
    for (int v = 0; v < k->e->op->map->var_count; v++) n += k->at[v] * k->step[operand][v];
    return n;
}

static wide_number choose_reference_element(const struct operand *o, int64_t at)
{
    wide_number x;
    operand_wide_row(o, at, 1, 1, &x);
    return x;
}

/* Sets the chosen variables from the indices; false: an index is out of range. */
static bool choose_reference_choose(struct choosing *k)
{
    const struct lx_choice *c = &k->c;
    const struct lx_einsum *map = k->e->op->map;
    for (int a = 0; a < c->axis_count; a++) {
        int operand = c->index + (c->index_count > 1 ? a : 0);
        int64_t moved = c->window[a] < 0 ? 1 : map->extent[c->window[a]];
        if (c->vector >= 0) k->at[c->vector] = a;
        k->at[c->var[a]] = 0;
        wide_number n = c->start ? (wide_number)c->start[a]
                                 : choose_reference_element(&k->e->in[operand],
                                                            choose_reference_place_in(k, operand)),
                    last = (wide_number)map->extent[c->var[a]];
        if (k->e->op->kind->id == LX_KIND_SCATTER && (n < 0 || n >= last)) return false;
        n = fminl(fmaxl(n, 0), last - (wide_number)moved);
        k->at[c->var[a]] = (int64_t)n + (c->window[a] < 0 ? 0 : k->at[c->window[a]]);
    }
    if (c->vector >= 0) k->at[c->vector] = 0;
    return true;
}

static void choose_reference_combine(struct choosing *k, int64_t to, wide_number term)
{
    const struct lx_op_params *p = k->e->op->params;
    wide_number now = k->value[to];
    double y = (double)now, x = (double)term;
    bool whole = k->e->numbers == NUMBERS_INTEGER; /* wraps at the width of the type */
    const struct number_type *type = &number_types[k->e->g->tensors[k->e->op->output].dtype];
    uint64_t a = whole ? (uint64_t)number_whole(now) : 0, b = whole ? (uint64_t)number_whole(term) : 0;
    switch (p ? p->combine : LX_COMBINE_REPLACE) {
    case LX_COMBINE_ADD:
        k->value[to] = whole ? number_wrapped(type, (whole_number)(a + b)) : (wide_number)(y + x);
        k->size[to] += fabs(x);
        return;
    case LX_COMBINE_MUL:
        k->value[to] = whole ? number_wrapped(type, (whole_number)(a * b)) : (wide_number)(y * x);
        k->size[to] = fabs(y * x);
        return;
    case LX_COMBINE_MIN: k->value[to] = isnan(y) || now < term ? now : term; return;
    case LX_COMBINE_MAX: k->value[to] = isnan(y) || now > term ? now : term; return;
    case LX_COMBINE_REPLACE:
    case LX_COMBINE_COUNT: k->value[to] = term; k->size[to] = fabs(x);
    }
}

static void walk_along(struct choosing *k, int operand)
{
    const struct lx_einsum *map = k->e->op->map;
    for (int d = 0; d < map->rank[operand]; d++) {
        int v = map->index[operand][d];
        bool again = v == k->c.vector;
        for (int i = 0; i < k->walk_count; i++) again |= k->walk[i] == v;
        if (!again) k->walk[k->walk_count++] = v;
    }
}

static bool choose_reference_next(struct choosing *k)
{
    for (int i = k->walk_count - 1; i >= 0; i--) {
        int v = k->walk[i];
        if (++k->at[v] < k->e->op->map->extent[v]) return true;
        k->at[v] = 0;
    }
    return false;
}

void evaluate_choice(struct evaluation *e)
{
    OWNED struct choosing *k = mem_zeroed(1, sizeof *k);
    k->e = e;
    lx_choice_of(e->op, &k->c);
    const struct lx_op *op = k->e->op;
    for (int i = 0; i < op_operand_count(op); i++) {
        int64_t n = 1;
        for (int d = op->map->rank[i] - 1; d >= 0; d--) {
            k->step[i][(int)op->map->index[i][d]] = n;
            n *= op->map->extent[(int)op->map->index[i][d]];
        }
    }
    k->value = mem_alloc((size_t)(e->out_count + 1) * sizeof *k->value);
    k->size = mem_zeroed((size_t)e->out_count + 1, sizeof *k->size);
    if ((e->op->kind->traits & LX_ALTERS)) {
        /* Updates in the order of the indices. */
        int64_t n = k->e->out_count;
        for (int64_t i = 0; i < n; i += JUDGED_MOST)
            operand_wide_row(&k->e->kept, i, 1, n - i < JUDGED_MOST ? n - i : JUDGED_MOST, k->value + i);
        for (int64_t i = 0; i < n; i++) k->size[i] = fabs((double)k->value[i]);
        for (int j = 0; j < k->c.index_count; j++) walk_along(k, k->c.index + j);
        walk_along(k, k->c.other);
        do {
            for (int a = 0; a < k->c.axis_count; a++) k->at[k->c.var[a]] = 0;
            wide_number x =
                choose_reference_element(&k->e->in[k->c.other], choose_reference_place_in(k, k->c.other));
            if (choose_reference_choose(k))
                choose_reference_combine(k, choose_reference_place_in(k, k->e->op->input_count), x);
        } while (choose_reference_next(k));
    } else {
        int64_t n = 0;
        walk_along(k, k->e->op->input_count);
        do {
            for (int a = 0; a < k->c.axis_count; a++) k->at[k->c.var[a]] = 0;
            choose_reference_choose(k);
            k->value[n++] =
                choose_reference_element(&k->e->in[k->c.operand], choose_reference_place_in(k, k->c.operand));
        } while (choose_reference_next(k));
    }
    enum lx_combine combine = e->op->params ? e->op->params->combine : LX_COMBINE_REPLACE;
    bool rounds = e->bounded && e->numbers != NUMBERS_INTEGER && e->op->kind->id == LX_KIND_SCATTER &&
                  (combine == LX_COMBINE_ADD || combine == LX_COMBINE_MUL);
    double growth = expm1((double)(lx_choice_picks(e->op, &k->c) + 1) *
                          log1p(e->numbers == NUMBERS_FP64 ? 0x1p-53 : 0x1p-24));
    for (int64_t i = 0; i < e->out_count; i += JUDGED_MOST) {
        int64_t n = e->out_count - i < JUDGED_MOST ? e->out_count - i : JUDGED_MOST;
        double slack[JUDGED_MOST], value[JUDGED_MOST];
        for (int64_t j = 0; j < n; j++) {
            slack[j] = growth * k->size[i + j] + 0x1p-149;
            value[j] = (double)k->value[i + j];
        }
        e->take(e->context, 0, i,
                &(struct expected){.count = n,
                                   .value = value,
                                   .exact = rounds ? NULL : k->value + i,
                                   .slack = rounds ? slack : NULL,
                                   .peak = rounds ? k->size + i : NULL});
    }
    mem_free(k->value);
    mem_free(k->size);
}

/* The meaning of ops that order elements, row by row: each output place gets the element of that rank. */

struct ranking {
    const struct evaluation *e;
    struct lx_ranking by;
    int64_t step[2][LX_MAX_VARS];
    int64_t at[LX_MAX_VARS];
    wide_number *row, *value;
    int64_t *order;
};

/* Restores a heap with the last-ranked element on top. */
static void rank_reference_sink(const struct ranking *k, int64_t i, int64_t n)
{
    for (int64_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        int64_t *o = k->order;
        if (child + 1 < n &&
            lx_ranks_before(&k->by, k->row[o[child]], o[child], k->row[o[child + 1]], o[child + 1]))
            child++;
        if (!lx_ranks_before(&k->by, k->row[o[i]], o[i], k->row[o[child]], o[child])) return;
        int64_t other = o[i];
        o[i] = o[child];
        o[child] = other;
        i = child;
    }
}

static void rank_reference_take_row(struct ranking *k)
{
    const struct lx_einsum *map = k->e->op->map;
    int64_t n = map->extent[k->by.from], most = k->by.to >= 0 ? map->extent[k->by.to] : 1, in = 0, out = 0;
    for (int v = 0; v < map->var_count; v++) in += k->at[v] * k->step[0][v], out += k->at[v] * k->step[1][v];
    for (int64_t i = 0; i < n; i += JUDGED_MOST)
        operand_wide_row(&k->e->in[0], in + i * k->step[0][k->by.from], k->step[0][k->by.from],
                         n - i < JUDGED_MOST ? n - i : JUDGED_MOST, k->row + i);
    for (int64_t i = 0; i < n; i++) k->order[i] = i;
    for (int64_t i = n / 2; i-- > 0;) rank_reference_sink(k, i, n);
    for (int64_t end = n - 1; end > 0; end--) {
        int64_t last = k->order[0];
        k->order[0] = k->order[end];
        k->order[end] = last;
        rank_reference_sink(k, 0, end);
    }
    for (int64_t i = 0; i < most; i++)
        k->value[out + (k->by.to >= 0 ? i * k->step[1][k->by.to] : 0)] =
            k->by.places ? (wide_number)k->order[i] : k->row[k->order[i]];
}

void evaluate_ranking(struct evaluation *e)
{
    struct ranking k = {.e = e};
    lx_ranking_of(e->op, &k.by);
    const struct lx_einsum *map = k.e->op->map;
    for (int i = 0; i < 2; i++) {
        int64_t n = 1;
        for (int d = map->rank[i] - 1; d >= 0; d--) {
            k.step[i][(int)map->index[i][d]] = n;
            n *= map->extent[(int)map->index[i][d]];
        }
    }
    size_t n = (size_t)e->op->map->extent[k.by.from];
    k.row = mem_alloc(n * sizeof *k.row);
    k.order = mem_alloc(n * sizeof *k.order);
    k.value = mem_alloc((size_t)(e->out_count + 1) * sizeof *k.value);
    for (int v = 0; v >= 0;) {
        rank_reference_take_row(&k);
        for (v = map->var_count - 1; v >= 0; v--) {
            if (v == k.by.from || v == k.by.to) continue;
            if (++k.at[v] < map->extent[v]) break;
            k.at[v] = 0;
        }
    }
    for (int64_t i = 0; i < e->out_count; i += JUDGED_MOST)
        e->take(e->context, 0, i,
                &(struct expected){.count = e->out_count - i < JUDGED_MOST ? e->out_count - i : JUDGED_MOST,
                                   .exact = k.value + i});
    mem_free(k.row);
    mem_free(k.order);
    mem_free(k.value);
}
