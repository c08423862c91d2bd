/* Running sums over the sorted starts and ends of blocks, O(n log n); a tree of maxima answers peaks in O(log
 * n). */
#include "plan/occupancy.h"
#include "plan/byte_blocks.h"

struct change {
    int64_t tick, bytes;
};

ORDER(occupancy_by_tick, struct change, ORDER_UP(tick));

void lx_occupancy_make(const struct lx_plan *p, int32_t pool, struct lx_occupancy *out)
{
    SCOPED(byte_blocks_free) struct byte_blocks b;
    *out = (struct lx_occupancy){.width = 1, .first = INT64_MAX};
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *buffer = &p->problem.buffers[i];
        if (buffer->reason && p->answer.address[i] < 0) continue;
        out->first = min_i64(out->first, buffer->start);
        out->last = max_i64(out->last, buffer->end);
    }
    if (out->first > out->last) out->first = 0;
    byte_blocks_make(p, pool, &b);
    size_t n = 2 * b.count;
    while (out->width < n + 1) out->width *= 2;
    OWNED struct change *c = mem_alloc((n + 1) * sizeof *c);
    out->tick = mem_alloc((n + 1) * sizeof *out->tick);
    out->nodes = mem_zeroed(2 * out->width, sizeof *out->nodes);
    out->bytes = out->nodes + out->width;
    /* Starts and ends of blocks: two changes each. */
    for (size_t i = 0; i < b.count; i++) {
        c[2 * i] = (struct change){b.at[i].start, b.at[i].size};
        c[2 * i + 1] = (struct change){b.at[i].end, -b.at[i].size};
    }
    if (n) qsort(c, n, sizeof *c, occupancy_by_tick);
    /* One step per tick with a change. */
    int64_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        taken += c[i].bytes;
        if (i + 1 < n && c[i + 1].tick == c[i].tick) continue;
        out->tick[out->count] = c[i].tick;
        out->bytes[out->count++] = taken;
        if (taken > out->peak) out->peak = taken, out->peak_tick = c[i].tick;
    }
    for (size_t i = out->width; i-- > 1;) out->nodes[i] = max_i64(out->nodes[2 * i], out->nodes[2 * i + 1]);
}

/* The number of steps that begin before `tick`. */
static size_t steps_before(const struct lx_occupancy *o, int64_t tick)
{
    int32_t i;
    BISECT(i, 0, (int32_t)o->count, o->tick[i] < tick);
    return (size_t)i;
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
