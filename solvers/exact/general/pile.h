/* Pile: addresses for items that exclude each other in pairs, within a capacity, or the proof that there
 * are none. Which items exclude each other is any graph (not only lives in time): two that do lie one
 * above the other, at least `mine` apart when this one is below and `theirs` when the other is. For plain
 * blocks that is their size; clusters of blocks with one address (handovers) have a gap for each partner.
 * An item may be banned from ranges of addresses: reserved bytes, and what is pinned, are told in this
 * way, so that nothing in a pile has a fixed place. Sizes: 5 to 500 items, up to a hundred partners each. */
#ifndef LX_SOLVERS_EXACT_GENERAL_PILE_H
#define LX_SOLVERS_EXACT_GENERAL_PILE_H

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
    struct span *bans;
    struct pile_near *near;
};

/* On FIT_YES `address` holds an address per item. `*nodes` grows by the nodes visited. */
enum fit_result pile_solve(const struct pile *p, const struct fit_limits *limits, int64_t *address,
                           int64_t *nodes);

/* First fit in `passes` orders; the end of the lowest pile that was found, or INT64_MAX where each time
 * an item had no place below the capacity. */
int64_t pile_first_fit(const struct pile *p, int passes, uint64_t seed, int64_t *address);

/* Cliques of its items, and the weight of the heaviest: no pile is lower. With `steps` per item to look
 * for them. */
void pile_cliques(const struct pile *p, int64_t steps, struct cliques *out, int64_t *heaviest);

/* What an item adds to a clique: the least room that it needs below a partner. */
int64_t pile_weight(const struct pile *p, int32_t item);

static inline int64_t pile_free_from(const struct pile *p, int32_t item, int64_t from)
{
    const struct pile_item *it = &p->items[item];
    const struct span *bans = p->bans + it->first_ban;
    int64_t at = it->align == 1 ? from : (from + it->align - 1) / it->align * it->align;
    for (int32_t k = 0; k < it->ban_count && bans[k].from < at; k++)
        if (bans[k].to > at) at = (bans[k].to + it->align - 1) / it->align * it->align;
    return at;
}

#endif
