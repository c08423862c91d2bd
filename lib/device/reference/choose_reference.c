/* What ops that choose by indices mean, on whole tensors: element by element where something is taken out,
 * update by update where something is put in. */
#include "device/reference/evaluate.h"
#include "base/memory.h"
#include "graph/choice.h"

#include <math.h>
#include <stdlib.h>

struct choosing {
    const struct evaluation *e;
    struct lx_choice c;
    int64_t step[LX_MAX_OPERANDS][LX_MAX_VARS]; /* per operand and variable, in elements */
    int64_t at[LX_MAX_VARS];                    /* of each variable */
    int walk[LX_MAX_VARS], walk_count;          /* variables that are gone through, outermost first */
    wide_number *value;                         /* of the output */
    double *size;                               /* of all terms of an element */
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

/* Sets the chosen variables from the indices; false: it is nowhere. */
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

/* Whole numbers wrap around at the width of their type. */
static wide_number choose_reference_whole_of(const struct choosing *k, uint64_t n)
{
    return number_wrapped(&number_types[k->e->g->tensors[k->e->op->output].dtype], (whole_number)n);
}

static void choose_reference_combine(struct choosing *k, int64_t to, wide_number term)
{
    const struct lx_op_params *p = k->e->op->params;
    wide_number now = k->value[to];
    double y = (double)now, x = (double)term;
    bool whole = k->e->numbers == NUMBERS_INTEGER;
    uint64_t a = whole ? (uint64_t)number_whole(now) : 0, b = whole ? (uint64_t)number_whole(term) : 0;
    switch (p ? p->combine : LX_COMBINE_REPLACE) {
    case LX_COMBINE_ADD:
        k->value[to] = whole ? choose_reference_whole_of(k, a + b) : (wide_number)(y + x);
        k->size[to] += fabs(x);
        return;
    case LX_COMBINE_MUL:
        k->value[to] = whole ? choose_reference_whole_of(k, a * b) : (wide_number)(y * x);
        k->size[to] = fabs(y * x);
        return;
    case LX_COMBINE_MIN:
        k->value[to] = isnan(y) || now < term ? now : term;
        return;
    case LX_COMBINE_MAX:
        k->value[to] = isnan(y) || now > term ? now : term;
        return;
    case LX_COMBINE_REPLACE:
    case LX_COMBINE_COUNT:
        k->value[to] = term;
        k->size[to] = fabs(x);
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

static bool choose_reference_rounds(const struct evaluation *e)
{
    const struct lx_op_params *p = e->op->params;
    enum lx_combine c = p ? p->combine : LX_COMBINE_REPLACE;
    return e->bounded && e->numbers != NUMBERS_INTEGER && e->op->kind->id == LX_KIND_SCATTER &&
           (c == LX_COMBINE_ADD || c == LX_COMBINE_MUL);
}

static void choose_reference_hand_over(const struct choosing *k)
{
    const struct evaluation *e = k->e;
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
                                   .exact = choose_reference_rounds(e) ? NULL : k->value + i,
                                   .slack = choose_reference_rounds(e) ? slack : NULL,
                                   .peak = choose_reference_rounds(e) ? k->size + i : NULL});
    }
}

void evaluate_choice(struct evaluation *e)
{
    struct choosing *k = mem_zeroed(1, sizeof *k);
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
    choose_reference_hand_over(k);
    mem_free(k->value);
    mem_free(k->size);
    mem_free(k);
}
