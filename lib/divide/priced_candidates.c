/* The candidates of an op, weighed. The iteration space is made once; a candidate costs its spans, its views
 * and one evaluation of the cost model. */
#include "divide/priced_candidates.h"
#include "base/fail.h"
#include "base/vec.h"
#include "divide/core_map.h"
#include "divide/space.h"

#include <stdlib.h>
#include <string.h>

/* `v`: a division of the op whose splits may be overwritten. */
static void priced_candidates_weigh(const struct lx_layouts *l, const struct cost_rates *rates,
                                    const struct space *s, const struct op_index *x, struct lx_division *v,
                                    int32_t c, struct division_menu *m)
{
    const int64_t *splits = &m->splits[(int64_t)c * m->split_count];
    const struct lx_op *op = &l->graph->ops[v->op];
    double bytes[LX_MAX_OPERANDS], held = 0;
    v->cores_used = space_used(s, splits);
    v->contiguous = m->front ? m->front[c] : -1;
    for (int i = 0; i < m->split_count; i++) {
        v->splits[i].split = splits[i];
        if (s->axes[i].is_reduction && splits[i] > 1) v->contiguous = i;
    }
    for (int i = 0; i < m->operand_count; i++) {
        int64_t at = (int64_t)c * m->operand_count + i;
        m->views[at] = core_view_of(l, x, v, i);
        m->core_bytes[at] = operand_core_bytes(s, &s->operands[i], splits);
        bytes[i] =
            (double)(lx_layout_bytes(&l->layouts[op_operand(op, i)]) / operand_tiles(s, &s->operands[i]));
        held += (double)m->core_bytes[at];
    }
    struct cost_work w = work_of(l, v, s, splits);
    cost_op_parts(rates, &w, m->operand_count, bytes, held, &m->parts[c],
                  &m->memory_us[(int64_t)c * m->operand_count]);
}

static void list_splits(const struct space *s, struct arena *memory, struct division_menu *m)
{
    VEC(int64_t) all = {0};
    int64_t splits[LX_MAX_VARS] = {0};
    struct candidate_walk w = {.s = s, .splits = splits};
    while (m->count < INT32_MAX && candidate_next(&w)) {
        /* One more than is needed: an op on single elements has no axes, and room all the same. */
        VEC_RESERVE(&all, all.count + (size_t)s->axis_count + 1);
        memcpy(&all.at[all.count], splits, (size_t)s->axis_count * sizeof *splits);
        all.count += (size_t)s->axis_count;
        m->count++;
    }
    m->splits = arena_copy_array(memory, all.at, all.count, sizeof *all.at);
    VEC_FREE(&all);
}

/* Where no sum is split, each variable but the first that is may be in front. */
static void list_orders(struct arena *memory, struct division_menu *m)
{
    int32_t n = m->count, most = n * m->split_count;
    int width = m->split_count;
    int64_t *splits = arena_array(memory, (size_t)most * (size_t)width, sizeof *splits);
    m->front = arena_array(memory, (size_t)most, sizeof *m->front);
    memcpy(splits, m->splits, (size_t)n * (size_t)width * sizeof *splits);
    memset(m->front, -1, (size_t)most);
    for (int32_t c = 0; c < n; c++) {
        const int64_t *s = &splits[(int64_t)c * width];
        int first = 0, sums = 0;
        while (first < width && s[first] == 1) first++;
        for (int i = 0; i < width; i++) sums += m->is_reduction[i] && s[i] > 1;
        for (int i = first + 1; i < width && sums == 0; i++) {
            if (s[i] == 1) continue;
            memcpy(&splits[(int64_t)m->count * width], s, (size_t)width * sizeof *s);
            m->front[m->count++] = (signed char)i;
        }
    }
    m->splits = splits;
}

static void priced_candidates_make_menu(const struct lx_divisions *d, int32_t op, bool orders,
                                        struct arena *memory, struct division_menu *out)
{
    const struct lx_layouts *l = d->layouts;
    struct arena scratch = {0};
    struct space s;
    struct op_index x;
    *out = (struct division_menu){0};
    if (d->at[op].kind != LX_DIVIDED) {
        /* One op that runs whole: its time is all there is to say. */
        const struct lx_graph *g = d->layouts->graph;
        int n = op_operand_count(&g->ops[op]);
        double all = 0;
        out->count = 1;
        out->parts = arena_array(memory, 1, sizeof *out->parts);
        out->memory_us = arena_array(memory, (size_t)n, sizeof *out->memory_us);
        for (int i = 0; i < n; i++) all += (double)g->tensors[op_operand(&g->ops[op], i)].bytes;
        for (int i = 0; i < n && all > 0; i++)
            out->memory_us[i] =
                d->at[op].predicted_us * (double)g->tensors[op_operand(&g->ops[op], i)].bytes / all;
        return;
    }
    op_index_of(l->graph, &l->graph->ops[op], &x);
    space_of_division(d, op, &scratch, &s);
    struct lx_division v = d->at[op];
    const struct cost_rates rates = cost_rates_of(&l->graph->device);
    out->split_count = s.axis_count;
    out->operand_count = s.operand_count;
    out->output = s.output;
    for (int i = 0; i < s.axis_count; i++) out->is_reduction[i] = s.axes[i].is_reduction;
    v.splits = arena_copy_array(&scratch, v.splits, (size_t)v.split_count, sizeof *v.splits);
    if (l->graph->ops[op].hint_count > 0) {
        /* Hints are not up for choice. */
        out->count = 1;
        out->splits = arena_array(memory, (size_t)v.split_count, sizeof *out->splits);
        for (int i = 0; i < v.split_count; i++) out->splits[i] = v.splits[i].split;
    } else {
        list_splits(&s, memory, out);
        if (orders) list_orders(memory, out);
    }
    size_t n = (size_t)out->count, cells = n * (size_t)out->operand_count;
    out->views = arena_array(memory, cells, sizeof *out->views);
    out->core_bytes = arena_array(memory, cells, sizeof *out->core_bytes);
    out->parts = arena_array(memory, n, sizeof *out->parts);
    out->memory_us = arena_array(memory, cells, sizeof *out->memory_us);
    for (int32_t c = 0; c < out->count; c++) priced_candidates_weigh(l, &rates, &s, &x, &v, c, out);
    arena_free(&scratch);
}

void division_menu_make(const struct lx_divisions *d, int32_t op, struct arena *memory,
                        struct division_menu *out)
{
    priced_candidates_make_menu(d, op, false, memory, out);
}

void division_menu_orders(const struct lx_divisions *d, int32_t op, struct arena *memory,
                          struct division_menu *out)
{
    priced_candidates_make_menu(d, op, true, memory, out);
}
