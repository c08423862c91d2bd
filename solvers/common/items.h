/* A placement problem as a search sees it: only what can be placed, in address units, with its conflicts.
 * Items are the buffers that are neither barred, nor empty, nor too large, nor fixed beyond the capacity,
 * sorted by start; empty ones are items, without conflicts, where it matters whether they are placed.
 * Addresses are counted in units of the problem's alignment, which loses nothing: every legal address is
 * a multiple of it, and the bytes between a buffer's end and the next unit are of no use to anybody.
 * `last` is the highest base an item may have, computed in bytes, so that a last buffer that ends in the
 * middle of a unit is judged exactly. Two items conflict when they share a tick. The lists of conflicts
 * are one array of 2 * pairs indices (CSR); a problem with more pairs than the caller allows has none
 * (`near` is NULL), and nothing here ever takes memory that is quadratic in the number of buffers. */
#ifndef LX_SOLVERS_COMMON_ITEMS_H
#define LX_SOLVERS_COMMON_ITEMS_H

#include "base/arena.h"
#include "placement/problem.h"

enum { NOT_PLACED = -1, NO_ITEM = -1 };

/* Bases stay below this, so that sums with a size cannot overflow
 * (the sizes of a problem add up to < 2^62). */
#define ITEM_NO_LIMIT (INT64_MAX / 4)

struct item {
    int64_t start, end;
    int64_t size, align; /* units */
    int64_t fixed;       /* units, or -1 */
    int64_t last;        /* units: the highest legal base; ITEM_NO_LIMIT when the height is asked for */
    int64_t bytes;
    int64_t cost;   /* off chip less on chip: below 0 if being on chip does not pay by itself */
    int32_t buffer; /* its index in the problem */
};

/* The child may take over the parent's slot, at an address that is a multiple of both alignments (which need
 * not divide each other); a fixed address of one suits the other. */
struct edge {
    int32_t parent, child;
};

struct items {
    const struct lx_problem *problem;
    int32_t count;
    struct item *item;
    int64_t lost;      /* the cost of buffers that can have no address, and of all others on chip */
    int64_t empty_top; /* bytes: the highest fixed address of an empty buffer, which counts for the height */
    bool has_empty;    /* empty buffers are items */
    int32_t hopeless;  /* buffers that are not barred and can have no address: with one, nothing fits */
    size_t *first;     /* count + 1 offsets into `near` */
    int32_t *near;     /* conflicting items; NULL when there are too many */
    int64_t pairs;
    struct edge *edge; /* by child, in the child's order of preference */
    int32_t edge_count;
    int32_t *edge_first; /* count + 1 offsets into edge_of: all edges of an item, as parent or child */
    int32_t *edge_of;
    struct arena memory;
};

/* The caller frees `memory`. */
void items_make(struct items *it, const struct lx_problem *p, int64_t max_pairs, const struct lx_run *run);

/* The least multiple of the alignment that is >= at. */
static inline int64_t align_up(int64_t align, int64_t at)
{
    if (align == 1) return at;
    return (at + align - 1) / align * align;
}

/* Is the item one of `count` listed ones? */
static inline bool item_is_listed(const int32_t *list, int32_t count, int32_t item)
{
    for (int32_t k = 0; k < count; k++)
        if (list[k] == item) return true;
    return false;
}

/* A set of items with room for all: adding and removing are O(1), and the order of `at` is arbitrary. */
struct item_set {
    int32_t *at, count;
    int32_t *slot; /* per item: its index in `at`, or -1 */
};

static inline void item_set_make(struct item_set *s, struct arena *memory, int32_t items)
{
    s->at = arena_array(memory, (size_t)items + 1, sizeof *s->at);
    s->slot = arena_array(memory, (size_t)items + 1, sizeof *s->slot);
    s->count = 0;
    for (int32_t i = 0; i < items; i++) s->slot[i] = -1;
}

static inline void item_set_add(struct item_set *s, int32_t item)
{
    if (s->slot[item] >= 0) return;
    s->slot[item] = s->count;
    s->at[s->count++] = item;
}

static inline void item_set_remove(struct item_set *s, int32_t item)
{
    int32_t slot = s->slot[item], mover = s->at[--s->count];
    s->at[slot] = mover;
    s->slot[mover] = slot;
    s->slot[item] = -1;
}

static inline void item_set_clear(struct item_set *s)
{
    while (s->count > 0) s->slot[s->at[--s->count]] = -1;
}

/* Writes bases (units or NOT_PLACED) into the answer, and places what conflicts with nothing: the empty
 * buffers. */
void items_answer(const struct items *it, const int64_t *base, int64_t *address);
/* The bases of an answer, as far as they concern items. */
void items_from_answer(const struct items *it, const int64_t *address, int64_t *base);
/* The cost of the items that are not placed. */
int64_t items_spill(const struct items *it, const int64_t *base);
/* The highest end in bytes of what is placed, empty buffers included. */
int64_t items_height(const struct items *it, const int64_t *base);
/* Is every item placed? */
bool items_all_placed(const struct items *it, const int64_t *base);

/* Polls for cancellation once in POLL_STEPS of work. A poll costs some ten nanoseconds, a step about one, and
 * no loop may run for ten milliseconds without a poll. */

enum { POLL_STEPS = 1 << 17 };

struct poll {
    const struct lx_run *run; /* NULL: never cancelled */
    int64_t work;             /* since the last poll */
    bool stopped;             /* stays true */
};

static inline bool poll_stopped(struct poll *p, int64_t work)
{
    p->work += work;
    if (p->work < POLL_STEPS || p->stopped) return p->stopped;
    p->work = 0;
    p->stopped = p->run && lx_run_stopped(p->run);
    return p->stopped;
}

/* Fit and height place all that may be placed: does that break a group or a forbidden linked cost? */
bool placing_all_is_wrong(const struct lx_problem *p);

/* Buffers of the largest part: parts are joined by lives in a common pool and by bonds, and a search solves
 * each alone. O(pools * n + n log n) and the length of the bonds. */
int32_t largest_part(const struct lx_problem *p);

#endif
