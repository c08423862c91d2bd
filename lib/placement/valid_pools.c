/* The data model of pools, and of what buffers say about them: where they may be, at what cost, pins, and
 * lives with gaps. A problem without pools is one of version 1: a fixed address beyond the capacity is
 * then no error, because the capacity is often a setting of its own; the buffer stays off chip. */
#include "placement/valid.h"
#include "base/checked.h"
#include "base/fail.h"

bool valid_pools(const struct lx_problem *p, lx_status *st)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < p->pool_count; k++) {
        const struct lx_pool *q = &p->pools[k];
        bool unlimited = q->capacity == LX_NO_LIMIT && p->objective == LX_HEIGHT;
        if (!unlimited && (q->capacity < 0 || q->capacity > LX_INT_MAX))
            return status_set(
                st, LX_E_MODEL,
                "pool %s: its capacity is missing or impossible; only where the height is asked "
                "for it may have none",
                q->name);
        for (int32_t i = 0; i < q->reserved_count; i++) {
            const struct lx_reserved *r = &q->reserved[i];
            if (r->from < 0 || r->from >= r->to || r->start >= r->end)
                return status_set(
                    st, LX_E_MODEL,
                    "pool %s: reserved bytes [%lld, %lld) are none; the end must be above the start", q->name,
                    (long long)r->from, (long long)r->to);
            if (r->to > (q->capacity == LX_NO_LIMIT ? LX_INT_MAX : q->capacity))
                return status_set(st, LX_E_MODEL,
                                  "pool %s: reserved bytes [%lld, %lld) end beyond its capacity of %lld",
                                  q->name, (long long)r->from, (long long)r->to, (long long)q->capacity);
        }
        if (!unlimited && (!add_i64(sum, q->capacity, &sum) || sum > LX_INT_MAX))
            return status_set(st, LX_E_RANGE, "pool %s: the capacities up to here add up beyond 2^53",
                              q->name);
    }
    return true;
}

static bool valid_lives(const struct lx_buffer *b, lx_status *st)
{
    if (b->life_count == 0) return true;
    if (b->lives[0].start != b->start || b->lives[b->life_count - 1].end != b->end)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: live: its intervals do not span [%lld, %lld)",
                            b->name, (long long)b->start, (long long)b->end);
    for (int32_t i = 0; i < b->life_count; i++) {
        const struct lx_life *l = &b->lives[i];
        if (l->start >= l->end)
            return buffer_error(b, st, LX_E_MODEL, "buffer %s: live: the interval [%lld, %lld) is empty",
                                b->name, (long long)l->start, (long long)l->end);
        if (i > 0 && l->start < l[-1].end)
            return buffer_error(
                b, st, LX_E_MODEL,
                "buffer %s: live: [%lld, %lld) is not behind [%lld, %lld); intervals rise and do not overlap",
                b->name, (long long)l->start, (long long)l->end, (long long)l[-1].start,
                (long long)l[-1].end);
    }
    return true;
}

static bool valid_choice(const struct lx_problem *p, const struct lx_buffer *b, lx_status *st)
{
    int32_t pools = lx_pool_count(p);
    if ((b->pools && b->pool_count == 0) || b->pool_count < 0)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: pools: it names none", b->name);
    for (int32_t k = 0; b->pools && k < b->pool_count; k++) {
        if (b->pools[k] < 0 || b->pools[k] >= pools)
            return buffer_error(b, st, LX_E_MODEL, "buffer %s: pools: there is no pool number %d", b->name,
                                (int)b->pools[k]);
        for (int32_t i = 0; i < k; i++)
            if (b->pools[i] == b->pools[k])
                return buffer_error(b, st, LX_E_MODEL, "buffer %s: pools: %d is named twice", b->name,
                                    (int)b->pools[k]);
    }
    if (b->on_costs && !b->pools && b->pool_count != pools)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: %d costs for %d pools; give one for each", b->name,
                            (int)b->pool_count, (int)pools);
    for (int32_t k = 0; b->on_costs && k < b->pool_count; k++)
        if (b->on_costs[k] < 0 || b->on_costs[k] > LX_INT_MAX)
            return buffer_error(b, st, LX_E_MODEL, "buffer %s: costs: %lld is negative or impossible",
                                b->name, (long long)b->on_costs[k]);
    return true;
}

static bool valid_pools_lives_on(const struct lx_buffer *b, int64_t start, int64_t end)
{
    for (int32_t i = 0; i < lx_life_count(b); i++) {
        struct lx_life l = lx_life_at(b, i);
        if (l.start < end && start < l.end) return true;
    }
    return false;
}

static bool valid_pin(const struct lx_problem *p, const struct lx_buffer *b, lx_status *st)
{
    if (b->fixed < 0)
        return !b->alone || buffer_error(b, st, LX_E_MODEL, "buffer %s: alone goes with a pin", b->name);
    if (b->fixed_pool < 0 || b->fixed_pool >= lx_pool_count(p) || !lx_allows_pool(b, b->fixed_pool))
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: the pool of its pin is none of its own", b->name);
    if (p->pool_count == 0) return true;
    const struct lx_pool *q = &p->pools[b->fixed_pool];
    if (q->capacity != LX_NO_LIMIT && b->fixed > q->capacity - b->size)
        return buffer_error(
            b, st, LX_E_MODEL, "buffer %s: its pin [%lld, %lld) ends beyond pool %s of %lld bytes", b->name,
            (long long)b->fixed, (long long)(b->fixed + b->size), q->name, (long long)q->capacity);
    for (int32_t i = 0; i < q->reserved_count; i++) {
        const struct lx_reserved *r = &q->reserved[i];
        if (b->size > 0 && b->fixed < r->to && r->from < b->fixed + b->size &&
            valid_pools_lives_on(b, r->start, r->end))
            return buffer_error(
                b, st, LX_E_MODEL,
                "buffer %s: its pin [%lld, %lld) is on bytes [%lld, %lld) that are reserved during its life",
                b->name, (long long)b->fixed, (long long)(b->fixed + b->size), (long long)r->from,
                (long long)r->to);
    }
    return true;
}

bool valid_in_pools(const struct lx_problem *p, const struct lx_buffer *b, lx_status *st)
{
    if (b->must && b->reason)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: barred, and yet it must be placed", b->name);
    return valid_lives(b, st) && valid_choice(p, b, st) && valid_pin(p, b, st);
}
