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
 * Graph inputs that are read once take no part in states: their layout is given and nobody shares a copy. */
#include "base/fail.h"
#include "base/checked.h"
#include "layout/layout.h"
#include "layout/stick_layers.h"

#include <stdlib.h>
#include <string.h>

/* DOMINATORS: a state is compared with so many of the cheapest; more find little and cost time. */
enum { NARROW = 12, WIDTH = 200, MAX_NODES = 20000000, DOMINATORS = 8 };
/* Slots of states that are looked at in all: fewer states where ops and slots are many. */
enum { MAX_SLOTS = 300000000 };

/* What a view moves whose elements change their place within the sticks: no more than there are in either operand. */
static int64_t realign_cost(const struct stick_search *s, const struct lx_op *op, const struct stick_way *w)
{
    if (!w->realigns) return 0;
    return min_i64(stick_elements_of(&s->costs, op->inputs[0], stick_for_need(w->need[0])),
                   stick_elements_of(&s->costs, op->output, stick_for_need(w->need[1])));
}

/* A result takes the layout that the way has for it. */
static bool make_result(const struct stick_search *s, int32_t t, int need, tensor_state *key,
                        struct stick_state *to)
{
    const struct lx_tensor *out = &s->g->tensors[t];
    int stick = need == STICK_ANY ? stick_default(out) : stick_for_need(need);
    if (out->rank < 0) return true;
    tensor_state *slot = &key[s->slot[t]];
    if (*slot) { /* written before: its layout stands */
        if (!stick_satisfies(out, PRIMARY(*slot), need)) return false;
        *slot = FRESH(PRIMARY(*slot));
        return true;
    }
    *slot = FRESH(stick);
    to->footprint = add_saturated(to->footprint, stick_elements_of(&s->costs, t, stick));
    return stick_elements_of(&s->costs, t, stick) < INT64_MAX;
}

bool stick_apply(const struct stick_search *s, const struct lx_op *op, const struct stick_way *w,
                 tensor_state *key, struct stick_state *to)
{
    const struct lx_graph *g = s->g;
    to->moved = add_saturated(to->moved, realign_cost(s, op, w));
    for (int i = 0; i < op->input_count; i++) {
        int32_t t = op->inputs[i];
        const struct lx_tensor *tensor = &g->tensors[t];
        tensor_state ts = FRESH(stick_default(tensor));
        if (s->slot[t] >= 0) ts = key[s->slot[t]];
        int primary = PRIMARY(ts), wanted = stick_for_need(w->need[i]);
        if (tensor->rank < 0) continue;
        if (w->turns && primary == w->need[1]) return false;
        if (stick_satisfies(tensor, primary, w->need[i]) || HAS(ts, wanted)) continue;
        to->moved = add_saturated(to->moved, stick_move_cost(&s->costs, t, COPIES(ts), wanted));
        to->footprint = add_saturated(to->footprint, stick_elements_of(&s->costs, t, wanted));
        if (s->slot[t] >= 0) key[s->slot[t]] = WITH(ts, wanted);
    }
    for (int i = op->input_count; i < op_operand_count(op); i++)
        if (!make_result(s, op_operand(op, i), w->need[i], key, to)) return false;
    return to->moved < INT64_MAX;
}

/* A state's hash is the sum over its slots, so that an op changes only what it touches of it: graphs of thousands of ops have
 * thousands of slots. */
static uint64_t slot_hash(int32_t slot, tensor_state of)
{
    uint64_t x = ((uint64_t)(uint32_t)slot << 16 | of) + 1;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return of ? x ^ x >> 32 : 0;
}

/* Of the slots of the op's operands, each once. */
static uint64_t operands_hash(const struct stick_search *s, const struct lx_op *op, const tensor_state *key)
{
    uint64_t sum = 0;
    for (int k = 0; k < op_operand_count(op); k++) {
        int32_t slot = s->slot[op_operand(op, k)];
        bool again = slot < 0;
        for (int i = 0; i < k && !again; i++) again = s->slot[op_operand(op, i)] == slot;
        if (!again) sum += slot_hash(slot, key[slot]);
    }
    return sum;
}

/* Could `a`, by making all copies that `b` has, go on like b and cost no more? */
static bool dominates(const struct stick_search *s, const struct stick_state *a, const tensor_state *ka,
                      const struct stick_state *b, const tensor_state *kb)
{
    int64_t moved = a->moved, footprint = a->footprint;
    for (size_t k = s->open.count; k-- > 0 && moved <= b->moved;) { /* the last ones decide most often */
        int32_t i = s->open.at[k], t = s->tensor_at[i];
        if (ka[i] == kb[i]) continue;
        if (s->uses.rigid[t] && PRIMARY(ka[i]) != PRIMARY(kb[i])) return false;
        unsigned lacks = COPIES(kb[i]) & ~COPIES(ka[i]);
        for (int stick = -1; lacks >> (stick + 1); stick++) {
            if (!(lacks >> (stick + 1) & 1)) continue;
            moved = add_saturated(moved, stick_move_cost(&s->costs, t, COPIES(ka[i]), stick));
            footprint = add_saturated(footprint, stick_elements_of(&s->costs, t, stick));
        }
    }
    return moved < b->moved || (moved == b->moved && footprint <= b->footprint);
}

/* Where a state with this key stands in the next layer, or a new one. */
static bool keep(struct stick_search *s, const struct stick_state *state, const tensor_state *key)
{
    size_t n = (size_t)s->slot_count, mask = s->table.count - 1;
    size_t at = (size_t)state->hash & mask;
    for (; s->table.at[at] >= 0; at = (at + 1) & mask) {
        struct stick_state *other = &s->next.at[s->table.at[at]];
        if (other->hash != state->hash ||
            memcmp(&s->next_keys.at[(size_t)s->table.at[at] * n], key, n * sizeof *key) != 0)
            continue;
        if (state->moved < other->moved ||
            (state->moved == other->moved && state->footprint < other->footprint))
            *other = *state;
        return true;
    }
    if (!VEC_RESERVE(&s->next_keys, (s->next.count + 1) * n + 1) || !VEC_PUSH(&s->next, *state))
        return status_no_memory(s->st);
    memcpy(&s->next_keys.at[(s->next.count - 1) * n], key, n * sizeof *key);
    s->table.at[at] = (int32_t)s->next.count - 1;
    return true;
}

static bool clear_table(struct stick_search *s, size_t candidates)
{
    size_t room = 16;
    while (room < candidates * 2) room *= 2;
    if (!VEC_RESERVE(&s->table, room)) return status_no_memory(s->st);
    s->table.count = room;
    memset(s->table.at, 0xff, room * sizeof *s->table.at);
    return true;
}

struct ranked {
    int64_t moved, footprint;
    int32_t index;
};

static int by_cost(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->moved != y->moved) return x->moved < y->moved ? -1 : 1;
    if (x->footprint != y->footprint) return x->footprint < y->footprint ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* The states of the next layer differ where those of this one do, and in what the op touches. */
static void open_operands(struct stick_search *s, const struct lx_op *op)
{
    for (int k = 0; k < op_operand_count(op); k++) {
        int32_t slot = s->slot[op_operand(op, k)];
        if (slot < 0 || s->is_open[slot]) continue;
        s->is_open[slot] = true;
        s->open.at[s->open.count++] = slot;
    }
}

/* Slots in which all states are equal again. */
static void close_slots(struct stick_search *s)
{
    size_t n = (size_t)s->slot_count, kept = 0;
    for (size_t k = 0; k < s->open.count; k++) {
        int32_t slot = s->open.at[k];
        bool differ = false;
        for (size_t i = 1; i < s->now.count && !differ; i++)
            differ = s->now_keys.at[i * n + (size_t)slot] != s->now_keys.at[slot];
        s->is_open[slot] = differ;
        if (differ) s->open.at[kept++] = slot;
    }
    s->open.count = kept;
}

/* The best `width` states of `next` that no cheaper one dominates become `now`, and get their nodes. */
static bool advance(struct stick_search *s, int32_t op, size_t width)
{
    size_t n = (size_t)s->slot_count, count = s->next.count, kept = 0;
    struct ranked *order = malloc((count + 1) * sizeof *order);
    size_t most = count < width ? count : width;
    bool ok = order && VEC_RESERVE(&s->now_keys, most * n + 1) && VEC_RESERVE(&s->now, most) &&
              VEC_RESERVE(&s->nodes, s->nodes.count + most) &&
              VEC_PUSH(&s->layer_begin, (int32_t)s->nodes.count);
    for (size_t i = 0; ok && i < count; i++)
        order[i] = (struct ranked){s->next.at[i].moved, s->next.at[i].footprint, (int32_t)i};
    if (ok) qsort(order, count, sizeof *order, by_cost);
    for (size_t i = 0; ok && i < count; i++) {
        const struct stick_state *from = &s->next.at[order[i].index];
        const tensor_state *key = &s->next_keys.at[(size_t)order[i].index * n];
        bool dominated = false;
        for (size_t k = 0; k < kept && k < DOMINATORS && !dominated; k++)
            dominated = dominates(s, &s->now.at[k], &s->now_keys.at[k * n], from, key);
        if (dominated) continue;
        if (kept == most) {
            s->dropped = min_i64(s->dropped, add_saturated(from->moved, s->least_after[op + 1]));
            break;
        }
        memcpy(&s->now_keys.at[kept * n], key, n * sizeof *key);
        s->now.at[kept++] = *from;
        s->peak = max_i64(s->peak, add_saturated(from->moved, s->least_after[op + 1]));
        s->nodes.at[s->nodes.count++] = (struct stick_node){from->parent, from->way};
    }
    s->now.count = kept;
    free(order);
    return ok ? true : status_no_memory(s->st);
}

static void take_slot(struct stick_search *s, int32_t tensor)
{
    if (s->slot[tensor] >= 0) return;
    s->slot[tensor] = s->free_slots.at[--s->free_slots.count];
    s->tensor_at[s->slot[tensor]] = tensor;
}

/* An op changes no other slots. */
static void restore_operands(const struct stick_search *s, const struct lx_op *op, const tensor_state *from,
                             tensor_state *key)
{
    for (int k = 0; k < op_operand_count(op); k++) {
        int32_t slot = s->slot[op_operand(op, k)];
        if (slot >= 0) key[slot] = from[slot];
    }
}

void stick_begin_op(struct stick_search *s, const struct lx_op *op)
{
    for (int i = op->input_count; i < op_operand_count(op); i++) take_slot(s, op_operand(op, i));
    open_operands(s, op);
}

void stick_end_op(struct stick_search *s, int32_t o)
{
    const struct lx_op *op = &s->g->ops[o];
    close_slots(s);
    for (int k = 0; k < op_operand_count(op); k++) {
        int32_t t = op_operand(op, k);
        if (s->uses.last_use[t] != o || s->slot[t] < 0) continue;
        s->free_slots.at[s->free_slots.count++] = s->slot[t];
        s->slot[t] = -1;
    }
}

void stick_forget(const struct stick_search *s, int32_t o, const tensor_state *from, tensor_state *key,
                  struct stick_state *to)
{
    const struct lx_op *op = &s->g->ops[o];
    for (int k = 0; k < op_operand_count(op); k++) {
        int32_t t = op_operand(op, k);
        if (s->uses.last_use[t] == o && s->slot[t] >= 0) key[s->slot[t]] = 0;
    }
    to->hash += operands_hash(s, op, key) - operands_hash(s, op, from);
}

static bool step(struct stick_search *s, int32_t o, size_t width)
{
    const struct lx_op *op = &s->g->ops[o];
    struct op_index x;
    struct stick_way ways[MAX_STICK_WAYS];
    op_index_of(s->g, op, &x);
    int count = stick_ways(s->g, op, &x, ways);
    size_t n = (size_t)s->slot_count;
    stick_begin_op(s, op);
    s->next.count = 0;
    if (!clear_table(s, s->now.count * (size_t)count)) return false;
    tensor_state *key = malloc((n + 1) * sizeof *key);
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
            ok = keep(s, &to, key);
        }
    }
    free(key);
    if (!ok) return false;
    if (s->next.count == 0)
        return status_set_at(
            s->st, LX_E_LAYOUT, s->g->file, op->line, 1,
            "op %s (%s): no layout of %s lets it be written; write the parts to tensors of their own",
            op->name, op->kind->name, s->g->tensors[op->output].name);
    if (!advance(s, o, width)) return false;
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
        int64_t cost = realign_cost(s, op, &ways[w]);
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

static bool prepare(struct stick_search *s)
{
    const struct lx_graph *g = s->g;
    size_t tensors = (size_t)g->tensor_count + 1;
    s->slot = malloc(tensors * sizeof *s->slot);
    s->tensor_at = calloc(tensors, sizeof *s->tensor_at);
    s->least_after = calloc((size_t)g->op_count + 1, sizeof *s->least_after);
    bool ok = s->slot && s->tensor_at && s->least_after && tensor_uses_make(g, s->alive, &s->uses);
    if (ok) {
        memset(s->slot, 0xff, tensors * sizeof *s->slot);
        s->slot_count = s->uses.most_live;
        s->is_open = calloc((size_t)s->slot_count + 1, sizeof *s->is_open);
        ok = s->is_open && VEC_RESERVE(&s->free_slots, (size_t)s->slot_count + 1) &&
             VEC_RESERVE(&s->open, (size_t)s->slot_count + 1);
    }
    for (int32_t i = s->slot_count; ok && i-- > 0;) s->free_slots.at[s->free_slots.count++] = i;
    for (int32_t t = 0; ok && t < g->tensor_count; t++)
        if ((!s->uses.written[t] && s->uses.readers[t] > 1) ||
            (g->tensors[t].role == LX_STATE && s->uses.first[t] >= 0))
            take_slot(s, t);
    for (int32_t o = g->op_count; ok && o-- > 0;)
        s->least_after[o] = add_saturated(s->least_after[o + 1], s->alive[o] ? least_cost(s, o) : 0);
    return ok ? true : status_no_memory(s->st);
}

static bool begin(struct stick_search *s)
{
    size_t n = (size_t)s->slot_count;
    if (!VEC_RESERVE(&s->now_keys, n + 1) || !VEC_PUSH(&s->now, (struct stick_state){.parent = -1}))
        return status_no_memory(s->st);
    memset(s->now_keys.at, 0, (n + 1) * sizeof *s->now_keys.at);
    for (int32_t t = 0; t < s->g->tensor_count; t++) {
        if (s->slot[t] < 0) continue;
        s->now_keys.at[s->slot[t]] = FRESH(stick_default(&s->g->tensors[t]));
        s->now.at[0].hash += slot_hash(s->slot[t], s->now_keys.at[s->slot[t]]);
    }
    return true;
}

/* From the cheapest state of the last layer back to the first. */
static bool trace_back(struct stick_search *s, struct stick_plan *out)
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

static void release(struct stick_search *s)
{
    free(s->slot);
    tensor_uses_free(&s->uses);
    free(s->tensor_at);
    free(s->least_after);
    free(s->is_open);
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

/* One search; `limit`: only choices that cost at most this. */
static bool search(const struct lx_graph *g, const bool *alive, size_t width, int64_t limit,
                   struct stick_layers *layers, struct stick_plan *out, lx_status *st)
{
    struct stick_search s = {
        .g = g, .alive = alive, .st = st, .costs = out->costs, .dropped = INT64_MAX, .limit = limit};
    bool ok = prepare(&s) && begin(&s);
    int64_t most = MAX_SLOTS / ((int64_t)(s.slot_count + 1) * (g->op_count + 1));
    if ((int64_t)width > most) width = (size_t)max_i64(most, NARROW);
    stick_layers_begin(layers, ok ? &s : NULL);
    for (int32_t o = 0; ok && o < g->op_count;)
        if (!alive[o])
            o++;
        else if (!stick_layers_go(layers, &s, &o, &ok) && ok)
            ok = step(&s, o++, width);
    if (ok) {
        out->moved = s.now.at[0].moved;
        out->bound = min_i64(out->moved, s.dropped);
        out->repeated = layers->again;
        trace_back(&s, out);
    }
    release(&s);
    return ok;
}

/* A narrow search first: often it proves its answer, else it limits the wide one. Too narrow to find any,
 * it limits nothing. */
static bool search_twice(const struct lx_graph *g, const bool *alive, size_t width,
                         struct stick_layers *layers, struct stick_plan *out, lx_status *st)
{
    lx_status none = {0};
    bool found = search(g, alive, NARROW, INT64_MAX, layers, out, &none);
    if (found && out->bound == out->moved) return true;
    if (search(g, alive, width, found ? out->moved : INT64_MAX, layers, out, st)) return true;
    /* Of many states the cheapest so far may all end above the limit: the answer that set it stands. */
    if (!found || st->code == LX_E_MEMORY) return false;
    *st = none;
    return true;
}

bool propagate_sticks(const struct lx_graph *g, const bool *alive, const struct lx_repeat *runs,
                      int32_t run_count, struct arena *memory, struct stick_plan *out, lx_status *st)
{
    size_t width = g->op_count > MAX_NODES / WIDTH ? (size_t)(MAX_NODES / g->op_count) : WIDTH;
    out->way = arena_array(memory, (size_t)g->op_count, sizeof *out->way);
    if (!out->way || !stick_costs_make(g, memory, &out->costs)) return status_no_memory(st);
    struct stick_layers layers;
    bool ok = stick_layers_make(&layers, g, alive, runs, run_count, st) &&
              search_twice(g, alive, width, &layers, out, st);
    stick_layers_free(&layers);
    return ok;
}
