/* Packing by levels of size. If the memory is a thousand times larger than most buffers, the few large ones
 * pack easily and the small ones fill the gaps; together they are too many for the Fit engine. So the engine
 * packs the kept items above a size, and the others go into the gaps, larger ones first, each into the lowest
 * or the tightest gap. The level is the smallest at which the engine still answers soon; other seeds, levels
 * and orders make other plans. Items without a gap are spilled, and spilled items may find one. A placement
 * costs O(n) for each item. */
#include "exact/ask_fit.h"
#include "base/rng.h"
#include "common/taken_bits.h"

enum { NODES_AN_ITEM = 8, NODES_MORE = 1000, LEVELS_TRIED = 3 };

/* Smaller keys go first; kept items have negative keys. */
struct turn {
    double key;
    int32_t item;
};

struct filler {
    struct packer *k;
    const bool *kept;
    bool *sub, *merged;
    int64_t *sizes, *trial, *base; /* base: of the packed level */
    struct byte_range *spans;
    struct turn *turns;
};

ORDER(levels_compare_turns, struct turn, ORDER_UP(key) ORDER_UP(item));

/* The lowest or tightest free address for an item among those placed in `trial`; -1: none. */
static int64_t levels_find_gap(struct filler *f, int32_t i, bool tightest)
{
    const struct model *m = f->k->m;
    const struct lx_buffer *own = model_buffer(f->k->m, i);
    int64_t align = lx_alignment_of(m->p, own), capacity = f->k->capacity, best = -1, least = INT64_MAX,
            at = 0;
    size_t n = 0;
    for (int32_t o = 0; o < m->item_count && m->items[o].start < own->end; o++)
        if (f->trial[o] >= 0 && m->items[o].end > own->start && m->items[o].size > 0)
            f->spans[n++] = (struct byte_range){f->trial[o], f->trial[o] + model_buffer(f->k->m, o)->size};
    range_sort(f->spans, n);
    for (size_t s = 0; s <= n; s++) {
        int64_t top = s < n ? f->spans[s].from : capacity,
                from = own->fixed >= 0 ? own->fixed : round_up_i64(at, align);
        if (from >= at && from <= top - own->size && top - at < least) {
            best = from;
            least = top - at;
            if (!tightest) break;
        }
        if (s < n) at = max_i64(at, f->spans[s].to);
    }
    return best;
}

/* Orders the unplaced items: kept ones by size, area, life or start, the others by density. */
static int32_t levels_take_turns(struct filler *f, int order, struct rng *rng)
{
    const struct model *m = f->k->m;
    int32_t n = 0;
    for (int32_t i = 0; i < m->item_count; i++) {
        const struct model_item *it = &m->items[i];
        if (f->trial[i] >= 0) continue;
        double size = (double)it->size, life = (double)(it->end - it->start),
               noise = 0.9 + 0.2 * rng_unit(rng);
        double keys[3] = {-size * noise, -size * life * noise, -life * noise};
        double key = f->kept[i] ? keys[order % 3] : 1 / (1 + it->worth / (size * life + 1));
        f->turns[n++] = (struct turn){model_buffer(f->k->m, i)->fixed >= 0 ? -1e300 : key, i};
    }
    qsort(f->turns, (size_t)n, sizeof *f->turns, levels_compare_turns);
    return n;
}

/* Packs the kept items of at least size `least`. */
static enum fit_result pack_level(struct filler *f, int64_t least, uint64_t seed)
{
    const struct model *m = f->k->m;
    int64_t items = 0;
    for (int32_t i = 0; i < m->item_count; i++)
        items += f->sub[i] =
            f->kept[i] && (m->items[i].size >= least || model_buffer(f->k->m, i)->fixed >= 0);
    f->k->limits.seed = seed;
    f->k->limits.dense = least > 0;
    int64_t nodes = (least > 0 ? NODES_AN_ITEM : 1) * items + NODES_MORE;
    enum fit_result result = pack_exactly(f->k, f->sub, f->merged, nodes, f->base);
    f->k->limits.dense = false;
    return result;
}

/* The least size of a level; at the lowest level all items are packed. */
static int64_t levels_least_of(const struct filler *f, int32_t level, int32_t kinds)
{
    return level == 0 ? 0 : level < kinds ? f->sizes[level] : INT64_MAX;
}

/* The smallest size down to which the kept items pack soon; `sizes` gets their distinct sizes, sorted. */
static int32_t find_level(struct filler *f, uint64_t seed, int32_t *kinds, enum fit_result *result)
{
    const struct model *m = f->k->m;
    int32_t n = 0, count = 0;
    for (int32_t i = 0; i < m->item_count; i++)
        if (f->kept[i] && m->items[i].size > 0) f->sizes[n++] = m->items[i].size;
    qsort(f->sizes, (size_t)n, sizeof *f->sizes, order_i64);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || f->sizes[i] != f->sizes[i - 1]) f->sizes[count++] = f->sizes[i];
    *kinds = count;

    int32_t low, high = count; /* at `high` nothing is packed */
    *result = pack_level(f, 0, seed);
    if (*result != FIT_LIMIT) return *result == FIT_YES ? 0 : count;
    for (low = 1; low < high && *result != FIT_NO;) {
        int32_t middle = low + (high - low) / 2;
        *result = pack_level(f, levels_least_of(f, middle, count), seed);
        if (*result == FIT_YES)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static int64_t try_ways(struct filler *f, int tries, int64_t aim, int64_t *address, bool *core,
                        enum fit_result *large)
{
    const struct model *m = f->k->m;
    uint64_t seed = f->k->limits.seed;
    struct rng rng = rng_seed(seed + 5);
    int32_t kinds, level = find_level(f, seed, &kinds, large);
    int64_t best = INT64_MAX;
    if (*large == FIT_NO) memcpy(core, f->sub, (size_t)m->item_count * sizeof *core);
    for (int t = 0; t < tries && best > aim && *large != FIT_NO && !cancel_requested(); t++) {
        int32_t at = level + (t / 6) % LEVELS_TRIED;
        if (t % 6 == 0 && pack_level(f, levels_least_of(f, at, kinds), seed + (uint64_t)t) != FIT_YES) {
            t += 5;
            continue;
        }
        /* Fill the gaps of the packed level in `base`. */
        int order = t % 6;
        memcpy(f->trial, f->base, (size_t)m->item_count * sizeof *f->trial);
        int32_t n = levels_take_turns(f, order, &rng);
        for (int32_t j = 0; j < n; j++) {
            int32_t i = f->turns[j].item;
            if (!f->kept[i] && model_flip(m, f->trial, i) >= 0) continue;
            f->trial[i] =
                m->items[i].size > 0 ? levels_find_gap(f, i, order / 3 % 2 == 0) : packer_empty(f->k, i);
        }
        model_tidy(m, f->trial);
        int64_t value = model_value(m, f->trial);
        if (value >= best) continue;
        best = value;
        memcpy(address, f->trial, (size_t)m->item_count * sizeof *address);
    }
    f->k->limits.seed = seed;
    return best;
}

int64_t levels_plan(struct packer *k, const bool *kept, int tries, int64_t aim, int64_t *address, bool *core,
                    enum fit_result *large)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)k->m->item_count + 1;
    struct filler f = {.k = k, .kept = kept};
    f.sub = arena_array(&memory, n, sizeof *f.sub);
    f.merged = arena_array(&memory, (size_t)k->m->edge_count + 1, sizeof *f.merged);
    f.sizes = arena_array(&memory, n, sizeof *f.sizes);
    f.trial = arena_array(&memory, n, sizeof *f.trial);
    f.base = arena_array(&memory, n, sizeof *f.base);
    f.spans = arena_array(&memory, n, sizeof *f.spans);
    f.turns = arena_array(&memory, n, sizeof *f.turns);
    *large = FIT_LIMIT;
    return try_ways(&f, tries, aim, address, core, large);
}
