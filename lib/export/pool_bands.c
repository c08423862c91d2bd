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
    lx_occupancy_make(p, pool, &o);
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
        if (n > 1) b->height = b->shown; /* bands touch: nothing above the last byte is shown */
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

/* Lanes as a heap by when they are free. */

static int life_lanes_by_start(const void *a, const void *b)
{
    const struct life_lane *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* The lane that is free first, of equal ones the first lane. */
struct free_lane {
    int64_t from;
    int32_t lane;
};

static bool life_lanes_comes_first(const struct free_lane *a, const struct free_lane *b)
{
    return a->from != b->from ? a->from < b->from : a->lane < b->lane;
}

static void life_lanes_sift_down(struct free_lane *heap, size_t count)
{
    for (size_t i = 0, k; (k = 2 * i + 1) < count; i = k) {
        if (k + 1 < count && life_lanes_comes_first(&heap[k + 1], &heap[k])) k++;
        if (!life_lanes_comes_first(&heap[k], &heap[i])) return;
        struct free_lane other = heap[i];
        heap[i] = heap[k];
        heap[k] = other;
    }
}

static void life_lanes_sift_up(struct free_lane *heap, size_t i)
{
    for (size_t up; i > 0 && life_lanes_comes_first(&heap[i], &heap[up = (i - 1) / 2]); i = up) {
        struct free_lane other = heap[i];
        heap[i] = heap[up];
        heap[up] = other;
    }
}

bool life_lanes_make(const struct lx_plan *p, struct life_lanes *out)
{
    size_t room = 1;
    for (int32_t i = 0; i < p->problem.count; i++) room += (size_t)lx_life_count(&p->problem.buffers[i]);
    *out = (struct life_lanes){.at = mem_zeroed(room, sizeof *out->at)};
    struct free_lane *heap = mem_zeroed(room, sizeof *heap);
    for (int32_t i = 0; out->at && i < p->problem.count; i++)
        for (int32_t k = 0; k < lx_life_count(&p->problem.buffers[i]); k++) {
            struct lx_life life = lx_life_at(&p->problem.buffers[i], k);
            if (life.start < life.end) out->at[out->count++] = (struct life_lane){life.start, life.end, i, 0};
        }
    if (out->count) qsort(out->at, out->count, sizeof *out->at, life_lanes_by_start);
    bool ok = out->at && heap;
    if (ok)
        for (size_t i = 0; i < out->count; i++) {
            struct life_lane *x = &out->at[i];
            if (out->lanes == 0 || heap[0].from > x->start) {
                x->lane = out->lanes++;
                heap[x->lane] = (struct free_lane){x->end, x->lane};
                life_lanes_sift_up(heap, (size_t)x->lane);
                continue;
            }
            x->lane = heap[0].lane;
            heap[0].from = x->end;
            life_lanes_sift_down(heap, (size_t)out->lanes);
        }
    mem_free(heap);
    if (!ok) life_lanes_free(out);
    return ok;
}

void life_lanes_free(struct life_lanes *l)
{
    mem_free(l->at);
    l->at = NULL;
}
