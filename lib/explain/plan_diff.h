/* Differences of two plans. Buffers are matched by name, since numbers may differ. */
#pragma once

#include "plan/plan.h"

/* Changes of a buffer, in the order of a report: X(id, word, in words). */
/* clang-format off */
#define LX_CHANGES(X)                                                                                        \
    X(LX_CAME_ON_CHIP,     "came_on_chip",     "came on chip")                                               \
    X(LX_WENT_OFF_CHIP,    "went_off_chip",    "went off chip")                                              \
    X(LX_MOVED,            "moved",            "moved")                                                      \
    X(LX_IN_PLACE_CHANGED, "in_place_changed", "now, or no longer, in another's place")                      \
    X(LX_CHANGED,          "changed",          "with another size, life or cost")                            \
    X(LX_ONLY_BEFORE,      "only_before",      "only in the first plan")                                     \
    X(LX_ONLY_AFTER,       "only_after",       "only in the second plan")
/* clang-format on */

#define LX_CHANGE_ENUM(id, word, words) id,
enum lx_change { LX_CHANGES(LX_CHANGE_ENUM) LX_CHANGE_COUNT };
#undef LX_CHANGE_ENUM

const char *lx_change_word(enum lx_change c);
const char *lx_change_words(enum lx_change c);

/* Parts of a plan's traffic: X(id, word, in words). All but ring and moves add up to its HBM bytes. */
/* clang-format off */
#define LX_PARTS(X)                                                                                         \
    X(LX_PART_BUFFERS,  "buffers",  "ops with buffers off chip")                                            \
    X(LX_PART_UNSERVED, "unserved", "ops with tensors that no buffer could hold for them")                  \
    X(LX_PART_LOADS,    "loads",    "loads of buffers")                                                     \
    X(LX_PART_STORES,   "stores",   "stores of buffers")                                                    \
    X(LX_PART_COSTS,    "costs",    "costs of places, linked costs and reuse")                                   \
    X(LX_PART_RING,     "ring",     "over the data ring, not in the sum")                                   \
    X(LX_PART_MOVES,    "moves",    "inside the scratchpads, not in the sum")
/* clang-format on */

#define LX_PART_ENUM(id, word, words) id,
enum lx_part { LX_PARTS(LX_PART_ENUM) LX_PART_COUNT };
#undef LX_PART_ENUM

const char *lx_part_word(enum lx_part s);
const char *lx_part_words(enum lx_part s);

struct lx_difference {
    enum lx_change change;
    int32_t before, after;                 /* the buffer in each plan; -1: absent */
    const char *name;                      /* owned by a plan, as the next two */
    const char *in_place_of;               /* in the second plan; "": of no buffer */
    const char *reason;                    /* why it was, or is, off chip; "": on chip */
    int64_t address_before, address_after; /* LX_OFF_CHIP also if absent */
    /* owned by the plans; "": off chip, or the plan has one pool at most */
    const char *pool_before, *pool_after;
    int64_t gain; /* bytes of accesses off chip that the second plan saves; without loads and stores */
};

/* Sorted by change, then the largest gain or loss first, then by number. The plans must outlive the diff. */
struct lx_diff {
    struct lx_difference *all;
    int32_t count;
    int32_t of_change[LX_CHANGE_COUNT];
    bool same_pattern; /* false: buffers were matched by name only */
    int64_t gain;      /* bytes of traffic that the second plan saves */
    /* bytes; of a buffer list: buffers only */
    int64_t share_before[LX_PART_COUNT], share_after[LX_PART_COUNT];
};

void lx_plan_diff(const struct lx_plan *before, const struct lx_plan *after, struct lx_diff *out);
void lx_diff_free(struct lx_diff *d);

struct lx_nest_change {
    /* Nests of the run: `count` from number `first` on; 0: none. */
    int32_t first_before, count_before, first_after, count_after;
    int64_t bytes_before, bytes_after; /* moved by the ops of the run */
};

struct lx_nest_diff {
    struct lx_nest_change *all; /* in order of time */
    int32_t count;
    struct lx_nest_change others; /* all other ops, in nests or not */
};

/* Both plans must be of graphs. */
void lx_nest_diff(const struct lx_plan *before, const struct lx_plan *after, struct lx_nest_diff *out);
void lx_nest_diff_free(struct lx_nest_diff *d);
