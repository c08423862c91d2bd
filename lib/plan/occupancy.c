/* Sorts where blocks of bytes begin and end and adds up, O(n log n) once; a tree of maxima then answers the peak of any
 * stretch of time in O(log n). */
#include "plan/occupancy.h"
#include "base/checked.h"
#include "base/memory.h"
#include "plan/byte_blocks.h"

#include <stdlib.h>

struct change {
    int64_t tick, bytes;
};

static int occupancy_by_tick(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return (x->tick > y->tick) - (x->tick < y->tick);
}

static void occupancy_find_span(const struct lx_plan *p, struct lx_occupancy *o)
{
    o->first = INT64_MAX;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (b->reason && p->answer.address[i] < 0) continue;
        o->first = min_i64(o->first, b->start);
        o->last = max_i64(o->last, b->end);
    }
    if (o->first > o->last) o->first = 0;
}

bool lx_occupancy_make(const struct lx_plan *p, int32_t pool, struct lx_occupancy *out)
{
    struct byte_blocks b;
    *out = (struct lx_occupancy){.width = 1};
    if (!byte_blocks_make(p, pool, &b)) return false;
    size_t room = 2 * b.count + 1;
    while (out->width < room) out->width *= 2;
    struct change *c = mem_alloc(room * sizeof *c);
    out->tick = mem_alloc(room * sizeof *out->tick);
    out->nodes = mem_zeroed(2 * out->width, sizeof *out->nodes);
    bool ok = c && out->tick && out->nodes;
    if (ok) {
        out->bytes = out->nodes + out->width;
        occupancy_find_span(p, out);
        /* Where blocks begin and end; two per block. */
        for (size_t i = 0; i < b.count; i++) {
            c[2 * i] = (struct change){b.at[i].start, b.at[i].size};
            c[2 * i + 1] = (struct change){b.at[i].end, -b.at[i].size};
        }
        if (b.count) qsort(c, 2 * b.count, sizeof *c, occupancy_by_tick);
        /* One step per tick at which something changes. */
        size_t n = 2 * b.count;
        int64_t taken = 0;
        for (size_t i = 0; i < n; i++) {
            taken += c[i].bytes;
            if (i + 1 < n && c[i + 1].tick == c[i].tick) continue;
            out->tick[out->count] = c[i].tick;
            out->bytes[out->count++] = taken;
            if (taken > out->peak) out->peak = taken, out->peak_tick = c[i].tick;
        }
        for (size_t i = out->width; i-- > 1;)
            out->nodes[i] = max_i64(out->nodes[2 * i], out->nodes[2 * i + 1]);
    } else
        lx_occupancy_free(out);
    mem_free(c);
    byte_blocks_free(&b);
    return ok;
}

/* How many steps begin before `tick`. */
static size_t steps_before(const struct lx_occupancy *o, int64_t tick)
{
    size_t low = 0, high = o->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->tick[middle] < tick)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t lx_occupancy_most(const struct lx_occupancy *o, int64_t from, int64_t to)
{
    /* From the last step at or before the start. */
    size_t begin = steps_before(o, from + 1), end = steps_before(o, to);
    if (begin > 0) begin--;
    int64_t most = 0;
    for (size_t a = begin + o->width, b = end + o->width; a < b; a /= 2, b /= 2) {
        if (a & 1) most = max_i64(most, o->nodes[a++]);
        if (b & 1) most = max_i64(most, o->nodes[--b]);
    }
    return most;
}

void lx_occupancy_free(struct lx_occupancy *o)
{
    mem_free(o->tick);
    mem_free(o->nodes);
    *o = (struct lx_occupancy){0};
}
