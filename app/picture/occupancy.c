/* What both pictures count: occupancy over time, and who is off chip. */
#include "picture/picture.h"
#include "base/checked.h"

#include <stdlib.h>

struct change {
    int64_t tick, bytes;
};

static int by_tick(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return (x->tick > y->tick) - (x->tick < y->tick);
}

bool timeline_make(const struct lx_plan *p, struct timeline *out)
{
    size_t room = 2 * (size_t)p->problem.count + 1, n = 0;
    *out = (struct timeline){.first = INT64_MAX};
    struct change *c = malloc(room * sizeof *c);
    out->tick = malloc(room * sizeof *out->tick);
    out->bytes = malloc(room * sizeof *out->bytes);
    if (!c || !out->tick || !out->bytes) {
        free(c);
        timeline_free(out);
        return false;
    }
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (!b->reason || p->answer.address[i] >= 0) {
            out->first = min_i64(out->first, b->start);
            out->last = max_i64(out->last, b->end);
        }
        if (p->answer.address[i] < 0) continue;
        /* On the tick of a handover parent and child share the parent's bytes. */
        int64_t from = b->start + (p->took_slot_of[i] >= 0);
        c[n++] = (struct change){from, b->size};
        c[n++] = (struct change){b->end, -b->size};
    }
    if (out->first > out->last) out->first = 0;
    if (n) qsort(c, n, sizeof *c, by_tick);
    int64_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        taken += c[i].bytes;
        if (i + 1 < n && c[i + 1].tick == c[i].tick) continue;
        out->tick[out->count] = c[i].tick;
        out->bytes[out->count++] = taken;
        if (taken > out->peak) out->peak = taken, out->peak_tick = c[i].tick;
    }
    free(c);
    return true;
}

int64_t timeline_most(const struct timeline *t, int64_t from, int64_t to)
{
    size_t low = 0, high = t->count; /* the first step that begins after `from` */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->tick[middle] <= from)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t most = low > 0 ? t->bytes[low - 1] : 0;
    for (; low < t->count && t->tick[low] < to; low++) most = max_i64(most, t->bytes[low]);
    return most;
}

void timeline_free(struct timeline *t)
{
    free(t->tick);
    free(t->bytes);
    t->tick = t->bytes = NULL;
}

struct ranked {
    bool barred;
    int64_t cost;
    int32_t buffer;
};

static int by_importance(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->barred != y->barred) return x->barred ? 1 : -1;
    if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
    return x->buffer < y->buffer ? -1 : 1;
}

int32_t *off_chip_by_cost(const struct lx_plan *p, int32_t *count)
{
    size_t n = 0, room = (size_t)p->problem.count + 1;
    struct ranked *r = malloc(room * sizeof *r);
    int32_t *out = malloc(room * sizeof *out);
    if (!r || !out) {
        free(r);
        free(out);
        return NULL;
    }
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] < 0)
            r[n++] =
                (struct ranked){p->problem.buffers[i].reason != NULL, p->problem.buffers[i].spill_cost, i};
    if (n) qsort(r, n, sizeof *r, by_importance);
    for (size_t i = 0; i < n; i++) out[i] = r[i].buffer;
    free(r);
    *count = (int32_t)n;
    return out;
}

int64_t picture_top(const struct lx_plan *p)
{
    if (p->problem.objective == LX_HEIGHT) return max_i64(p->height_bytes, 1);
    bool is_low = p->height_bytes > 0 && p->height_bytes <= p->problem.capacity / 3;
    return max_i64(is_low ? p->height_bytes : max_i64(p->problem.capacity, p->height_bytes), 1);
}
