/* The incremental decoder: after a move only the groups whose support changed are decoded again.
 *
 * A move first takes its groups out (their tops drop to 0, and groups that rested on them are queued), then
 * gives them new keys and puts them back. The queue is a heap by key, and a change only ever affects later
 * keys, so each group is decoded at most once per move. A later neighbour is queued only when the new top
 * pushes it up, or when the old top was its support; only the latter must scan all its neighbours again. */
#include "anneal/decode.h"

/* In `raised`: a supporter of the group has moved, so its support must be recomputed. */
#define UNKNOWN INT64_MAX

#define EARLIER_KEY(unused, a, b) ((a).key < (b).key)

static void queue_push(struct decoder *d, int32_t root)
{
    if (d->in_queue[root] || d->moving[root]) return;
    d->in_queue[root] = true;
    d->queue[d->queued++] = (struct waiting){d->cell[root].key, root};
    HEAP_RISE(struct waiting, d->queue, d->queued - 1, EARLIER_KEY, NULL);
}

/* An item changes at most twice per move, when it is taken out and when it is decoded: the trail has room. */
static void decode_note(struct decoder *d, int32_t i)
{
    d->trail[d->trail_count++] = (struct change){i, d->cell[i], d->item_penalty[i], d->off.slot[i] >= 0};
    item_set_add(&d->stale, i);
}

static void set_penalty(struct decoder *d, int32_t i, int64_t penalty, bool off)
{
    d->penalty += penalty - d->item_penalty[i];
    d->item_penalty[i] = penalty;
    if (off == (d->off.slot[i] >= 0)) return;
    (off ? item_set_add : item_set_remove)(&d->off, i);
    d->spilled += off ? d->it->item[i].cost : -d->it->item[i].cost;
    if (d->links) d->penalty += links_flip(d->links, i);
}

/* The top of item i changes from `before` to `after`: queues the later neighbours that this affects. */
static void decode_pass_on(struct decoder *d, int32_t i, int64_t before, int64_t after)
{
    const struct items *it = d->it;
    const struct cell *cell = d->cell;
    uint64_t key = cell[i].key;
    const int32_t *near = it->near + it->first[i], *stop = it->near + it->first[i + 1];
    d->looks += stop - near;
    /* Whether a neighbour is affected is unpredictable: collect first, without branches. */
    int32_t *touched = d->touched;
    size_t count = 0;
    if (after > before) {
        for (; near < stop; near++) {
            const struct cell *c = &cell[*near];
            touched[count] = *near;
            count += (size_t)(c->key > key) & (size_t)(c->support < after);
        }
        for (size_t k = 0; k < count; k++) {
            int32_t root = d->root[touched[k]];
            d->raised[root] = max_i64(d->raised[root], after);
            queue_push(d, root);
        }
    } else {
        for (; near < stop; near++) {
            const struct cell *c = &cell[*near];
            touched[count] = *near;
            count += (size_t)(c->key > key) & (size_t)(c->support == before);
        }
        for (size_t k = 0; k < count; k++) {
            d->raised[d->root[touched[k]]] = UNKNOWN;
            queue_push(d, d->root[touched[k]]);
        }
    }
}

static int64_t support_of(struct decoder *d, int32_t root)
{
    const struct items *it = d->it;
    const struct cell *cell = d->cell;
    uint64_t key = cell[root].key;
    int64_t support = 0;
    for (int32_t m = root; m != NO_ITEM; m = d->heir[m]) {
        const int32_t *near = it->near + it->first[m], *stop = it->near + it->first[m + 1];
        d->looks += stop - near;
        for (; near < stop; near++) {
            const struct cell *c = &cell[*near];
            int64_t top = c->top & -(int64_t)(c->key < key); /* no branch: the order is unpredictable */
            support = top > support ? top : support;
        }
    }
    return support;
}

/* A group's base: a multiple of all members' alignments, fixed if one is. */
static int64_t base_of(const struct decoder *d, int32_t root, int64_t support, int64_t *too_high)
{
    int64_t fixed = -1, align = d->it->item[root].align;
    for (int32_t m = root; m != NO_ITEM; m = d->heir[m]) {
        const struct item *b = &d->it->item[m];
        align = lcm_i64(align, b->align);
        if (b->fixed >= 0) fixed = b->fixed;
    }
    *too_high = 0;
    if (fixed < 0) return align_up(align, support);
    if (support <= fixed) return fixed;
    *too_high = support - fixed;
    return support;
}

static void decode_group(struct decoder *d, int32_t root)
{
    d->visits++;
    int64_t raised = d->raised[root], too_high;
    int64_t support = raised == UNKNOWN ? support_of(d, root) : max_i64(d->cell[root].support, raised);
    d->raised[root] = 0;
    if (support == d->cell[root].support && d->cell[root].top != 0 && d->heir[root] == NO_ITEM) return;
    int64_t base = base_of(d, root, support, &too_high);
    for (int32_t m = root; m != NO_ITEM; m = d->heir[m]) {
        struct cell *c = &d->cell[m];
        /* Overflow: by how much the group stands above a fixed address, and above the item's last base. */
        int64_t over = max_i64(base - d->last[m], too_high), penalty = 0;
        bool off = d->shut[m] || over > 0;
        if (off) penalty = d->fee[m];
        if (off && !d->shut[m]) penalty += d->slope[m] * min_i64(over, d->overflow_cap);
        int64_t top = off && d->evicting ? 0 : base + d->it->item[m].size, before = c->top;
        if (c->support == support && c->base == base && before == top && d->item_penalty[m] == penalty &&
            off == (d->off.slot[m] >= 0))
            continue;
        decode_note(d, m);
        c->support = support;
        c->base = base;
        c->top = top;
        set_penalty(d, m, penalty, off);
        if (top != before) decode_pass_on(d, m, before, top);
    }
}

/* Decodes until the queue is empty, the work is cancelled or the energy has risen above `ceiling`. In the
 * last two cases the rest of the queue is dropped, and the caller must undo the move. Polls, since one
 * stacking of thousands of conflicting items takes half a second. */
static void decode_settle(struct decoder *d)
{
    enum { LOOKS = 1 << 17 };
    while (d->queued > 0 && d->penalty <= d->ceiling && !d->cancelled) {
        if (d->looks - d->polled_at >= LOOKS) {
            d->polled_at = d->looks;
            d->cancelled = cancel_requested();
            if (d->cancelled) break;
        }
        int32_t root = d->queue[0].root;
        d->queue[0] = d->queue[--d->queued];
        HEAP_SINK(struct waiting, d->queue, d->queued, 0, EARLIER_KEY, NULL);
        d->in_queue[root] = false;
        decode_group(d, root);
    }
    d->hopeless = d->queued > 0;
    for (int32_t k = 0; k < d->queued; k++) {
        d->in_queue[d->queue[k].root] = false;
        d->raised[d->queue[k].root] = 0;
    }
    d->queued = 0;
}

static void start_moving(struct decoder *d, int32_t root)
{
    for (int32_t m = root; m != NO_ITEM; m = d->heir[m]) d->moving[m] = true;
}

/* Takes a group out of the stacking; put_back gives it a key and queues it. All groups of a move must have
 * been marked as moving before the first is taken out: no group may be queued under a key about to change. */
static void decode_take_out(struct decoder *d, int32_t root)
{
    for (int32_t m = root; m != NO_ITEM; m = d->heir[m]) {
        decode_note(d, m);
        int64_t before = d->cell[m].top;
        d->cell[m].top = 0;
        if (before != 0) decode_pass_on(d, m, before, 0);
    }
}

static void decode_put_back(struct decoder *d, int32_t root, uint64_t ordinal)
{
    uint64_t key = ordinal << KEY_INDEX_BITS | (uint64_t)(uint32_t)root;
    for (int32_t m = root; m != NO_ITEM; m = d->heir[m]) {
        d->cell[m].key = key;
        d->cell[m].support = -1;
        d->root[m] = root;
        d->moving[m] = false;
    }
    d->raised[root] = UNKNOWN;
    queue_push(d, root);
}

void decoder_begin(struct decoder *d)
{
    d->trail_count = 0;
    d->linked = (struct edge){NO_ITEM, NO_ITEM};
    d->turned_count = 0;
    d->hopeless = false;
}

void decoder_move(struct decoder *d, int32_t item, uint64_t ordinal)
{
    int32_t root = d->root[item];
    start_moving(d, root);
    decode_take_out(d, root);
    decode_put_back(d, root, ordinal);
    decode_settle(d);
}

void decoder_swap(struct decoder *d, int32_t item, int32_t other)
{
    int32_t a = d->root[item], b = d->root[other];
    uint64_t first = key_ordinal(d->cell[a].key), second = key_ordinal(d->cell[b].key);
    if (a == b) return;
    start_moving(d, a);
    start_moving(d, b);
    decode_take_out(d, a);
    decode_take_out(d, b);
    decode_put_back(d, a, second);
    decode_put_back(d, b, first);
    decode_settle(d);
}

static void link_chain(struct decoder *d, struct edge e, bool join)
{
    d->heir[e.parent] = join ? e.child : NO_ITEM;
    d->donor[e.child] = join ? e.parent : NO_ITEM;
    int32_t root = join ? d->root[e.parent] : e.child;
    for (int32_t m = e.child; m != NO_ITEM; m = d->heir[m]) d->root[m] = root;
}

void decoder_join(struct decoder *d, struct edge e, uint64_t ordinal)
{
    int32_t upper = d->root[e.child], root = d->root[e.parent];
    start_moving(d, upper);
    start_moving(d, root);
    decode_take_out(d, upper);
    decode_take_out(d, root);
    link_chain(d, e, true);
    d->linked = e;
    d->linked_join = true;
    decode_put_back(d, root, ordinal);
    decode_settle(d);
}

void decoder_part(struct decoder *d, struct edge e, uint64_t ordinal)
{
    int32_t root = d->root[e.parent];
    uint64_t stays = key_ordinal(d->cell[root].key);
    start_moving(d, root);
    decode_take_out(d, root);
    link_chain(d, e, false);
    d->linked = e;
    d->linked_join = false;
    decode_put_back(d, root, stays);
    decode_put_back(d, e.child, ordinal);
    decode_settle(d);
}

void decoder_turn(struct decoder *d, const int32_t *items, int32_t count)
{
    uint64_t ordinal[TURN_MOST];
    int32_t root[TURN_MOST], roots = 0;
    for (int32_t k = 0; k < count; k++) {
        int32_t r = d->root[items[k]];
        d->turned[d->turned_count++] = items[k];
        if (d->moving[r]) continue;
        start_moving(d, r);
        ordinal[roots] = key_ordinal(d->cell[r].key);
        root[roots++] = r;
    }
    for (int32_t k = 0; k < roots; k++) decode_take_out(d, root[k]);
    for (int32_t k = 0; k < count; k++) d->shut[items[k]] = !d->shut[items[k]];
    for (int32_t k = 0; k < roots; k++) decode_put_back(d, root[k], ordinal[k]);
    decode_settle(d);
}

void decoder_undo(struct decoder *d)
{
    for (; d->turned_count > 0; d->turned_count--)
        d->shut[d->turned[d->turned_count - 1]] = !d->shut[d->turned[d->turned_count - 1]];
    while (d->trail_count > 0) {
        struct change c = d->trail[--d->trail_count];
        d->cell[c.item] = c.cell;
        item_set_add(&d->stale, c.item);
        set_penalty(d, c.item, c.penalty, c.off);
    }
    if (d->linked.parent != NO_ITEM) link_chain(d, d->linked, !d->linked_join);
    d->linked.parent = NO_ITEM;
}

bool decoder_decode_all(struct decoder *d)
{
    decoder_begin(d);
    d->ceiling = INT64_MAX;
    for (int32_t i = 0; i < d->it->count; i++) {
        d->cell[i].top = 0;
        d->cell[i].support = -1;
        set_penalty(d, i, 0, false);
    }
    for (int32_t i = 0; i < d->it->count; i++)
        if (d->root[i] == i) {
            d->raised[i] = UNKNOWN;
            queue_push(d, i);
        }
    decode_settle(d);
    bool done = !d->hopeless;
    decoder_begin(d);
    return done;
}

struct placed {
    int64_t base;
    int32_t item;
};

ORDER(compare_placed, struct placed, ORDER_UP(base) ORDER_UP(item));

/* One base must suit every member of the joined chain: neighbours in it agree by the edge (items.c), but a
 * longer chain may hold two fixed addresses, or one that misaligns another member. Bases are rounded up to
 * the common multiple of the alignments; a multiple above the largest legal alignment is refused, for it
 * might overflow. */
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
    OWNED struct placed *order = mem_alloc((n + 1) * sizeof *order);
    /* Recovers chains from the placement: equal bases along an edge, each end used once. */
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
    /* Items off chip by choice are shut if placing them alone would not pay. */
    if (d->links) {
        int64_t before = d->links->energy;
        for (int32_t i = 0; i < d->it->count; i++)
            if (d->links->on[i] != (base[i] >= 0)) links_flip(d->links, i);
        for (int32_t i = 0; i < d->it->count; i++)
            d->shut[i] = base[i] < 0 && links_may_shun(d->links, i) && links_rise(d->links, i) >= 0;
        for (int32_t i = 0; i < d->it->count; i++)
            if (d->links->on[i] != (d->off.slot[i] < 0)) links_flip(d->links, i);
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
}

void decoder_save(struct decoder *d, int64_t *base)
{
    for (int32_t k = 0; k < d->stale.count; k++) {
        int32_t i = d->stale.at[k];
        base[i] = d->off.slot[i] >= 0 ? NOT_PLACED : d->cell[i].base;
    }
    item_set_clear(&d->stale);
}

void decoder_make(struct decoder *d, const struct items *it, bool evicting)
{
    size_t n = (size_t)it->count + 1;
    *d = (struct decoder){.it = it, .evicting = evicting, .ceiling = INT64_MAX};
    d->cell = arena_array(&d->memory, n, sizeof *d->cell);
    d->last = arena_array(&d->memory, n, sizeof *d->last);
    d->fee = arena_array(&d->memory, n, sizeof *d->fee);
    d->slope = arena_array(&d->memory, n, sizeof *d->slope);
    d->item_penalty = arena_array(&d->memory, n, sizeof *d->item_penalty);
    d->shut = arena_array(&d->memory, n, sizeof *d->shut);
    d->turned = arena_array(&d->memory, TURN_MOST, sizeof *d->turned);
    d->root = arena_array(&d->memory, n, sizeof *d->root);
    d->heir = arena_array(&d->memory, n, sizeof *d->heir);
    d->donor = arena_array(&d->memory, n, sizeof *d->donor);
    d->queue = arena_array(&d->memory, n, sizeof *d->queue);
    d->in_queue = arena_array(&d->memory, n, sizeof *d->in_queue);
    d->moving = arena_array(&d->memory, n, sizeof *d->moving);
    d->raised = arena_array(&d->memory, n, sizeof *d->raised);
    d->touched = arena_array(&d->memory, n, sizeof *d->touched);
    d->trail = arena_array(&d->memory, 3 * n, sizeof *d->trail);
    item_set_make(&d->off, &d->memory, it->count);
    item_set_make(&d->stale, &d->memory, it->count);
    for (int32_t i = 0; i < it->count; i++) {
        d->last[i] = it->item[i].last;
        d->overflow_cap = max_i64(d->overflow_cap, min_i64(it->item[i].last, INT32_MAX));
    }
}
