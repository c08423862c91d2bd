/* Sorts lives and events once, so that a picture of a stretch of time looks only at what lives in it. */
#include "picture/plan_index.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

/* Time is sparse where a linear axis would show nearly nothing but pauses. */
enum { SPARSE_SHARE = 4, SPARSE_SPAN = 200 };

static int plan_index_by_start(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static int plan_index_ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static size_t count_lives(const struct lx_plan *p)
{
    size_t n = 0;
    for (int32_t i = 0; i < p->problem.count; i++) n += (size_t)lx_life_count(&p->problem.buffers[i]);
    return n;
}

int64_t plan_index_place(const struct plan_index *x, int32_t buffer)
{
    return x->bands.at[lx_pool_of(x->plan, buffer)].base + x->plan->answer.address[buffer];
}

static void take_lives(const struct lx_plan *p, struct plan_index *x)
{
    int64_t latest = INT64_MIN;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (p->answer.address[i] < 0 || b->size == 0) continue;
        for (int32_t k = 0; k < lx_life_count(b); k++) {
            struct lx_life life = lx_life_at(b, k);
            x->lives[x->count++] = (struct placed){.start = life.start,
                                                   .end = life.end,
                                                   .place = plan_index_place(x, i),
                                                   .size = b->size,
                                                   .buffer = i};
        }
    }
    if (x->count) qsort(x->lives, (size_t)x->count, sizeof *x->lives, plan_index_by_start);
    for (int32_t i = 0; i < x->count; i++) x->lives[i].latest = latest = max_i64(latest, x->lives[i].end);
}

static void take_events(struct plan_index *x)
{
    int32_t n = 0, kept = 1;
    x->event[n++] = x->first;
    for (int32_t i = 0; i < x->count; i++) {
        x->event[n++] = x->lives[i].start;
        x->event[n++] = x->lives[i].end;
    }
    x->event[n++] = max_i64(x->last, x->first + 1);
    qsort(x->event, (size_t)n, sizeof *x->event, plan_index_ascending);
    for (int32_t i = 1; i < n; i++)
        if (x->event[i] > x->event[kept - 1]) x->event[kept++] = x->event[i];
    x->event_count = kept;
    for (int32_t i = 0; i < x->count; i++) {
        x->lives[i].from_event = plan_index_event(x, x->lives[i].start);
        x->lives[i].to_event = plan_index_event(x, x->lives[i].end);
    }
    int64_t span = x->event[kept - 1] - x->event[0];
    x->sparse = span > SPARSE_SPAN && span / SPARSE_SHARE >= kept - 1;
}

bool plan_index_make(const struct lx_plan *p, struct plan_index *out)
{
    size_t n = count_lives(p);
    *out = (struct plan_index){.plan = p, .last = INT64_MIN};
    out->lives = mem_alloc((n + 1) * sizeof *out->lives);
    out->event = mem_alloc((2 * n + 2) * sizeof *out->event);
    bool ok = out->lives && out->event && bands_make(p, &out->bands);
    if (!ok) return plan_index_free(out), false;
    /* The stretch that a picture shows: that of all buffers that may be placed. */
    out->first = INT64_MAX;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (b->reason && p->answer.address[i] < 0) continue;
        out->first = min_i64(out->first, b->start);
        out->last = max_i64(out->last, b->end);
    }
    if (out->first > out->last) out->first = out->last = 0;
    take_lives(p, out);
    take_events(out);
    return true;
}

void plan_index_free(struct plan_index *x)
{
    mem_free(x->lives);
    mem_free(x->event);
    bands_free(&x->bands);
    *x = (struct plan_index){0};
}

void plan_index_range(const struct plan_index *x, int64_t from, int64_t to, int32_t *begin, int32_t *end)
{
    int32_t low = 0, high = x->count;
    while (low < high) { /* the first that begins at `to` or later */
        int32_t middle = low + (high - low) / 2;
        if (x->lives[middle].start < to)
            low = middle + 1;
        else
            high = middle;
    }
    *end = low;
    for (low = 0, high = *end; low < high;) { /* the first up to which one ends behind `from` */
        int32_t middle = low + (high - low) / 2;
        if (x->lives[middle].latest <= from)
            low = middle + 1;
        else
            high = middle;
    }
    *begin = low;
}

int32_t plan_index_event(const struct plan_index *x, int64_t tick)
{
    int32_t low = 0, high = x->event_count;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (x->event[middle] <= tick)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int32_t plan_index_at(const struct plan_index *x, int64_t tick, int64_t place)
{
    int32_t begin, end, found = -1;
    plan_index_range(x, tick, tick + 1, &begin, &end);
    for (int32_t i = begin; i < end; i++) {
        const struct placed *l = &x->lives[i];
        if (tick >= l->end || place < l->place || place >= l->place + l->size) continue;
        if (found < 0 || x->plan->took_slot_of[l->buffer] == found) found = l->buffer;
    }
    return found;
}
