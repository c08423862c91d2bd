/* See crowds.h. Crowds are found by sorting lives and by sweeps over starts and ends: O(n log n) each. */
#include "common/crowds.h"

/* --- The index of placed buffers: a complete binary tree as an array. Node i has children 2i and 2i + 1,
 * leaves begin at `width`, a power of two. A query descends only where a buffer ends after the query's start,
 * and only into leaves that begin before its end. --- */

struct start {
    int64_t at;
    int32_t buffer;
};

ORDER(compare_starts, struct start, ORDER_UP(at) ORDER_UP(buffer));

void live_index_init(struct live_index *x, const struct lx_problem *p, const int32_t *class, int32_t which)
{
    size_t n = (size_t)p->count;
    *x = (struct live_index){.buffers = p->buffers, .width = 1};
    struct start *starts = arena_array(&x->memory, n + 1, sizeof *starts);
    for (int32_t i = 0; i < p->count; i++)
        if (!class || class[i] == which) starts[x->count++] = (struct start){p->buffers[i].start, i};
    while (x->width < x->count) x->width *= 2;
    x->order = arena_array(&x->memory, (size_t)x->count + 1, sizeof *x->order);
    x->leaf = arena_array(&x->memory, n + 1, sizeof *x->leaf);
    x->latest_end = arena_array(&x->memory, 2 * (size_t)x->width, sizeof *x->latest_end);
    qsort(starts, (size_t)x->count, sizeof *starts, compare_starts);
    for (int32_t i = 0; i < x->count; i++) {
        x->order[i] = starts[i].buffer;
        x->leaf[starts[i].buffer] = i;
    }
    for (int32_t i = 0; i < 2 * x->width; i++) x->latest_end[i] = INT64_MIN;
}

void live_index_add(struct live_index *x, int32_t buffer)
{
    int64_t end = x->buffers[buffer].end;
    for (int32_t i = x->width + x->leaf[buffer]; i > 0 && x->latest_end[i] < end; i /= 2)
        x->latest_end[i] = end;
}

void live_index_remove(struct live_index *x, int32_t buffer)
{
    int32_t node = x->width + x->leaf[buffer];
    for (x->latest_end[node] = INT64_MIN; node > 1;) {
        node /= 2;
        x->latest_end[node] = max_i64(x->latest_end[2 * node], x->latest_end[2 * node + 1]);
    }
}

/* Leaves [0, before) start early enough; of these, the ones that end after `start`. */
static int32_t find_below(const struct live_index *x, int32_t node, int32_t left, int32_t width,
                          int32_t before, int64_t start, int32_t *out, int32_t found)
{
    if (left >= before || x->latest_end[node] <= start) return found;
    if (width == 1) {
        out[found] = x->order[left];
        return found + 1;
    }
    found = find_below(x, 2 * node, left, width / 2, before, start, out, found);
    return find_below(x, 2 * node + 1, left + width / 2, width / 2, before, start, out, found);
}

int32_t live_index_find(const struct live_index *x, int64_t start, int64_t end, int32_t *out)
{
    int32_t i;
    BISECT(i, 0, x->count, x->buffers[x->order[i]].start < end);
    return find_below(x, 1, 0, x->width, i, start, out, 0);
}

struct life {
    int64_t start, end;
    int32_t buffer;
};

ORDER(crowds_by_life, struct life, ORDER_UP(start) ORDER_UP(end) ORDER_UP(buffer));

/* Smaller crowds do not pay: listing their buffers is as fast. */
static int32_t least_crowd(int32_t count)
{
    return (int32_t)max_i64(LEAST_CROWD, count / 64);
}

/* Finds the tick at which most buffers outside crowds are alive; returns their number. Sorts starts and ends
 * separately. */
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

static void find_crowds(struct crowds *c, const struct lx_problem *p)
{
    size_t n = (size_t)p->count + 1;
    OWNED struct life *lives = mem_alloc(n * sizeof *lives);
    OWNED int64_t *ends = mem_alloc(n * sizeof *ends);
    int32_t count = 0;
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].size > 0 && p->buffers[i].start < p->buffers[i].end)
            lives[count++] = (struct life){p->buffers[i].start, p->buffers[i].end, i};
    if (count >= LEAST_CROWD) {
        qsort(lives, (size_t)count, sizeof *lives, crowds_by_life);
        /* Runs of equal lives: `lives` is sorted. */
        for (int32_t i = 0, next; i < count && c->count <= MOST_CROWDS / 2; i = next) {
            for (next = i + 1;
                 next < count && lives[next].start == lives[i].start && lives[next].end == lives[i].end;)
                next++;
            if (next - i < least_crowd(count)) continue;
            for (int32_t k = i; k < next; k++) c->class[lives[k].buffer] = c->count;
            c->crowd[c->count++].equals = true;
        }
        /* Then crowds at the fullest tick, then at the fullest tick of the rest, and so on. */
        int64_t tick = 0;
        while (c->count <= MOST_CROWDS &&
               crowds_fullest(c, lives, count, ends, &tick) >= least_crowd(count)) {
            for (int32_t i = 0; i < count; i++)
                if (!c->class[lives[i].buffer] && lives[i].start <= tick && tick < lives[i].end)
                    c->class[lives[i].buffer] = c->count;
            c->count++;
        }
    }
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
    live_index_init(&w->placed, p, c->class, which);
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
        arena_free(&c->crowd[k].placed.memory);
        mem_free(c->crowd[k].gaps.nodes);
        mem_free(c->crowd[k].left.nodes);
    }
    mem_free(c->class);
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
