/* The state of the exact search on one part; see fit_search.c for the idea and the proofs. */
#pragma once

#include "base/rng.h"
#include "exact/fit/fit_core.h"

/* `item`'s bound rose: it is at or above low[item] since. */
struct fit_event {
    int32_t item;
    int32_t cause;       /* the item placed under it, or -1: it waits for support */
    int32_t earlier;     /* the item's event before this one, or -1 */
    int32_t wait_level;  /* cause -1: where it was postponed */
    fit_unit old, waits; /* its bound before; cause -1: the base it was postponed from */
};

struct fit_change { /* an old value */
    fit_unit *where, old;
};

/* A decision: first the item is placed at its bound (`waiting` false), then, refuted, it is postponed. */
struct fit_frame {
    int32_t item;
    int32_t changes, events; /* lengths of the trails before */
    int32_t reason, reasons; /* range of `reasons` that refuted the placement */
    int32_t window_from, window_to;
    int32_t old_wait_level;
    bool waiting;
};

/* Placements that together exclude each other (fit_conflict.c). */
struct fit_placement {
    int32_t item;
    fit_unit base;
};

struct fit_set {
    int32_t first, count; /* range of `placements` */
    int32_t next;         /* in the same bucket, or -1 */
};

struct fit_search {
    const struct fit_part *part;
    /* Items. A placed one has its base in `base` and low = FIT_FAR, so that loops over low skip it. */
    fit_unit *low;   /* the base is at least this */
    fit_unit *rest;  /* the least aligned base above all placed neighbours */
    fit_unit *waits; /* the base it was last postponed from, or -1 */
    fit_unit *base;
    fit_unit *room; /* greatest `left` over its sections */
    bool *placed;
    int32_t *level, *placed_event; /* of its placement: frame, and length of the event trail */
    int32_t *wait_level, *witness; /* of its postponement: frame; a neighbour that may support it */
    int32_t *last_event;
    int32_t *free_items, *slot; /* unplaced items; each one's index there */
    int32_t free_count;
    int32_t *waiting; /* items postponed on this path; twice if postponed twice */
    int32_t waiting_count;
    /* Sections. */
    fit_unit *left;    /* sum of heights still to place */
    fit_unit *lowest;  /* least `low` of its unplaced items */
    int32_t *crossing; /* unplaced items on both sides of the boundary before the section */
    int32_t *sole; /* the only unplaced item that can be the section's lowest, or -1; valid unless stale */
    bool *stale, *is_dirty;
    int32_t *dirty, dirty_count;
    /* Trails and the decision stack; level = index + 1, 0 is the root. */
    VEC(struct fit_change) changes;
    VEC(struct fit_event) events;
    VEC(int32_t) reasons;
    struct fit_frame *frames;
    int32_t depth, most_depth;
    int32_t window_from, window_to; /* the sections being searched */
    bool split;                     /* the window may have fallen apart or be done */
    /* Conflict: levels that contradict each other; filled by fit_conflict.c. */
    uint64_t *conflict;
    int32_t conflict_words;
    fit_unit *asked;
    VEC(uint64_t) pending; /* bits over the event trail */
    int32_t highest_pending;
    int64_t explanation, *explained; /* number of the current explanation, and of each item's last one: */
    int32_t *cursor, sweep;          /* its latest event below the sweep */
    /* Refuted sets of placements. */
    VEC(struct fit_placement) placements;
    VEC(struct fit_set) sets;
    int32_t *bucket;
    uint64_t *resolved;
    /* Branching: see fit_state.c. */
    double *weight, *bias;
    int32_t *rank;
    int low_share, room_share;
    struct rng rng;
    int64_t nodes, failures;
    struct arena memory; /* of all but the vectors */
};

void fit_search_open(struct fit_search *s, const struct fit_part *part, uint64_t seed);
void fit_search_close(struct fit_search *s);

/* Runs from the root to an answer, at most `failures` dead ends or `nodes` nodes. */
enum fit_result fit_search_run(struct fit_search *s, int64_t nodes, int64_t failures,
                               bool (*stop)(void *context), void *context);

/* Conflicts (fit_conflict.c): fill `conflict` with the levels that explain why an item has no base left, or
 * why a section overflows. */
void fit_explain_item(struct fit_search *s, int32_t item);
void fit_explain_section(struct fit_search *s, int32_t section);
/* Empties the conflict and begins a new explanation. */
void fit_conflict_clear(struct fit_search *s);

/* Refuted sets (fit_conflict.c). Learn: the decisions in `conflict` refute the placement, which was decided
 * at the level just undone. Allows: false, with `conflict` filled, if the placement completes a set. */
void fit_nogood_open(struct fit_search *s);
void fit_nogood_learn(struct fit_search *s, int32_t item, fit_unit base, int32_t level);
bool fit_nogood_allows(struct fit_search *s, int32_t item, fit_unit base);

/* Branching (fit_state.c). */
void fit_branch_prepare(struct fit_search *s, int64_t run);
void fit_branch_focus(struct fit_search *s);
int32_t fit_branch_choose(struct fit_search *s);
void fit_branch_blame(struct fit_search *s, int32_t section);

static inline void fit_conflict_add(struct fit_search *s, int32_t level)
{
    s->conflict[level >> 6] |= UINT64_C(1) << (level & 63);
}

static inline bool fit_conflict_has(const struct fit_search *s, int32_t level)
{
    return s->conflict[level >> 6] >> (level & 63) & 1;
}
