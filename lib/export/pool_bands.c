/* Stacks pools from the last to the first. O(buffers log buffers) per pool. */
#include "export/pool_bands.h"
#include "base/checked.h"
#include "base/memory.h"
#include "plan/occupancy.h"

#include <stdlib.h>

static bool pool_bands_measure(const struct lx_plan *p, int32_t pool, struct band *b)
{
    struct lx_occupancy o;
    int64_t end = 0;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0 && lx_pool_of(p, i) == pool)
            end = max_i64(end, p->answer.address[i] + p->problem.buffers[i].size);
    int64_t used = end, capacity = lx_pool_capacity(&p->problem, pool);
    bool named = p->problem.pool_count > 0 && p->problem.pools[pool].name;
    if (!lx_occupancy_make(p, pool, &o)) return false;
    *b = (struct band){
        .name = named ? p->problem.pools[pool].name : NULL, .capacity = capacity, .peak = o.peak};
    lx_occupancy_free(&o);
    b->height = max_i64(max_i64(p->problem.objective == LX_HEIGHT ? 0 : capacity, used), 1);
    b->shown = used > 0 && (p->problem.objective == LX_HEIGHT || used <= capacity / 3) ? used : b->height;
    return true;
}

bool bands_make(const struct lx_plan *p, struct bands *out)
{
    int32_t n = lx_pool_count(&p->problem);
    *out = (struct bands){.at = mem_zeroed((size_t)n, sizeof *out->at), .count = n};
    if (!out->at) return false;
    for (int32_t k = n; k-- > 0;) {
        struct band *b = &out->at[k];
        if (!pool_bands_measure(p, k, b)) return bands_free(out), false;
        if (n > 1)
            b->height = b->shown; /* bands touch each other: what is above the last byte is not shown */
        b->base = out->top;
        out->top += b->shown + (n > 1 ? HEADING : 0);
    }
    out->limit = n > 1 ? out->top : out->at[0].height;
    return true;
}

void bands_free(struct bands *b)
{
    mem_free(b->at);
    *b = (struct bands){0};
}
