/* States of a search: what an op does to one, which are alike, and which go on. */
#include "base/fail.h"
#include "base/checked.h"
#include "base/memory.h"
#include "layout/stick_search.h"

#include <stdlib.h>
#include <string.h>

/* A state is compared with so many of the cheapest; more find little and cost time. */
enum { DOMINATORS = 8 };

int64_t stick_realign_cost(const struct stick_search *s, const struct lx_op *op, const struct stick_way *w)
{
    if (!w->realigns) return 0;
    return min_i64(stick_elements_of(&s->costs, op->inputs[0], stick_for_need(w->need[0])),
                   stick_elements_of(&s->costs, op->output, stick_for_need(w->need[1])));
}

/* A result or a copy is laid out. */
static void stick_states_lay_out(const struct stick_search *s, int32_t t, int stick, struct stick_state *to)
{
    int64_t elements = stick_elements_of(&s->costs, t, stick);
    to->footprint = add_saturated(to->footprint, elements);
    if (s->by_size) to->moved = add_saturated(to->moved, elements);
}

/* A result takes the layout that the way has for it. */
static bool stick_states_make_result(const struct stick_search *s, int32_t t, int need, tensor_state *key,
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
    stick_states_lay_out(s, t, stick, to);
    return stick_elements_of(&s->costs, t, stick) < INT64_MAX;
}

bool stick_apply(const struct stick_search *s, const struct lx_op *op, const struct stick_way *w,
                 tensor_state *key, struct stick_state *to)
{
    const struct lx_graph *g = s->g;
    to->moved = add_saturated(to->moved, stick_realign_cost(s, op, w));
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
        stick_states_lay_out(s, t, wanted, to);
        if (s->slot[t] >= 0) key[s->slot[t]] = WITH(ts, wanted);
    }
    for (int i = op->input_count; i < op_operand_count(op); i++)
        if (!stick_states_make_result(s, op_operand(op, i), w->need[i], key, to)) return false;
    return to->moved < INT64_MAX;
}

/* A state's hash is the sum over its slots, so that an op changes only what it touches of it: graphs of thousands of ops have
 * thousands of slots. */
uint64_t stick_slot_hash(int32_t slot, tensor_state of)
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
        if (!again) sum += stick_slot_hash(slot, key[slot]);
    }
    return sum;
}

/* Could `a`, by making all copies that `b` has, go on like b and cost no more? */
static bool stick_states_dominates(const struct stick_search *s, const struct stick_state *a,
                                   const tensor_state *ka, const struct stick_state *b,
                                   const tensor_state *kb)
{
    struct stick_state all = *a;
    for (size_t k = s->open.count; k-- > 0 && all.moved <= b->moved;) { /* the last ones decide most often */
        int32_t i = s->open.at[k], t = s->tensor_at[i];
        if (ka[i] == kb[i]) continue;
        if (s->uses.rigid[t] && PRIMARY(ka[i]) != PRIMARY(kb[i])) return false;
        unsigned lacks = COPIES(kb[i]) & ~COPIES(ka[i]);
        for (int stick = -1; lacks >> (stick + 1); stick++) {
            if (!(lacks >> (stick + 1) & 1)) continue;
            all.moved = add_saturated(all.moved, stick_move_cost(&s->costs, t, COPIES(ka[i]), stick));
            stick_states_lay_out(s, t, stick, &all);
        }
    }
    return all.moved < b->moved || (all.moved == b->moved && all.footprint <= b->footprint);
}

bool stick_keep(struct stick_search *s, const struct stick_state *state, const tensor_state *key)
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

bool stick_clear_table(struct stick_search *s, size_t candidates)
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

static int stick_states_by_cost(const void *a, const void *b)
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

bool stick_advance(struct stick_search *s, int32_t op, size_t width)
{
    size_t n = (size_t)s->slot_count, count = s->next.count, kept = 0;
    struct ranked *order = mem_alloc((count + 1) * sizeof *order);
    size_t most = count < width ? count : width;
    bool ok = order && VEC_RESERVE(&s->now_keys, most * n + 1) && VEC_RESERVE(&s->now, most) &&
              VEC_RESERVE(&s->nodes, s->nodes.count + most) &&
              VEC_PUSH(&s->layer_begin, (int32_t)s->nodes.count);
    for (size_t i = 0; ok && i < count; i++)
        order[i] = (struct ranked){s->next.at[i].moved, s->next.at[i].footprint, (int32_t)i};
    if (ok) qsort(order, count, sizeof *order, stick_states_by_cost);
    for (size_t i = 0; ok && i < count; i++) {
        const struct stick_state *from = &s->next.at[order[i].index];
        const tensor_state *key = &s->next_keys.at[(size_t)order[i].index * n];
        bool dominated = false;
        for (size_t k = 0; k < kept && k < DOMINATORS && !dominated; k++)
            dominated = stick_states_dominates(s, &s->now.at[k], &s->now_keys.at[k * n], from, key);
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
    mem_free(order);
    return ok ? true : status_no_memory(s->st);
}

void stick_take_slot(struct stick_search *s, int32_t tensor)
{
    if (s->slot[tensor] >= 0) return;
    s->slot[tensor] = s->free_slots.at[--s->free_slots.count];
    s->tensor_at[s->slot[tensor]] = tensor;
}

void stick_begin_op(struct stick_search *s, const struct lx_op *op)
{
    for (int i = op->input_count; i < op_operand_count(op); i++) stick_take_slot(s, op_operand(op, i));
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

int64_t stick_work(const struct stick_search *s, size_t states)
{
    enum { EACH_OP = 4000, EACH_STATE = 500 };
    return EACH_OP + (EACH_STATE + s->slot_count) * (int64_t)states;
}
