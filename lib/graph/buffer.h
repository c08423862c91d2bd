/* A buffer is placed in a scratchpad. Patterns may list buffers; for graphs the scratchpad stage derives
 * them from tensors and ops. Solvers see nothing else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Objective of a solver; see placement/problem.h. */
enum lx_objective { LX_SPILL, LX_FIT, LX_HEIGHT, LX_OBJECTIVE_COUNT };

const char *lx_objective_word(enum lx_objective o);

/* Ticks [start, end). */
struct lx_life {
    int64_t start, end;
};

struct lx_buffer {
    const char *name;
    int64_t size;       /* bytes on each core; 0 is allowed and conflicts with nothing */
    int64_t start, end; /* live on [start, end) */
    /* several disjoint lives in rising order, at one address; [start, end) is their hull, the bytes are free
     * in between. NULL: one life */
    const struct lx_life *lives;
    int32_t life_count;  /* 0 or at least 2 */
    const int64_t *uses; /* strictly increasing ticks, one per accessing op; may be empty */
    int32_t use_count;
    bool first_use_is_read; /* a graph input: it exists before its first use */
    const int32_t *parents; /* buffers whose address this one may take over, in order of preference */
    int32_t parent_count;
    int64_t fixed;        /* the only legal address, or -1 */
    int32_t fixed_pool;   /* pool of the fixed address */
    bool alone;           /* with `fixed`: no other buffer may use its bytes at any time while it is placed */
    bool must;            /* must be on chip, even if that costs more */
    const int32_t *pools; /* legal pools, best first; NULL: every pool */
    const int64_t *on_costs; /* cost of being in each of `pools` (NULL: of all pools); NULL: 0 */
    int32_t pool_count;      /* entries of `pools` and on_costs; all pools if only on_costs is given */
    int64_t alignment;       /* a multiple of the problem's alignment; 0: the problem's */
    int64_t spill_cost;      /* bytes of HBM traffic if it is off chip; >= 0 */
    const char *reason;      /* why it must stay off chip; NULL if it need not */
    int line, column;        /* position in the pattern; 0 if generated */
};

enum { LX_NO_LIMIT = -1, LX_FORBIDDEN = -1 };

/* Bytes [from, to) that no buffer may use on ticks [start, end). For all time: INT64_MIN and INT64_MAX. */
struct lx_reserved {
    int64_t from, to, start, end;
};

struct lx_pool {
    const char *name;
    int64_t capacity; /* LX_NO_LIMIT only with the objective LX_HEIGHT */
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

/* Paid once if all of `all_on` are placed and all of `all_off` are off, and, unless any_on and any_off are
 * empty, some member of `any_on` is placed or some member of `any_off` is off. */
struct lx_linked_cost {
    int64_t cost; /* LX_FORBIDDEN: the combination is illegal */
    struct lx_group all_on, all_off, any_on, any_off;
};

/* Paid if both are in one pool, share a byte and never live at once. */
struct lx_reuse {
    int32_t a, b;
    int64_t cost;
};

/* Constraints between buffers, by buffer number. All are optional. */
struct lx_bonds {
    const struct lx_pair *apart;       /* never share a byte, whatever their lives */
    const struct lx_pair *exclusive;   /* treated as never alive at once, against their lives */
    const struct lx_pair *staging;     /* a is placed if and only if b is off; a has no spill_cost */
    const struct lx_group *same_place; /* one pool and address for all members, or all off */
    const struct lx_group *together;   /* all members placed, or none */
    const struct lx_linked_cost *linked_costs;
    const struct lx_reuse *reuse;
    int32_t apart_count, exclusive_count, staging_count, same_place_count, together_count, linked_cost_count,
        reuse_count;
};

/* A list of buffers, shared by files, placement problems and choices. */
struct lx_buffers {
    const struct lx_buffer *at;
    int32_t count;
    int64_t alignment;  /* of buffers with alignment 0 */
    const int64_t *ids; /* numbers from another tool; NULL: the index */
};
