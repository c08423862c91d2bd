/* On-chip bytes over time, and free ranges, of one pool or all. Shared bytes count once; on the tick of a
 * handover parent and child share the parent's bytes; reserved bytes are neither free nor in use. */
#pragma once

#include "plan/plan.h"

/* Bytes in use over time: bytes[i] from tick[i] until tick[i + 1]. */
struct lx_occupancy {
    int64_t *tick, *bytes;
    size_t count;
    int64_t peak, peak_tick;
    int64_t first, last; /* lives of all buffers that may be placed lie in [first, last) */
    size_t width;        /* bytes[] are the leaves of a tree of maxima: nodes[width + i] */
    int64_t *nodes;
};

enum { LX_ALL_POOLS = -1 };

/* The pool of a placed buffer. */
static inline int32_t lx_pool_of(const struct lx_plan *p, int32_t buffer)
{
    return p->answer.pool ? p->answer.pool[buffer] : 0;
}

/* True if `tick` is in one of the buffer's lives. */
static inline bool lx_is_alive(const struct lx_buffer *b, int64_t tick)
{
    for (int32_t i = 0; i < lx_life_count(b); i++) {
        struct lx_life life = lx_life_at(b, i);
        if (tick >= life.start && tick < life.end) return true;
    }
    return false;
}

/* The plan must have addresses and handovers. `pool`: a pool, or LX_ALL_POOLS. */
void lx_occupancy_make(const struct lx_plan *p, int32_t pool, struct lx_occupancy *out);
/* The most bytes in use during [from, to). O(log buffers). */
int64_t lx_occupancy_most(const struct lx_occupancy *o, int64_t from, int64_t to);
void lx_occupancy_free(struct lx_occupancy *o);

/* Free ranges of a pool at a tick, below its capacity (with objective height: below the height). */
struct lx_holes {
    int64_t from, to; /* the range around `address`; -1: in use */
    int64_t largest_from, largest_to;
    int64_t free_bytes;
    int32_t count;
};

/* `alive`: the `count` buffers that are to be looked at; NULL: all. */
void lx_holes_at(const struct lx_plan *p, const int32_t *alive, int32_t count, int32_t pool, int64_t tick,
                 int64_t address, struct lx_holes *out);
