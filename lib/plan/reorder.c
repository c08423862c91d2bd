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
#include "plan/op_order.h"

#include <stdlib.h>
#include <string.h>

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
static bool list_order(struct op_order *s, const struct draft *x, bool newest_first, int32_t *order)
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

struct reorder {
    struct planner *by;
    int32_t *order, *total; /* room for an order of the best attempt's ops, and of the divided graph's */
    int64_t tries;
};

static bool is_new(const int32_t *order, int32_t count)
{
    for (int32_t t = 0; t < count; t++)
        if (order[t] != t) return true;
    return false;
}

/* Tries the order r->order of the best attempt's ops. */
static bool try_order(struct reorder *r, bool *better)
{
    struct attempt *best = &r->by->best;
    struct decisions how = best->draft.how;
    int32_t n = best->draft.graph->op_count;
    *better = false;
    if (!is_new(r->order, n) || r->tries <= 0) return true;
    r->tries--;
    for (int32_t t = 0; t < n; t++) r->total[t] = how.order ? how.order[r->order[t]] : r->order[t];
    how.order = r->total;
    if (!planner_try(r->by, &how, better)) return false;
    return !*better || perfect_traffic(&best->draft, &best->perfect_bytes, r->by->st);
}

/* Op `from` comes to place `to`, those between move up; false if that breaks an edge. */
static bool move_order(const struct op_order *s, int32_t from, int32_t to, int32_t *order)
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

/* Ops that share a tensor, brought together: until one order is better, then again from there. */
static bool move_one_op(struct reorder *r, const struct op_order *s, bool *better)
{
    bool ok = true;
    for (size_t e = 0; ok && !*better && e < s->edges.count && r->tries > 0; e++) {
        struct edge x = s->edges.at[e];
        if (lx_run_stopped(&r->by->options->run)) r->tries = 0;
        if (x.after - x.before < 2) continue;
        if (move_order(s, x.after, x.before + 1, r->order)) ok = try_order(r, better);
        if (ok && !*better && move_order(s, x.before, x.after - 1, r->order)) ok = try_order(r, better);
    }
    return ok;
}

static bool move_single_ops(struct reorder *r)
{
    bool better = true, ok = true;
    while (ok && better && r->tries > 0) {
        struct op_order s;
        better = false;
        ok = op_order_make(&s, r->by->best.draft.graph) ? move_one_op(r, &s, &better) : status_no_memory(r->by->st);
        op_order_free(&s);
    }
    return ok;
}

static bool try_rules(struct reorder *r)
{
    bool ok = true, better;
    for (int rule = 0; ok && rule < 2; rule++) {
        const struct draft *x = &r->by->best.draft;
        struct op_order s;
        ok = op_order_make(&s, x->graph) && list_order(&s, x, rule == 1, r->order) ? true : status_no_memory(r->by->st);
        op_order_free(&s);
        ok = ok && try_order(r, &better);
    }
    return ok;
}

bool reorder_search(struct planner *p)
{
    size_t n = (size_t)p->best.draft.graph->op_count;
    struct reorder r = {.by = p, .tries = max_i64(6, min_i64(200, 60000 / ((int64_t)n + 1)))};
    r.order = malloc((n + 1) * sizeof *r.order);
    r.total = malloc((n + 1) * sizeof *r.total);
    bool ok = r.order && r.total ? true : status_no_memory(p->st);
    ok = ok && try_rules(&r) && move_single_ops(&r);
    LOG(reorder, "%s, HBM %" PRId64, p->best.draft.how.order ? "moved" : "no order is better",
        p->best.hbm_bytes);
    free(r.order);
    free(r.total);
    return ok;
}
