/* The tree as an array: node i has children 2i and 2i + 1, leaves begin at `width`, a power of two. A query
 * descends only where something ends after its start, and only into leaves that begin before its end. */
#include "common/live_index.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>

struct start {
    int64_t at;
    int32_t buffer;
};

ORDER(compare_starts, struct start, ORDER_UP(at) ORDER_UP(buffer));

void live_index_init(struct live_index *x, const struct lx_problem *p)
{
    live_index_init_class(x, p, NULL, 0);
}

void live_index_init_class(struct live_index *x, const struct lx_problem *p, const int32_t *class,
                           int32_t which)
{
    size_t n = (size_t)p->count;
    *x = (struct live_index){.buffers = p->buffers, .width = 1};
    struct start *starts = mem_alloc((n + 1) * sizeof *starts);
    for (int32_t i = 0; i < p->count; i++)
        if (!class || class[i] == which) starts[x->count++] = (struct start){p->buffers[i].start, i};
    while (x->width < x->count) x->width *= 2;
    x->order = mem_alloc(((size_t)x->count + 1) * sizeof *x->order);
    x->leaf = mem_alloc((n + 1) * sizeof *x->leaf);
    x->latest_end = mem_alloc(2 * (size_t)x->width * sizeof *x->latest_end);
    qsort(starts, (size_t)x->count, sizeof *starts, compare_starts);
    for (int32_t i = 0; i < x->count; i++) {
        x->order[i] = starts[i].buffer;
        x->leaf[starts[i].buffer] = i;
    }
    for (int32_t i = 0; i < 2 * x->width; i++) x->latest_end[i] = INT64_MIN;
    mem_free(starts);
}

void live_index_free(struct live_index *x)
{
    mem_free(x->order);
    mem_free(x->leaf);
    mem_free(x->latest_end);
    *x = (struct live_index){0};
}

void live_index_add(struct live_index *x, int32_t buffer)
{
    int64_t end = x->buffers[buffer].end;
    for (int32_t i = x->width + x->leaf[buffer]; i > 0 && x->latest_end[i] < end; i /= 2)
        x->latest_end[i] = end;
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
