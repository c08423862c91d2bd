/* What a plan takes on chip: how much over time, and what is free between; of one pool or of
 * all together. Bytes count once however many buffers are on them (exclusive ones, those of one place); on the tick of a
 * handover parent and child share the parent's bytes; between its lives a buffer takes nothing; reserved bytes are nobody's and not free either. */
#ifndef LX_PLAN_OCCUPANCY_H
#define LX_PLAN_OCCUPANCY_H

#include "plan/plan.h"

/* Bytes that are taken over time: from tick[i] until tick[i + 1], bytes[i]. */
struct lx_occupancy {
    int64_t *tick, *bytes;
    size_t count;
    int64_t peak, peak_tick;
    int64_t first, last; /* the lives of all buffers that may be placed lie in [first, last) */
    size_t width;        /* bytes[] is the leaves of a tree of maxima: nodes[width + i] */
    int64_t *nodes;
};

enum { LX_ALL_POOLS = -1 };

/* The pool of a placed buffer. */
static inline int32_t lx_pool_of(const struct lx_plan *p, int32_t buffer)
{
    return p->answer.pool ? p->answer.pool[buffer] : 0;
}

/* On one of its lives. */
static inline bool lx_is_alive(const struct lx_buffer *b, int64_t tick)
{
    for (int32_t i = 0; i < lx_life_count(b); i++) {
        struct lx_life life = lx_life_at(b, i);
        if (tick >= life.start && tick < life.end) return true;
    }
    return false;
}

/* Of a plan that has addresses and handovers: in one pool, or LX_ALL_POOLS. False when memory is out. */
void lx_occupancy_make(const struct lx_plan *p, int32_t pool, struct lx_occupancy *out);
/* The most that is taken during [from, to). O(log buffers). */
int64_t lx_occupancy_most(const struct lx_occupancy *o, int64_t from, int64_t to);
void lx_occupancy_free(struct lx_occupancy *o);

/* Free stretches of a pool at a tick, below its capacity (with the objective height: below the height). */
struct lx_holes {
    int64_t from, to; /* the one around an address; -1: it is taken */
    int64_t largest_from, largest_to;
    int64_t free_bytes;
    int32_t count;
};

/* False when memory is out. */
bool lx_holes_at(const struct lx_plan *p, int32_t pool, int64_t tick, int64_t address, struct lx_holes *out);

#endif
