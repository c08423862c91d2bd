/* A placement problem as a search sees it: only placeable buffers, in address units, with their conflicts.
 * Items are the buffers that are neither barred, nor empty, nor too large, nor fixed beyond the capacity,
 * sorted by start; empty ones are items, without conflicts, where it matters whether they are placed.
 * Addresses are counted in units of the problem's alignment, which loses nothing: legal addresses are
 * multiples of the unit, and no buffer can use the bytes between another's end and the next unit. `last` is
 * the highest base an item may have, computed in bytes, so that a last buffer that ends in the middle of a
 * unit is judged exactly. Two items conflict when they share a tick. The lists of conflicts are one array of
 * 2 * pairs indices (CSR); a problem with more pairs than the caller allows has none (`near` is NULL), and
 * nothing here ever takes memory that is quadratic in the number of buffers. */
#pragma once

#include "base/base.h"
#include "placement/problem.h"

/* Above that many buffers exact search begins with annealing, and asks no questions that take a model more. */
enum { LONG_LIST = 5000 };

enum { NOT_PLACED = -1, NO_ITEM = -1 };

/* Bases stay below this, so that adding a size cannot overflow (all sizes add up to < 2^62). */
#define ITEM_NO_LIMIT (INT64_MAX / 4)

struct item {
    int64_t start, end;
    int64_t size, align; /* units */
    int64_t fixed;       /* units, or -1 */
    int64_t last;        /* units: the highest legal base; ITEM_NO_LIMIT for height */
    int64_t bytes;
    int64_t cost;   /* off chip less on chip: negative if placing it does not pay by itself */
    int32_t buffer; /* its index in the problem */
};

/* The child may take over the parent's slot, at a common multiple of both alignments; a fixed address of one
 * suits the other. */
struct edge {
    int32_t parent, child;
};

struct items {
    const struct lx_problem *problem;
    int32_t count;
    struct item *item;
    int64_t lost;      /* the cost of unplaceable buffers, and of all others on chip */
    int64_t empty_top; /* bytes: the highest fixed address of an empty buffer, counted in the height */
    bool has_empty;    /* empty buffers are items */
    int32_t hopeless;  /* buffers neither barred nor placeable: with one, nothing fits */
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

/* Writes bases (units or NOT_PLACED) into the answer; also places the empty buffers. */
void items_answer(const struct items *it, const int64_t *base, int64_t *address);
/* The bases of an answer's items. */
void items_from_answer(const struct items *it, const int64_t *address, int64_t *base);
/* The cost of the items that are not placed. */
int64_t items_spill(const struct items *it, const int64_t *base);
/* The highest end in bytes over placed items, including empty buffers. */
int64_t items_height(const struct items *it, const int64_t *base);
bool items_all_placed(const struct items *it, const int64_t *base);

/* Polls for cancellation every POLL_STEPS of work. A poll costs about ten nanoseconds, a step one; no loop
 * may run for ten milliseconds without a poll. */

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

/* Fit and height place every placeable buffer: does that break a group or a forbidden linked cost? */
bool placing_all_is_wrong(const struct lx_problem *p);

/* Buffers of the largest part: lives in a common pool and bonds join parts; each is solved alone. O(pools * n
 * + n log n) and the length of the bonds. */
int32_t largest_part(const struct lx_problem *p);
