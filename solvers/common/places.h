/* Where a buffer may go among the placed ones: several pools and lives, reserved bytes, pairs that are apart,
 * exclusive or alone, in-place edges, reuse. The caller decides whether to place it. The contemporaries of a
 * buffer come from a live index, O(log n) each; exact lives and pairs are then checked one by one. */
#pragma once

#include "common/crowds.h"
#include "common/taken_bits.h"

/* Partners of a buffer in some kind of pair, with what the pair costs. */
struct partners {
    size_t *first; /* count + 1 */
    int32_t *at;
    int64_t *cost; /* only for reuse */
};

struct spot {
    int32_t pool;
    int64_t address; /* LX_OFF_CHIP: no spot */
    int64_t cost;    /* of the spot: the pool's, and reuse that becomes due */
};

struct places {
    const struct lx_problem *p;
    int64_t *address; /* the answer's */
    int32_t *pool;
    bool tightest; /* take the smallest gap that fits, not the first */
    struct partners apart, exclusive, reuse, children;
    struct live_index placed;
    int32_t *found; /* contemporaries */
    int32_t found_count;
    struct byte_range *taken;
    struct taken_bits map;
    int32_t *mark; /* per buffer: the last query in which it was exclusive */
    int32_t query;
    int32_t *alone; /* buffers that never share bytes with others */
    int32_t alone_count;
    int64_t *top; /* per pool: the highest end, of reserved bytes too; never lowered */
    struct arena memory;
};

/* `address` and `pool` have room for all buffers; nothing is placed. The caller frees placed.memory, map.bits
 * and `memory`. */
void places_init(struct places *x, const struct lx_problem *p, int64_t *address, int32_t *pool,
                 bool tightest);

/* The best spot for an unplaced buffer. */
struct spot places_find(struct places *x, int32_t i);
void places_put(struct places *x, int32_t i, const struct spot *at);
void places_take(struct places *x, int32_t i);
