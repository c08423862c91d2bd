/* The independent checker: is an answer legal, and what is it worth?
 *
 * It shares no code with any solver and takes nothing on trust but the validated problem. Time is swept:
 * at each tick the buffers that end are taken out, then those that start are put in, and a segment tree
 * over the compressed addresses holds how many buffers own each piece. A buffer that starts on bytes
 * that somebody owns is an error, unless the owner hands its slot over: then the child's bytes change
 * hands, and what the parent has above them stays its own until it ends. O(n log n) time, O(n) memory. */
#include "scratchpad/placement/problem.h"
#include "base/fail.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

struct sweep {
    const struct lx_problem *p;
    const int64_t *address;
    int64_t *cut;        /* sorted distinct ends of placed ranges */
    size_t cuts, width;  /* width: leaves of the tree, a power of two */
    int32_t *most, *all; /* per node: the most owners of a piece below, owners of every piece below */
    int32_t *taker;      /* per buffer: the child that has taken its slot over, or -1 */
};

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static size_t cut_index(const struct sweep *s, int64_t at)
{
    const int64_t *found = bsearch(&at, s->cut, s->cuts, sizeof at, compare_i64);
    return (size_t)(found - s->cut);
}

static int32_t most_owners(const struct sweep *s, size_t node, size_t left, size_t right, size_t from,
                           size_t to)
{
    if (from >= right || to <= left) return INT32_MIN / 2; /* below every count: outside says nothing */
    if (from <= left && right <= to) return s->most[node];
    size_t middle = (left + right) / 2;
    int32_t a = most_owners(s, 2 * node, left, middle, from, to);
    int32_t b = most_owners(s, 2 * node + 1, middle, right, from, to);
    return (a > b ? a : b) + s->all[node];
}

static void add_owners(struct sweep *s, size_t node, size_t left, size_t right, size_t from, size_t to,
                       int32_t by)
{
    if (from >= right || to <= left) return;
    if (from <= left && right <= to) {
        s->most[node] += by;
        s->all[node] += by;
        return;
    }
    size_t middle = (left + right) / 2;
    add_owners(s, 2 * node, left, middle, from, to, by);
    add_owners(s, 2 * node + 1, middle, right, from, to, by);
    int32_t a = s->most[2 * node], b = s->most[2 * node + 1];
    s->most[node] = (a > b ? a : b) + s->all[node];
}

static void own(struct sweep *s, int64_t from, int64_t to, int32_t by)
{
    if (from < to) add_owners(s, 1, 0, s->width, cut_index(s, from), cut_index(s, to), by);
}

static bool is_parent(const struct lx_buffer *child, int32_t index)
{
    for (int32_t k = 0; k < child->parent_count; k++)
        if (child->parents[k] == index) return true;
    return false;
}

static bool share_a_tick(const struct lx_buffer *a, const struct lx_buffer *b)
{
    return a->start < b->end && b->start < a->end;
}

/* Only on the way to an error: who else owns a byte of buffer i? */
static bool report_overlap(const struct sweep *s, int32_t i, lx_status *st)
{
    const struct lx_buffer *b = &s->p->buffers[i];
    int64_t at = s->address[i];
    for (int32_t k = 0; k < s->p->count; k++) {
        const struct lx_buffer *o = &s->p->buffers[k];
        int64_t other = s->address[k];
        if (k == i || other < 0 || !share_a_tick(b, o) || at >= other + o->size || other >= at + b->size)
            continue;
        if (s->taker[k] == i || s->taker[i] == k) continue;
        const char *why = !is_parent(b, k) && !is_parent(o, i) ? "and neither may take the other's place"
                          : other != at                        ? "and a handover needs the same address"
                                        : "and the slot has been handed to another child";
        int64_t tick = max_i64(b->start, o->start);
        return status_set(st, LX_E_NO,
                          "buffers %s at [%lld, %lld) and %s at [%lld, %lld) overlap on tick %lld, %s",
                          b->name, (long long)at, (long long)(at + b->size), o->name, (long long)other,
                          (long long)(other + o->size), (long long)tick, why);
    }
    return status_set(st, LX_E_NO, "buffer %s at %lld overlaps another", b->name, (long long)at);
}

static bool enter(struct sweep *s, int32_t i, lx_status *st)
{
    const struct lx_buffer *b = &s->p->buffers[i];
    int64_t at = s->address[i];
    if (b->size == 0) return true;
    for (int32_t k = 0; k < b->parent_count; k++) {
        int32_t parent = b->parents[k];
        if (s->address[parent] == at && s->taker[parent] < 0) {
            s->taker[parent] = i;
            own(s, at, at + b->size, -1);
            break;
        }
    }
    if (most_owners(s, 1, 0, s->width, cut_index(s, at), cut_index(s, at + b->size)) > 0)
        return report_overlap(s, i, st);
    own(s, at, at + b->size, 1);
    return true;
}

static void leave(struct sweep *s, int32_t i)
{
    int64_t handed = s->taker[i] < 0 ? 0 : s->p->buffers[s->taker[i]].size;
    own(s, s->address[i] + handed, s->address[i] + s->p->buffers[i].size, -1);
}

/* qsort has no context argument in C17, and the order must not depend on the C library: sort keys that
 * carry the index. */
struct event {
    int64_t tick;
    int32_t index;
};

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool sweep_time(struct sweep *s, size_t placed, lx_status *st)
{
    struct event *starts = malloc((placed + 1) * sizeof *starts), *ends = malloc((placed + 1) * sizeof *ends);
    bool ok = starts && ends;
    if (!ok) status_no_memory(st);
    size_t n = 0;
    for (int32_t i = 0; ok && i < s->p->count; i++) {
        if (s->address[i] < 0) continue;
        starts[n] = (struct event){s->p->buffers[i].start, i};
        ends[n++] = (struct event){s->p->buffers[i].end, i};
    }
    if (ok) {
        qsort(starts, n, sizeof *starts, compare_events);
        qsort(ends, n, sizeof *ends, compare_events);
    }
    for (size_t a = 0, e = 0; ok && a < n; a++) {
        for (; ends[e].tick <= starts[a].tick; e++) leave(s, ends[e].index);
        ok = enter(s, starts[a].index, st);
    }
    free(starts);
    free(ends);
    return ok;
}

static bool check_overlaps(const struct lx_problem *p, const int64_t *address, size_t placed, lx_status *st)
{
    struct sweep s = {.p = p, .address = address};
    s.cut = malloc((2 * placed + 1) * sizeof *s.cut);
    s.taker = malloc(((size_t)p->count + 1) * sizeof *s.taker);
    for (int32_t i = 0; s.taker && i < p->count; i++) s.taker[i] = -1;
    size_t n = 0;
    for (int32_t i = 0; s.cut && i < p->count; i++)
        if (address[i] >= 0) {
            s.cut[n++] = address[i];
            s.cut[n++] = address[i] + p->buffers[i].size;
        }
    if (s.cut && n) qsort(s.cut, n, sizeof *s.cut, compare_i64);
    for (size_t i = 0; s.cut && i < n; i++)
        if (i == 0 || s.cut[i] != s.cut[s.cuts - 1]) s.cut[s.cuts++] = s.cut[i];
    for (s.width = 1; s.width < s.cuts;) s.width *= 2;
    s.most = calloc(2 * s.width, sizeof *s.most);
    s.all = calloc(2 * s.width, sizeof *s.all);
    bool ok = s.cut && s.taker && s.most && s.all ? sweep_time(&s, placed, st) : status_no_memory(st);
    free(s.cut);
    free(s.taker);
    free(s.most);
    free(s.all);
    return ok;
}

static bool check_alone(const struct lx_problem *p, const struct lx_buffer *b, int64_t at, lx_status *st)
{
    if (at < 0) {
        if (at != LX_OFF_CHIP)
            return status_set(st, LX_E_NO, "buffer %s: the address %lld is negative", b->name, (long long)at);
        if (p->objective == LX_HEIGHT && !b->reason)
            return status_set(st, LX_E_NO, "buffer %s is not placed, but the height counts only when all are",
                              b->name);
        return true;
    }
    if (b->reason)
        return status_set(st, LX_E_NO, "buffer %s is placed at %lld, but it may not be: %s", b->name,
                          (long long)at, b->reason);
    if (at % lx_alignment_of(p, b) != 0)
        return status_set(st, LX_E_NO, "buffer %s: the address %lld is not a multiple of %lld", b->name,
                          (long long)at, (long long)lx_alignment_of(p, b));
    if (b->fixed >= 0 && at != b->fixed)
        return status_set(st, LX_E_NO, "buffer %s is at %lld, but its address is fixed at %lld", b->name,
                          (long long)at, (long long)b->fixed);
    int64_t end;
    if (!add_i64(at, b->size, &end) || (p->objective != LX_HEIGHT && end > p->capacity))
        return status_set(st, LX_E_NO, "buffer %s: its %lld bytes at %lld end beyond the capacity of %lld",
                          b->name, (long long)b->size, (long long)at, (long long)p->capacity);
    return true;
}

bool lx_check(const struct lx_problem *p, const int64_t *address, int64_t *objective, lx_status *st)
{
    int64_t spill = 0, height = 0;
    size_t placed = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!check_alone(p, b, address[i], st)) return false;
        if (address[i] < 0)
            spill += b->spill_cost;
        else {
            placed++;
            height = max_i64(height, address[i] + b->size);
        }
    }
    if (!check_overlaps(p, address, placed, st)) return false;
    *objective = p->objective == LX_HEIGHT ? height : spill;
    return true;
}
