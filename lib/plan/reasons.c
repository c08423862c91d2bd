/* Why each buffer is where it is: the slot it took over, or the reason why it is off chip. */
#include "plan/planner.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdlib.h>

/* Bytes that are taken on chip, over time: a segment tree of maxima over the ticks where a life starts. */
struct occupancy {
    int64_t *tick, *most; /* tick: sorted; most: 2 * width nodes, leaves at width + k */
    size_t ticks, width;
};

struct change {
    int64_t tick, bytes;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* what ends before what starts */
}

/* A child on its dying parent adds nothing on that tick; to the tick it is as if it began one later. */
static bool measure(const struct lx_plan *plan, struct occupancy *o)
{
    const struct lx_problem *p = &plan->problem;
    size_t n = 0;
    struct change *c = malloc((2 * (size_t)p->count + 1) * sizeof *c);
    o->tick = malloc((2 * (size_t)p->count + 1) * sizeof *o->tick);
    if (!c || !o->tick) {
        free(c);
        return false;
    }
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (plan->answer.address[i] < 0) continue;
        int64_t from = b->start + (plan->took_slot_of[i] >= 0);
        if (from < b->end) {
            c[n++] = (struct change){from, b->size};
            c[n++] = (struct change){b->end, -b->size};
        }
    }
    if (n) qsort(c, n, sizeof *c, compare_changes);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || c[i].tick != c[i - 1].tick) o->tick[o->ticks++] = c[i].tick;
    for (o->width = 1; o->width < o->ticks;) o->width *= 2;
    o->most = calloc(2 * o->width, sizeof *o->most);
    int64_t taken = 0;
    size_t k = 0;
    for (size_t i = 0; o->most && i < n; i++) {
        taken += c[i].bytes;
        if (i + 1 == n || c[i + 1].tick != c[i].tick) o->most[o->width + k++] = taken;
    }
    for (size_t i = o->width; o->most && i-- > 1;) o->most[i] = max_i64(o->most[2 * i], o->most[2 * i + 1]);
    free(c);
    return o->most != NULL;
}

/* How many changes happen before `tick`. */
static size_t changes_before(const struct occupancy *o, int64_t tick)
{
    size_t low = 0, high = o->ticks;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->tick[middle] < tick)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The most that is taken during [start, end): from the last change at or before the start. */
static int64_t most_during(const struct occupancy *o, int64_t start, int64_t end)
{
    size_t from = changes_before(o, start + 1), to = changes_before(o, end);
    if (from > 0) from--;
    int64_t most = 0;
    for (size_t a = from + o->width, b = to + o->width; a < b; a /= 2, b /= 2) {
        if (a & 1) most = max_i64(most, o->most[a++]);
        if (b & 1) most = max_i64(most, o->most[--b]);
    }
    return most;
}

static const char *why_off_chip(const struct lx_plan *plan, const struct occupancy *o,
                                const struct lx_buffer *b)
{
    const struct lx_problem *p = &plan->problem;
    if (b->reason) return b->reason;
    if (plan->answer.status == LX_ERROR) return "the solver gave no plan";
    if (b->size > p->capacity)
        return arena_format(plan->memory, "larger than the scratchpad: %lld of %lld bytes",
                            (long long)b->size, (long long)p->capacity);
    int64_t taken = most_during(o, b->start, b->end);
    if (taken + b->size > p->capacity)
        return arena_format(
            plan->memory,
            "no room on scratchpad: others take up to %lld of %lld bytes while it lives, it needs %lld",
            (long long)taken, (long long)p->capacity, (long long)b->size);
    return arena_format(
        plan->memory,
        "no room on scratchpad: fragmentation; others take at most %lld of %lld bytes while it lives, but no "
        "hole of %lld lasts as long",
        (long long)taken, (long long)p->capacity, (long long)b->size);
}

/* A child stands in a parent's place if both have the same address and nobody took it before. Children
 * are asked in order of their number, as the checker does within a tick. */
static void find_handovers(struct lx_plan *plan, bool *given)
{
    const struct lx_problem *p = &plan->problem;
    const int64_t *address = plan->answer.address;
    for (int32_t i = 0; i < p->count; i++) {
        plan->took_slot_of[i] = -1;
        if (address[i] < 0 || p->buffers[i].size == 0) continue;
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++) {
            int32_t parent = p->buffers[i].parents[k];
            if (address[parent] != address[i] || given[parent]) continue;
            given[parent] = true;
            plan->took_slot_of[i] = parent;
            break;
        }
    }
}

bool plan_complete(struct lx_plan *plan, lx_status *st)
{
    const struct lx_problem *p = &plan->problem;
    size_t n = (size_t)p->count;
    struct occupancy o = {0};
    bool *given = calloc(n + 1, sizeof *given);
    plan->reason = arena_array(plan->memory, n, sizeof *plan->reason);
    plan->took_slot_of = arena_array(plan->memory, n, sizeof *plan->took_slot_of);
    bool ok = given && plan->reason && plan->took_slot_of;
    if (ok) find_handovers(plan, given);
    ok = ok && measure(plan, &o);
    for (int32_t i = 0; ok && i < p->count; i++)
        if (plan->answer.address[i] < 0) {
            plan->reason[i] = why_off_chip(plan, &o, &p->buffers[i]);
            ok = plan->reason[i] != NULL;
        }
    free(given);
    free(o.tick);
    free(o.most);
    if (!ok) return status_no_memory(st);
    return plan_totals(plan, st);
}
