/* Finding a spot: gather what is taken in a pool, then look at in-place partners' addresses and at gaps. */
#include "common/places.h"
#include "base/checked.h"

#include <stdlib.h>

static bool places_is_parent(const struct lx_buffer *child, int32_t index)
{
    for (int32_t k = 0; k < child->parent_count; k++)
        if (child->parents[k] == index) return true;
    return false;
}

static bool places_lives_on(const struct lx_buffer *b, int64_t start, int64_t end)
{
    for (int32_t k = 0; k < lx_life_count(b); k++)
        if (lx_life_at(b, k).start < end && start < lx_life_at(b, k).end) return true;
    return false;
}

static int64_t places_end_of(const struct places *x, int32_t i)
{
    return x->address[i] + x->p->buffers[i].size;
}

static void set_latest(struct places *x, int32_t i, int64_t end)
{
    int32_t node = x->width + x->leaf[i];
    for (x->latest[node] = end; node > 1;) {
        node /= 2;
        x->latest[node] = max_i64(x->latest[2 * node], x->latest[2 * node + 1]);
    }
}

static void gather_living(struct places *x, int32_t node, int32_t left, int32_t width, int64_t start,
                          int64_t end)
{
    if (x->latest[node] <= start || left >= x->p->count || x->p->buffers[x->order[left]].start >= end) return;
    if (width == 1) {
        x->found[x->found_count++] = x->order[left];
        return;
    }
    gather_living(x, 2 * node, left, width / 2, start, end);
    gather_living(x, 2 * node + 1, left + width / 2, width / 2, start, end);
}

/* Everybody placed that may not share bytes with buffer i: contemporaries, those apart, those alone. */
static void gather_rivals(struct places *x, int32_t i)
{
    const struct lx_buffer *b = &x->p->buffers[i];
    x->query++;
    x->found_count = 0;
    if (b->size == 0) return; /* conflicts with nothing */
    if (b->alone) {           /* all that are placed */
        gather_living(x, 1, 0, x->width, INT64_MIN + 1, INT64_MAX);
        return;
    }
    for (size_t k = x->exclusive.first[i]; k < x->exclusive.first[i + 1]; k++)
        x->mark[x->exclusive.at[k]] = x->query;
    gather_living(x, 1, 0, x->width, b->start, b->end);
    int32_t kept = 0;
    for (int32_t k = 0; k < x->found_count; k++) {
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

static int32_t list_taken(struct places *x, const struct lx_buffer *b, int32_t pool)
{
    int32_t n = 0;
    for (int32_t k = 0; k < x->found_count; k++)
        if (shares_pool(x, x->found[k], pool) && x->p->buffers[x->found[k]].size > 0)
            x->taken[n++] = (struct byte_range){x->address[x->found[k]], places_end_of(x, x->found[k])};
    for (int32_t k = 0; x->p->pool_count && k < x->p->pools[pool].reserved_count; k++) {
        const struct lx_reserved *r = &x->p->pools[pool].reserved[k];
        if (places_lives_on(b, r->start, r->end)) x->taken[n++] = (struct byte_range){r->from, r->to};
    }
    return (int32_t)taken_join(&x->map, x->taken, (size_t)n);
}

/* Is [at, at + size) free, but for in-place partners at that very address? Apart and alone know no
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
            (!places_is_parent(b, other) && !places_is_parent(o, i)))
            return false;
        for (size_t a = x->apart.first[i]; a < x->apart.first[i + 1]; a++)
            if (x->apart.at[a] == other) return false;
    }
    for (int32_t k = 0; x->p->pool_count && k < x->p->pools[pool].reserved_count; k++) {
        const struct lx_reserved *r = &x->p->pools[pool].reserved[k];
        if (at < r->to && r->from < at + b->size && places_lives_on(b, r->start, r->end)) return false;
    }
    return true;
}

static int64_t limit_of(const struct places *x, int32_t pool)
{
    int64_t capacity = lx_pool_capacity(x->p, pool);
    return capacity == LX_NO_LIMIT ? INT64_MAX / 4 : capacity;
}

/* What is paid for sharing bytes with others at other times. */
static int64_t places_reuse_at(const struct places *x, int32_t i, int32_t pool, int64_t at)
{
    int64_t cost = 0, to = at + x->p->buffers[i].size;
    for (size_t k = x->reuse.first[i]; k < x->reuse.first[i + 1]; k++) {
        int32_t other = x->reuse.at[k];
        if (shares_pool(x, other, pool) && at < places_end_of(x, other) && x->address[other] < to &&
            x->p->buffers[other].size > 0 && to > at)
            cost += x->reuse.cost[k];
    }
    return cost;
}

static void places_consider(const struct places *x, int32_t i, int32_t pool, int64_t at, struct spot *best)
{
    int64_t cost = lx_on_cost(&x->p->buffers[i], pool) + places_reuse_at(x, i, pool, at);
    if (best->address < 0 || cost < best->cost) *best = (struct spot){pool, at, cost};
}

static bool places_suits(const struct places *x, int32_t i, int32_t pool, int64_t at)
{
    const struct lx_buffer *b = &x->p->buffers[i];
    return at >= 0 && at % lx_alignment_of(x->p, b) == 0 && at <= limit_of(x, pool) - b->size &&
           (b->fixed < 0 || (b->fixed == at && b->fixed_pool == pool));
}

/* Where reuse costs, the ends of partners are worth a look as well. */
static void look_behind_reuse(struct places *x, int32_t i, int32_t pool, struct spot *best)
{
    int64_t alignment = lx_alignment_of(x->p, &x->p->buffers[i]);
    for (size_t k = x->reuse.first[i]; k < x->reuse.first[i + 1]; k++) {
        int32_t other = x->reuse.at[k];
        if (!shares_pool(x, other, pool)) continue;
        int64_t at = round_up_i64(places_end_of(x, other), alignment);
        if (places_suits(x, i, pool, at) && places_is_free(x, i, pool, at))
            places_consider(x, i, pool, at, best);
    }
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
    if (has_reuse) look_behind_reuse(x, i, pool, best);
}

/* How much higher all pools together get. */
static int64_t places_growth(const struct places *x, int32_t i, const struct spot *at)
{
    return max_i64(at->address + x->p->buffers[i].size - x->top[at->pool], 0);
}

struct spot places_find(struct places *x, int32_t i)
{
    const struct lx_buffer *b = &x->p->buffers[i];
    struct spot best = {0, LX_OFF_CHIP, 0};
    gather_rivals(x, i);
    for (int32_t k = 0; k < lx_choice_count(x->p, b); k++) {
        struct spot here = {0, LX_OFF_CHIP, 0};
        int32_t pool = lx_choice_at(b, k);
        /* The addresses of in-place partners. */
        for (int32_t j = 0; j < b->parent_count; j++)
            if (shares_pool(x, b->parents[j], pool) && places_suits(x, i, pool, x->address[b->parents[j]]) &&
                places_is_free(x, i, pool, x->address[b->parents[j]]))
                places_consider(x, i, pool, x->address[b->parents[j]], &here);
        for (size_t j = x->children.first[i]; j < x->children.first[i + 1]; j++)
            if (shares_pool(x, x->children.at[j], pool) &&
                places_suits(x, i, pool, x->address[x->children.at[j]]) &&
                places_is_free(x, i, pool, x->address[x->children.at[j]]))
                places_consider(x, i, pool, x->address[x->children.at[j]], &here);
        if (here.address < 0 || here.cost > 0) {
            if (b->fixed < 0)
                look_at_gaps(x, i, pool, &here);
            else if (places_suits(x, i, pool, b->fixed) && places_is_free(x, i, pool, b->fixed))
                places_consider(x, i, pool, b->fixed, &here);
        }
        if (here.address < 0) continue;
        bool height = x->p->objective == LX_HEIGHT;
        if (best.address < 0 ||
            (height ? places_growth(x, i, &here) < places_growth(x, i, &best) : here.cost < best.cost))
            best = here;
    }
    return best;
}

void places_put(struct places *x, int32_t i, const struct spot *at)
{
    x->address[i] = at->address;
    if (x->pool) x->pool[i] = at->pool;
    x->top[at->pool] = max_i64(x->top[at->pool], places_end_of(x, i));
    set_latest(x, i, x->p->buffers[i].end);
}

void places_take(struct places *x, int32_t i)
{
    x->address[i] = LX_OFF_CHIP;
    if (x->pool) x->pool[i] = 0;
    set_latest(x, i, INT64_MIN);
}
