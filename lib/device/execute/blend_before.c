/* A blend goes on with what it has: a running average of which the new tile has the share that its weights
 * sum to, so that what was there before counts for the rest. The weights are the first input, whole along
 * the sum on each core; the average has a share per row of them. */
#include "device/execute/execute.h"
#include "device/memory/stick_box.h"
#include "base/checked.h"
#include "base/memory.h"
#include "loops/nest_of_op.h"

#include <stdlib.h>

/* The weights of a strip as one dense array. */
struct weights {
    const struct op_work *w;
    int64_t width[LX_MAX_VARS];
    struct dense layout;
    struct dense_strides step;
    float *at;
};

/* Advances the indices of some variables, the last one fastest; false: that was the last. */
static bool next_index(const struct weights *x, const int *vars, int count, int64_t *index)
{
    for (int k = count - 1; k >= 0; k--) {
        if (++index[vars[k]] < x->width[vars[k]]) return true;
        index[vars[k]] = 0;
    }
    return false;
}

static int64_t blend_before_place_of(const struct weights *x, const int64_t *index)
{
    int64_t at = 0;
    for (int v = 0; v < x->w->x.var_count; v++) at += index[v] * x->step.element[v];
    return at;
}

/* What the weights of the row that begins at `row` sum to. */
static float blend_before_share_of(const struct weights *x, int64_t row)
{
    int vars[LX_MAX_VARS], count = 0;
    int64_t index[LX_MAX_VARS] = {0};
    float sum = 0;
    for (int v = 0; v < x->w->x.var_count; v++)
        if (op_index_reduced(&x->w->x, v)) vars[count++] = v;
    do sum += x->at[row + blend_before_place_of(x, index)];
    while (next_index(x, vars, count, index));
    return sum;
}

void blend_before(struct op_work *w, const struct strip_work *s, float *before)
{
    struct weights x = {0};
    int out = w->out, vars[LX_MAX_VARS], count = w->x.rank[out];
    int64_t index[LX_MAX_VARS] = {0}, row = -1;
    float rest = 0;
    if (w->op->kind->id != LX_KIND_BLEND) return;
    const struct lx_layout *l = &w->m->layouts[w->op->inputs[0]];
    const struct place *p = &w->core[s->core].place[0];
    int order[LX_MAX_VARS], n = tile_operand_order(&w->x, true, l, 0, order);
    struct arena memory = {0};
    struct region r;
    x.w = w;
    for (int v = 0; v < w->x.var_count; v++) x.width[v] = max_i64(s->slice.to[v] - s->slice.from[v], 1);
    dense_make(order, n, x.width, x.width, &x.layout);
    dense_part(&x.layout, x.width, &x.step);
    x.at = mem_zeroed((size_t)max_i64(x.layout.floats, 1), sizeof *x.at);
    if ((s->usable & 1)) {
        region_make(l, &p->box, &w->x, 0, &s->slice, &memory, &r);
        dense_gather(l, &r, p->in->bytes + p->address, &w->x, 0, &x.layout, x.at);
    }
    arena_free(&memory);
    for (int d = 0; d < count; d++) vars[d] = w->x.var[out][d];
    do {
        int64_t now = blend_before_place_of(&x, index);
        if (now != row) rest = 1 - blend_before_share_of(&x, now);
        row = now;
        before[dense_offset(&s->layout, index)] *= rest;
    } while (next_index(&x, vars, count, index));
    mem_free(x.at);
}
