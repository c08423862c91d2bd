/* Sums that are split over groups of cores: the first group collects, part by part in the order of the sum,
 * so that the result does not depend on timing. Parts of the others travel over the reduce ring. Cores that
 * keep the sum on chip get the total back the same way; in HBM the first group writes it for all. */
#include "device/execute/execute.h"

/* Strips sorted by their box of the output, then by group. */
struct sorted_strip {
    const struct op_work *w;
    struct strip_work *strip;
};

static int compare_outputs(const struct op_work *w, const struct strip *a, const struct strip *b)
{
    for (int v = 0; v < w->x.var_count; v++) {
        if (op_index_reduced(&w->x, v)) continue;
        if (a->from[v] != b->from[v]) return a->from[v] < b->from[v] ? -1 : 1;
        if (a->to[v] != b->to[v]) return a->to[v] < b->to[v] ? -1 : 1;
        if (a->tile[v] != b->tile[v]) return a->tile[v] < b->tile[v] ? -1 : 1;
    }
    return 0;
}

static int compare_strips(const void *a, const void *b)
{
    const struct sorted_strip *p = a, *q = b;
    int order = compare_outputs(p->w, &p->strip->strip, &q->strip->strip);
    return order ? order : p->strip->group - q->strip->group;
}

static struct sorted_strip *sort_strips(struct op_work *w)
{
    struct sorted_strip *list = mem_zeroed(w->strip_count + 1, sizeof *list);
    for (size_t i = 0; i < w->strip_count; i++) list[i] = (struct sorted_strip){w, &w->strip[i]};
    qsort(list, w->strip_count, sizeof *list, compare_strips);
    return list;
}

/* The number of strips from `i` on with parts of the same sums. */
static size_t parts_from(const struct op_work *w, const struct sorted_strip *list, size_t i)
{
    size_t end = i + 1;
    while (end < w->strip_count && compare_outputs(w, &list[i].strip->strip, &list[end].strip->strip) == 0)
        end++;
    return end - i;
}

bool partials_meet(struct op_work *w)
{
    OWNED struct sorted_strip *list = sort_strips(w);
    bool meet = true;
    for (size_t i = 0, n; i < w->strip_count; i += n) {
        n = parts_from(w, list, i);
        meet = meet && n == (size_t)w->groups;
    }
    return meet;
}

void count_partials(struct op_work *w)
{
    for (int32_t g = 1; g < w->groups && work_folds(w); g++) {
        /* A core's part of the output, once over the reduce ring. Sticks count once for each group. */
        struct machine *m = w->m;
        int out = w->out;
        m->access++;
        for (size_t i = 0; i < w->strip_count; i++) {
            const struct strip_work *s = &w->strip[i];
            const struct place *p = &w->core[s->core].place[out];
            if (s->group != g || !p->in || !(s->usable >> out & 1)) continue;
            int64_t ways = p->stay >= 0 ? 2 : 1; /* and back to the core that keeps it */
            m->counted[s->core].reduce_ring += ways * shadow_count(m, p, &s->written) * m->stick_bytes;
        }
    }
}

void join_partials(struct op_work *w)
{
    if (!work_folds(w) || w->groups <= 1) return;
    OWNED struct sorted_strip *list = sort_strips(w);
    OWNED VEC(int64_t) cores = {0};
    for (size_t first = 0, n; first < w->strip_count; first += n) {
        n = parts_from(w, list, first);
        cores.count = 0; /* that meet */
        for (size_t i = first; i < first + n; i++) VEC_PUSH(&cores, list[i].strip->core);
        skews_join(w->m, cores.at, cores.count);
        struct strip_work *total = list[first].strip;
        size_t count = (size_t)total->layout.floats;
        for (size_t i = first + 1; i < first + n; i++) {
            struct strip_work *s = list[i].strip;
            if (w->wide)
                wide_join(w, total->wide, s->wide, total->layout.floats);
            else
                w->arith->sum->join(total->out, s->out, total->layout.floats);
            s->writes = w->core[s->core].place[w->out].stay >= 0;
        }
        for (size_t i = first + 1; i < first + n; i++)
            if (total->wide)
                memcpy(list[i].strip->wide, total->wide, count * sizeof *total->wide);
            else
                memcpy(list[i].strip->out, total->out, count * sizeof *total->out);
    }
}

/* A blend over tiles is a running average: the new tile has the share that its weights sum to, the average so
 * far the rest. The weights are the first input, with the whole sum on each core; the average has one share
 * per row of weights. */

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

static void blend_before(struct op_work *w, const struct strip_work *s, float *before)
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
        struct dense_operand o = work_operand(w, s, 0, &r, &x.layout, x.at, NULL);
        dense_gather(&o);
    }
    arena_free(&memory);
    for (int d = 0; d < count; d++) vars[d] = w->x.var[out][d];
    int summed[LX_MAX_VARS], summed_count = 0;
    for (int v = 0; v < w->x.var_count; v++)
        if (op_index_reduced(&w->x, v)) summed[summed_count++] = v;
    do {
        int64_t now = blend_before_place_of(&x, index);
        if (now != row) {
            /* The sum of the row's weights. */
            int64_t at[LX_MAX_VARS] = {0};
            float sum = 0;
            do sum += x.at[now + blend_before_place_of(&x, at)];
            while (next_index(&x, summed, summed_count, at));
            rest = 1 - sum;
        }
        row = now;
        before[dense_offset(&s->layout, index)] *= rest;
    } while (next_index(&x, vars, count, index));
    mem_free(x.at);
}

/* Sums over the tiles of a nest: in the first iteration of the summed levels an op leaves the sum of its
 * tile; in each later one it reads that back, adds its tile's and rounds to its type again. A mean is divided
 * once, by the number of all its terms, after the last tile. */

static void add_task(void *context, int64_t strip, int worker)
{
    struct op_work *w = context;
    struct strip_work *s = &w->strip[strip];
    (void)worker;
    if (!work_writes(w, s)) return;
    size_t room = (size_t)max_i64(s->layout.floats, 1);
    OWNED wide_number *wide = w->wide ? mem_zeroed(room, sizeof *wide) : NULL;
    OWNED float *before = w->wide ? NULL : mem_zeroed(room, sizeof *before);
    struct dense_operand o = work_operand(w, s, w->out, &s->written, &s->layout, before, wide);
    dense_gather(&o);
    if (w->wide)
        wide_join(w, s->wide, wide, s->layout.floats);
    else {
        blend_before(w, s, before);
        w->arith->sum->join(s->out, before, s->layout.floats);
    }
}

void add_to_sums(struct op_work *w)
{
    struct machine *m = w->m;
    uint32_t parts = iteration_parts_before(&m->at, w->summed);
    if (parts == 0) return;
    m->access++;
    for (size_t i = 0; i < w->strip_count; i++)
        if (work_writes(w, &w->strip[i])) {
            const struct place *p = &w->core[w->strip[i].core].place[w->out];
            struct expectation want = {{value_made(m, w->out), parts}, true};
            struct lx_counters *c = &m->counted[w->strip[i].core];
            m->actor = w->strip[i].core;
            *(p->stay >= 0 ? &c->lx_read : &c->hbm_read) +=
                sticks_to_bytes(m, p->tensor, shadow_read(m, p, &w->strip[i].written, want));
        }
    pool_run(m->pool, (int64_t)w->strip_count, add_task, w);
}

void divide_means(struct op_work *w)
{
    bool means = work_folds(w) && (w->wide ? w->wide->divides : w->arith->sum->divides);
    if (!means || iteration_parts_after(&w->m->at, w->summed) > 0) return;
    for (size_t i = 0; i < w->strip_count; i++)
        if (w->x.window_count)
            divide_window_means(w, &w->strip[i]);
        else
            for (int64_t k = 0; k < w->strip[i].layout.floats; k++) {
                if (w->wide)
                    w->strip[i].wide[k] = (wide_number)((double)w->strip[i].wide[k] * (1 / (double)w->terms));
                else
                    w->strip[i].out[k] *= 1 / (float)w->terms;
            }
}
