/* Finds a spot: gathers the bytes taken in a pool, then tries in-place partners' addresses and gaps. */
#include "common/places.h"
#include "common/items.h"

static int64_t places_end_of(const struct places *x, int32_t i)
{
    return x->address[i] + x->p->buffers[i].size;
}

/* Gathers the placed buffers that may not share bytes with buffer i: contemporaries, apart, alone. */
static void gather_rivals(struct places *x, int32_t i)
{
    const struct lx_buffer *b = &x->p->buffers[i];
    x->query++;
    x->found_count = 0;
    if (b->size == 0) return; /* conflicts with nothing */
    if (b->alone) {           /* all placed buffers */
        x->found_count = live_index_find(&x->placed, INT64_MIN + 1, INT64_MAX, x->found);
        return;
    }
    for (size_t k = x->exclusive.first[i]; k < x->exclusive.first[i + 1]; k++)
        x->mark[x->exclusive.at[k]] = x->query;
    int32_t kept = 0, count = live_index_find(&x->placed, b->start, b->end, x->found);
    for (int32_t k = 0; k < count; k++) {
        int32_t other = x->found[k];
        if (x->mark[other] != x->query && lx_lives_meet(b, &x->p->buffers[other])) x->found[kept++] = other;
    }
    x->found_count = kept;
    for (size_t k = x->apart.first[i]; k < x->apart.first[i + 1]; k++)
        if (x->address[x->apart.at[k]] >= 0) x->found[x->found_count++] = x->apart.at[k];
    for (int32_t k = 0; k < x->alone_count; k++)
        if (x->address[x->alone[k]] >= 0) x->found[x->found_count++] = x->alone[k];
}

static bool shares_pool(const struct places *x, int32_t other, int32_t pool)
{
    return x->address[other] >= 0 && (!x->pool || x->pool[other] == pool);
}

/* Are the bytes reserved while the buffer lives? */
static bool places_reserves(const struct lx_buffer *b, const struct lx_reserved *r)
{
    for (int32_t k = 0; k < lx_life_count(b); k++)
        if (lx_life_at(b, k).start < r->end && r->start < lx_life_at(b, k).end) return true;
    return false;
}

static int32_t list_taken(struct places *x, const struct lx_buffer *b, int32_t pool)
{
    int32_t n = 0;
    for (int32_t k = 0; k < x->found_count; k++)
        if (shares_pool(x, x->found[k], pool) && x->p->buffers[x->found[k]].size > 0)
            x->taken[n++] = (struct byte_range){x->address[x->found[k]], places_end_of(x, x->found[k])};
    for (int32_t k = 0; x->p->pool_count && k < x->p->pools[pool].reserved_count; k++) {
        const struct lx_reserved *r = &x->p->pools[pool].reserved[k];
        if (places_reserves(b, r)) x->taken[n++] = (struct byte_range){r->from, r->to};
    }
    return (int32_t)taken_join(&x->map, x->taken, (size_t)n);
}

/* Is [at, at + size) free, except for in-place partners at exactly that address? Apart and alone allow no
 * handover. */
static bool places_is_free(struct places *x, int32_t i, int32_t pool, int64_t at)
{
    const struct lx_buffer *b = &x->p->buffers[i];
    if (b->size == 0) return true;
    for (int32_t k = 0; k < x->found_count; k++) {
        int32_t other = x->found[k];
        const struct lx_buffer *o = &x->p->buffers[other];
        if (!shares_pool(x, other, pool) || o->size == 0 || at >= places_end_of(x, other) ||
            x->address[other] >= at + b->size)
            continue;
        if (x->address[other] != at || b->alone || o->alone ||
            (!item_is_listed(b->parents, b->parent_count, other) &&
             !item_is_listed(o->parents, o->parent_count, i)))
            return false;
        for (size_t a = x->apart.first[i]; a < x->apart.first[i + 1]; a++)
            if (x->apart.at[a] == other) return false;
    }
    for (int32_t k = 0; x->p->pool_count && k < x->p->pools[pool].reserved_count; k++) {
        const struct lx_reserved *r = &x->p->pools[pool].reserved[k];
        if (at < r->to && r->from < at + b->size && places_reserves(b, r)) return false;
    }
    return true;
}

static int64_t limit_of(const struct places *x, int32_t pool)
{
    int64_t capacity = lx_pool_capacity(x->p, pool);
    return capacity == LX_NO_LIMIT ? INT64_MAX / 4 : capacity;
}

/* Costs a spot (the pool's cost, and reuse shared with others) and keeps the cheaper. */
static void places_consider(const struct places *x, int32_t i, int32_t pool, int64_t at, struct spot *best)
{
    int64_t cost = lx_on_cost(&x->p->buffers[i], pool), to = at + x->p->buffers[i].size;
    for (size_t k = x->reuse.first[i]; k < x->reuse.first[i + 1]; k++) {
        int32_t other = x->reuse.at[k];
        if (shares_pool(x, other, pool) && at < places_end_of(x, other) && x->address[other] < to &&
            x->p->buffers[other].size > 0 && to > at)
            cost += x->reuse.cost[k];
    }
    if (best->address < 0 || cost < best->cost) *best = (struct spot){pool, at, cost};
}

/* Considers an address if it suits the buffer and is free. */
static void places_try(struct places *x, int32_t i, int32_t pool, int64_t at, struct spot *best)
{
    const struct lx_buffer *b = &x->p->buffers[i];
    bool suits = at >= 0 && at % lx_alignment_of(x->p, b) == 0 && at <= limit_of(x, pool) - b->size &&
                 (b->fixed < 0 || (b->fixed == at && b->fixed_pool == pool));
    if (suits && places_is_free(x, i, pool, at)) places_consider(x, i, pool, at, best);
}

static void look_at_gaps(struct places *x, int32_t i, int32_t pool, struct spot *best)
{
    const struct lx_buffer *b = &x->p->buffers[i];
    int64_t alignment = lx_alignment_of(x->p, b), gap = 0, least = INT64_MAX, limit = limit_of(x, pool);
    int32_t taken = b->size ? list_taken(x, b, pool) : 0;
    struct spot own = {pool, LX_OFF_CHIP, 0};
    bool has_reuse = x->reuse.first[i] < x->reuse.first[i + 1];
    for (int32_t k = 0; k <= taken; k++) {
        int64_t end = k < taken ? min_i64(x->taken[k].from, limit) : limit, at = round_up_i64(gap, alignment);
        if (at <= end - b->size && (!x->tightest || end - at < least)) {
            if (x->tightest && !has_reuse) own.address = LX_OFF_CHIP;
            least = end - at;
            places_consider(x, i, pool, at, &own);
            if (!x->tightest && !has_reuse) break;
        }
        if (k < taken) gap = max_i64(gap, x->taken[k].to);
    }
    if (own.address >= 0 && (best->address < 0 || own.cost < best->cost)) *best = own;
    /* With reuse costs, the ends of partners are candidates too. */
    for (size_t k = x->reuse.first[i]; k < x->reuse.first[i + 1]; k++) {
        int32_t other = x->reuse.at[k];
        if (shares_pool(x, other, pool))
            places_try(x, i, pool, round_up_i64(places_end_of(x, other), alignment), best);
    }
}

struct spot places_find(struct places *x, int32_t i)
{
    const struct lx_buffer *b = &x->p->buffers[i];
    struct spot best = {0, LX_OFF_CHIP, 0};
    int64_t best_growth = 0;
    gather_rivals(x, i);
    for (int32_t k = 0; k < lx_choice_count(x->p, b); k++) {
        struct spot here = {0, LX_OFF_CHIP, 0};
        int32_t pool = lx_choice_at(b, k);
        /* First the addresses of in-place partners, then gaps. */
        for (int32_t j = 0; j < b->parent_count; j++)
            if (shares_pool(x, b->parents[j], pool)) places_try(x, i, pool, x->address[b->parents[j]], &here);
        for (size_t j = x->children.first[i]; j < x->children.first[i + 1]; j++)
            if (shares_pool(x, x->children.at[j], pool))
                places_try(x, i, pool, x->address[x->children.at[j]], &here);
        if ((here.address < 0 || here.cost > 0) && b->fixed < 0)
            look_at_gaps(x, i, pool, &here);
        else if (here.address < 0 || here.cost > 0)
            places_try(x, i, pool, b->fixed, &here);
        if (here.address < 0) continue;
        /* For height, take the pool in which the sum of heights grows least. */
        int64_t growth = max_i64(here.address + b->size - x->top[pool], 0);
        if (best.address >= 0 &&
            (x->p->objective == LX_HEIGHT ? growth >= best_growth : here.cost >= best.cost))
            continue;
        best = here;
        best_growth = growth;
    }
    return best;
}

void places_put(struct places *x, int32_t i, const struct spot *at)
{
    x->address[i] = at->address;
    if (x->pool) x->pool[i] = at->pool;
    x->top[at->pool] = max_i64(x->top[at->pool], places_end_of(x, i));
    live_index_add(&x->placed, i);
}

void places_take(struct places *x, int32_t i)
{
    x->address[i] = LX_OFF_CHIP;
    if (x->pool) x->pool[i] = 0;
    live_index_remove(&x->placed, i);
}

/* Lists the partners of each buffer in the pairs; `both` false: only partners of `a`. */
static void partners_make(struct partners *x, struct arena *memory, size_t n, const struct lx_reuse *pairs,
                          size_t count, bool both)
{
    x->first = arena_array(memory, n + 2, sizeof *x->first);
    x->at = arena_array(memory, 2 * count + 1, sizeof *x->at);
    x->cost = arena_array(memory, 2 * count + 1, sizeof *x->cost);
    for (size_t k = 0; k < count; k++) {
        x->first[pairs[k].a + 2]++;
        x->first[pairs[k].b + 2] += both;
    }
    for (size_t i = 2; i < n + 2; i++) x->first[i] += x->first[i - 1];
    for (size_t k = 0; k < count; k++)
        for (int side = 0; side <= both; side++) {
            size_t slot = x->first[(side ? pairs[k].b : pairs[k].a) + 1]++;
            x->at[slot] = side ? pairs[k].a : pairs[k].b;
            x->cost[slot] = pairs[k].cost;
        }
}

static void partners_find(struct places *x)
{
    const struct lx_problem *p = x->p;
    const struct lx_bonds *b = &p->bonds;
    size_t n = (size_t)p->count, edges = 0, most = (size_t)max_i64(b->apart_count, b->exclusive_count);
    for (size_t i = 0; i < n; i++) edges += (size_t)p->buffers[i].parent_count;
    OWNED struct lx_reuse *pairs = mem_alloc((edges + most + 1) * sizeof *pairs);
    for (int32_t k = 0; k < b->apart_count; k++)
        pairs[k] = (struct lx_reuse){b->apart[k].a, b->apart[k].b, 0};
    partners_make(&x->apart, &x->memory, n, pairs, (size_t)b->apart_count, true);
    for (int32_t k = 0; k < b->exclusive_count; k++)
        pairs[k] = (struct lx_reuse){b->exclusive[k].a, b->exclusive[k].b, 0};
    partners_make(&x->exclusive, &x->memory, n, pairs, (size_t)b->exclusive_count, true);
    partners_make(&x->reuse, &x->memory, n, b->reuse, (size_t)b->reuse_count, true);
    edges = 0;
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++)
            pairs[edges++] = (struct lx_reuse){p->buffers[i].parents[k], i, 0};
    partners_make(&x->children, &x->memory, n, pairs, edges, false);
}

void places_init(struct places *x, const struct lx_problem *p, int64_t *address, int32_t *pool, bool tightest)
{
    /* A buffer may be found three times: as contemporary, apart and alone. */
    size_t n = (size_t)p->count, room = 2 * n + 2 * (size_t)p->bonds.apart_count + 1, reserved = 0;
    *x = (struct places){.p = p, .address = address, .pool = pool, .tightest = tightest};
    x->found = arena_array(&x->memory, room, sizeof *x->found);
    x->mark = arena_array(&x->memory, n + 1, sizeof *x->mark);
    x->alone = arena_array(&x->memory, n + 1, sizeof *x->alone);
    x->top = arena_array(&x->memory, (size_t)lx_pool_count(p), sizeof *x->top);
    live_index_init(&x->placed, p, NULL, 0);
    taken_bits_init(&x->map, p, p->capacity);
    partners_find(x);
    for (int32_t i = 0; i < p->count; i++) {
        address[i] = LX_OFF_CHIP;
        if (pool) pool[i] = 0;
        if (p->buffers[i].alone) x->alone[x->alone_count++] = i;
    }
    /* Reserved bytes count for the height from the start. */
    for (int32_t k = 0; k < p->pool_count; k++) {
        reserved += (size_t)p->pools[k].reserved_count;
        for (int32_t i = 0; i < p->pools[k].reserved_count; i++)
            x->top[k] = max_i64(x->top[k], p->pools[k].reserved[i].to);
    }
    x->taken = arena_array(&x->memory, room + reserved, sizeof *x->taken);
}
