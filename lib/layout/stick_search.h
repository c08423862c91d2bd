/* The search over the ways of all ops as its parts share it. Private to the stage. */
#ifndef LX_LAYOUT_STICK_SEARCH_H
#define LX_LAYOUT_STICK_SEARCH_H

#include "base/vec.h"
#include "layout/propagate.h"
#include "layout/uses.h"

/* What a state knows of one tensor: the option of its stick above, a bit for each option that exists below.
 * Option 0 is sparse, option d + 1 a stick along dimension d. */
typedef uint16_t tensor_state;
#define PRIMARY(s)     ((int)((s) >> 12) - 1)
#define COPIES(s)      ((unsigned)(s)&0xfffu)
#define HAS(s, stick)  ((COPIES(s) >> ((stick) + 1) & 1) != 0)
#define FRESH(stick)   ((tensor_state)((unsigned)((stick) + 1) << 12 | 1u << ((stick) + 1)))
#define WITH(s, stick) ((tensor_state)((s) | 1u << ((stick) + 1)))

struct stick_node { /* one kept state of one layer, for the way back */
    int32_t parent;
    int16_t way;
};

struct stick_state {
    int64_t moved, footprint;
    int32_t parent;
    int16_t way;
    uint64_t hash;
};

struct stick_search {
    const struct lx_graph *g;
    const bool *alive;
    lx_status *st;
    struct stick_costs costs;
    int32_t *slot;      /* per tensor: its place in states, or -1 */
    int32_t *tensor_at; /* per slot: the tensor in it */
    struct tensor_uses uses;
    int32_t slot_count;
    VEC(int32_t) free_slots;
    VEC(int32_t) open; /* slots in which states of this layer or the next may differ; in others none do */
    bool *is_open;     /* per slot */
    VEC(struct stick_state) now, next;
    VEC(tensor_state) now_keys, next_keys; /* slot_count of each state */
    VEC(int32_t) table;
    VEC(struct stick_node) nodes;
    VEC(int32_t) layer_begin; /* per op: first node of its layer */
    int64_t dropped;          /* the least that a dropped state could have come to */
    int64_t limit;            /* a choice that costs this is known: dearer states are not followed */
    int64_t *least_after;     /* per op: what this op and all later ones cost at least */
    bool by_size;             /* what is laid out counts as moved, too */
    int64_t peak;             /* the most that a kept state could come to at least, since it was last set */
};

/* stick_states.c. Cost and effect of one way on one state; false if the way is impossible there. */
bool stick_apply(const struct stick_search *s, const struct lx_op *op, const struct stick_way *w,
                 tensor_state *key, struct stick_state *to);
/* What nobody uses behind op `o` is forgotten, and the state's hash is that of its key again; `from`: what it was. */
void stick_forget(const struct stick_search *s, int32_t o, const tensor_state *from, tensor_state *key,
                  struct stick_state *to);
/* What a view moves whose elements change their place within the sticks: no more than there are in either operand. */
int64_t stick_realign_cost(const struct stick_search *s, const struct lx_op *op, const struct stick_way *w);
uint64_t stick_slot_hash(int32_t slot, tensor_state of);
void stick_take_slot(struct stick_search *s, int32_t tensor);
/* The next layer is empty; where a state with this key stands in it, or a new one. */
bool stick_clear_table(struct stick_search *s, size_t candidates);
bool stick_keep(struct stick_search *s, const struct stick_state *state, const tensor_state *key);
/* The best `width` states of `next` that no cheaper one dominates become `now`, and get their nodes. */
bool stick_advance(struct stick_search *s, int32_t op, size_t width);
/* The next layer of states becomes this one. */
static inline void stick_take_next(struct stick_search *s)
{
    struct stick_search old = *s;
    s->now = old.next;
    s->next = old.now;
    s->now_keys = old.next_keys;
    s->next_keys = old.now_keys;
}
/* An op begins: its output has a slot, and states may differ in what it touches. */
void stick_begin_op(struct stick_search *s, const struct lx_op *op);
/* An op ends: slots in which all states are equal are told, those of tensors that nobody uses any more given back. */
void stick_end_op(struct stick_search *s, int32_t o);

/* The time that an op takes of the search, about, in units of base/stop.h. */
int64_t stick_work(const struct stick_search *s, size_t states);

#endif
