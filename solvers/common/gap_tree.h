/* The free gaps of one address range, while buffers that are alive at once take bytes. A treap over the gaps
 * by address, each node with the most room of any gap in its subtree, and optionally a second treap over the
 * same nodes by room: the first gap above an address and the tightest gap are found in O(log gaps). Bytes are
 * only ever taken, never given back. Priorities are a hash of the node's number, so that the same calls make
 * the same tree. */
#pragma once

#include "base/base.h"

enum gap_order { GAPS_BY_ADDRESS, GAPS_BY_ROOM, GAP_ORDERS };

struct gap_node {
    int64_t from, to;
    int64_t room;                 /* bytes from its first aligned address on */
    int64_t most;                 /* room in its subtree by address */
    int32_t child[GAP_ORDERS][2]; /* nodes, or -1 */
};

struct gap_tree {
    struct gap_node *nodes;
    int32_t root[GAP_ORDERS];
    int32_t used, most, unused; /* nodes: touched so far, allocated, head of the free list */
    int64_t alignment, least;   /* addresses are multiples of alignment; gaps with room < least are dropped */
    bool by_room;
};

/* Starts with [0, capacity) free, for at most `takes` calls of gap_tree_take. `by_room`: allows
 * gap_tree_tightest. The caller frees `nodes`. */
void gap_tree_init(struct gap_tree *t, int64_t capacity, int64_t alignment, int64_t least, int32_t takes,
                   bool by_room);

/* Takes [from, to); parts may be taken already. */
void gap_tree_take(struct gap_tree *t, int64_t from, int64_t to);
/* The lowest multiple of `alignment`, at or above `at`, with `size` free bytes; -1: none. */
int64_t gap_tree_first(const struct gap_tree *t, int64_t at, int64_t size, int64_t alignment);
/* The first aligned address of the gap that `size` fills best, the lowest of such gaps; -1: none. */
int64_t gap_tree_tightest(const struct gap_tree *t, int64_t size);
/* The first gap that ends above `at`, or NULL. */
const struct gap_node *gap_tree_above(const struct gap_tree *t, int64_t at);
