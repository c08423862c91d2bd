/* Reference count of a shared, constant thing. The count is in separate memory that the thing points to, so
 * that a constant thing can be referenced without a cast; any thread may change it. An unwinding border gives
 * back references taken inside it. */
#pragma once

#include "base/arena.h"
#include "base/border.h"

#include <stdatomic.h>
#include <stdbool.h>

struct users {
    atomic_int count;
    struct border_place made;
    void (*release)(const void *thing); /* gives one reference back */
    const void *thing;
};

/* A count of one, allocated in `memory`, which the last user frees. */
static inline struct users *users_new(struct arena *memory, const void *thing,
                                      void (*release)(const void *thing))
{
    struct users *users = arena_alloc(memory, sizeof *users);
    *users = (struct users){.made = border_here(), .release = release, .thing = thing};
    atomic_init(&users->count, 1);
    return users;
}

static inline void users_add(struct users *users)
{
    border_note(users, 1);
    atomic_fetch_add_explicit(&users->count, 1, memory_order_relaxed);
}

/* True: it was the last reference. */
static inline bool users_remove(struct users *users)
{
    border_note(users, -1);
    return atomic_fetch_sub_explicit(&users->count, 1, memory_order_acq_rel) == 1;
}
