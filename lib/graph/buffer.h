/* A buffer is placed in a scratchpad. Patterns may list buffers outright; for graphs the scratchpad stage
 * derives them from tensors and ops. Solvers see nothing else. */
#ifndef LX_GRAPH_BUFFER_H
#define LX_GRAPH_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

/* What is asked of a solver; see placement/problem.h. */
enum lx_objective { LX_SPILL, LX_FIT, LX_HEIGHT, LX_OBJECTIVE_COUNT };

const char *lx_objective_word(enum lx_objective o);

/* Ticks [start, end). */
struct lx_life {
    int64_t start, end;
};

struct lx_buffer {
    const char *name;
    int64_t size;       /* bytes on each core; 0 is allowed and conflicts with nothing */
    int64_t start, end; /* live on [start, end), start < end */
    const struct lx_life
        *lives;          /* several: rising and disjoint, [start, end) is then their hull; at one address,
                                    the bytes are free in between. NULL: one life, [start, end) */
    int32_t life_count;  /* 0 or at least 2 */
    const int64_t *uses; /* strictly increasing ticks, one per accessing op; may be empty */
    int32_t use_count;
    bool first_use_is_read; /* a graph input: it exists before its first use */
    const int32_t *parents; /* buffers whose slot this one may take over, in order of preference */
    int32_t parent_count;
    int64_t fixed;        /* the only address it may have, or -1 */
    int32_t fixed_pool;   /* with it: the pool */
    bool alone;           /* with it: nobody else has its bytes at any time while it is placed */
    bool must;            /* it may not be left off chip, also where cost is asked for */
    const int32_t *pools; /* where it may be, best first; NULL: in every pool at no cost */
    const int64_t
        *on_costs;      /* parallel to `pools` (NULL: to all pools): what being there costs; NULL: nothing */
    int32_t pool_count; /* of both; with on_costs alone: of all pools */
    int64_t alignment;  /* of this buffer: a multiple of the problem's, or 0 for the problem's own */
    int64_t spill_cost; /* bytes of HBM traffic that being off chip costs; >= 0 */
    const char *reason; /* why it may not be placed; NULL if it may */
    int line, column;   /* where the pattern declares it; 0 if it was generated */
};

enum { LX_NO_LIMIT = -1, LX_FORBIDDEN = -1 };

/* Bytes [from, to) that belong to nobody on ticks [start, end); for all time: INT64_MIN and INT64_MAX. */
struct lx_reserved {
    int64_t from, to, start, end;
};

struct lx_pool {
    const char *name;
    int64_t capacity; /* LX_NO_LIMIT: where height is asked for only */
    const struct lx_reserved *reserved;
    int32_t reserved_count;
};

struct lx_pair {
    int32_t a, b;
};

struct lx_group {
    const int32_t *at;
    int32_t count;
};

/* Paid once if all of `all_on` are placed, all of `all_off` are off and, where one of the last two has
 * members, some member of `any_on` is placed or some member of `any_off` is off. */
struct lx_linked_cost {
    int64_t cost; /* LX_FORBIDDEN: this must not happen */
    struct lx_group all_on, all_off, any_on, any_off;
};

/* Paid if both are in one pool, share a byte and are never alive together. */
struct lx_reuse {
    int32_t a, b;
    int64_t cost;
};

/* What binds buffers to one another; all of it may be absent. Buffers by their numbers. */
struct lx_bonds {
    const struct lx_pair *apart;       /* never share a byte, whatever their lives */
    const struct lx_pair *exclusive;   /* never alive at once, whatever their lives say */
    const struct lx_pair *staging;     /* a is placed exactly when b is off; a has no spill_cost */
    const struct lx_group *same_place; /* one pool and address for all, or all off */
    const struct lx_group *together;   /* all of them placed, or none */
    const struct lx_linked_cost *linked_costs;
    const struct lx_reuse *reuse;
    int32_t apart_count, exclusive_count, staging_count, same_place_count, together_count, linked_cost_count,
        reuse_count;
};

/* Buffers that go together: what a list in a file, a placement problem and a choice out of one have in
 * common. */
struct lx_buffers {
    const struct lx_buffer *at;
    int32_t count;
    int64_t alignment;  /* of buffers without one of their own */
    const int64_t *ids; /* numbers that another tool gave them; NULL: from 0 in this order */
};

#endif
