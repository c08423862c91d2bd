/* Moves: reinsertion, insertion beside a conflicting item, swap, swapping a pair of the critical stack,
 * joining and parting in-place chains. Spilling is a reinsertion at the end, where items that do not fit are
 * skipped; unspilling puts an evicted item before one of the items in its way. */
#include "anneal/decode.h"

enum { WALK_MAX = 12, BESIDE_BITS = 16 };

static bool chance(struct rng *rng, uint32_t of_1024)
{
    return (rng_next(rng) >> 54) < of_1024;
}

static uint64_t beside(const struct decoder *d, int32_t item, bool below, struct rng *rng)
{
    const uint64_t most = (UINT64_C(1) << KEY_ORDINAL_BITS) - 1;
    uint64_t at = key_ordinal(d->cell[item].key), by = 1 + (rng_next(rng) >> (64 - BESIDE_BITS));
    if (below) return at > by ? at - by : 0;
    return at + by < most ? at + by : most;
}

/* A random neighbour on which the item's group rests: earlier, with a top equal to the support. */
static int32_t supporter(const struct decoder *d, int32_t item, struct rng *rng)
{
    const struct items *it = d->it;
    int64_t support = d->cell[item].support;
    if (support <= 0) return NO_ITEM;
    for (int32_t m = d->root[item]; m != NO_ITEM; m = d->heir[m]) {
        uint32_t degree = (uint32_t)(it->first[m + 1] - it->first[m]);
        const int32_t *near = it->near + it->first[m];
        for (uint32_t k = 0, at = degree ? anneal_pick(rng, degree) : 0; k < degree; k++) {
            const struct cell *c = &d->cell[near[at]];
            if (c->top == support && c->key < d->cell[m].key) return near[at];
            at = at + 1 < degree ? at + 1 : 0;
        }
    }
    return NO_ITEM;
}

/* Walks down at random from an item that stands too high; swaps the pair at the end of the walk. */
static bool turn_critical(struct decoder *d, int32_t item, struct rng *rng)
{
    int32_t under = supporter(d, item, rng);
    if (under == NO_ITEM) return false;
    for (uint32_t steps = anneal_pick(rng, WALK_MAX); steps > 0; steps--) {
        int32_t next = supporter(d, under, rng);
        if (next == NO_ITEM) break;
        item = under;
        under = next;
    }
    switch (anneal_pick(rng, 4)) {
    case 0: decoder_move(d, item, beside(d, under, true, rng)); break;
    case 1: decoder_move(d, under, beside(d, item, false, rng)); break;
    default: decoder_swap(d, item, under); break;
    }
    return true;
}

static bool toggle_edge(struct decoder *d, int32_t item, struct rng *rng)
{
    const struct items *it = d->it;
    uint32_t count = (uint32_t)(it->edge_first[item + 1] - it->edge_first[item]);
    struct edge e = count ? it->edge[it->edge_of[(uint32_t)it->edge_first[item] + anneal_pick(rng, count)]]
                          : it->edge[anneal_pick(rng, (uint32_t)it->edge_count)];
    if (d->heir[e.parent] == e.child) {
        decoder_part(d, e, beside(d, e.parent, chance(rng, 512), rng));
        return true;
    }
    if (!decoder_may_join(d, e)) return false;
    decoder_join(d, e, key_ordinal(d->cell[chance(rng, 512) ? e.parent : e.child].key));
    return true;
}

/* Shuts or opens an item; half the time also the members of one of its links in the same state. */
static bool turn_links(struct decoder *d, int32_t item, struct rng *rng)
{
    const struct links *l = d->links;
    int32_t turned[TURN_MOST], count = 0;
    if (!links_may_shun(l, item)) return false;
    turned[count++] = item;
    uint32_t roles = (uint32_t)(l->first[item + 1] - l->first[item]);
    if (roles > 0 && chance(rng, 512)) {
        int32_t link = l->role[(uint32_t)l->first[item] + anneal_pick(rng, roles)].link;
        for (int32_t k = l->member_first[link]; k < l->member_first[link + 1] && count < TURN_MOST; k++) {
            int32_t other = l->member[k];
            bool same = d->shut[other] == d->shut[item] && links_may_shun(l, other);
            if (same && !item_is_listed(turned, count, other)) turned[count++] = other;
        }
    }
    decoder_turn(d, turned, count);
    return true;
}

void try_move(struct decoder *d, const struct move_mix *mix, struct rng *rng)
{
    const struct items *it = d->it;
    decoder_begin(d);
    bool off = d->off.count > 0 && chance(rng, mix->off);
    int32_t item = off ? d->off.at[anneal_pick(rng, (uint32_t)d->off.count)]
                       : (int32_t)anneal_pick(rng, (uint32_t)it->count);
    if (d->links && chance(rng, mix->turn) && turn_links(d, item, rng)) return;
    if (it->edge_count > 0 && chance(rng, mix->merge) && toggle_edge(d, item, rng)) return;
    if (off && chance(rng, mix->critical) && turn_critical(d, item, rng)) return;
    uint32_t degree = (uint32_t)(it->first[item + 1] - it->first[item]);
    bool far = degree == 0 || chance(rng, mix->far);
    int32_t other = far ? item : it->near[it->first[item] + anneal_pick(rng, degree)];
    if (d->root[other] == d->root[item])
        decoder_move(d, item, rng_next(rng) >> (64 - KEY_ORDINAL_BITS));
    else if (chance(rng, mix->swap))
        decoder_swap(d, item, other);
    else
        decoder_move(d, item, beside(d, other, off || chance(rng, 512), rng));
}
