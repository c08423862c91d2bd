/* Where windows end: where few bytes cross, one period after the other where ops repeat. */
#include "search/nests/nest_search.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "search/plan_search.h"

#include <stdlib.h>
#include <string.h>

struct cutting {
    const struct draft *x;
    int64_t *crossing; /* per op: bytes of intermediates made by then and used behind it */
    int32_t ops, most;
};

/* Of a large graph what lives for longer than windows are wide does not count: it crosses an end wherever that is, and it grows
 * from layer to layer, so that layers that are alike would be cut at other ops. */
static void count_crossing(struct cutting *c)
{
    const struct draft *x = c->x;
    int32_t longest = c->ops > LARGE_GRAPH ? c->most : c->ops;
    for (int32_t t = 0; t < x->graph->tensor_count; t++) {
        if (x->tensor_at[t] == x->tensor_at[t + 1] || x->graph->tensors[t].role == LX_WEIGHT) continue;
        int32_t first = x->access_op[x->tensor_access[x->tensor_at[t]]],
                last = x->access_op[x->tensor_access[x->tensor_at[t + 1] - 1]];
        if (first >= last || last - first > longest) continue;
        c->crossing[first] += tensor_bytes(x->layouts, t);
        c->crossing[last] -= tensor_bytes(x->layouts, t);
    }
    for (int32_t o = 1; o < c->ops; o++) c->crossing[o] += c->crossing[o - 1];
}

static bool nest_window_ends_same_op(const struct draft *x, int32_t a, int32_t b)
{
    const struct lx_op *one = &x->graph->ops[a], *two = &x->graph->ops[b];
    if (one->kind != two->kind || one->input_count != two->input_count || !one->einsum != !two->einsum)
        return false;
    if (one->einsum && strcmp(one->einsum, two->einsum) != 0) return false;
    bool same = op_operand_count(one) == op_operand_count(two);
    for (int i = one->input_count; same && i < op_operand_count(one); i++)
        same = lx_layout_equal(&x->layouts->layouts[op_operand(one, i)],
                               &x->layouts->layouts[op_operand(two, i)]);
    return same;
}

/* After how many ops nearly all are the same again; 0: they are not. */
static int32_t period_of(const struct cutting *c)
{
    enum { SHORTEST = 4 };
    for (int32_t p = SHORTEST; p <= c->most && 2 * p <= c->ops; p++) {
        int32_t same = 0;
        for (int32_t o = 0; o + p < c->ops; o++) {
            same += nest_window_ends_same_op(c->x, o, o + p);
        }
        if (10 * (int64_t)same >= 9 * (int64_t)(c->ops - p)) return p;
    }
    return 0;
}

static int32_t cut_periods(const struct cutting *c, int32_t period, int32_t *last)
{
    int32_t count = 0, wide = (int32_t)max_i64(1, c->most / 2 / period) * period;
    /* The op of the first period behind which least crosses, over all periods. */
    int32_t best = 0;
    int64_t least = INT64_MAX;
    for (int32_t at = period - 1; at >= 0; at--) {
        int64_t sum = 0;
        for (int32_t o = at; o < c->ops - 1; o += period) sum += c->crossing[o];
        if (sum < least) least = sum, best = at;
    }
    int32_t at = best;
    if (at + 1 < period / 2 && at + wide < c->ops) at += wide;
    for (; at < c->ops - 1; at += wide) last[count++] = at;
    if (count > 0 && c->ops - 1 - last[count - 1] < period / 4) count--;
    last[count++] = c->ops - 1;
    return count;
}

/* The shortest path over ends: what crosses, and for each window what keeps them from being many. */
static bool cut_anywhere(const struct cutting *c, int32_t *last, int32_t *count)
{
    size_t n = (size_t)c->ops + 1;
    double *cost = mem_alloc(n * sizeof *cost);
    int32_t *from = mem_alloc(n * sizeof *from);
    bool ok = cost && from;
    for (int32_t to = 0; ok && to <= c->ops; to++) {
        cost[to] = to ? 1e300 : 0;
        from[to] = 0;
        for (int32_t at = (int32_t)max_i64(0, to - c->most); at < to; at++) {
            double sum = cost[at] + (to < c->ops ? (double)c->crossing[to - 1] : 0);
            if (sum < cost[to]) cost[to] = sum, from[to] = at;
        }
    }
    *count = 0;
    for (int32_t at = c->ops; ok && at > 0; at = from[at]) last[(*count)++] = at - 1;
    for (int32_t i = 0; i < *count / 2; i++) {
        int32_t swap = last[i];
        last[i] = last[*count - 1 - i];
        last[*count - 1 - i] = swap;
    }
    mem_free(cost);
    mem_free(from);
    return ok;
}

bool nest_windows_cut(const struct draft *x, int32_t most, struct arena *memory, int32_t **last,
                      int32_t *count, lx_status *st)
{
    struct cutting c = {.x = x, .ops = x->graph->op_count, .most = most};
    c.crossing = arena_array(memory, (size_t)c.ops, sizeof *c.crossing);
    *last = arena_array(memory, (size_t)c.ops + 1, sizeof **last);
    count_crossing(&c);
    int32_t period = period_of(&c);
    if (period > 0)
        *count = cut_periods(&c, period, *last);
    else if (!cut_anywhere(&c, *last, count))
        return status_no_memory(st);
    return true;
}
