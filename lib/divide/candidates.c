/* Enumerates the legal divisions of an op: a counter over the axes, the last axis fastest. */
#include "divide/space.h"

bool splits_admissible(const struct space *s, const int64_t *splits)
{
    for (int i = 0; i < s->axis_count; i++)
        if (splits[i] < s->axes[i].floor || !factor_in(&s->axes[i].legal, splits[i])) return false;
    return space_reductions_split(s, splits) <= 1;
}

bool splits_legal(const struct space *s, const int64_t *splits)
{
    return splits_admissible(s, splits) && space_used(s, splits) <= s->cores && space_spans_fit(s, splits);
}

bool candidate_next(struct candidate_walk *w)
{
    const struct space *s = w->s;
    bool more = !w->started;
    for (int i = 0; !w->started && i < s->axis_count; i++)
        if ((w->splits[i] = factor_least(&s->axes[i].legal, s->axes[i].floor)) == 0)
            return w->started = true, false;
    do {
        /* Increments the counter; skips products above the number of cores. */
        for (int i = s->axis_count - 1; w->started && !more && i >= 0; i--) {
            int64_t next = factor_least(&s->axes[i].legal, w->splits[i] + 1);
            if (next > 0 && next <= s->cores) {
                w->splits[i] = next;
                more = space_used(s, w->splits) <= s->cores;
            }
            if (!more) w->splits[i] = factor_least(&s->axes[i].legal, s->axes[i].floor);
        }
        w->started = true;
        if (!more) return false;
        more = false;
    } while (!splits_legal(s, w->splits));
    return true;
}

/* --- Menus. Each candidate costs its spans, its views and one evaluation of the cost model. --- */

/* `v` is a division of the op; its splits may be overwritten. */
static void priced_candidates_weigh(const struct lx_layouts *l, const struct cost_rates *rates,
                                    const struct space *s, const struct op_index *x, struct lx_division *v,
                                    int32_t c, struct division_menu *m)
{
    const int64_t *splits = &m->splits[(int64_t)c * m->split_count];
    const struct lx_op *op = &l->graph->ops[v->op];
    double bytes[LX_MAX_OPERANDS], held[LX_MAX_OPERANDS];
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
        held[i] = (double)m->core_bytes[at];
    }
    struct cost_work w = work_of(l, v, s, splits);
    cost_op_parts(rates, &w, m->operand_count, bytes, held, &m->parts[c],
                  &m->memory_us[(int64_t)c * m->operand_count]);
}

/* If no reduction is split, adds one choice for each split variable after the first, with that variable in
 * front. */
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

/* An undivided op has one choice, with its predicted time only. */
static void menu_of_whole(const struct lx_divisions *d, int32_t op, struct arena *memory,
                          struct division_menu *out)
{
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
}

void division_menu_make(const struct lx_divisions *d, int32_t op, bool orders, struct arena *memory,
                        struct division_menu *out)
{
    const struct lx_layouts *l = d->layouts;
    SCOPED(arena_free) struct arena scratch = {0};
    struct space s;
    struct op_index x;
    *out = (struct division_menu){0};
    if (d->at[op].kind != LX_DIVIDED) {
        menu_of_whole(d, op, memory, out);
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
        out->count = 1;
        out->splits = arena_array(memory, (size_t)v.split_count, sizeof *out->splits);
        for (int i = 0; i < v.split_count; i++) out->splits[i] = v.splits[i].split;
    } else {
        OWNED VEC(int64_t) all = {0};
        int64_t splits[LX_MAX_VARS] = {0};
        struct candidate_walk w = {.s = &s, .splits = splits};
        while (out->count < INT32_MAX && candidate_next(&w)) {
            /* Reserves one more: an op on single elements has no axes. */
            VEC_RESERVE(&all, all.count + (size_t)s.axis_count + 1);
            memcpy(&all.at[all.count], splits, (size_t)s.axis_count * sizeof *splits);
            all.count += (size_t)s.axis_count;
            out->count++;
        }
        out->splits = arena_copy_array(memory, all.at, all.count, sizeof *all.at);
        if (orders) list_orders(memory, out);
    }
    size_t n = (size_t)out->count, cells = n * (size_t)out->operand_count;
    out->views = arena_array(memory, cells, sizeof *out->views);
    out->core_bytes = arena_array(memory, cells, sizeof *out->core_bytes);
    out->parts = arena_array(memory, n, sizeof *out->parts);
    out->memory_us = arena_array(memory, cells, sizeof *out->memory_us);
    for (int32_t c = 0; c < out->count; c++) priced_candidates_weigh(l, &rates, &s, &x, &v, c, out);
}

/* --- The fastest divisions, for people and for remedies. --- */

/* Predicted time of a choice in microseconds. `hbm_share` is per operand; NULL: all bytes go through HBM. */
static double menu_time(const struct division_menu *m, int32_t c, const double *hbm_share)
{
    const struct cost_parts *p = &m->parts[c];
    double memory = 0, back = hbm_share && !(hbm_share[m->output] > 0) ? p->back_us : 0;
    for (int i = 0; i < m->operand_count; i++)
        memory += (hbm_share ? hbm_share[i] : 1) * m->memory_us[(int64_t)c * m->operand_count + i];
    return fmax(fmax(p->compute_us, p->port_us), memory) + p->extra_us + back;
}

static bool menu_is_present(const struct division_menu *m, int32_t c, const struct lx_division *now)
{
    for (int i = 0; i < m->split_count; i++)
        if (m->splits[(int64_t)c * m->split_count + i] != now->splits[i].split) return false;
    return true;
}

/* Views of the tensors by ops that write an input or read the output; at most MOST_NEIGHBOURS. */
enum { MOST_NEIGHBOURS = 16 };
struct neighbours {
    int count, operand[MOST_NEIGHBOURS];
    struct lx_core_view view[MOST_NEIGHBOURS];
};

static void add_neighbour(const struct lx_divisions *d, int operand, int32_t other, int its,
                          struct neighbours *n)
{
    if (n->count == MOST_NEIGHBOURS || d->at[other].kind != LX_DIVIDED) return;
    n->operand[n->count] = operand;
    n->view[n->count++] = lx_division_view(d, other, its);
}

/* Sort order: faster first; at equal time the present division, then more agreeing neighbours, then more
 * cores. */
static bool alternatives_goes_before(const struct lx_alternative *a, const struct lx_alternative *b)
{
    if (a->device_us != b->device_us) return a->device_us < b->device_us;
    if (a->present != b->present) return a->present;
    if (a->agreeing != b->agreeing) return a->agreeing > b->agreeing;
    return a->cores_used > b->cores_used;
}

/* Inserts `a` into the `count` sorted ones. At `most` the slowest drops out, but never the present one.
 * Returns the new count. */
static int alternatives_insert(struct lx_alternative *out, int count, int most,
                               const struct lx_alternative *a)
{
    int at = count, last = count < most ? count : most - 1;
    while (at > 0 && alternatives_goes_before(a, &out[at - 1])) at--;
    bool keep = count == most && out[last].present;
    if (at >= last && (keep || (at == most && !a->present))) return count;
    if (at == most) at--;
    struct lx_alternative slowest = out[last];
    memmove(&out[at + 1], &out[at], (size_t)(last - at) * sizeof *out);
    out[at] = *a;
    if (keep) out[last] = slowest;
    return last + 1;
}

int lx_division_alternatives(const struct lx_divisions *d, int32_t op, const double *hbm_share,
                             struct lx_alternative *out, int most, int *neighbours)
{
    const struct lx_graph *g = d->layouts->graph;
    const struct lx_op *is = &g->ops[op];
    struct neighbours n = {0};
    SCOPED(arena_free) struct arena memory = {0};
    struct division_menu m;
    int count = 0;
    *neighbours = 0;
    if (d->at[op].kind != LX_DIVIDED || most < 1) return 0;
    division_menu_make(d, op, false, &memory, &m);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *other = &g->ops[o];
        for (int i = 0; i < is->input_count && o != op; i++)
            if (op_operand_made(other, is->inputs[i]) >= 0)
                add_neighbour(d, i, o, op_operand_made(other, is->inputs[i]), &n);
        for (int k = 0; k < other->input_count && o != op; k++)
            if (op_operand_made(is, other->inputs[k]) >= 0)
                add_neighbour(d, op_operand_made(is, other->inputs[k]), o, k, &n);
    }
    *neighbours = n.count;
    for (int32_t c = 0; c < m.count; c++) {
        struct lx_alternative a = {.device_us = menu_time(&m, c, hbm_share), .cores_used = 1};
        a.present = menu_is_present(&m, c, &d->at[op]);
        a.device_us *= (double)nest_runs(d->nests, d->nest_count, op);
        for (int i = 0; i < m.split_count; i++) {
            a.splits[i] = m.splits[(int64_t)c * m.split_count + i];
            a.cores_used *= a.splits[i];
        }
        for (int i = 0; i < n.count; i++)
            a.agreeing +=
                lx_core_views_match(&m.views[(int64_t)c * m.operand_count + n.operand[i]], &n.view[i]);
        count = alternatives_insert(out, count, most, &a);
    }
    return count;
}

void lx_divisions_for_operand(const struct lx_divisions *d, int32_t op, int operand,
                              const struct lx_core_view *like, struct lx_other_divisions *out)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct division_menu m;
    const struct lx_division *now = &d->at[op];
    *out = (struct lx_other_divisions){0};
    if (now->kind != LX_DIVIDED) return;
    division_menu_make(d, op, false, &memory, &m);
    /* k 0: agrees with `like`; k 1: cores hold less */
    for (int k = like ? 0 : 1; k < 2 && operand < m.operand_count; k++) {
        int32_t best = -1;
        for (int32_t c = 0; c < m.count; c++) {
            int64_t at = (int64_t)c * m.operand_count + operand;
            bool asked = k == 0 ? lx_core_views_match(&m.views[at], like)
                                : m.core_bytes[at] < now->operands[operand].core_bytes;
            if (asked && !menu_is_present(&m, c, now) &&
                (best < 0 || menu_time(&m, c, NULL) < menu_time(&m, best, NULL)))
                best = c;
        }
        if (best < 0) continue;
        struct lx_other_division *x = &out->at[out->count];
        *x = (struct lx_other_division){.agrees = k == 0, .predicted_us = menu_time(&m, best, NULL)};
        memcpy(x->splits, &m.splits[(int64_t)best * m.split_count],
               (size_t)m.split_count * sizeof *x->splits);
        out->count += out->count == 0 || memcmp(x->splits, out->at[0].splits, sizeof x->splits) != 0;
    }
}
