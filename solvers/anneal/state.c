/* The decoder's state as a whole: made, freed, loaded from a placement, saved to one. */
#include "anneal/decode.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>

struct placed {
    int64_t base;
    int32_t item;
};

ORDER(compare_placed, struct placed, ORDER_UP(base) ORDER_UP(item));

/* One base must suit every member of the joined chain: neighbours in it agree by the edge (items.c), but a
 * longer one may hold two fixed addresses, or one that is no multiple of another member's alignment. Bases
 * are rounded up to the common multiple of the alignments; one that is wider than any single alignment may be
 * is not worth the risk of an overflow. */
bool decoder_may_join(const struct decoder *d, struct edge e)
{
    if (d->heir[e.parent] != NO_ITEM || d->donor[e.child] != NO_ITEM) return false;
    int64_t fixed = -1, align = 1;
    for (int pass = 0; pass < 2; pass++)
        for (int part = 0; part < 2; part++)
            for (int32_t m = part ? e.child : e.parent; m != NO_ITEM; m = part ? d->heir[m] : d->donor[m]) {
                const struct item *b = &d->it->item[m];
                if (pass == 0) {
                    if (b->fixed >= 0) fixed = b->fixed;
                    align = lcm_i64(align, b->align);
                } else if (fixed >= 0 && (fixed % b->align != 0 || (b->fixed >= 0 && b->fixed != fixed)))
                    return false;
            }
    return fixed >= 0 || align <= LX_INT_MAX;
}

void decoder_link(struct decoder *d, struct links *links)
{
    d->links = links->any ? links : NULL;
    d->penalty = 0;
    for (int32_t i = 0; i < d->it->count; i++) {
        d->fee[i] = links->fee[i];
        if (d->links && !links->on[i]) links_flip(links, i);
    }
    if (d->links) d->penalty = links->energy;
}

void decoder_load(struct decoder *d, const int64_t *base)
{
    size_t n = (size_t)d->it->count;
    struct placed *order = mem_alloc((n + 1) * sizeof *order);
    /* Chains as far as the placement shows them: equal bases along an edge, each end used once. */
    for (int32_t i = 0; i < d->it->count; i++) d->heir[i] = d->donor[i] = NO_ITEM;
    for (int32_t k = 0; k < d->it->edge_count; k++) {
        struct edge e = d->it->edge[k];
        if (base[e.parent] < 0 || base[e.parent] != base[e.child]) continue;
        if (!decoder_may_join(d, e)) continue;
        d->heir[e.parent] = e.child;
        d->donor[e.child] = e.parent;
    }
    for (int32_t i = 0; i < d->it->count; i++)
        if (d->donor[i] == NO_ITEM)
            for (int32_t m = i; m != NO_ITEM; m = d->heir[m]) d->root[m] = i;
    /* What is off chip though it may be left so by choice is shut where placing it alone would not pay. */
    if (d->links) {
        int64_t before = d->links->energy;
        for (int32_t i = 0; i < d->it->count; i++)
            if (d->links->on[i] != (base[i] >= 0)) links_flip(d->links, i);
        for (int32_t i = 0; i < d->it->count; i++)
            d->shut[i] = base[i] < 0 && links_may_shun(d->links, i) && links_rise(d->links, i) >= 0;
        for (int32_t i = 0; i < d->it->count; i++)
            if (d->links->on[i] != (d->off_slot[i] < 0)) links_flip(d->links, i);
        d->penalty += d->links->energy - before;
    }
    for (size_t i = 0; i < n; i++) order[i] = (struct placed){base[i] < 0 ? INT64_MAX : base[i], (int32_t)i};
    qsort(order, n, sizeof *order, compare_placed);
    uint64_t step = (UINT64_C(1) << KEY_ORDINAL_BITS) / (n + 2);
    for (size_t i = 0; i < n; i++) {
        int32_t item = order[i].item;
        if (d->root[item] != item) continue;
        uint64_t key = (step * (i + 1)) << KEY_INDEX_BITS | (uint64_t)(uint32_t)item;
        for (int32_t m = item; m != NO_ITEM; m = d->heir[m]) d->cell[m].key = key;
    }
    mem_free(order);
}

void decoder_save(struct decoder *d, int64_t *base)
{
    for (int32_t k = 0; k < d->stale_count; k++) {
        int32_t i = d->stale[k];
        base[i] = d->off_slot[i] >= 0 ? NOT_PLACED : d->cell[i].base;
        d->is_stale[i] = false;
    }
    d->stale_count = 0;
}

void decoder_free(struct decoder *d)
{
    mem_free(d->cell);
    mem_free(d->last);
    mem_free(d->fee);
    mem_free(d->slope);
    mem_free(d->item_penalty);
    mem_free(d->shut);
    mem_free(d->turned);
    mem_free(d->root);
    mem_free(d->heir);
    mem_free(d->donor);
    mem_free(d->off);
    mem_free(d->off_slot);
    mem_free(d->queue);
    mem_free(d->in_queue);
    mem_free(d->raised);
    mem_free(d->touched);
    mem_free(d->is_stale);
    mem_free(d->stale);
    mem_free(d->moving);
    mem_free(d->trail);
    *d = (struct decoder){0};
}

void decoder_make(struct decoder *d, const struct items *it, bool evicting)
{
    size_t n = (size_t)it->count + 1;
    *d = (struct decoder){.it = it, .evicting = evicting, .ceiling = INT64_MAX};
    d->cell = mem_zeroed(n, sizeof *d->cell);
    d->last = mem_zeroed(n, sizeof *d->last);
    d->fee = mem_zeroed(n, sizeof *d->fee);
    d->slope = mem_zeroed(n, sizeof *d->slope);
    d->item_penalty = mem_zeroed(n, sizeof *d->item_penalty);
    d->shut = mem_zeroed(n, sizeof *d->shut);
    d->turned = mem_zeroed(TURN_MOST, sizeof *d->turned);
    d->root = mem_zeroed(n, sizeof *d->root);
    d->heir = mem_zeroed(n, sizeof *d->heir);
    d->donor = mem_zeroed(n, sizeof *d->donor);
    d->off = mem_zeroed(n, sizeof *d->off);
    d->off_slot = mem_zeroed(n, sizeof *d->off_slot);
    d->queue = mem_zeroed(n, sizeof *d->queue);
    d->in_queue = mem_zeroed(n, sizeof *d->in_queue);
    d->moving = mem_zeroed(n, sizeof *d->moving);
    d->raised = mem_zeroed(n, sizeof *d->raised);
    d->touched = mem_zeroed(n, sizeof *d->touched);
    d->is_stale = mem_zeroed(n, sizeof *d->is_stale);
    d->stale = mem_zeroed(n, sizeof *d->stale);
    d->trail = mem_zeroed(3 * n, sizeof *d->trail);
    for (int32_t i = 0; i < it->count; i++) {
        d->off_slot[i] = -1;
        d->last[i] = it->item[i].last;
        d->overflow_cap = max_i64(d->overflow_cap, min_i64(it->item[i].last, INT32_MAX));
    }
}
