/* How many hold a thing that is shared and constant.
 *
 * The count lives in memory of its own that the thing points to, so that holding a constant thing once more
 * needs no cast; it may be changed from any thread. */
#ifndef LX_BASE_USERS_H
#define LX_BASE_USERS_H

#include "base/arena.h"

#include <stdatomic.h>
#include <stdbool.h>

struct users {
    atomic_int count;
};

/* One user; in `memory`, which its last user frees. NULL: memory is out. */
static inline struct users *users_new(struct arena *memory)
{
    struct users *u = arena_alloc(memory, sizeof *u);
    if (u) atomic_init(&u->count, 1);
    return u;
}

static inline void users_add(struct users *u)
{
    atomic_fetch_add_explicit(&u->count, 1, memory_order_relaxed);
}

/* True: that was the last one, and nobody else sees the thing any more. */
static inline bool users_remove(struct users *u)
{
    return atomic_fetch_sub_explicit(&u->count, 1, memory_order_acq_rel) == 1;
}

#endif
