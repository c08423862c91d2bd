/* See crowds.h. Crowds are found by sorting lives and by sweeps over starts and ends: O(n log n) each. */
#include "common/crowds.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>

struct life {
    int64_t start, end;
    int32_t buffer;
};

ORDER(crowds_by_life, struct life, ORDER_UP(start) ORDER_UP(end) ORDER_UP(buffer));

/* A crowd must be worth its gaps: below that, listing is as fast. */
static int32_t least_crowd(int32_t count)
{
    return (int32_t)max_i64(LEAST_CROWD, count / 64);
}

/* The start at which most of the lives in no crowd are alive, and how many. Starts and ends are sorted
 * apart. */
static int32_t crowds_fullest(const struct crowds *c, const struct life *lives, int32_t n, int64_t *ends,
                              int64_t *tick)
{
    int32_t free_count = 0, gone = 0, alive = 0, most = 0;
    for (int32_t i = 0; i < n; i++)
        if (!c->class[lives[i].buffer]) ends[free_count++] = lives[i].end;
    qsort(ends, (size_t)free_count, sizeof *ends, order_i64);
    for (int32_t i = 0; i < n; i++) {
        if (c->class[lives[i].buffer]) continue;
        for (alive++; ends[gone] <= lives[i].start; gone++) alive--;
        if (alive <= most) continue;
        most = alive;
        *tick = lives[i].start;
    }
    return most;
}

static void crowds_of_ticks(struct crowds *c, const struct life *lives, int32_t n, int64_t *ends)
{
    int64_t tick = 0;
    while (c->count <= MOST_CROWDS) {
        int32_t most = crowds_fullest(c, lives, n, ends, &tick);
        if (most < least_crowd(n)) return;
        for (int32_t i = 0; i < n; i++)
            if (!c->class[lives[i].buffer] && lives[i].start <= tick && tick < lives[i].end)
                c->class[lives[i].buffer] = c->count;
        c->count++;
    }
}

static void find_crowds(struct crowds *c, const struct lx_problem *p)
{
    size_t n = (size_t)p->count + 1;
    struct life *lives = mem_alloc(n * sizeof *lives);
    int64_t *ends = mem_alloc(n * sizeof *ends);
    int32_t count = 0;
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].size > 0 && p->buffers[i].start < p->buffers[i].end)
            lives[count++] = (struct life){p->buffers[i].start, p->buffers[i].end, i};
    if (count >= LEAST_CROWD) {
        qsort(lives, (size_t)count, sizeof *lives, crowds_by_life);
        /* Runs of equal lives, first come first served: `lives` is sorted. */
        for (int32_t i = 0, next; i < count && c->count <= MOST_CROWDS / 2; i = next) {
            for (next = i + 1;
                 next < count && lives[next].start == lives[i].start && lives[next].end == lives[i].end;)
                next++;
            if (next - i < least_crowd(count)) continue;
            for (int32_t k = i; k < next; k++) c->class[lives[k].buffer] = c->count;
            c->crowd[c->count++].equals = true;
        }
        crowds_of_ticks(c, lives, count, ends);
    }
    mem_free(lives);
    mem_free(ends);
}

static void open_class(struct crowds *c, const struct lx_problem *p, int32_t which, int64_t capacity,
                       bool by_room)
{
    struct crowd *w = &c->crowd[which];
    int64_t alignment = 0, least = INT64_MAX;
    w->first_start = w->first_end = INT64_MAX;
    w->last_start = w->last_end = INT64_MIN;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        alignment = gcd_i64(alignment, lx_alignment_of(p, b));
        if (b->size > 0) least = min_i64(least, b->size);
        if (c->class[i] != which) continue;
        w->first_start = min_i64(w->first_start, b->start);
        w->last_start = max_i64(w->last_start, b->start);
        w->first_end = min_i64(w->first_end, b->end);
        w->last_end = max_i64(w->last_end, b->end);
    }
    live_index_init_class(&w->placed, p, c->class, which);
    alignment = max_i64(alignment, 1);
    if (w->equals) gap_tree_init(&w->left, capacity, alignment, least, p->count, by_room);
    if (which != 0) gap_tree_init(&w->gaps, capacity, alignment, least, w->placed.count, by_room);
}

void crowds_init(struct crowds *c, const struct lx_problem *p, int64_t capacity, bool by_room)
{
    *c = (struct crowds){.buffers = p->buffers, .count = 1};
    c->class = mem_zeroed((size_t)p->count + 1, sizeof *c->class);
    find_crowds(c, p);
    for (int32_t k = 0; k < c->count; k++) open_class(c, p, k, capacity, by_room);
}

void crowds_free(struct crowds *c)
{
    for (int32_t k = 0; k < c->count; k++) {
        live_index_free(&c->crowd[k].placed);
        gap_tree_free(&c->crowd[k].gaps);
        gap_tree_free(&c->crowd[k].left);
    }
    mem_free(c->class);
    c->class = NULL;
}

static bool crowds_apart(const struct crowd *w, const struct lx_buffer *b)
{
    return b->start >= w->last_end || b->end <= w->first_start;
}

void crowds_add(struct crowds *c, int32_t buffer, int64_t address)
{
    const struct lx_buffer *b = &c->buffers[buffer];
    struct crowd *own = &c->crowd[c->class[buffer]];
    live_index_add(&own->placed, buffer);
    if (c->class[buffer] > 0) gap_tree_take(&own->gaps, address, address + b->size);
    for (int32_t k = 1; k < c->count && c->crowd[k].equals; k++)
        if (!crowds_apart(&c->crowd[k], b)) gap_tree_take(&c->crowd[k].left, address, address + b->size);
}

struct in_the_way crowds_find(const struct crowds *c, int32_t buffer, bool each, int32_t *out)
{
    const struct lx_buffer *b = &c->buffers[buffer];
    const struct crowd *own = &c->crowd[c->class[buffer]];
    struct in_the_way way = {.found = 0};
    if (own->equals && !each) way.whole[way.whole_count++] = &own->left;
    for (int32_t k = 0; k < c->count && (!own->equals || each); k++) {
        const struct crowd *w = &c->crowd[k];
        if (crowds_apart(w, b)) continue;
        if (k > 0 && !each && b->start < w->first_end && w->last_start < b->end)
            way.whole[way.whole_count++] = &w->gaps;
        else
            way.found += live_index_find(&w->placed, b->start, b->end, out + way.found);
    }
    return way;
}
