/* Free ranges between the buffers of a tick. */
#include "plan/occupancy.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

struct stretch {
    int64_t from, to;
};

static int holes_by_from(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static int32_t count_reserved(const struct lx_plan *p, int32_t pool)
{
    return p->problem.pool_count ? p->problem.pools[pool].reserved_count : 0;
}

/* Its capacity; where height is asked for, where its highest buffer ends. */
static int64_t pool_end(const struct lx_plan *p, int32_t pool)
{
    int64_t end = 0;
    if (p->problem.objective != LX_HEIGHT) return lx_pool_capacity(&p->problem, pool);
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0 && lx_pool_of(p, i) == pool)
            end = max_i64(end, p->answer.address[i] + p->problem.buffers[i].size);
    return end;
}

bool lx_holes_at(const struct lx_plan *p, int32_t pool, int64_t tick, int64_t address, struct lx_holes *out)
{
    size_t room = (size_t)p->problem.count + (size_t)count_reserved(p, pool) + 1;
    struct stretch *taken = mem_alloc(room * sizeof *taken);
    int64_t top = pool_end(p, pool), end = 0;
    *out = (struct lx_holes){.from = -1, .to = -1};
    /* The stretches that are taken at a tick, in order of address. A buffer of no bytes parts no hole. */
    size_t k = 0;
    for (int32_t i = 0; i < count_reserved(p, pool); i++) {
        const struct lx_reserved *r = &p->problem.pools[pool].reserved[i];
        if (tick >= r->start && tick < r->end) taken[k++] = (struct stretch){r->from, r->to};
    }
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        int64_t at = p->answer.address[i];
        if (at >= 0 && b->size > 0 && lx_pool_of(p, i) == pool && lx_is_alive(b, tick))
            taken[k++] = (struct stretch){at, at + b->size};
    }
    if (k) qsort(taken, k, sizeof *taken, holes_by_from);
    size_t n = k;
    taken[n] = (struct stretch){max_i64(top, 0), max_i64(top, 0)};
    for (size_t i = 0; i <= n; i++) {
        if (taken[i].from > end) {
            int64_t to = taken[i].from;
            out->count++;
            out->free_bytes += to - end;
            if (to - end > out->largest_to - out->largest_from) out->largest_from = end, out->largest_to = to;
            if (address >= end && address < to) out->from = end, out->to = to;
        }
        end = max_i64(end, taken[i].to);
    }
    mem_free(taken);
    return true;
}
