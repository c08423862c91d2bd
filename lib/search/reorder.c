/* Other orders of the ops, if the plan moves fewer bytes.
 *
 * Every op must still read the same values. For some dozens of ops the model of keeping (keep.h) proposes
 * orders with cuts. If it dropped some, two rules are tried (least bytes alive; newest ready op first), then
 * single ops are moved next to ops that share a tensor. Each order is solved, and kept if the plan moves
 * less. */
#include "search/keep.h"
#include "search/search_steps.h"
#include "search/reorder.h"

/* Lists the ops: of the ready ones the op that adds the fewest bytes, or the newest; the earlier of
 * equals. */
static void list_order(struct op_order *s, const struct draft *x, bool newest_first, int32_t *order)
{
    int32_t n = s->g->op_count;
    OWNED VEC(int32_t) ready = {0};
    OWNED int32_t *left = mem_zeroed((size_t)s->g->tensor_count + 1, sizeof *left);
    OWNED bool *alive = mem_zeroed((size_t)s->g->tensor_count + 1, sizeof *alive);
    memset(s->waits, 0, (size_t)n * sizeof *s->waits);
    for (size_t e = 0; e < s->edges.count; e++) s->waits[s->edges.at[e].after]++;
    for (int32_t o = 0; o < n; o++) {
        for (int i = 0; i < s->g->ops[o].input_count; i++) left[s->g->ops[o].inputs[i]]++;
        if (s->waits[o] == 0) VEC_PUSH(&ready, o);
    }
    for (int32_t t = 0; t < n; t++) {
        size_t pick = newest_first ? ready.count - 1 : 0;
        int64_t least = INT64_MAX;
        for (size_t k = 0; !newest_first && k < ready.count; k++) {
            /* Bytes that the op makes alive, minus the bytes that die with it. */
            const struct lx_op *op = &x->graph->ops[ready.at[k]];
            int64_t bytes = 0;
            for (int i = op->input_count; i < op_operand_count(op); i++)
                if (!alive[op_operand(op, i)]) bytes += x->problem.buffers[op_operand(op, i)].size;
            for (int i = 0; i < op->input_count; i++)
                if (left[op->inputs[i]] == 1 && x->graph->tensors[op->inputs[i]].role == LX_INTERMEDIATE)
                    bytes -= x->problem.buffers[op->inputs[i]].size;
            if (bytes < least || (bytes == least && ready.at[k] < ready.at[pick])) least = bytes, pick = k;
        }
        int32_t o = ready.at[pick];
        memmove(&ready.at[pick], &ready.at[pick + 1], (--ready.count - pick) * sizeof *ready.at);
        order[t] = o;
        for (int i = 0; i < s->g->ops[o].input_count; i++) left[s->g->ops[o].inputs[i]]--;
        for (int i = 0; i < s->g->ops[o].output_count; i++) alive[s->g->ops[o].outputs[i]] = true;
        for (int32_t e = s->first_edge[o + 1] - 1; e >= s->first_edge[o]; e--)
            if (--s->waits[s->edges.at[e].after] == 0) VEC_PUSH(&ready, s->edges.at[e].after);
    }
}

struct reorder {
    struct search *search;
    int32_t *order, *total; /* scratch: an order of the best attempt's ops; of the divided graph's */
    int32_t *place;         /* scratch: places of ops in the order */
    struct cut *cuts;       /* scratch */
    struct lx_nest *nests;  /* scratch */
    int64_t tries;
};

/* Changes decisions to the order `order`; nests move with their ops. False: the order splits a nest, or swaps
 * nests. */
static bool reorder_decisions(struct reorder *r, const int32_t *order, struct decisions *how)
{
    int32_t n = r->search->best.draft.graph->op_count;
    for (int32_t t = 0; t < n; t++) {
        r->total[t] = how->order ? how->order[order[t]] : order[t];
        r->place[order[t]] = t;
    }
    how->order = r->total;
    for (int32_t i = 0; i < how->nest_count; i++) {
        struct lx_nest nest = how->nests[i];
        for (int32_t o = nest.first; o <= nest.last; o++)
            if (r->place[o] != r->place[nest.first] + o - nest.first) return false;
        r->nests[i] = nest;
        r->nests[i].first = r->place[nest.first];
        r->nests[i].last = r->place[nest.last];
        if (i > 0 && r->nests[i].first < r->nests[i - 1].first) return false;
    }
    how->nests = r->nests;
    return true;
}

static bool reorder_try(struct reorder *r, const struct decisions *how, bool *better)
{
    struct attempt *best = &r->search->best;
    r->tries--;
    if (!try_and_offer(r->search, how, better)) return false;
    return !*better || perfect_traffic(&best->draft, &best->perfect_bytes, r->search->st);
}

/* Tries the order r->order of the best attempt's ops. */
static bool try_order(struct reorder *r, bool *better)
{
    struct decisions how = r->search->best.draft.how;
    int32_t n = r->search->best.draft.graph->op_count, same = 0;
    *better = false;
    while (same < n && r->order[same] == same) same++;
    if (same == n || r->tries <= 0 || !reorder_decisions(r, r->order, &how)) return true;
    /* A cut stays before its op, at the op's new place. */
    for (int32_t i = 0; i < how.cut_count; i++)
        r->cuts[i] = (struct cut){how.cuts[i].tensor, r->place[how.cuts[i].before]};
    if (how.cut_count) qsort(r->cuts, (size_t)how.cut_count, sizeof *r->cuts, cut_compare);
    how.cuts = r->cuts;
    return reorder_try(r, &how, better);
}

/* Tries the orders of the model, cheapest first. `*done`: no other order can be better. */
static bool reorder_ask_model(struct reorder *r, bool *done)
{
    struct search *search = r->search;
    struct keep_answer a;
    bool better, by_time = asks_time(search);
    if (search->best.draft.graph->op_count > KEEP_ANY_ORDER) return true;
    bool ok = keep_ask(search, engine_runs(search, ENGINE_EVICT), r->tries, true, &a);
    const struct keep_found *found = &a.found;
    for (int32_t i = 0; ok && i < found->count && r->tries > 0; i++) {
        const struct keep_choice *c = &found->at[i];
        struct decisions how = a.plain.how;
        if (search_is_over(search) || (!by_time && c->cost >= search->best.hbm_bytes)) break;
        how.cuts = c->cuts;
        how.cut_count = c->cut_count;
        if (!reorder_decisions(r, c->order, &how)) continue;
        ok = reorder_try(r, &how, &better);
        if (ok && c->cost < search->best.hbm_bytes && engine_runs(search, ENGINE_MOVE))
            ok = move_try(search, &a.model, c, &how);
    }
    *done = ok && !by_time && (found->complete || found->bound >= search->best.hbm_bytes);
    keep_answer_free(&a);
    return ok;
}

/* Moves op `from` to place `to`; the ops between shift by one. False: that breaks an edge. */
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

/* Tries two orders by rule; then moves ops that share a tensor together, while that helps. */
static bool reorder_try_all(struct reorder *r)
{
    struct op_order s;
    bool ok = true, better = true;
    for (int rule = 0; ok && rule < 2; rule++) {
        op_order_make(&s, r->search->best.draft.graph);
        list_order(&s, &r->search->best.draft, rule == 1, r->order);
        op_order_free(&s);
        ok = try_order(r, &better);
    }
    for (better = true; ok && better && r->tries > 0;) {
        better = false;
        op_order_make(&s, r->search->best.draft.graph);
        for (size_t e = 0; ok && !better && e < s.edges.count && r->tries > 0; e++) {
            struct edge x = s.edges.at[e];
            if (search_is_over(r->search)) r->tries = 0;
            if (x.after - x.before < 2) continue;
            if (move_order(&s, x.after, x.before + 1, r->order)) ok = try_order(r, &better);
            if (ok && !better && move_order(&s, x.before, x.after - 1, r->order)) ok = try_order(r, &better);
        }
        op_order_free(&s);
    }
    return ok;
}

bool reorder_search(struct search *search)
{
    size_t n = (size_t)search->best.draft.graph->op_count;
    struct reorder r = {.search = search, .tries = max_i64(6, min_i64(200, 60000 / ((int64_t)n + 1)))};
    SCOPED(arena_free) struct arena memory = {0};
    bool done = false;
    r.order = arena_array(&memory, n, sizeof *r.order);
    r.total = arena_array(&memory, n, sizeof *r.total);
    r.place = arena_array(&memory, n, sizeof *r.place);
    r.cuts = arena_array(&memory, (size_t)search->best.draft.access_at[n], sizeof *r.cuts);
    r.nests = arena_array(&memory, (size_t)search->best.draft.how.nest_count, sizeof *r.nests);
    bool ok = reorder_ask_model(&r, &done) && (done || reorder_try_all(&r));
    LOG(reorder, "%s, HBM %" PRId64, search->best.draft.how.order ? "moved" : "no order is better",
        search->best.hbm_bytes);
    return ok;
}

/* Data order: reads after writes, writes after reads of the old value; no op passes an extern op. */

ORDER(by_before, struct edge, ORDER_UP(before) ORDER_UP(after));

void op_order_make(struct op_order *s, const struct lx_graph *g)
{
    *s = (struct op_order){.g = g};
    size_t tensors = (size_t)g->tensor_count + 1, ops = (size_t)g->op_count;
    int32_t *writer = mem_alloc(tensors * sizeof *writer), barrier = -1;
    OWNED VEC(int32_t) *readers = mem_zeroed(tensors, sizeof *readers);
    memset(writer, 0xff, tensors * sizeof *writer);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        if (barrier >= 0) VEC_PUSH(&s->edges, (struct edge){barrier, o});
        if (op->kind->traits & LX_EXTERN) {
            for (int32_t b = barrier + 1; b < o; b++) VEC_PUSH(&s->edges, (struct edge){b, o});
            barrier = o;
        }
        for (int i = 0; i < op->input_count; i++) {
            if (writer[op->inputs[i]] >= 0) VEC_PUSH(&s->edges, (struct edge){writer[op->inputs[i]], o});
            VEC_PUSH(&readers[op->inputs[i]], o);
        }
        for (int i = op->input_count; i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            if (writer[t] >= 0) VEC_PUSH(&s->edges, (struct edge){writer[t], o});
            for (size_t k = 0; k < readers[t].count; k++)
                if (readers[t].at[k] != o) VEC_PUSH(&s->edges, (struct edge){readers[t].at[k], o});
            readers[t].count = 0;
            writer[t] = o;
        }
    }
    for (size_t t = 0; t < tensors; t++) VEC_FREE(&readers[t]);
    mem_free(writer);
    s->first_edge = mem_zeroed(ops + 2, sizeof *s->first_edge);
    s->waits = mem_zeroed(ops + 1, sizeof *s->waits);
    if (s->edges.count) qsort(s->edges.at, s->edges.count, sizeof *s->edges.at, by_before);
    for (size_t e = 0; e < s->edges.count; e++) s->first_edge[s->edges.at[e].before + 1]++;
    for (size_t o = 0; o < ops; o++) s->first_edge[o + 1] += s->first_edge[o];
}

void op_order_free(struct op_order *s)
{
    VEC_FREE(&s->edges);
    mem_free(s->first_edge);
    mem_free(s->waits);
}

bool reorder_legal(const struct lx_graph *g, const int32_t *order)
{
    SCOPED(op_order_free) struct op_order s;
    OWNED int32_t *place = mem_zeroed((size_t)g->op_count + 1, sizeof *place);
    bool legal = true;
    op_order_make(&s, g);
    for (int32_t t = 0; t < g->op_count; t++) place[order[t]] = t;
    for (size_t e = 0; legal && e < s.edges.count; e++)
        legal = place[s.edges.at[e].before] < place[s.edges.at[e].after];
    return legal;
}
