/* The search over the ways of all ops as its parts share it. Private to the stage. */
#ifndef LX_LAYOUT_STICK_SEARCH_H
#define LX_LAYOUT_STICK_SEARCH_H

#include "layout/propagate.h"
#include "network/beam.h"
#include "graph/graph.h"

struct tensor_uses {
    int32_t *first, *last_use; /* per tensor: the first and last live op that touches it; -1: none */
    int32_t *readers;          /* per tensor: operands that read it */
    bool *written;             /* per tensor: by a live op */
    bool *rigid;       /* per tensor: its own layout matters, not only that a copy in another exists */
    int32_t most_live; /* tensors that are written, or read several times, and alive at once */
};

void tensor_uses_make(const struct lx_graph *g, const bool *alive, struct tensor_uses *out);
void tensor_uses_free(struct tensor_uses *u);

/* A tensor in a state: the option of its stick above, a bit for each existing option below. Option 0 is
 * sparse, option d + 1 a stick along dimension d. */
#define PRIMARY(s)     ((int)((s) >> 12) - 1)
#define COPIES(s)      ((unsigned)(s)&0xfffu)
#define HAS(s, stick)  ((COPIES(s) >> ((stick) + 1) & 1) != 0)
#define FRESH(stick)   ((int32_t)((unsigned)((stick) + 1) << 12 | 1u << ((stick) + 1)))
#define WITH(s, stick) ((int32_t)((unsigned)(s) | 1u << ((stick) + 1)))

/* `base.rank`: what was moved, and what the ops to come move at least. */
struct stick_node {
    struct beam_node base;
    int64_t moved, footprint;
};

struct stick_search {
    const struct lx_graph *g;
    const bool *alive;
    struct stick_costs costs;
    struct tensor_uses uses;
    struct beam beam;
    int32_t *slot;      /* per tensor: its place in states, or -1 */
    int32_t *tensor_at; /* per slot: the tensor in it */
    int32_t slot_count;
    int32_t *free_slots, free_count;
    int64_t *least_after; /* per op: what this op and all later ones cost at least */
    bool by_size;         /* what is laid out counts as moved, too */
    int64_t peak;         /* the highest rank of a kept state, since it was last set */
    /* The op at hand. */
    int32_t changed[LX_MAX_OPERANDS], changed_count; /* slots of its operands */
    struct stick_way ways[MAX_STICK_WAYS];
    int way_count;
    int32_t *row; /* scratch */
    struct arena memory;
};

/* stick_states.c. An op begins: its ways are listed, and its results have slots. */
void stick_begin_op(struct stick_search *s, int32_t o);
/* State `from` goes on with a way of the op, if that is possible there. */
void stick_offer(struct stick_search *s, int32_t o, int32_t from, int way);
/* An op ends: the best `width` undominated states go on, slots of dead tensors are freed. */
void stick_end_op(struct stick_search *s, int32_t o, int32_t width);
/* Elements that a realigning view moves: those of the smaller operand. */
int64_t stick_realign_cost(const struct stick_search *s, const struct lx_op *op, const struct stick_way *w);
void stick_take_slot(struct stick_search *s, int32_t tensor);
/* Could `a`, by making all copies that `b` has, go on like b and cost no more? A rule of the beam. */
bool stick_dominates(const void *search, const void *a, const int32_t *row_a, const void *b,
                     const int32_t *row_b);

static inline const struct stick_node *stick_node_of(const struct stick_search *s, int32_t at)
{
    return beam_node_of(&s->beam, at);
}

/* Repeated layers (graph/graph.h) are searched until the states at the end of one equal those of the one
 * before, but for a constant cost and tensor numbers. Later layers repeat the same ways without a search,
 * with the same result. A layer is searched where the limit would drop a state that the last one kept. */

/* All that the search had where a layer began. */
struct stick_border {
    int32_t op; /* -1: nothing is known */
    VEC(struct stick_node) states;
    VEC(int32_t) rows, slot, open_tensors;
};

struct stick_layers {
    const struct lx_graph *g;
    struct lx_repeat *runs;
    int32_t run_count, at; /* at: the run under way */
    struct stick_border last;
    int32_t *twin, *of; /* per tensor of a layer: that of the next one, and back; -1: none */
    VEC(int32_t) touched;
    int32_t again; /* layers that were not searched, of the last search */
};

/* stick_layers.c. `alive`: runs with dead ops are left out. */
void stick_layers_make(struct stick_layers *l, const struct lx_graph *g, const bool *alive,
                       const struct lx_repeat *runs, int32_t run_count);
void stick_layers_free(struct stick_layers *l);
/* A search begins. */
void stick_layers_begin(struct stick_layers *l);
/* Before op *o: did the search go on over whole layers, up to the op that *o is then? */
bool stick_layers_go(struct stick_layers *l, struct stick_search *s, int32_t *o, int32_t width);

#endif
