/* Orders in which heuristics place buffers: by rank, parents before children. */
#include "common/gap_fit.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/heap.h"
#include "base/memory.h"

#include <stdlib.h>

struct ranked {
    struct rank rank;
    int32_t buffer;
};

static int rank_order_compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int128 left = (int128)x->rank.number * y->rank.parts, right = (int128)y->rank.number * x->rank.parts;
    if (left != right) return left < right ? -1 : 1;
    if (x->rank.tie != y->rank.tie) return x->rank.tie < y->rank.tie ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

#define BY_POSITION(unused, a, b) ((a) < (b))

/* An edge counts only between buffers that may both be placed: nobody takes the slot of a barred one. */
static bool rank_order_counts(const struct lx_problem *p, int32_t child, int32_t parent)
{
    return !p->buffers[child].reason && !p->buffers[parent].reason;
}

/* Children of each buffer as lists in two arrays: first[parent], next[edge]. */
struct edges {
    int32_t *first, *next, *child, *waiting;
};

static void list_children(const struct lx_problem *p, struct edges *e)
{
    size_t n = (size_t)p->count, count = 0;
    for (size_t i = 0; i < n; i++) count += (size_t)p->buffers[i].parent_count;
    e->first = mem_alloc((n + 1) * sizeof *e->first);
    e->waiting = mem_alloc((n + 1) * sizeof *e->waiting);
    e->next = mem_alloc((count + 1) * sizeof *e->next);
    e->child = mem_alloc((count + 1) * sizeof *e->child);
    for (size_t i = 0; i < n; i++) e->first[i] = -1;
    int32_t edge = 0;
    for (int32_t i = 0; i < p->count; i++) {
        e->waiting[i] = 0;
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++) {
            int32_t parent = p->buffers[i].parents[k];
            if (!rank_order_counts(p, i, parent)) continue;
            e->waiting[i]++;
            e->child[edge] = i;
            e->next[edge] = e->first[parent];
            e->first[parent] = edge++;
        }
    }
}

void rank_order(const struct lx_problem *p, const struct rank *ranks, int32_t *order)
{
    struct arena memory = {0};
    size_t n = (size_t)p->count;
    struct ranked *sorted = arena_array(&memory, n + 1, sizeof *sorted);
    int32_t *position = arena_array(&memory, n + 1, sizeof *position);
    /* A heap of positions in rank order: the best-ranked buffer whose parents are all out comes out next. */
    int32_t *ready = arena_array(&memory, n + 1, sizeof *ready), ready_count = 0;
    struct edges e = {0};
    list_children(p, &e);
    for (int32_t i = 0; i < p->count; i++) sorted[i] = (struct ranked){ranks[i], i};
    qsort(sorted, n, sizeof *sorted, rank_order_compare_ranked);
    for (int32_t i = 0; i < p->count; i++) {
        position[sorted[i].buffer] = i;
        if (e.waiting[sorted[i].buffer] == 0) ready[ready_count++] = i; /* in order, which is a heap */
    }
    for (int32_t out = 0; ready_count > 0; out++) {
        int32_t b = sorted[ready[0]].buffer;
        ready[0] = ready[--ready_count];
        HEAP_SINK(int32_t, ready, ready_count, 0, BY_POSITION, NULL);
        order[out] = b;
        for (int32_t edge = e.first[b]; edge >= 0; edge = e.next[edge])
            if (--e.waiting[e.child[edge]] == 0) {
                ready[ready_count] = position[e.child[edge]];
                HEAP_RISE(int32_t, ready, ready_count++, BY_POSITION, NULL);
            }
    }
    arena_free(&memory);
    mem_free(e.first);
    mem_free(e.waiting);
    mem_free(e.next);
    mem_free(e.child);
}

void worth_order(const struct lx_problem *p, int32_t *order)
{
    size_t n = (size_t)p->count;
    struct rank *ranks = mem_zeroed(n + 1, sizeof *ranks);
    bool *has_edge[2] = {mem_zeroed(n + 1, sizeof(bool)),
                         mem_zeroed(n + 1, sizeof(bool))}; /* as child, as parent */
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++)
            if (rank_order_counts(p, i, p->buffers[i].parents[k]))
                has_edge[0][i] = has_edge[1][p->buffers[i].parents[k]] = true;
    /* (life - quarters / 4) / (uses + 1/2 if computed), in whole numbers. */
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        int64_t life = b->end - b->start;
        ranks[i].number = 4 * life - has_edge[0][i] - has_edge[1][i];
        ranks[i].parts = max_i64(2 * (int64_t)b->use_count + !b->first_use_is_read, 1);
        ranks[i].tie = life;
    }
    rank_order(p, ranks, order);
    mem_free(has_edge[0]);
    mem_free(has_edge[1]);
    mem_free(ranks);
}
