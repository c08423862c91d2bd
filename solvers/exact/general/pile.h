/* Pile: finds addresses within a capacity for items that exclude each other in pairs, or proves that there
 * are none. Any graph may say which items exclude each other (not only lives in time): two such items lie one
 * above the other, at least `mine` apart when this one is below and `theirs` when the other is. For plain
 * blocks the gap is their size; clusters of blocks with one address (handovers) have a gap for each partner.
 * An item may be banned from ranges of addresses: reserved bytes and pinned blocks become bans, so that no
 * item of a pile has a fixed address. Sizes: 5 to 500 items, up to a hundred partners each. */
#pragma once

#include "exact/fit/fit.h"
#include "exact/general/clique.h"
#include "exact/general/block_model.h"

struct pile_item {
    int64_t size, align;
    int32_t first_ban, ban_count; /* addresses a with from < a < to are banned; rising, joined */
    int32_t first_near, near_count;
};

struct pile_near {
    int32_t item;
    int64_t mine, theirs;
};

struct pile {
    int64_t capacity;
    int32_t count;
    struct pile_item *items;
    struct byte_range *bans;
    struct pile_near *near;
};

/* On FIT_YES `address` holds an address per item. `*nodes` grows by the nodes visited. */
enum fit_result pile_solve(const struct pile *p, const struct fit_limits *limits, int64_t *address,
                           int64_t *nodes);

/* Finds cliques of its items with `steps` per item; returns the weight of the heaviest: no pile is lower. */
int64_t pile_cliques(const struct pile *p, int64_t steps, struct cliques *out);

static inline int64_t pile_free_from(const struct pile *p, int32_t item, int64_t from)
{
    const struct pile_item *it = &p->items[item];
    const struct byte_range *bans = p->bans + it->first_ban;
    int64_t at = it->align == 1 ? from : (from + it->align - 1) / it->align * it->align;
    for (int32_t k = 0; k < it->ban_count && bans[k].from < at; k++)
        if (bans[k].to > at) at = (bans[k].to + it->align - 1) / it->align * it->align;
    return at;
}

/* Do these blocks fit into one pool? All searches of this folder end in this question. */

struct pool_question {
    const struct blocks *b;
    int32_t pool;
    int64_t capacity;
    const int32_t *members; /* blocks */
    int32_t count;
    const bool *soft_apart; /* per soft pair: keep it apart; NULL: no pair */
    struct fit_limits limits;
    int64_t nodes; /* spent */
};

/* On FIT_YES the addresses of the members are in `address`, which has one per block of the problem. */
enum fit_result pack_into_pool(struct pool_question *q, int64_t *address);

/* A lower bound on any packing, from the heaviest clique, a block above reserved bytes, or a pin; INT64_MAX:
 * there is no packing. */
int64_t pool_least_height(const struct blocks *b, int32_t pool, const int32_t *members, int32_t count);

/* Do the two share a byte? */
static inline bool blocks_touch(const struct blocks *b, int32_t i, int32_t k, const int64_t *address)
{
    return address[i] < address[k] + b->at[k].size && address[k] < address[i] + b->at[i].size;
}
