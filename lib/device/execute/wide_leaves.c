/* The innermost work of ops that do not compute in fp32: element by element, with the strides that each
 * operand has. Sums run in the order of their letters. */
#include "device/execute/execute.h"
#include "base/memory.h"

#include <math.h>

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

/* The element at the odometer, and `further` in each array. */
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
        /* Where the best is: the first of equal ones, and the first that is no number before all. */
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
    struct wide_leaf *l = mem_zeroed(1, sizeof *l);
    struct rows *r = rows_make(c);
    int out = w->out;
    l->rows = r;
    l->arith = w->wide;
    l->type = op_number_type(w->m->graph, w->op, out);
    for (int h = 0; h < w->x.rank[out]; h++) odometer_add(r, &r->odometer, w->x.var[out][h]);
    /* A place along the indices that go is counted as the input has them. */
    int vars[LX_MAX_VARS], count = op_index_sum_order(&w->x, vars);
    for (int i = 0; !l->arith->picks && i < count; i++) odometer_add(l->rows, &l->summed, vars[i]);
    for (int v = 0; l->arith->picks && v < w->x.var_count; v++)
        if (op_index_reduced(&w->x, v)) odometer_add(l->rows, &l->summed, v);
    do
        c->strip->wide[r->first + r->odometer.offset[0]] =
            work_folds(w) ? wide_leaves_folded(l) : wide_leaves_element(l, here);
    while (odometer_next(&r->odometer));
    mem_free(l);
    mem_free(r);
}
