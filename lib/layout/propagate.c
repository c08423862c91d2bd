/* Search over the ways of all ops, in the order in which they run.
 *
 * A state knows, for each tensor that is still to be used, where its stick is and which restickified copies
 * of it exist already. The cost is what restickifies move, in device elements; among equal costs, less
 * memory. Two states that agree on all tensors have the same future: the cheaper one is kept. A state is also
 * dropped if a cheaper one could make every copy that it lacks at once and still cost no more; that leaves
 * few states, and loses nothing. While no layer has more than WIDTH of them the search is exact. Where some
 * must go, the cheapest of these plus what the remaining ops cost at least bounds what any choice could have
 * reached.
 *
 * Moving least may mean sticks of one element everywhere: nothing is ever out of place in them, and each op carries
 * the padding. An answer whose layouts have several times the elements that they need is therefore compared with
 * one that is searched by what is moved and what is laid out together.
 *
 * Graph inputs that are read once take no part in states: their layout is given and nobody shares a copy. */
#include "base/fail.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/stop.h"
#include "layout/layout.h"
#include "layout/stick_layers.h"

#include <stdlib.h>
#include <string.h>

enum { NARROW = 12, WIDTH = 200, MAX_NODES = 20000000 };
/* Slots of states that are looked at in all: fewer states where ops and slots are many. */
enum { MAX_SLOTS = 300000000 };
/* Layouts of so many times the least elements are too large. */
enum { TOO_LARGE = 4 };

/* An op changes no other slots. */
static void restore_operands(const struct stick_search *s, const struct lx_op *op, const tensor_state *from,
                             tensor_state *key)
{
    for (int k = 0; k < op_operand_count(op); k++) {
        int32_t slot = s->slot[op_operand(op, k)];
        if (slot >= 0) key[slot] = from[slot];
    }
}

static bool propagate_step(struct stick_search *s, int32_t o, size_t width)
{
    const struct lx_op *op = &s->g->ops[o];
    struct op_index x;
    struct stick_way ways[MAX_STICK_WAYS];
    op_index_of(s->g, op, &x);
    int count = stick_ways(s->g, op, &x, ways);
    size_t n = (size_t)s->slot_count;
    stick_begin_op(s, op);
    s->next.count = 0;
    if (!stick_clear_table(s, s->now.count * (size_t)count)) return false;
    tensor_state *key = mem_alloc((n + 1) * sizeof *key);
    if (!key) return status_no_memory(s->st);
    bool ok = true;
    for (size_t i = 0; i < s->now.count && ok; i++) {
        memcpy(key, &s->now_keys.at[i * n], n * sizeof *key);
        for (int w = 0; w < count && ok; w++) {
            struct stick_state to = s->now.at[i];
            restore_operands(s, op, &s->now_keys.at[i * n], key);
            if (!stick_apply(s, op, &ways[w], key, &to) ||
                add_saturated(to.moved, s->least_after[o + 1]) > s->limit)
                continue;
            stick_forget(s, o, &s->now_keys.at[i * n], key, &to);
            to.parent = (int32_t)i;
            to.way = (int16_t)w;
            ok = stick_keep(s, &to, key);
        }
    }
    mem_free(key);
    if (!ok) return false;
    if (s->next.count == 0)
        return status_set_at(
            s->st, LX_E_LAYOUT, s->g->file, op->line, 1,
            "op %s (%s): no layout of %s lets it be written; write the parts to tensors of their own",
            op->name, op->kind->name, s->g->tensors[op->output].name);
    if (!stick_advance(s, o, width)) return false;
    stick_end_op(s, o);
    return true;
}

/* What an op costs at least: the graph inputs that it alone reads,
 * and that no way of it takes as they are. */
static int64_t least_cost(const struct stick_search *s, int32_t o)
{
    const struct lx_op *op = &s->g->ops[o];
    struct op_index x;
    struct stick_way ways[MAX_STICK_WAYS];
    op_index_of(s->g, op, &x);
    int count = stick_ways(s->g, op, &x, ways);
    int64_t least = INT64_MAX;
    for (int w = 0; w < count && least > 0; w++) {
        int64_t cost = stick_realign_cost(s, op, &ways[w]);
        for (int i = 0; i < op->input_count; i++) {
            const struct lx_tensor *t = &s->g->tensors[op->inputs[i]];
            bool fixed =
                !s->uses.written[op->inputs[i]] && s->uses.readers[op->inputs[i]] == 1 && t->rank >= 0;
            int stick = stick_default(t);
            int wanted = stick_for_need(ways[w].need[i]);
            if (fixed && !stick_satisfies(t, stick, ways[w].need[i]))
                cost = add_saturated(cost,
                                     stick_move_cost(&s->costs, op->inputs[i], COPIES(FRESH(stick)), wanted));
        }
        least = min_i64(least, cost);
    }
    return least;
}

static bool propagate_prepare(struct stick_search *s)
{
    const struct lx_graph *g = s->g;
    size_t tensors = (size_t)g->tensor_count + 1;
    s->slot = mem_alloc(tensors * sizeof *s->slot);
    s->tensor_at = mem_zeroed(tensors, sizeof *s->tensor_at);
    s->least_after = mem_zeroed((size_t)g->op_count + 1, sizeof *s->least_after);
    bool ok = s->slot && s->tensor_at && s->least_after && tensor_uses_make(g, s->alive, &s->uses);
    if (ok) {
        memset(s->slot, 0xff, tensors * sizeof *s->slot);
        s->slot_count = s->uses.most_live;
        s->is_open = mem_zeroed((size_t)s->slot_count + 1, sizeof *s->is_open);
        ok = s->is_open && VEC_RESERVE(&s->free_slots, (size_t)s->slot_count + 1) &&
             VEC_RESERVE(&s->open, (size_t)s->slot_count + 1);
    }
    for (int32_t i = s->slot_count; ok && i-- > 0;) s->free_slots.at[s->free_slots.count++] = i;
    for (int32_t t = 0; ok && t < g->tensor_count; t++)
        if ((!s->uses.written[t] && s->uses.readers[t] > 1) ||
            (g->tensors[t].role == LX_STATE && s->uses.first[t] >= 0))
            stick_take_slot(s, t);
    for (int32_t o = g->op_count; ok && o-- > 0;)
        s->least_after[o] = add_saturated(s->least_after[o + 1], s->alive[o] ? least_cost(s, o) : 0);
    return ok ? true : status_no_memory(s->st);
}

static bool propagate_begin(struct stick_search *s)
{
    size_t n = (size_t)s->slot_count;
    if (!VEC_RESERVE(&s->now_keys, n + 1) || !VEC_PUSH(&s->now, (struct stick_state){.parent = -1}))
        return status_no_memory(s->st);
    memset(s->now_keys.at, 0, (n + 1) * sizeof *s->now_keys.at);
    for (int32_t t = 0; t < s->g->tensor_count; t++) {
        if (s->slot[t] < 0) continue;
        s->now_keys.at[s->slot[t]] = FRESH(stick_default(&s->g->tensors[t]));
        s->now.at[0].hash += stick_slot_hash(s->slot[t], s->now_keys.at[s->slot[t]]);
    }
    return true;
}

/* From the cheapest state of the last layer back to the first. */
static bool propagate_trace_back(struct stick_search *s, struct stick_plan *out)
{
    int32_t at = 0;
    size_t layer = s->layer_begin.count;
    for (int32_t o = s->g->op_count; o-- > 0;) {
        if (!s->alive[o]) continue;
        const struct stick_node *node = &s->nodes.at[s->layer_begin.at[--layer] + at];
        struct op_index x;
        struct stick_way ways[MAX_STICK_WAYS];
        op_index_of(s->g, &s->g->ops[o], &x);
        stick_ways(s->g, &s->g->ops[o], &x, ways);
        out->way[o] = ways[node->way];
        at = node->parent;
    }
    return true;
}

static void propagate_release(struct stick_search *s)
{
    mem_free(s->slot);
    tensor_uses_free(&s->uses);
    mem_free(s->tensor_at);
    mem_free(s->least_after);
    mem_free(s->is_open);
    VEC_FREE(&s->free_slots);
    VEC_FREE(&s->open);
    VEC_FREE(&s->now);
    VEC_FREE(&s->next);
    VEC_FREE(&s->now_keys);
    VEC_FREE(&s->next_keys);
    VEC_FREE(&s->table);
    VEC_FREE(&s->nodes);
    VEC_FREE(&s->layer_begin);
}

/* What is looked for: by what, and how. */
struct stick_question {
    const struct lx_graph *g;
    const bool *alive;
    struct stick_layers *layers;
    size_t width;
    bool by_size;
};

/* One search; `limit`: only choices that cost at most this, where one is known, so that it may be stopped. Else, told to stop, it
 * goes on with the cheapest alone. */
static bool propagate_search(const struct stick_question *q, size_t width, int64_t limit,
                             struct stick_plan *out, lx_status *st)
{
    struct stick_search s = {.g = q->g,
                             .alive = q->alive,
                             .st = st,
                             .costs = out->costs,
                             .dropped = INT64_MAX,
                             .limit = limit,
                             .by_size = q->by_size};
    bool ok = propagate_prepare(&s) && propagate_begin(&s);
    int64_t most = MAX_SLOTS / ((int64_t)(s.slot_count + 1) * (q->g->op_count + 1));
    if ((int64_t)width > most) width = (size_t)max_i64(most, NARROW);
    stick_layers_begin(q->layers, ok ? &s : NULL);
    for (int32_t o = 0; ok && o < q->g->op_count;)
        if (!q->alive[o])
            o++;
        else if (stop_work(stick_work(&s, s.next.count)) && limit < INT64_MAX)
            ok = status_stopped(st);
        else if (!stick_layers_go(q->layers, &s, &o, &ok) && ok)
            ok = propagate_step(&s, o++, stop_is_now() ? 1 : width);
    if (ok) {
        out->moved = s.now.at[0].moved;
        out->footprint = s.now.at[0].footprint;
        out->bound = min_i64(out->moved, s.dropped);
        out->repeated = q->layers->again;
        propagate_trace_back(&s, out);
    }
    propagate_release(&s);
    return ok;
}

/* Too narrow to find any, it limits nothing, and nobody stops the wide one. */
static bool search_widely(const struct stick_question *q, struct stick_plan *out, lx_status *st)
{
    lx_status narrowly = {0};
    bool told = stop_is_now(); /* then it was as narrow as can be */
    struct stop none;
    stop_begin(&none, NULL, NULL);
    bool ok = (told && propagate_search(q, NARROW, INT64_MAX, out, &narrowly)) ||
              propagate_search(q, q->width, INT64_MAX, out, st);
    stop_end(&none);
    return ok;
}

/* A narrow search first: often it proves its answer, else it limits the wide one, and stands where that is stopped. */
static bool search_twice(const struct stick_question *q, struct stick_plan *out, lx_status *st)
{
    lx_status none = {0};
    bool found = propagate_search(q, NARROW, INT64_MAX, out, &none);
    if (found && (out->bound == out->moved || stop_is_now())) return true;
    if (found ? propagate_search(q, q->width, out->moved, out, st) : search_widely(q, out, st)) return true;
    /* Of many states the cheapest so far may all end above the limit: the answer that set it stands. */
    if (!found || st->code == LX_E_MEMORY) return false;
    *st = none;
    return true;
}

/* Elements that results have in the smallest layout of each. */
static int64_t least_footprint(const struct stick_question *q, const struct stick_costs *costs)
{
    int64_t sum = 0;
    for (int32_t o = 0; o < q->g->op_count; o++) {
        const struct lx_op *op = &q->g->ops[o];
        for (int i = op->input_count; q->alive[o] && i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            int64_t least = INT64_MAX;
            for (int stick = -1; stick < q->g->tensors[t].rank; stick++)
                least = min_i64(least, stick_elements_of(costs, t, stick));
            if (q->g->tensors[t].rank >= 0) sum = add_saturated(sum, least);
        }
    }
    return sum;
}

/* The other answer, where it is less in all than one whose layouts are too large. */
static bool search_by_size(struct stick_question q, struct arena *memory, struct stick_plan *out,
                           lx_status *st)
{
    struct stick_plan other = *out;
    int64_t all = add_saturated(out->moved, out->footprint);
    if (all / TOO_LARGE <= least_footprint(&q, &out->costs)) return true;
    q.by_size = true;
    other.way = arena_array(memory, (size_t)q.g->op_count, sizeof *other.way);
    if (!other.way) return status_no_memory(st);
    if (!search_twice(&q, &other, st)) return false;
    if (other.moved >= all) return true;
    other.moved -= other.footprint;
    other.bound = out->bound;
    *out = other;
    return true;
}

bool propagate_sticks(const struct lx_graph *g, const bool *alive, const struct lx_repeat *runs,
                      int32_t run_count, struct arena *memory, struct stick_plan *out, lx_status *st)
{
    size_t width = g->op_count > MAX_NODES / WIDTH ? (size_t)(MAX_NODES / g->op_count) : WIDTH;
    out->way = arena_array(memory, (size_t)g->op_count, sizeof *out->way);
    if (!out->way || !stick_costs_make(g, memory, &out->costs)) return status_no_memory(st);
    stop_look(
        STOP_EACH); /* who is told to stop before it begins goes on with the cheapest from the first op on */
    struct stick_layers layers;
    const struct stick_question q = {g, alive, &layers, width, false};
    bool ok = stick_layers_make(&layers, g, alive, runs, run_count, st) && search_twice(&q, out, st) &&
              search_by_size(q, memory, out, st);
    stick_layers_free(&layers);
    return ok;
}
