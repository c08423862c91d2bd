/* Stays that change their addresses, so that what is there makes room. */
#ifndef LX_SEARCH_MOVE_BUFFERS_H
#define LX_SEARCH_MOVE_BUFFERS_H

#include "base/vec.h"
#include "search/keep.h"

/* An engine: the model's choices of what to keep, with moves where they need some. */
bool move_search(struct search *search);
/* A plan of the decisions with what the choice keeps on chip, stays changing their addresses where they must; it is offered.
 * `c->order`: per tick the op of the model, NULL: as they stand. */
bool move_try(struct search *search, const struct keep_model *m, const struct keep_choice *c,
              const struct decisions *how);

/* move_room.c: a scratchpad tick by tick, in which what is there may be moved to make room. Blocks stand by address and keep
 * their order, so that moves made one after the other never overwrite what is still to be moved. */
struct room_block {
    int32_t owner, heir; /* heir: who takes its place over at the next tick, or -1 */
    int64_t address, size;
    int64_t old; /* address before this tick; -1: it is new */
    bool fixed;  /* it stays where it is */
};

struct room {
    int64_t capacity;
    VEC(struct room_block) blocks;
};

/* A place for a new block: the tightest gap, else the one for which least is moved. False: there is none. */
bool room_insert(struct room *r, struct room_block new);

#endif
