/* Where a buffer may go among those that have a place: several pools and lives, reserved bytes, pairs
 * that are apart, exclusive or alone, in-place edges, reuse. No other rules: whether it should go there
 * is not asked here. The placed buffers stand in a tree by start that holds the latest end below each
 * node, so that the contemporaries of a buffer are found in O(log n) each; exact lives and pairs are
 * looked at one by one then. */
#ifndef LX_SOLVERS_COMMON_PLACES_H
#define LX_SOLVERS_COMMON_PLACES_H

#include "common/taken_bits.h"

/* Partners of a buffer in some kind of pair, with what the pair costs. */
struct partners {
    size_t *first; /* count + 1 */
    int32_t *at;
    int64_t *cost; /* of reuse only */
};

struct spot {
    int32_t pool;
    int64_t address; /* LX_OFF_CHIP: there is none */
    int64_t cost;    /* of being there: the pool's, and reuse that begins to be paid */
};

struct places {
    const struct lx_problem *p;
    int64_t *address; /* the answer's */
    int32_t *pool;
    bool tightest; /* of several gaps the smallest, not the first */
    struct partners apart, exclusive, reuse, children;
    int32_t *order, *leaf; /* buffers by start, and back */
    int64_t *latest;       /* tree: the latest end of the placed below, INT64_MIN for none */
    int32_t width;
    int32_t *found; /* room for contemporaries */
    int32_t found_count;
    struct byte_range *taken;
    struct taken_bits map;
    int32_t *mark; /* per buffer: the number of the last query that it is exclusive in */
    int32_t query;
    int32_t *alone; /* buffers that share with nobody at any time */
    int32_t alone_count;
    int64_t *top; /* per pool: the highest end, of reserved bytes too; never lowered */
};

/* `address` and `pool` have room for all; nobody is placed. */
void places_init(struct places *x, const struct lx_problem *p, int64_t *address, int32_t *pool,
                 bool tightest);
void places_free(struct places *x);
/* The best spot for a buffer that has none. */
struct spot places_find(struct places *x, int32_t i);
void places_put(struct places *x, int32_t i, const struct spot *at);
void places_take(struct places *x, int32_t i);

#endif
