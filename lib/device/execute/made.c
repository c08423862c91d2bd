/* Whole tensors, computed in fp64 or whole numbers, rounded once. */
#include "device/execute/arith.h"
#include "base/memory.h"
#include "device/memory/dtypes.h"

#include <math.h>
#include <stdlib.h>

struct making {
    const struct lx_op *op;
    const struct lx_tensor *out;
    const struct number_type *type;
    int64_t count, inside, length; /* elements; a step along the axis; its length */
    const wide_number *from;       /* the input, NULL: none */
};

typedef void make_function(const struct making *m, wide_number *to);

/* Integers wrap. */
static wide_number made_added(const struct making *m, wide_number a, wide_number b)
{
    if (m->type->integer) return number_wrapped(m->type, number_whole(a) + number_whole(b));
    return (wide_number)((double)a + (double)b);
}

/* The start and so many steps: of whole numbers exactly, and wrapped. */
static wide_number made_counted(const struct making *m, double start, double step, int64_t steps)
{
    bool whole = m->type->integer && start == rint(start) && step == rint(step);
    if (whole)
        return number_wrapped(m->type, number_whole((wide_number)start) +
                                           number_whole((wide_number)step) * (whole_number)steps);
    double x = start + step * (double)steps;
    return m->type->integer ? number_wrapped(m->type, number_whole(truncl((wide_number)x))) : (wide_number)x;
}

static void make_iota(const struct making *m, wide_number *to)
{
    const struct lx_op_params *p = m->op->params;
    double start = p ? p->start : 0, step = p ? p->step : 1;
    for (int64_t i = 0; i < m->count; i++) to[i] = made_counted(m, start, step, i / m->inside % m->length);
}

static void make_constant(const struct making *m, wide_number *to)
{
    const struct lx_op_data *d = m->op->data;
    for (int64_t i = 0; i < m->count; i++) {
        int64_t n = d && d->count > 1 ? i : 0;
        to[i] = d ? number_stated(d->numbers[n], d->wholes[n]) : 0;
    }
}

/* One row along the axis, from its begin or its end. */
static void scan_row(const struct making *m, int64_t at, wide_number *to)
{
    const struct lx_op_params *p = m->op->params;
    wide_number sum = 0;
    for (int64_t k = 0; k < m->length; k++) {
        int64_t i = at + (p->reverse ? m->length - 1 - k : k) * m->inside;
        wide_number with = made_added(m, sum, m->from[i]);
        to[i] = p->exclusive ? sum : with;
        sum = with;
    }
}

static void make_scan(const struct making *m, wide_number *to)
{
    for (int64_t i = 0; i < m->count; i++)
        if (i / m->inside % m->length == 0) scan_row(m, i, to);
}

static make_function *const makers[LX_KIND_COUNT] = {
    [LX_KIND_IOTA] = make_iota, [LX_KIND_CONSTANT] = make_constant, [LX_KIND_SCAN] = make_scan};

bool is_made(const struct lx_op *op)
{
    return makers[op->kind->id] != NULL;
}

static void find_axis(struct making *m)
{
    int64_t axis = m->op->params ? m->op->params->axis : -1;
    m->count = m->inside = m->length = 1;
    for (int d = m->out->rank - 1; d >= 0; d--) {
        if (d > axis && axis >= 0) m->inside *= m->out->shape[d];
        if (d == axis) m->length = m->out->shape[d];
        m->count *= m->out->shape[d];
    }
    if (axis >= 0) return;
    m->inside = 1; /* through all elements, in their order */
    m->length = m->count;
}

void make_items(const struct lx_graph *g, const struct lx_op *op, const void *input, void *items)
{
    struct making m = {
        .op = op, .out = &g->tensors[op->output], .type = &number_types[g->tensors[op->output].dtype]};
    find_axis(&m);
    wide_number *from = NULL, *to = mem_alloc((size_t)m.count * sizeof *to + 1);
    if (op->input_count > 0) {
        from = mem_alloc((size_t)m.count * sizeof *from + 1);
        items_to_wide(&number_types[g->tensors[op->inputs[0]].dtype], input, m.count, from);
    }
    m.from = from;
    makers[op->kind->id](&m, to);
    items_from_wide(m.type, to, m.count, items);
    mem_free(from);
    mem_free(to);
}
