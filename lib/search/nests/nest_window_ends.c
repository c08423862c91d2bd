/* Ends of windows: where few bytes cross; period by period if ops repeat. */
#include "search/nests/nest_search.h"

struct cutting {
    const struct draft *x;
    int64_t *crossing; /* per op: bytes of intermediates made up to it and used after it */
    int32_t ops, most;
};

/* The number of ops after which nearly all ops repeat; 0: they do not. */
static int32_t period_of(const struct cutting *c)
{
    enum { SHORTEST = 4 };
    for (int32_t p = SHORTEST; p <= c->most && 2 * p <= c->ops; p++) {
        int32_t same = 0;
        for (int32_t o = 0; o + p < c->ops; o++) {
            const struct lx_op *one = &c->x->graph->ops[o], *two = &c->x->graph->ops[o + p];
            bool alike = one->kind == two->kind && one->input_count == two->input_count &&
                         !one->einsum == !two->einsum && op_operand_count(one) == op_operand_count(two) &&
                         (!one->einsum || strcmp(one->einsum, two->einsum) == 0);
            for (int i = one->input_count; alike && i < op_operand_count(one); i++)
                alike = lx_layout_equal(&c->x->layouts->layouts[op_operand(one, i)],
                                        &c->x->layouts->layouts[op_operand(two, i)]);
            same += alike;
        }
        if (10 * (int64_t)same >= 9 * (int64_t)(c->ops - p)) return p;
    }
    return 0;
}

static int32_t cut_periods(const struct cutting *c, int32_t period, int32_t *last)
{
    int32_t count = 0, wide = (int32_t)max_i64(1, c->most / 2 / period) * period;
    /* The op of the first period with the fewest bytes crossing after it, summed over all periods. */
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

/* The cheapest set of ends: a shortest path whose cost is the bytes that cross. */
static int32_t cut_anywhere(const struct cutting *c, int32_t *last)
{
    size_t n = (size_t)c->ops + 1;
    OWNED double *cost = mem_alloc(n * sizeof *cost);
    int32_t *from = mem_alloc(n * sizeof *from), count = 0;
    for (int32_t to = 0; to <= c->ops; to++) {
        cost[to] = to ? 1e300 : 0;
        from[to] = 0;
        for (int32_t at = (int32_t)max_i64(0, to - c->most); at < to; at++) {
            double sum = cost[at] + (to < c->ops ? (double)c->crossing[to - 1] : 0);
            if (sum < cost[to]) cost[to] = sum, from[to] = at;
        }
    }
    for (int32_t at = c->ops; at > 0; at = from[at]) count++;
    for (int32_t at = c->ops, i = count; at > 0; at = from[at]) last[--i] = at - 1;
    mem_free(from);
    return count;
}

void nest_windows_cut(const struct draft *x, int32_t most, struct arena *memory, int32_t **last,
                      int32_t *count)
{
    struct cutting c = {.x = x, .ops = x->graph->op_count, .most = most};
    c.crossing = arena_array(memory, (size_t)c.ops, sizeof *c.crossing);
    *last = arena_array(memory, (size_t)c.ops + 1, sizeof **last);
    /* On a large graph, tensors that outlive a window do not count: they cross every end, and more of them in
     * later layers, so equal layers would be cut differently. */
    int32_t longest = c.ops > LARGE_GRAPH ? most : c.ops;
    for (int32_t t = 0; t < x->graph->tensor_count; t++) {
        if (x->tensor_at[t] == x->tensor_at[t + 1] || x->graph->tensors[t].role == LX_WEIGHT) continue;
        int32_t first = x->access_op[x->tensor_access[x->tensor_at[t]]],
                end = x->access_op[x->tensor_access[x->tensor_at[t + 1] - 1]];
        if (first >= end || end - first > longest) continue;
        c.crossing[first] += tensor_bytes(x->layouts, t);
        c.crossing[end] -= tensor_bytes(x->layouts, t);
    }
    for (int32_t o = 1; o < c.ops; o++) c.crossing[o] += c.crossing[o - 1];
    int32_t period = period_of(&c);
    *count = period > 0 ? cut_periods(&c, period, *last) : cut_anywhere(&c, *last);
}
