/* Which of the buffers placed so far are alive at some time during [start, end)?
 *
 * All lives are known from the start, so the index is a complete binary tree over the buffers in order
 * of their starts; a node holds the latest end of the placed buffers below it. Adding is O(log n), a
 * query O((1 + found) log n), and nothing is ever allocated after the start. */
#ifndef LX_SOLVERS_COMMON_LIVE_INDEX_H
#define LX_SOLVERS_COMMON_LIVE_INDEX_H

#include "placement/problem.h"

struct live_index {
    const struct lx_buffer *buffers;
    int32_t count;
    int32_t *order;      /* buffers by start */
    int32_t *leaf;       /* per buffer: its place in `order`, if it has one */
    int64_t *latest_end; /* 2 * width nodes; INT64_MIN where nothing is placed */
    int32_t width;
};

void live_index_init(struct live_index *x, const struct lx_problem *p);
/* Of the buffers with class[i] == which alone; no other is ever added. */
void live_index_init_class(struct live_index *x, const struct lx_problem *p, const int32_t *class,
                           int32_t which);
void live_index_free(struct live_index *x);
void live_index_add(struct live_index *x, int32_t buffer);
/* Writes the buffers found, in order of their starts, into `out` (room for all); returns how many. */
int32_t live_index_find(const struct live_index *x, int64_t start, int64_t end, int32_t *out);

#endif
