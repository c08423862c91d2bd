/* Greedy placement of chains: the source of first incumbents and of repairs.
 *
 * Each chain goes to the lowest address at which all its pieces are free. Chains without a place, and
 * unwanted items, are then tried as single items, highest cost per byte first, on a parent's slot if one is
 * free. Placed pieces stand in a flat list; an address is found by collecting the forbidden ranges of bases,
 * sorting them and sweeping once. O(n log n) a placement. */
#include "exact/ask_fit.h"
#include "common/taken_bits.h"

struct placed {
    int64_t start, end, low, high;
};

struct board {
    VEC(struct placed) placed;
    VEC(struct byte_range) ranges; /* no base lies strictly between these */
};

struct turn {
    double key;
    int32_t index;
};

ORDER(place_compare_turns, struct turn, ORDER_UP(key) ORDER_UP(index));

/* The lowest legal base, or -1. Ranges are passed in order of their low end; a passed range ends at or below
 * the base, which only rises. */
static int64_t place_lowest_base(struct board *b, const struct fit_item *item, const struct fit_piece *pieces,
                                 int64_t capacity)
{
    int64_t height = 0;
    b->ranges.count = 0;
    for (int32_t q = 0; q < item->piece_count; q++) {
        const struct fit_piece *piece = &pieces[q];
        height = max_i64(height, piece->size);
        for (size_t r = 0; r < b->placed.count; r++) {
            const struct placed *o = &b->placed.at[r];
            if (o->start < piece->end && piece->start < o->end)
                VEC_PUSH(&b->ranges, (struct byte_range){o->low - piece->size, o->high});
        }
    }
    int64_t at = item->fixed >= 0 ? item->fixed : 0;
    range_sort(b->ranges.at, b->ranges.count);
    for (size_t r = 0; r < b->ranges.count && b->ranges.at[r].from < at; r++)
        if (b->ranges.at[r].to > at) {
            if (item->fixed >= 0) return -1;
            at = round_up_i64(b->ranges.at[r].to, item->alignment);
        }
    return at <= capacity - height ? at : -1;
}

static void place_put(struct board *b, const struct fit_item *item, const struct fit_piece *pieces,
                      int64_t base)
{
    for (int32_t q = 0; q < item->piece_count; q++)
        VEC_PUSH(&b->placed, (struct placed){pieces[q].start, pieces[q].end, base, base + pieces[q].size});
}

/* Fixed chains first: the others go around them. */
static void place_chains(struct packer *k, struct board *b, enum place_order order, struct turn *turns,
                         int64_t *address)
{
    for (int32_t f = 0; f < k->item_count; f++) {
        double size = 0, life = 0, cost = 0, start = (double)k->m->items[k->head[f]].start;
        for (int32_t i = k->head[f]; i >= 0; i = k->next[i]) {
            const struct model_item *it = &k->m->items[i];
            size = (double)it->size > size ? (double)it->size : size;
            life += (double)(it->end - it->start);
            cost += it->worth;
        }
        const double keys[PLACE_ORDERS] = {[BY_SIZE] = -size,
                                           [BY_AREA] = -size * life,
                                           [BY_DENSITY] = -cost / (size * life),
                                           [BY_START] = start,
                                           [BY_WIDTH] = -life};
        turns[f] = (struct turn){k->items[f].fixed >= 0 ? -1e300 : keys[order], f};
    }
    qsort(turns, (size_t)k->item_count, sizeof *turns, place_compare_turns);
    for (int32_t t = 0; t < k->item_count && !cancel_requested(); t++) {
        int32_t f = turns[t].index;
        const struct fit_piece *pieces = &k->pieces[k->items[f].first_piece];
        int64_t base = place_lowest_base(b, &k->items[f], pieces, k->capacity);
        if (base < 0) continue;
        place_put(b, &k->items[f], pieces, base);
        for (int32_t i = k->head[f]; i >= 0; i = k->next[i]) address[i] = base;
    }
}

/* Can item i take over a placed parent's slot? k->next marks slots handed over. */
static bool place_take_over(struct packer *k, struct board *b, int32_t i, const struct fit_item *alone,
                            int64_t *address)
{
    const struct model *m = k->m;
    const struct lx_buffer *own = model_buffer(m, i);
    for (int32_t e = 0; e < m->edge_count; e++) {
        int32_t parent = m->edges[e].parent;
        if (m->edges[e].child != i || address[parent] < 0 || k->next[parent] >= 0) continue;
        int64_t at = address[parent];
        if (at % alone->alignment != 0 || (alone->fixed >= 0 && alone->fixed != at)) continue;
        struct fit_item item = {0, own->end > own->start + 1, alone->alignment, at};
        struct fit_piece rest = {own->start + 1, own->end, own->size};
        if (place_lowest_base(b, &item, &rest, k->capacity) != at) continue;
        place_put(b, &item, &rest, at);
        k->next[parent] = i;
        address[i] = at;
        return true;
    }
    return false;
}

static void place_singles(struct packer *k, struct board *b, struct turn *turns, int64_t *address)
{
    const struct model *m = k->m;
    int32_t n = 0;
    for (int32_t i = 0; i < m->item_count; i++)
        if (address[i] < 0) {
            k->next[i] = -1;
            turns[n++] = (struct turn){-m->items[i].worth / (double)max_i64(m->items[i].size, 1), i};
        } else if (k->next[i] >= 0 && address[k->next[i]] < 0)
            k->next[i] = -1;
    qsort(turns, (size_t)n, sizeof *turns, place_compare_turns);
    for (int32_t t = 0; t < n && !cancel_requested(); t++) {
        int32_t i = turns[t].index;
        const struct lx_buffer *own = model_buffer(m, i);
        struct fit_item item = {0, 1, lx_alignment_of(m->p, own), own->fixed};
        struct fit_piece piece = {own->start, own->end, own->size};
        if (model_flip(m, address, i) >= 0) continue; /* does not pay */
        if (m->items[i].size == 0) {
            address[i] = packer_empty(k, i);
            continue;
        }
        if (place_take_over(k, b, i, &item, address)) continue;
        int64_t base = place_lowest_base(b, &item, &piece, k->capacity);
        if (base < 0) continue;
        place_put(b, &item, &piece, base);
        address[i] = base;
    }
}

/* Places single items; returns the spill of the whole. */
static int64_t place_rest(struct packer *k, struct board *b, struct turn *turns, int64_t *address)
{
    place_singles(k, b, turns, address);
    model_tidy(k->m, address);
    mem_free(turns);
    VEC_FREE(&b->placed);
    VEC_FREE(&b->ranges);
    return model_value(k->m, address);
}

int64_t place_only(struct packer *k, const bool *wanted, const bool *merged, int64_t *address)
{
    const struct model *m = k->m;
    struct board b = {0};
    OWNED struct turn *turns = mem_alloc(((size_t)m->item_count + 1) * sizeof *turns);
    int64_t height = 0;
    int32_t broken;
    for (int32_t i = 0; i < m->item_count; i++) address[i] = LX_OFF_CHIP;
    bool ok = packer_chains(k, wanted, merged, &broken);
    if (ok) place_chains(k, &b, BY_WIDTH, turns, address);
    for (int32_t i = 0; ok && i < m->item_count; i++) {
        if (!wanted[i]) continue;
        ok = address[i] >= 0;
        height = max_i64(height, address[i] + model_buffer(m, i)->size);
    }
    VEC_FREE(&b.placed);
    VEC_FREE(&b.ranges);
    return ok ? height : -1;
}

int64_t fill_gaps(struct packer *k, int64_t *address)
{
    const struct model *m = k->m;
    struct board b = {0};
    struct turn *turns = mem_alloc(((size_t)m->item_count + 1) * sizeof *turns);
    for (int32_t i = 0; i < m->item_count; i++) {
        const struct lx_buffer *own = model_buffer(m, i);
        k->next[i] = -1;
        if (address[i] < 0 || m->items[i].size == 0) continue;
        struct fit_item item = {0, 1, 1, address[i]};
        struct fit_piece piece = {own->start, own->end, own->size};
        place_put(&b, &item, &piece, address[i]);
    }
    for (int32_t e = 0; e < m->edge_count; e++) {
        int32_t parent = m->edges[e].parent, child = m->edges[e].child;
        if (address[parent] >= 0 && address[parent] == address[child]) k->next[parent] = child;
    }
    return place_rest(k, &b, turns, address);
}

int64_t place_greedily(struct packer *k, const bool *wanted, const bool *merged, enum place_order order,
                       int64_t *address)
{
    const struct model *m = k->m;
    struct board b = {0};
    struct turn *turns = mem_alloc(((size_t)m->item_count + 1) * sizeof *turns);
    int32_t broken = 0;
    for (int32_t i = 0; i < m->item_count; i++) address[i] = LX_OFF_CHIP;
    /* If a chain contradicts itself, the second pass places everything. */
    if (!packer_chains(k, wanted, merged, &broken)) k->item_count = k->piece_count = 0;
    place_chains(k, &b, order, turns, address);
    return place_rest(k, &b, turns, address);
}
