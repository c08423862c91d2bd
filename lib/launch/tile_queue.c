/* Dynamic assignment: a queue of tiles, from which the core that is free first takes the next one.
 *
 * How long a tile takes is predicted: its elements, as every element is summed over the same range; a tile
 * at an edge has fewer. Cores that are free at the same time take turns by their number, so the answer is
 * the same everywhere. A heap of cores by (time, number): O(tiles log cores). */
#include "launch/launch_grid.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct free_at {
    int64_t time, core;
};

static bool tile_queue_before(const struct free_at *a, const struct free_at *b)
{
    return a->time != b->time ? a->time < b->time : a->core < b->core;
}

/* The first of the heap has become later: it sinks to its place. */
static void tile_queue_sink(struct free_at *heap, int64_t count)
{
    int64_t at = 0, child;
    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && tile_queue_before(&heap[child + 1], &heap[child])) child++;
        if (!tile_queue_before(&heap[child], &heap[at])) return;
        struct free_at moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

void queue_tiles(const struct lx_op_launch *o, int64_t cores, int64_t *tiles, int64_t *start, int64_t *count)
{
    size_t n = (size_t)o->tile_count;
    int64_t *sorted = mem_alloc(n * sizeof *sorted);
    int32_t *taker = mem_alloc(n * sizeof *taker);
    struct free_at *heap = mem_alloc((size_t)cores * sizeof *heap);
    /* Who takes each tile of the queue. */
    for (int64_t c = 0; c < cores; c++) heap[c] = (struct free_at){0, c};
    for (int64_t i = 0; i < o->tile_count; i++) {
        taker[i] = (int32_t)heap[0].core;
        count[taker[i]]++;
        int64_t from[LX_MAX_RANK], to[LX_MAX_RANK], elements = 1;
        launch_box_of_number(o, tiles[i], from, to);
        for (int d = 0; d < o->rank; d++) elements *= to[d] - from[d];
        heap[0].time += elements;
        tile_queue_sink(heap, cores);
    }
    for (int64_t c = 1; c < cores; c++) start[c] = start[c - 1] + count[c - 1];
    for (int64_t c = 0; c < cores; c++) heap[c].time = start[c];
    for (int64_t c = 0; c < cores; c++) heap[c].core = c;
    for (size_t i = 0; i < n; i++) sorted[heap[taker[i]].time++] = tiles[i];
    memcpy(tiles, sorted, n * sizeof *tiles);
    mem_free(sorted);
    mem_free(taker);
    mem_free(heap);
}
