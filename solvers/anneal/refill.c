/* Clearing and filling pieces of a placement; see refill.h. */
#include "anneal/refill.h"

enum { MOVES_EACH = 4 }; /* on average; up to here insertion sort is faster */
enum { GUESTS = 2, LEAVE_ONE_IN = 4, NOISE = 614, NOISE_FROM = 717 };
enum kind { BY_SIZE, BY_COST, BY_WORTH, BY_AREA, KINDS };
enum gap { FIRST, LAST, TIGHTEST, GAPS };

static void refill_put(struct refiller *f, int32_t i, struct spot spot)
{
    bool was_off = f->spot[i].base < 0, off = spot.base < 0;
    f->spot[i] = spot;
    item_set_add(&f->stale, i);
    if (was_off == off) return;
    int sign = off ? 1 : -1;
    f->energy += sign * f->fee[i] + (f->links ? links_flip(f->links, i) : 0);
    f->spilled += sign * f->it->item[i].cost;
    f->off_all += sign;
    if (i >= f->from && i < f->to) (off ? item_set_add : item_set_remove)(&f->off, i);
}

static const struct spot nowhere = {NOT_PLACED, NOT_PLACED};

static bool refill_in_the_way(const struct refiller *f, int32_t other, int64_t base, int64_t top)
{
    return f->spot[other].base < top && base < f->spot[other].top;
}

static bool is_clear(const struct refiller *f, int32_t i, int64_t base, int32_t partner)
{
    int64_t top = base + f->it->item[i].size;
    for (size_t k = f->it->first[i]; k < f->it->first[i + 1]; k++)
        if (f->near[k] != partner && refill_in_the_way(f, f->near[k], base, top)) return false;
    return true;
}

/* The slot of an in-place partner. A second child of a parent, or parent of a child, conflicts with the first
 * one. */
static int64_t partners_slot(const struct refiller *f, int32_t i)
{
    const struct items *it = f->it;
    const struct item *b = &it->item[i];
    for (int32_t k = it->edge_first[i]; k < it->edge_first[i + 1]; k++) {
        struct edge e = it->edge[it->edge_of[k]];
        int32_t other = e.parent == i ? e.child : e.parent;
        int64_t at = f->spot[other].base;
        if (at < 0 || at % b->align != 0 || at > b->last || (b->fixed >= 0 && b->fixed != at)) continue;
        if (is_clear(f, i, at, other)) return at;
    }
    return NOT_PLACED;
}

/* Merges two sorted runs stably; returns the number of inversions. */
static int64_t refill_merge(struct neighbour *from, struct neighbour *to, int32_t left, int32_t count)
{
    int64_t inversions = 0;
    for (int32_t a = 0, b = left, k = 0; k < count; k++) {
        bool first = a < left && (b >= count || from[a].spot.base <= from[b].spot.base);
        if (!first) inversions += left - a;
        to[k] = from[first ? a++ : b++];
    }
    return inversions;
}

/* Insertion sort, starting at the first item out of place. False: too many moves, and the rest is
 * unsorted. */
static bool sort_inserting(struct refiller *f, int32_t count, int64_t *moves)
{
    struct neighbour *r = f->scratch;
    int64_t most = (int64_t)MOVES_EACH * count;
    for (int32_t k = 1; k < count; k++) {
        struct neighbour n = r[k];
        int32_t at = k;
        for (; at > 0 && r[at - 1].spot.base > n.spot.base; at--) r[at] = r[at - 1];
        r[at] = n;
        *moves += k - at;
        if (*moves > most) return false;
    }
    return true;
}

/* Gathers the item's conflicts by address, those off chip first. Each conflict list keeps that order: few
 * items have moved when it is needed again, so insertion sort is nearly linear. If too many moved, as the
 * first time, merge sort takes over. */
static int32_t refill_gather(struct refiller *f, int32_t i)
{
    int32_t *near = f->near + f->it->first[i], count = (int32_t)(f->it->first[i + 1] - f->it->first[i]);
    int64_t moves = 0;
    for (int32_t k = 0; k < count; k++) f->scratch[k] = (struct neighbour){f->spot[near[k]], near[k]};
    if (!sort_inserting(f, count, &moves)) {
        /* Sorts `scratch` bottom up. The work counted is the moves that insertion sort would make, so a step
         * costs the same either way. */
        struct neighbour *from = f->scratch, *to = f->scratch + count;
        int64_t inversions = 0;
        for (int32_t wide = 1; wide < count; wide *= 2) {
            for (int32_t at = 0; at < count; at += 2 * wide) {
                int32_t left = wide < count - at ? wide : count - at;
                int32_t both = 2 * wide < count - at ? 2 * wide : count - at;
                inversions += refill_merge(from + at, to + at, left, both);
            }
            struct neighbour *old = from;
            from = to;
            to = old;
        }
        if (from != f->scratch) memcpy(f->scratch, from, (size_t)count * sizeof *from);
        moves += inversions;
    }
    if (moves)
        for (int32_t k = 0; k < count; k++) near[k] = f->scratch[k].item;
    f->looks += count + moves;
    return count;
}

static int64_t refill_find_gap(struct refiller *f, int32_t i, enum gap gap)
{
    const struct item *b = &f->it->item[i];
    int32_t count = refill_gather(f, i);
    int64_t low = 0, best = NOT_PLACED, least = INT64_MAX;
    for (int32_t k = 0; k <= count; k++) {
        int64_t high = k < count ? min_i64(f->scratch[k].spot.base - b->size, b->last) : b->last;
        if (low <= high && (gap != TIGHTEST || high - low < least)) {
            best = gap == LAST ? high / b->align * b->align : low;
            least = high - low;
            if (gap == FIRST) break;
        }
        if (k < count && f->scratch[k].spot.top > low) low = align_up(b->align, f->scratch[k].spot.top);
    }
    return best;
}

/* A band of addresses at least as high as the item: half the time exactly as high, half the time at a
 * neighbour. */
static int64_t choose_band(struct refiller *f, int32_t i, struct rng *rng, int64_t *height)
{
    const struct item *b = &f->it->item[i];
    uint32_t degree = (uint32_t)(f->it->first[i + 1] - f->it->first[i]);
    *height = b->size;
    if (anneal_pick(rng, 2)) *height += (int64_t)rng_below(rng, (uint64_t)(f->room / 6 + 1));
    *height = min_i64(*height, f->room);
    if (b->fixed >= 0) return b->fixed;
    if (degree > 0 && anneal_pick(rng, 2)) {
        int64_t at = f->spot[f->near[f->it->first[i] + anneal_pick(rng, degree)]].base;
        if (at >= 0) return min_i64(at, f->room - *height);
    }
    return (int64_t)rng_below(rng, (uint64_t)(f->room - *height + 1));
}

static int64_t refill_rank_of(const struct refiller *f, int32_t i, enum kind kind)
{
    const struct item *b = &f->it->item[i];
    const int64_t most = INT64_C(1) << 50;
    int64_t area;
    if (!mul_i64(b->size, b->end - b->start, &area)) area = most;
    const int64_t ranks[KINDS] = {[BY_SIZE] = min_i64(b->size, most),
                                  [BY_COST] = min_i64(f->fee[i], most),
                                  [BY_WORTH] = f->worth[i],
                                  [BY_AREA] = min_i64(area, most)};
    return ranks[kind];
}

/* Places every listed item. False: the limit can no longer be met. */
static bool refill_run(struct refiller *f, struct rng *rng, int32_t leaver, int64_t limit)
{
    int32_t order[REFILL_MOST];
    int64_t to_come = 0;
    enum gap gap = (enum gap)anneal_pick(rng, GAPS);
    /* The order in which listed items are placed; half the time the first one goes first. */
    int64_t rank[REFILL_MOST];
    enum kind kind = (enum kind)anneal_pick(rng, KINDS);
    bool first = anneal_pick(rng, 2);
    for (int32_t k = 0; k < f->count; k++) {
        rank[k] = refill_rank_of(f, f->list[k], kind) * (NOISE_FROM + (int64_t)anneal_pick(rng, NOISE));
        if (k == 0 && first) rank[k] = INT64_MAX;
        int32_t at = k;
        for (; at > 0 && rank[order[at - 1]] < rank[k]; at--) order[at] = order[at - 1];
        order[at] = k;
    }
    for (int32_t k = 0; k < f->count; k++) to_come += max_i64(f->fee[f->list[k]], 0);
    for (int32_t k = 0; k < f->count; k++) {
        int32_t i = f->list[order[k]];
        to_come -= max_i64(f->fee[i], 0);
        if (i == leaver) continue;
        bool forced = order[k] == 0;
        if (f->links && !forced && links_rise(f->links, i) > 0) continue;
        const struct item *b = &f->it->item[i];
        int64_t at = partners_slot(f, i);
        if (at < 0 && b->fixed >= 0 && is_clear(f, i, b->fixed, NO_ITEM)) at = b->fixed;
        if (at < 0 && b->fixed < 0) at = refill_find_gap(f, i, gap);
        if (at >= 0) refill_put(f, i, (struct spot){at, at + b->size});
        if (!f->links && f->energy - to_come > limit) return false;
    }
    return f->energy <= limit;
}

/* The item that gets room; with links, perhaps one that leaves. */
static int32_t draw_item(struct refiller *f, struct rng *rng, int32_t *leaver)
{
    *leaver = NO_ITEM;
    if (f->links && anneal_pick(rng, LEAVE_ONE_IN) == 0) {
        int32_t i = f->from + (int32_t)anneal_pick(rng, (uint32_t)(f->to - f->from));
        if (f->spot[i].base >= 0 && links_may_shun(f->links, i)) return *leaver = i;
    }
    if (f->off.count == 0) return NO_ITEM;
    int32_t a = f->off.at[anneal_pick(rng, (uint32_t)f->off.count)],
            b = f->off.at[anneal_pick(rng, (uint32_t)f->off.count)];
    return f->worth[b] > f->worth[a] ? b : a;
}

bool refiller_step(struct refiller *f, struct rng *rng, int64_t allowance)
{
    int32_t leaver, i = draw_item(f, rng, &leaver);
    int64_t limit = f->energy + allowance;
    if (i == NO_ITEM) return false;
    f->count = 0;
    /* Lists the item and the items in its band; false: too many. */
    int64_t height, low = choose_band(f, i, rng, &height);
    f->list[f->count++] = i;
    f->looks += (int64_t)(f->it->first[i + 1] - f->it->first[i]);
    for (size_t k = f->it->first[i]; k < f->it->first[i + 1]; k++) {
        if (!refill_in_the_way(f, f->near[k], low, low + height)) continue;
        if (f->count + GUESTS >= REFILL_MOST) return true;
        f->list[f->count++] = f->near[k];
    }
    /* Adds a few items off chip that are alive with a listed one. */
    for (int k = 0; k < GUESTS; k++) {
        int32_t host = f->list[anneal_pick(rng, (uint32_t)f->count)];
        uint32_t degree = (uint32_t)(f->it->first[host + 1] - f->it->first[host]);
        if (degree == 0) continue;
        int32_t guest = f->near[f->it->first[host] + anneal_pick(rng, degree)];
        if (f->spot[guest].base < 0 && !item_is_listed(f->list, f->count, guest)) f->list[f->count++] = guest;
    }
    for (int32_t k = 0; k < f->count; k++) {
        f->was[k] = f->spot[f->list[k]];
        refill_put(f, f->list[k], nowhere);
    }
    if (!refill_run(f, rng, leaver, limit))
        for (int32_t k = 0; k < f->count; k++) refill_put(f, f->list[k], f->was[k]);
    return true;
}

void refiller_window(struct refiller *f, int32_t from, int32_t to)
{
    f->from = from;
    f->to = to;
    item_set_clear(&f->off);
    for (int32_t i = from; i < to; i++)
        if (f->spot[i].base < 0) item_set_add(&f->off, i);
}

void refiller_load(struct refiller *f, const int64_t *base)
{
    const struct items *it = f->it;
    f->energy = f->spilled = 0;
    f->off_all = 0;
    item_set_clear(&f->stale);
    if (f->links) {
        links_load(f->links, base);
        f->energy = f->links->energy;
    }
    for (int32_t i = 0; i < it->count; i++) {
        bool off = base[i] < 0;
        f->spot[i] = off ? nowhere : (struct spot){base[i], base[i] + it->item[i].size};
        f->energy += off ? f->fee[i] : 0;
        f->spilled += off ? it->item[i].cost : 0;
        f->off_all += off;
    }
    refiller_window(f, 0, it->count);
}

void refiller_save(struct refiller *f, int64_t *base)
{
    for (int32_t k = 0; k < f->stale.count; k++) base[f->stale.at[k]] = f->spot[f->stale.at[k]].base;
    item_set_clear(&f->stale);
}

void refiller_restore(struct refiller *f, const int64_t *base)
{
    for (int32_t k = 0; k < f->stale.count; k++) {
        int32_t i = f->stale.at[k];
        refill_put(f, i, base[i] < 0 ? nowhere : (struct spot){base[i], base[i] + f->it->item[i].size});
    }
    item_set_clear(&f->stale);
}

void refiller_make(struct refiller *f, const struct items *it, struct links *links, const int64_t *worth)
{
    size_t n = (size_t)it->count + 1;
    *f = (struct refiller){.it = it, .fee = links->fee, .worth = worth, .links = links->any ? links : NULL};
    f->room = it->problem->capacity / it->problem->alignment;
    f->spot = arena_array(&f->memory, n, sizeof *f->spot);
    f->scratch = arena_array(&f->memory, 2 * n, sizeof *f->scratch);
    f->near = arena_copy_array(&f->memory, it->near, it->first[it->count], sizeof *f->near);
    item_set_make(&f->off, &f->memory, it->count);
    item_set_make(&f->stale, &f->memory, it->count);
}
