/* Another order of the ops, where that moves fewer bytes.
 *
 * Ops may change places as long as every op still reads what it read before: an op stays behind the writer of
 * what it reads, a writer behind the readers of the old value, and nothing passes an extern op. Two whole
 * orders are tried first (the one that keeps the least alive, and the one that uses at once what was just
 * made), then single ops are moved next to an op they share a tensor with. What is tried is solved, and kept
 * if the whole plan then moves less. */
#include "plan/planner.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/vec.h"
#include "layout/op_index.h"

#include <stdlib.h>
#include <string.h>

static bool permute(void *at, const int32_t *order, size_t count, size_t size)
{
    char *copy = malloc(count * size + 1);
    if (!copy) return false;
    memcpy(copy, at, count * size);
    for (size_t t = 0; t < count; t++) memcpy((char *)at + t * size, copy + (size_t)order[t] * size, size);
    free(copy);
    return true;
}

/* The arrays are the stage's own and not shared; they are only read-only to its users. */
bool reorder_apply(struct lx_layouts *l, struct lx_divisions *d, const int32_t *order, lx_status *st)
{
    size_t n = (size_t)l->graph->op_count;
    int32_t *place = malloc((n + 1) * sizeof *place);
    bool ok = place && permute((void *)l->graph->ops, order, n, sizeof *l->graph->ops) &&
              permute((void *)l->op_origin, order, n, sizeof *l->op_origin) &&
              permute((void *)l->stick_var, order, n, sizeof *l->stick_var) &&
              permute(d->at, order, n, sizeof *d->at);
    if (ok) {
        for (size_t t = 0; t < n; t++) place[order[t]] = (int32_t)t, d->at[t].op = (int32_t)t;
        struct lx_restickify *r = (struct lx_restickify *)l->restickifies;
        for (int32_t i = 0; i < l->restickify_count; i++)
            r[i].op = place[r[i].op], r[i].before = place[r[i].before];
        struct lx_padding *p = (struct lx_padding *)l->paddings;
        for (int32_t i = 0; i < l->padding_count; i++) p[i].op = place[p[i].op];
    }
    free(place);
    return ok ? true : status_no_memory(st);
}

/* Op `before` must run before op `after`. */
struct edge {
    int32_t before, after;
};

struct schedule {
    const struct lx_graph *g;
    VEC(struct edge) edges;
    int32_t *first_edge; /* per op, and one more: edges by `before` */
    int32_t *waits;      /* per op: how many must still come before it */
};

static int by_before(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

static bool find_edges(struct schedule *s)
{
    const struct lx_graph *g = s->g;
    size_t tensors = (size_t)g->tensor_count + 1, ops = (size_t)g->op_count;
    int32_t *writer = malloc(tensors * sizeof *writer);
    VEC(int32_t) *readers = calloc(tensors, sizeof *readers);
    bool ok = writer && readers;
    int32_t barrier = -1;
    if (ok) memset(writer, 0xff, tensors * sizeof *writer);
    for (int32_t o = 0; ok && o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        if (barrier >= 0) ok = VEC_PUSH(&s->edges, (struct edge){barrier, o});
        if (op->kind->traits & LX_EXTERN) {
            for (int32_t b = barrier + 1; ok && b < o; b++) ok = VEC_PUSH(&s->edges, (struct edge){b, o});
            barrier = o;
        }
        for (int i = 0; ok && i < op->input_count; i++) {
            if (writer[op->inputs[i]] >= 0) ok = VEC_PUSH(&s->edges, (struct edge){writer[op->inputs[i]], o});
            ok = ok && VEC_PUSH(&readers[op->inputs[i]], o);
        }
        if (writer[op->output] >= 0) ok = ok && VEC_PUSH(&s->edges, (struct edge){writer[op->output], o});
        for (size_t k = 0; ok && k < readers[op->output].count; k++)
            if (readers[op->output].at[k] != o)
                ok = VEC_PUSH(&s->edges, (struct edge){readers[op->output].at[k], o});
        readers[op->output].count = 0;
        writer[op->output] = o;
    }
    for (size_t t = 0; readers && t < tensors; t++) VEC_FREE(&readers[t]);
    free(readers);
    free(writer);
    s->first_edge = calloc(ops + 2, sizeof *s->first_edge);
    s->waits = calloc(ops + 1, sizeof *s->waits);
    if (!ok || !s->first_edge || !s->waits) return false;
    if (s->edges.count) qsort(s->edges.at, s->edges.count, sizeof *s->edges.at, by_before);
    for (size_t e = 0; e < s->edges.count; e++) s->first_edge[s->edges.at[e].before + 1]++;
    for (size_t o = 0; o < ops; o++) s->first_edge[o + 1] += s->first_edge[o];
    return true;
}

static void schedule_free(struct schedule *s)
{
    VEC_FREE(&s->edges);
    free(s->first_edge);
    free(s->waits);
}

/* What op o adds to the bytes alive, less what dies with it when `left` counts the accesses to come. */
static int64_t growth(const struct draft *x, int32_t o, const int32_t *left, const bool *alive)
{
    const struct lx_op *op = &x->graph->ops[o];
    int64_t bytes = alive[op->output] ? 0 : x->problem.buffers[op->output].size;
    for (int i = 0; i < op->input_count; i++)
        if (left[op->inputs[i]] == 1 && x->graph->tensors[op->inputs[i]].role == LX_INTERMEDIATE)
            bytes -= x->problem.buffers[op->inputs[i]].size;
    return bytes;
}

/* An order by a rule: among the ops that may run, the one that adds least (or the one that became ready
 * last); the earlier one among equals. */
static bool list_order(struct schedule *s, const struct draft *x, bool newest_first, int32_t *order)
{
    int32_t n = s->g->op_count;
    VEC(int32_t) ready = {0};
    int32_t *left = calloc((size_t)s->g->tensor_count + 1, sizeof *left);
    bool *alive = calloc((size_t)s->g->tensor_count + 1, sizeof *alive), ok = left && alive;
    if (ok) memset(s->waits, 0, (size_t)n * sizeof *s->waits);
    for (size_t e = 0; ok && e < s->edges.count; e++) s->waits[s->edges.at[e].after]++;
    for (int32_t o = 0; ok && o < n; o++) {
        for (int i = 0; i < s->g->ops[o].input_count; i++) left[s->g->ops[o].inputs[i]]++;
        if (s->waits[o] == 0) ok = VEC_PUSH(&ready, o);
    }
    for (int32_t t = 0; ok && t < n; t++) {
        size_t pick = newest_first ? ready.count - 1 : 0;
        int64_t least = INT64_MAX;
        for (size_t k = 0; !newest_first && k < ready.count; k++) {
            int64_t g = growth(x, ready.at[k], left, alive);
            if (g < least || (g == least && ready.at[k] < ready.at[pick])) least = g, pick = k;
        }
        int32_t o = ready.at[pick];
        memmove(&ready.at[pick], &ready.at[pick + 1], (--ready.count - pick) * sizeof *ready.at);
        order[t] = o;
        for (int i = 0; i < s->g->ops[o].input_count; i++) left[s->g->ops[o].inputs[i]]--;
        alive[s->g->ops[o].output] = true;
        for (int32_t e = s->first_edge[o + 1] - 1; ok && e >= s->first_edge[o]; e--)
            if (--s->waits[s->edges.at[e].after] == 0) ok = VEC_PUSH(&ready, s->edges.at[e].after);
    }
    VEC_FREE(&ready);
    free(left);
    free(alive);
    return ok;
}

bool reorder_legal(const struct lx_graph *g, const int32_t *order)
{
    struct schedule s = {.g = g};
    int32_t *place = calloc((size_t)g->op_count + 1, sizeof *place);
    bool legal = find_edges(&s) && place;
    for (int32_t t = 0; legal && t < g->op_count; t++) place[order[t]] = t;
    for (size_t e = 0; legal && e < s.edges.count; e++)
        legal = place[s.edges.at[e].before] < place[s.edges.at[e].after];
    schedule_free(&s);
    free(place);
    return legal;
}

struct reorder {
    struct lx_layouts *l;
    struct lx_divisions *d;
    const struct lx_plan_options *options;
    struct attempt *best;
    int32_t *total; /* per tick: the op's very first place */
    bool moved;
    int64_t tries;
    lx_status *st;
};

static bool try_order(struct reorder *r, const int32_t *order, bool *better)
{
    size_t n = (size_t)r->l->graph->op_count;
    bool same = true;
    *better = false;
    for (size_t t = 0; t < n; t++) same &= order[t] == (int32_t)t;
    if (same || r->tries <= 0) return true;
    r->tries--;
    int32_t *back = malloc((n + 1) * sizeof *back);
    if (!back) return status_no_memory(r->st);
    for (size_t t = 0; t < n; t++) back[order[t]] = (int32_t)t;
    struct attempt next;
    bool ok = reorder_apply(r->l, r->d, order, r->st) &&
              attempt_make(r->d, &r->best->draft.how, r->options, &next, r->st);
    if (ok) *better = attempt_keep_better(r->best, &next);
    if (ok && *better) {
        ok = permute(r->total, order, n, sizeof *r->total) ? true : status_no_memory(r->st);
        r->moved = true;
    } else if (ok)
        ok = reorder_apply(r->l, r->d, back, r->st);
    free(back);
    return ok;
}

/* Op `from` comes to place `to`, those between move up; false if that breaks an edge. */
static bool move_order(const struct schedule *s, int32_t from, int32_t to, int32_t *order)
{
    int32_t n = s->g->op_count;
    for (size_t e = 0; e < s->edges.count; e++) {
        const struct edge *x = &s->edges.at[e];
        if (x->after == from && x->before >= to && x->before < from) return false;
        if (x->before == from && x->after <= to && x->after > from) return false;
    }
    for (int32_t t = 0; t < n; t++) order[t] = t;
    int32_t step = from < to ? 1 : -1;
    for (int32_t t = from; t != to; t += step) order[t] = t + step;
    order[to] = from;
    return true;
}

static bool move_single_ops(struct reorder *r, int32_t *order)
{
    bool better = true, ok = true;
    while (ok && better && r->tries > 0) {
        better = false;
        struct schedule s = {.g = r->l->graph};
        ok = find_edges(&s) ? true : status_no_memory(r->st);
        for (size_t e = 0; ok && !better && e < s.edges.count && r->tries > 0; e++) {
            struct edge x = s.edges.at[e];
            if (r->options->run.stop && r->options->run.stop(r->options->run.context)) r->tries = 0;
            if (x.after - x.before < 2) continue;
            if (move_order(&s, x.after, x.before + 1, order)) ok = try_order(r, order, &better);
            if (ok && !better && move_order(&s, x.before, x.after - 1, order))
                ok = try_order(r, order, &better);
        }
        schedule_free(&s);
    }
    return ok;
}

bool reorder_search(struct lx_layouts *l, struct lx_divisions *d, const struct lx_plan_options *options,
                    struct attempt *best, struct arena *memory, const int32_t **order, lx_status *st)
{
    size_t n = (size_t)l->graph->op_count;
    int32_t *next = malloc((n + 1) * sizeof *next);
    struct reorder r = {.l = l, .d = d, .options = options, .best = best, .st = st};
    r.total = arena_array(memory, n, sizeof *r.total);
    r.tries = max_i64(6, min_i64(200, 60000 / ((int64_t)n + 1)));
    bool ok = next && r.total ? true : status_no_memory(st), better;
    for (size_t t = 0; ok && t < n; t++) r.total[t] = (int32_t)t;
    for (int rule = 0; ok && rule < 2; rule++) {
        struct schedule s = {.g = l->graph};
        ok = find_edges(&s) && list_order(&s, &best->draft, rule == 1, next) ? true : status_no_memory(st);
        schedule_free(&s);
        ok = ok && try_order(&r, next, &better);
    }
    ok = ok && move_single_ops(&r, next);
    LOG(reorder, "%s, HBM %" PRId64, r.moved ? "moved" : "no order is better", best->hbm_bytes);
    free(next);
    *order = ok && r.moved ? r.total : NULL;
    return ok;
}
