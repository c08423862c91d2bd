/* The state of the annealing and its incremental decoder.
 *
 * A state gives each item a key; items are placed in the order of their keys. Items that share a slot (a
 * chain of handovers) form a *group* with one key and one base. Decoding stacks each group on the highest top
 * of earlier, conflicting, placed items: support = max top, base = support aligned (or the fixed address, if
 * the support is not above that). In `evicting` mode an item whose base is above its `last` is evicted and
 * supports nothing; otherwise it stays and counts its overflow. An item may also be *shut*: off chip by
 * choice, where links make that better. The value of a state is the sum of the items' penalties, 0 for placed
 * ones, and of the energy of the links. Invariants between moves: all members of a group have the same key,
 * base and support; keys differ between groups (the low bits hold the root's index); top == 0 for evicted
 * items; `penalty`, `spilled`, the links and `off` follow from the cells. Tests compare them with a full
 * decode. */
#pragma once

#include "common/links.h"
#include "base/rng.h"

/* An annealed problem has fewer than 2^24 items. */
enum { KEY_INDEX_BITS = 24, KEY_ORDINAL_BITS = 40, TURN_MOST = 16 };

/* The inner loops touch only this: 32 bytes per item. */
struct cell {
    uint64_t key;
    int64_t top;     /* base + size; 0 when evicted */
    int64_t support; /* of the whole group, before alignment */
    int64_t base;    /* where the group stands, or would if there were room */
};

/* A change of the state, to be taken back when the move is rejected. */
struct change {
    int32_t item;
    struct cell cell;
    int64_t penalty;
    bool off;
};

struct waiting {
    uint64_t key;
    int32_t root;
};

struct decoder {
    const struct items *it;
    struct links *links; /* NULL: none; otherwise the decoder's own, which it keeps up to date */
    bool evicting;
    struct cell *cell;
    int64_t *last;        /* highest base allowed now (moves with the target height) */
    int64_t *fee, *slope; /* penalty of a violating item: fee + slope * overflow */
    int64_t overflow_cap; /* overflow counts up to here, so that no penalty overflows */
    int64_t *item_penalty;
    bool *shut;
    int32_t *root;         /* the first member of the group */
    int32_t *heir, *donor; /* the next and the previous member of the chain, or NO_ITEM */
    int64_t penalty;       /* sum of item_penalty and the energy of the links */
    int64_t spilled;       /* sum of the costs of the items in `off` */
    struct item_set off;   /* the violating and the shut items */
    /* work of one move */
    struct waiting *queue; /* binary heap by key */
    int32_t queued;
    bool *in_queue, *moving;
    int64_t *raised;  /* of a queued root: the highest new top under it, or UNKNOWN */
    int32_t *touched; /* neighbours affected by one change */
    struct change *trail;
    size_t trail_count;
    struct edge linked; /* the edge that the move joined or parted; parent NO_ITEM: none */
    bool linked_join;
    int32_t *turned, turned_count; /* items that the move shut or opened */
    int64_t ceiling;               /* a move whose energy rises above it is abandoned half decoded */
    bool hopeless;                 /* the move was abandoned: decoder_undo must follow */
    struct item_set stale;         /* the items that changed since the last save */
    int64_t visits;                /* groups decoded in all */
    int64_t looks;                 /* neighbours visited in all: the time goes here */
    int64_t polled_at;             /* value of `looks` at the last poll for cancellation */
    bool cancelled;
    struct arena memory;
};

/* The caller frees `memory`. */
void decoder_make(struct decoder *d, const struct items *it, bool evicting);
/* Uses these links from now on; call before decoder_load. */
void decoder_link(struct decoder *d, struct links *links);

/* Sets keys and chains from a placement, in the order of its bases, items off chip last. */
void decoder_load(struct decoder *d, const int64_t *base);
/* Decodes everything; needed after decoder_load and after a change of `last`, `fee` or `slope`. False:
 * cancelled, the state is unusable. */
bool decoder_decode_all(struct decoder *d);
/* Writes the bases of the items within their limits, NOT_PLACED for the others. Writes only changes since the
 * last save: always pass the same array, which no other code may write between two saves without a
 * decoder_decode_all. */
void decoder_save(struct decoder *d, int64_t *base);

/* The moves. Each decodes what it changes and adds to the trail; decoder_undo undoes everything since
 * decoder_begin. Ordinals are the upper bits of keys. */
void decoder_begin(struct decoder *d);
void decoder_move(struct decoder *d, int32_t item, uint64_t ordinal);
void decoder_swap(struct decoder *d, int32_t item, int32_t other);
/* Joins the chains of the edge's ends, or parts them. Joining needs decoder_may_join. */
bool decoder_may_join(const struct decoder *d, struct edge e);
void decoder_join(struct decoder *d, struct edge e, uint64_t ordinal);
void decoder_part(struct decoder *d, struct edge e, uint64_t ordinal);
/* Shuts the open ones of these items and opens the shut ones; at most TURN_MOST, each once. */
void decoder_turn(struct decoder *d, const int32_t *items, int32_t count);
void decoder_undo(struct decoder *d);

static inline uint64_t key_ordinal(uint64_t key)
{
    return key >> KEY_INDEX_BITS;
}

/* A random number below n, by multiplication. */
static inline uint32_t anneal_pick(struct rng *rng, uint32_t n)
{
    return (uint32_t)(((rng_next(rng) >> 32) * n) >> 32);
}

/* Chooses the next change to try. */

/* Shares of the kinds of moves, in 1024ths, from the option table. */
struct move_mix {
    uint32_t off;      /* start from an item that does not fit */
    uint32_t critical; /* swap two items of the critical stack under it */
    uint32_t merge;    /* take over or give up a parent's slot, where there are edges */
    uint32_t far;      /* put the item anywhere in the order (otherwise: beside a conflicting one) */
    uint32_t swap;     /* exchange two conflicting items (otherwise: move one of them) */
    uint32_t turn;     /* shut or open linked items, if there are any */
};

/* Tries one change: decodes it into `d`, leaving the trail for an undo. */
void try_move(struct decoder *d, const struct move_mix *mix, struct rng *rng);
