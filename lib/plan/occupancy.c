/* Sorts where lives begin and end and adds up, O(n log n) once; a tree of maxima then answers the peak of any
 * stretch of time in O(log n). */
#include "plan/occupancy.h"
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

/* A child on its dying parent adds nothing on that tick; to the tick it is as if it began one later. */
static size_t changes_of(const struct lx_plan *p, int32_t pool, struct change *c)
{
    size_t n = 0;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (p->answer.address[i] < 0 || (pool >= 0 && lx_pool_of(p, i) != pool)) continue;
        for (int32_t k = 0; k < lx_life_count(b); k++) {
            struct lx_life life = lx_life_at(b, k);
            int64_t from = life.start + (k == 0 && p->took_slot_of[i] >= 0);
            if (from >= life.end) continue;
            c[n++] = (struct change){from, b->size};
            c[n++] = (struct change){life.end, -b->size};
        }
    }
    if (n) qsort(c, n, sizeof *c, by_tick);
    return n;
}

/* Room for what begins and ends. */
static size_t count_changes(const struct lx_plan *p)
{
    size_t n = 1;
    for (int32_t i = 0; i < p->problem.count; i++) n += 2 * (size_t)lx_life_count(&p->problem.buffers[i]);
    return n;
}

static void find_span(const struct lx_plan *p, struct lx_occupancy *o)
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

/* One step per tick at which something changes. */
static void add_up(const struct change *c, size_t n, struct lx_occupancy *o)
{
    int64_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        taken += c[i].bytes;
        if (i + 1 < n && c[i + 1].tick == c[i].tick) continue;
        o->tick[o->count] = c[i].tick;
        o->bytes[o->count++] = taken;
        if (taken > o->peak) o->peak = taken, o->peak_tick = c[i].tick;
    }
    for (size_t i = o->width; i-- > 1;) o->nodes[i] = max_i64(o->nodes[2 * i], o->nodes[2 * i + 1]);
}

bool lx_occupancy_make(const struct lx_plan *p, int32_t pool, struct lx_occupancy *out)
{
    size_t room = count_changes(p);
    *out = (struct lx_occupancy){.width = 1};
    while (out->width < room) out->width *= 2;
    struct change *c = malloc(room * sizeof *c);
    out->tick = malloc(room * sizeof *out->tick);
    out->nodes = calloc(2 * out->width, sizeof *out->nodes);
    bool ok = c && out->tick && out->nodes;
    if (ok) {
        out->bytes = out->nodes + out->width;
        find_span(p, out);
        add_up(c, changes_of(p, pool, c), out);
    } else
        lx_occupancy_free(out);
    free(c);
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
    free(o->tick);
    free(o->nodes);
    *o = (struct lx_occupancy){0};
}
