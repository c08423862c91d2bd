/* The beam search over the ways of all ops: types that its files share. Private to the stage. */
#pragma once

#include "layout/propagate.h"
#include "network/beam.h"

struct tensor_uses {
    int32_t *first, *last_use; /* per tensor: the first and last live op that touches it; -1: none */
    int32_t *readers;          /* per tensor: operands that read it */
    bool *written;             /* per tensor: a live op writes it */
    bool *packed;              /* per tensor: the host packs it, with the stick that its first reader needs */
    bool *rigid;               /* per tensor: a copy in another layout cannot replace its own layout */
    int32_t most_live; /* most tensors alive at once, counting written ones and inputs with several readers */
};

void tensor_uses_make(const struct lx_graph *g, const bool *alive, enum lx_weights weights,
                      struct tensor_uses *out);
void tensor_uses_free(struct tensor_uses *u);

/* State of a tensor: its stick option in the bits from 12 up, below them one bit per existing copy. Option 0
 * is sparse, option d + 1 is a stick along dimension d. */
#define PRIMARY(s)     ((int)((s) >> 12) - 1)
#define COPIES(s)      ((unsigned)(s)&0xfffu)
#define HAS(s, stick)  ((COPIES(s) >> ((stick) + 1) & 1) != 0)
#define FRESH(stick)   ((int32_t)((unsigned)((stick) + 1) << 12 | 1u << ((stick) + 1)))
#define WITH(s, stick) ((int32_t)((unsigned)(s) | 1u << ((stick) + 1)))

/* `base.rank` is `moved` plus a lower bound on the moves of the remaining ops. */
struct stick_node {
    struct beam_node base;
    int64_t moved, footprint;
};

struct stick_search {
    const struct lx_graph *g;
    const bool *alive;
    enum lx_weights weights;
    struct stick_costs costs;
    struct tensor_uses uses;
    struct beam beam;
    int32_t *slot;      /* per tensor: its slot in a state, or -1 */
    int32_t *tensor_at; /* per slot: the tensor in it */
    int32_t slot_count;
    int32_t *free_slots, free_count;
    int64_t *least_after; /* per op: a lower bound on the cost of this op and all later ones */
    bool by_size;         /* laid-out elements count as moved, too */
    /* The current op. */
    int32_t changed[LX_MAX_OPERANDS], changed_count; /* slots of its operands */
    struct stick_way ways[MAX_STICK_WAYS];
    int way_count;
    int64_t packing[MAX_STICK_WAYS][LX_MAX_INPUTS]; /* per way and free input: what its packing costs */
    int32_t *row;                                   /* scratch */
    struct arena memory;
};

/* stick_states.c. Begins op `o`: lists its ways and gives its results slots. */
void stick_begin_op(struct stick_search *s, int32_t o);
/* Extends state `from` by a way of the op, if the way is possible there. */
void stick_offer(struct stick_search *s, int32_t o, int32_t from, int way);
/* Ends op `o`: keeps the best `width` undominated states, frees slots of dead tensors. */
void stick_end_op(struct stick_search *s, int32_t o, int32_t width);
/* Elements that a realigning view moves: the smaller operand's. */
int64_t stick_realign_cost(const struct stick_search *s, const struct lx_op *op, const struct stick_way *w);
void stick_take_slot(struct stick_search *s, int32_t tensor);
/* Whether `a`, after making all copies of `b`, costs no more than `b`. The beam's dominance rule. */
bool stick_dominates(const void *search, const void *a, const int32_t *row_a, const void *b,
                     const int32_t *row_b);

static inline const struct stick_node *stick_node_of(const struct stick_search *s, int32_t at)
{
    return beam_node_of(&s->beam, at);
}
