/* A scratchpad tick by tick, in which what is there may be moved to make room. Blocks stand by address and keep their
 * order, so that moves made one after the other never overwrite what is still to be moved. Private to the stage. */
#ifndef LX_SEARCH_MOVE_ROOM_H
#define LX_SEARCH_MOVE_ROOM_H

#include "base/vec.h"

#include <stdint.h>

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

/* A place for a new block: the tightest gap, else the one for which least is moved. False: there is none, or (`*failed`)
 * memory is out. */
bool room_insert(struct room *r, struct room_block new, bool *failed);

#endif
