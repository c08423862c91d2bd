/* Crowds: buffers that all live at once. They take disjoint bytes, which leaves a list of gaps (gap_tree.h).
 * A buffer that lives with the whole crowd needs only that list; one that lives with part of the crowd lists
 * that part (live index). Crowds are first the buffers with exactly the same life, if these are many
 * (weights), then the buffers alive at the fullest tick, at the fullest tick of the rest, and so on, at most
 * MOST_CROWDS. Class 0 has the buffers in no crowd, and no gaps. A crowd of equal lives also keeps the gaps
 * that all placed buffers leave it, so that its buffers list nothing. Bytes of a slot that is handed over
 * stay taken. */
#pragma once

#include "common/gap_tree.h"
#include "placement/problem.h"

/* Which of the buffers placed so far are alive at some time during [start, end)?
 *
 * All lives are known from the start, so the index is a complete binary tree over the buffers in order of
 * their starts; a node holds the latest end of the placed buffers below it. Adding is O(log n), a query O((1
 * + found) log n), and allocates only at the start. */

struct live_index {
    const struct lx_buffer *buffers;
    int32_t count;
    int32_t *order;      /* buffers by start */
    int32_t *leaf;       /* per buffer: its place in `order`, if it has one */
    int64_t *latest_end; /* 2 * width nodes; INT64_MIN where nothing is placed */
    int32_t width;
    struct arena memory;
};

/* Indexes the buffers with class[i] == which, or all if `class` is NULL; add no others. The caller frees
 * `memory`. */
void live_index_init(struct live_index *x, const struct lx_problem *p, const int32_t *class, int32_t which);
void live_index_add(struct live_index *x, int32_t buffer);
void live_index_remove(struct live_index *x, int32_t buffer);
/* Writes the buffers found, in order of their starts, into `out` (room for all); returns how many. */
int32_t live_index_find(const struct live_index *x, int64_t start, int64_t end, int32_t *out);

enum { MOST_CROWDS = 16, LEAST_CROWD = 128 };

struct crowd {
    struct live_index placed;
    struct gap_tree gaps; /* of a class other than 0 */
    struct gap_tree left; /* of a crowd of equal lives: gaps among all buffers alive with it */
    bool equals;
    int64_t first_start, last_start, first_end, last_end; /* over its buffers */
};

struct crowds {
    const struct lx_buffer *buffers;
    int32_t *class; /* per buffer */
    int32_t count;  /* number of classes */
    struct crowd crowd[MOST_CROWDS + 1];
};

/* `capacity` is the gaps' range; for `by_room` see gap_tree_init. */
void crowds_init(struct crowds *c, const struct lx_problem *p, int64_t capacity, bool by_room);
void crowds_free(struct crowds *c);
/* Records that the buffer is placed. */
void crowds_add(struct crowds *c, int32_t buffer, int64_t address);

/* Placed contemporaries of a buffer: `whole` gets the gap trees of crowds it lives with entirely, `out` the
 * other buffers; with `each` set, `out` gets all. */
struct in_the_way {
    const struct gap_tree *whole[MOST_CROWDS];
    int32_t whole_count, found;
};
struct in_the_way crowds_find(const struct crowds *c, int32_t buffer, bool each, int32_t *out);
