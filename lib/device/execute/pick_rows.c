/* Ops that choose by indices: each core reads its indices, one after the other, and moves the rows that they
 * name.
 *
 * The traffic of the tensor that is chosen from is counted by the plan's rule (graph/choice.h): the sticks of
 * one pick times the picks. The data decide which elements these are; checked are all that the indices could
 * name. */
#include "device/execute/execute.h"

/* A walk over all indices of one core's strip, and over the windows that begin there. */
struct picking {
    struct op_work *w;
    size_t strip;
    struct slice slice;
    int var_count, var[LX_MAX_VARS]; /* variables of the walk, outermost first */
    int64_t at[LX_MAX_VARS];
};

int64_t chosen_hbm_bytes(const struct op_work *w)
{
    const struct lx_choice *c = &w->choice;
    const struct lx_layout *l = &w->m->layouts[op_operand(w->op, c->operand)];
    int64_t sticks = 1, whole = 1;
    for (int v = 0; v < w->x.var_count; v++)
        if (v != c->vector && lx_choice_by(w->op, c, v) && !mul_i64(sticks, w->x.extent[v], &sticks))
            sticks = INT64_MAX;
    for (int d = 0; d < l->rank - 1; d++) {
        int v = l->host_dim[d] < 0 ? -1 : w->x.var[c->operand][(int)l->host_dim[d]], axis = -1;
        for (int a = 0; a < c->axis_count; a++)
            if (c->var[a] == v) axis = a;
        int64_t n = l->size[d];
        if (v >= 0) n /= w->op->map->extent[v] / w->x.extent[v]; /* tiles of a nest */
        whole *= n;
        if (axis >= 0)
            n = min_i64(
                n, c->window[axis] < 0 ? 1 : ceil_div_i64(w->x.extent[c->window[axis]] - 1, l->step[d]) + 1);
        else if (v >= 0 && lx_choice_by(w->op, c, v))
            n = 1;
        if (!mul_i64(sticks, n, &sticks)) sticks = INT64_MAX;
    }
    return sticks_to_bytes(w->m, op_operand(w->op, c->operand), min_i64(sticks, whole));
}

/* The number of index operand `operand` for this slice, in its stored type; 0: the core cannot reach it. */
static int64_t read_index(struct picking *p, int operand, const struct slice *s)
{
    struct op_work *w = p->w;
    const struct lx_layout *l = &w->m->layouts[op_operand(w->op, operand)];
    const struct number_type *t = &number_types[l->dtype];
    const struct place *at = &w->core[w->strip[p->strip].core].place[operand];
    SCOPED(arena_free) struct arena memory = {0};
    struct region r;
    int64_t element = 0;
    union {
        int64_t whole;
        int32_t word;
        int16_t half;
        int8_t byte;
        unsigned char items[8];
    } u = {0};
    if (!(w->strip[p->strip].usable >> operand & 1)) return 0;
    region_make(l, &at->box, &w->x, operand, s, &memory, &r);
    for (int h = 0; h < r.host_rank; h++) element += r.element[h][0];
    items_from_memory(t, at->in->bytes + at->address, element, 1, u.items);
    if (l->dtype == LX_UINT64 && u.whole < 0) return INT64_MAX;
    int64_t n = t->item == 8 ? u.whole : t->item == 4 ? u.word : t->item == 2 ? u.half : u.byte;
    return t->low < 0 || t->item == 8 ? n : n & ((INT64_C(1) << (8 * t->item)) - 1);
}

/* Sets the slice's place along each chosen axis; false: an index leads outside, and nothing moves. */
static bool find_position(struct picking *p)
{
    const struct op_work *w = p->w;
    const struct lx_choice *c = &w->choice;
    bool scatter = w->op->kind->id == LX_KIND_SCATTER, there = true;
    for (int a = 0; a < c->axis_count; a++) {
        struct slice s = p->slice;
        const int64_t *extents = w->op->map->extent; /* also where a nest cuts the window */
        int64_t extent = extents[c->var[a]], room = extent - (c->window[a] < 0 ? 1 : extents[c->window[a]]);
        if (c->vector >= 0) s.from[c->vector] = a, s.to[c->vector] = a + 1;
        int64_t n = c->start ? c->start[a] : read_index(p, c->index + (c->index_count > 1 ? a : 0), &s);
        if (scatter && (n < 0 || n >= extent)) there = false;
        n = min_i64(max_i64(n, 0), room) + (c->window[a] < 0 ? 0 : p->slice.from[c->window[a]]);
        p->slice.from[c->var[a]] = n;
        p->slice.to[c->var[a]] = n + 1;
    }
    return there;
}

static void begin_walk(struct picking *p)
{
    const struct op_work *w = p->w;
    const struct lx_choice *c = &w->choice;
    bool taken[LX_MAX_VARS] = {0};
    p->slice = w->strip[p->strip].slice;
    for (int i = 0; i < c->index_count; i++)
        for (int d = 0; d < w->x.rank[c->index + i]; d++) {
            int v = w->x.var[c->index + i][d];
            if (!taken[v] && v != c->vector) p->var[p->var_count++] = v;
            taken[v] = true;
        }
    for (int a = 0; a < c->axis_count; a++)
        if (c->window[a] >= 0) p->var[p->var_count++] = c->window[a];
    if (c->vector >= 0) p->slice.from[c->vector] = 0, p->slice.to[c->vector] = 1;
    for (int k = 0; k < p->var_count; k++) {
        p->at[k] = p->slice.from[p->var[k]];
        p->slice.to[p->var[k]] = p->at[k] + 1;
    }
}

static void pick_task(void *context, int64_t strip, int worker)
{
    struct op_work *w = context;
    struct picking p = {.w = w, .strip = (size_t)strip};
    (void)worker;
    strip_prepare(w, &w->strip[strip]);
    struct strip_work *s = &w->strip[strip];
    if ((w->op->kind->traits & LX_ALTERS) && w->core[s->core].place[w->out].in && (s->usable >> w->out & 1)) {
        /* The op updates the value before it. */
        struct dense_operand o = work_operand(w, s, w->out, &s->written, &s->layout, s->out, s->wide);
        dense_gather(&o);
    }
    begin_walk(&p);
    for (int k = 0; k >= 0;) {
        if (find_position(&p)) strip_chunk(w, p.strip, &p.slice);
        for (k = p.var_count - 1; k >= 0; k--) {
            int v = p.var[k];
            bool more = ++p.at[k] < s->slice.to[v];
            if (!more) p.at[k] = s->slice.from[v];
            p.slice.from[v] = p.at[k];
            p.slice.to[v] = p.at[k] + 1;
            if (more) break;
        }
    }
}

#define COMBINE(name, expression)                                                                            \
    static void name##_row(float *to, const float *index, const float *from, const float *c, int64_t count)  \
    {                                                                                                        \
        (void)index, (void)c;                                                                                \
        for (int64_t i = 0; i < count; i++) to[i] = expression;                                              \
    }
COMBINE(replace, from[i])
COMBINE(add, to[i] + from[i])
COMBINE(mul, to[i] * from[i])
COMBINE(min, from[i] < to[i] || from[i] != from[i] ? from[i] : to[i])
COMBINE(max, from[i] > to[i] || from[i] != from[i] ? from[i] : to[i])

void leaf_wide_choice(struct chunk *c)
{
    const struct op_work *w = c->w;
    int out = w->out, from = w->choice.operand == out ? w->choice.other : w->choice.operand;
    const struct number_type *t = op_number_type(w->m->graph, w->op, out);
    wide_function *combine = wide_combine_of(w->op, op_numbers(w->m->graph, w->op));
    OWNED struct rows *r = rows_make(c);
    for (int h = 0; h < w->x.rank[out]; h++) odometer_add(r, &r->odometer, w->x.var[out][h]);
    do {
        wide_number *to = c->strip->wide + r->first + r->odometer.offset[0];
        *to = combine(*to, c->wide[from][r->odometer.offset[from + 1]], 0, t);
    } while (odometer_next(&r->odometer));
}

void compute_choice(struct op_work *w)
{
    static row_function *const rows[LX_COMBINE_COUNT] = {[LX_COMBINE_REPLACE] = replace_row,
                                                         [LX_COMBINE_ADD] = add_row,
                                                         [LX_COMBINE_MUL] = mul_row,
                                                         [LX_COMBINE_MIN] = min_row,
                                                         [LX_COMBINE_MAX] = max_row};
    if (w->op->kind->id == LX_KIND_SCATTER)
        w->row = rows[w->op->params ? w->op->params->combine : LX_COMBINE_REPLACE];
    pool_run(w->m->pool, (int64_t)w->strip_count, pick_task, w);
}

/* Ops that order elements: each core orders the rows of its part, once for all results. In wide numbers,
 * which hold every number and every place. */

struct entry {
    wide_number value;
    int64_t place;
};

/* The rows of a chunk, one after the other. */
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
    /* Merge sort, bottom up. */
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
        /* Writes a result of the ordered row. */
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
