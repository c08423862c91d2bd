/* Ops that order elements: each core takes the rows of its part, and orders each of them by itself, once for
 * all results. In wide numbers, which have every number and every place. */
#include "device/execute/execute.h"
#include "base/checked.h"
#include "base/memory.h"
#include "graph/choice.h"

#include <stdlib.h>

struct entry {
    wide_number value;
    int64_t place;
};

/* A strip under way: one row after the other. */
struct ordering {
    struct chunk *c;
    struct lx_ranking by;
    struct dense_strides in;
    int64_t at[LX_MAX_VARS];
    struct entry *row;
};

static void rank_rows_take_row(struct ordering *o, const wide_number *in)
{
    int64_t n = rows_width(o->c, o->by.from);
    for (int64_t i = 0; i < n; i++) o->row[i] = (struct entry){in[i * o->in.element[o->by.from]], i};
    /* From the bottom up: halves that are in order become one. */
    struct entry *from = o->row, *to = o->row + n;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            int64_t a = i, mid = min_i64(i + run, n), b = mid, end = min_i64(i + 2 * run, n);
            for (int64_t k = i; k < end; k++)
                to[k] = b >= end || (a < mid && !lx_ranks_before(&o->by, from[b].value, from[b].place,
                                                                 from[a].value, from[a].place))
                            ? from[a++]
                            : from[b++];
        }
        struct entry *other = from;
        from = to;
        to = other;
    }
    for (int64_t i = 0; from != o->row && i < n; i++) o->row[i] = from[i];
    for (int i = 0; i < o->c->w->result_count; i++) {
        /* What a result has of a row that is in order. */
        const struct op_work *w = &o->c->w->results[i];
        const struct strip_work *s = &w->strip[o->c->strip - o->c->w->strip];
        int64_t most = o->by.to >= 0 ? rows_width(o->c, o->by.to) : 1, size[LX_MAX_VARS], begin = 0;
        struct dense_strides out;
        struct lx_ranking by;
        lx_ranking_of(w->op, &by);
        for (int v = 0; v < w->x.var_count; v++) size[v] = rows_width(o->c, v);
        dense_part(&s->layout, size, &out);
        for (int v = 0; v < w->x.var_count; v++) begin += o->at[v] * out.element[v];
        for (int64_t k = 0; k < most; k++)
            s->wide[begin + (by.to >= 0 ? k * out.element[by.to] : 0)] =
                by.places ? (wide_number)o->row[k].place : o->row[k].value;
    }
}

void leaf_ranking(struct chunk *c)
{
    struct ordering o = {.c = c};
    int64_t size[LX_MAX_VARS];
    lx_ranking_of(c->w->op, &o.by);
    for (int v = 0; v < c->w->x.var_count; v++) size[v] = rows_width(c, v);
    dense_part(&c->layout[0], size, &o.in);
    o.row = mem_alloc((size_t)size[o.by.from] * 2 * sizeof *o.row);
    for (int v = 0; v >= 0;) {
        int64_t in = 0;
        for (v = 0; v < c->w->x.var_count; v++) in += o.at[v] * o.in.element[v];
        rank_rows_take_row(&o, c->wide[0] + in);
        for (v = c->w->x.var_count - 1; v >= 0; v--) {
            if (v == o.by.from || v == o.by.to) continue;
            if (++o.at[v] < rows_width(c, v)) break;
            o.at[v] = 0;
        }
    }
    mem_free(o.row);
}

static void rank_task(void *context, int64_t strip, int worker)
{
    struct op_work *w = context;
    (void)worker;
    for (int i = 0; i < w->result_count; i++) strip_prepare(&w->results[i], &w->results[i].strip[strip]);
    strip_chunk(w, (size_t)strip, &w->strip[strip].slice);
}

void compute_ranking(struct op_work *w)
{
    pool_run(w->m->pool, (int64_t)w->strip_count, rank_task, w);
}
