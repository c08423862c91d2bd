/* The bound of a problem of version 2: the bound of an easier plain list for each part.
 *
 *   lives      only the longest one counts
 *   exclusive  of each pair the smaller is left out, unless one is gone already
 *   staging    left out
 *   costs      the less of on and off is always paid, the rest is the price of leaving; buffers that
 *              must stay have a price above all others
 *   linked     linked costs and reuse are dropped: neither is ever negative
 *   pools      one of all their bytes together, in units; height: each pool with the buffers
 *              that may be nowhere else, or all together
 *   reserved   whole reserved units are buffers that must stay */
#include "placement/bound.h"
#include "placement/rewrite.h"

enum { MOST_RESERVED = 1000 }; /* more than these in a pool are left out: finding overlaps is quadratic */

struct relaxing {
    const struct lx_problem *q;
    struct lx_problem plain;
    struct lx_buffer *list;
    int32_t *number; /* per buffer of q: its index in the list, or -1 */
    bool *left_out;
    int64_t unit, paid, hindrance; /* hindrance: the price of buffers that must stay */
    int64_t first, last;           /* ticks [first, last) of all lives */
};

static int64_t least_on_cost(const struct lx_buffer *b)
{
    int64_t least = b->on_costs ? b->on_costs[0] : 0;
    for (int32_t k = 1; b->on_costs && k < b->pool_count; k++) least = min_i64(least, b->on_costs[k]);
    return least;
}

/* Adds buffer i with its longest life to the list, and its unavoidable cost to `paid`. */
static void bound_relax_add_buffer(struct relaxing *x, int32_t i)
{
    const struct lx_buffer *b = &x->q->buffers[i];
    struct lx_life life = lx_life_at(b, 0);
    for (int32_t k = 1; k < lx_life_count(b); k++) {
        struct lx_life l = lx_life_at(b, k);
        if (l.end - l.start > life.end - life.start) life = l;
    }
    int64_t on = least_on_cost(b), off = b->spill_cost;
    bool asks_cost = x->q->objective == LX_SPILL;
    if (asks_cost) x->paid += b->must ? on : min_i64(on, off);
    x->number[i] = -1;
    if (x->left_out[i]) return;
    struct lx_buffer *to = &x->list[x->plain.count];
    x->number[i] = x->plain.count++;
    *to = (struct lx_buffer){.name = b->name,
                             .size = b->size,
                             .start = life.start,
                             .end = life.end,
                             .fixed = -1,
                             .alignment = b->alignment,
                             .reason = b->reason,
                             .spill_cost = off};
    if (asks_cost) to->spill_cost = b->must ? x->hindrance : max_i64(off - on, 0);
    x->first = min_i64(x->first, b->start);
    x->last = max_i64(x->last, b->end);
}

static void add_reserved(struct relaxing *x, const struct lx_pool *pool)
{
    if (pool->reserved_count > MOST_RESERVED) return;
    for (int32_t i = 0; i < pool->reserved_count; i++) {
        const struct lx_reserved *r = &pool->reserved[i];
        int64_t from = round_up_i64(r->from, x->unit), to = r->to / x->unit * x->unit;
        int64_t start = max_i64(r->start, x->first), end = min_i64(r->end, x->last);
        bool meets = false; /* an earlier one */
        for (int32_t k = 0; k < i && !meets; k++) {
            const struct lx_reserved *o = &pool->reserved[k];
            meets = r->from < o->to && o->from < r->to && r->start < o->end && o->start < r->end;
        }
        if (from >= to || start >= end || meets) continue;
        x->list[x->plain.count++] = (struct lx_buffer){.name = pool->name,
                                                       .size = to - from,
                                                       .start = start,
                                                       .end = end,
                                                       .fixed = -1,
                                                       .alignment = x->unit,
                                                       .spill_cost = x->hindrance};
    }
}

/* Makes the plain list of a pool, or of all pools together (-1). */
static void bound_relax(struct relaxing *x, int32_t pool)
{
    const struct lx_problem *q = x->q;
    x->unit = 0;
    for (int32_t i = 0; i < q->count; i++)
        if (q->buffers[i].size > 0) x->unit = gcd_i64(lx_alignment_of(q, &q->buffers[i]), x->unit);
    if (q->objective == LX_HEIGHT || x->unit == 0) x->unit = 1;
    /* A price above every total cost of the problem; 0 if sums of such prices leave the range. */
    int64_t sum = 1;
    for (int32_t i = 0; i < q->count; i++) sum += q->buffers[i].spill_cost + least_on_cost(&q->buffers[i]);
    x->hindrance = sum < LX_INT_MAX / ((int64_t)q->count + 1) / 8 ? sum : 0;
    x->first = INT64_MAX;
    x->last = INT64_MIN;
    size_t n = (size_t)x->q->count + 1;
    for (int32_t k = 0; k < x->q->pool_count; k++) n += (size_t)x->q->pools[k].reserved_count;
    x->list = mem_zeroed(n, sizeof *x->list);
    x->number = mem_alloc(n * sizeof *x->number);
    x->left_out = mem_zeroed(n, sizeof *x->left_out);
    const struct lx_bonds *b = &x->q->bonds;
    for (int32_t i = 0; i < b->staging_count; i++) x->left_out[b->staging[i].a] = true;
    for (int32_t i = 0; i < b->exclusive_count; i++) {
        int32_t one = b->exclusive[i].a, other = b->exclusive[i].b;
        if (x->left_out[one] || x->left_out[other]) continue;
        x->left_out[x->q->buffers[one].size < x->q->buffers[other].size ? one : other] = true;
    }
    for (int32_t i = 0; i < q->count; i++) {
        x->left_out[i] |=
            pool >= 0 && (lx_choice_count(q, &q->buffers[i]) != 1 || lx_choice_at(&q->buffers[i], 0) != pool);
        bound_relax_add_buffer(x, i);
        /* Pools are rounded up to this unit, so the list is counted in it, too. */
        if (x->number[i] >= 0) x->list[x->number[i]].alignment = x->unit;
    }
    /* A child may sit on a parent on its first tick: that tick does not count. */
    for (int32_t i = 0; i < q->count; i++) {
        if (x->number[i] < 0 || q->buffers[i].parent_count == 0) continue;
        struct lx_buffer *to = &x->list[x->number[i]];
        if (to->start == q->buffers[i].start) to->start++;
        if (to->start == to->end) to->size = 0, to->start--;
    }
    for (int32_t k = 0; k < q->pool_count; k++)
        if (pool < 0 || k == pool) add_reserved(x, &q->pools[k]);
    x->plain.objective = q->objective;
    x->plain.alignment = x->unit;
    x->plain.buffers = x->list;
    x->plain.capacity = q->pool_count ? 0 : q->capacity;
    for (int32_t k = 0; k < q->pool_count; k++)
        x->plain.capacity += round_up_i64(max_i64(q->pools[k].capacity, 0), x->unit);
}

static int64_t bound_list(const struct lx_problem *q, int32_t pool)
{
    struct relaxing x = {.q = q};
    bound_relax(&x, pool);
    int64_t bound = bound_plain(&x.plain);
    if (q->objective == LX_SPILL) bound = x.hindrance && bound >= x.hindrance ? INT64_MAX : bound + x.paid;
    mem_free(x.list);
    mem_free(x.number);
    mem_free(x.left_out);
    return bound;
}

/* The heights of the pools with their own buffers, reserved bytes and pins, added up, or all together. */
static int64_t bound_height(const struct lx_problem *q)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < lx_pool_count(q); k++) {
        int64_t top = bound_list(q, k);
        for (int32_t i = 0; q->pool_count && i < q->pools[k].reserved_count; i++)
            top = max_i64(top, q->pools[k].reserved[i].to);
        for (int32_t i = 0; i < q->count; i++)
            if (q->buffers[i].fixed >= 0 && (q->pool_count < 2 || q->buffers[i].fixed_pool == k))
                top = max_i64(top, q->buffers[i].fixed + q->buffers[i].size);
        sum += top;
    }
    return max_i64(bound_list(q, -1), sum);
}

int64_t bound_parts(const struct lx_problem *p)
{
    SCOPED(rewrite_free) struct rewrite w;
    rewrite_make(&w, p);
    int64_t bound = w.impossible ? INT64_MAX : w.constant;
    for (int32_t k = 0; k < w.part_count && bound < INT64_MAX; k++) {
        const struct lx_problem *q = &w.parts[k].problem;
        int64_t limit = w.parts[k].hard_limit, one = !lx_problem_needs(q)        ? bound_plain(q)
                                                     : q->objective == LX_HEIGHT ? bound_height(q)
                                                                                 : bound_list(q, -1);
        if (limit != LX_NO_LIMIT && one > limit) one = INT64_MAX;
        if (q->objective == LX_FIT && one > 0) one = INT64_MAX; /* no buffer in a part is barred */
        if (!add_i64(bound, one, &bound)) bound = INT64_MAX;
    }
    return bound;
}
