/* Fit: places every item within the capacity, or proves this impossible.
 *
 * An item has one base address and one or more pieces, adjacent in time; each piece takes `size` bytes above
 * the base during [start, end). A plain buffer is one piece. A chain of in-place handovers is one item with a
 * piece for each buffer (sizes never grow along a chain; on a handover tick the parent's size counts). Times
 * need not be compressed.
 *
 * The exact solver asks this engine for all three objectives; the engine ignores costs. */
#pragma once

#include "base/base.h"

struct fit_piece {
    int64_t start, end, size;
};

struct fit_item {
    int32_t first_piece, piece_count; /* into fit_problem.pieces; in order of time, without gaps */
    int64_t alignment;                /* >= 1 */
    int64_t fixed;                    /* its only legal base, or -1 */
};

struct fit_problem {
    int64_t capacity;
    int32_t item_count, piece_count;
    const struct fit_item *items;
    const struct fit_piece *pieces;
};

struct fit_limits {
    int64_t nodes;               /* deterministic budget; 0: none */
    uint64_t seed;               /* for the perturbed orders */
    bool (*stop)(void *context); /* may be NULL; polled often enough to stop within a few milliseconds */
    void *context;
    bool dense; /* packs items that always fit with the others, so gaps are larger */
};

enum fit_result { FIT_YES, FIT_NO, FIT_LIMIT };

struct fit_stats {
    int64_t nodes, restarts;
};

/* On FIT_YES `base` holds an address for every item. */
enum fit_result fit_solve(const struct fit_problem *p, const struct fit_limits *limits, int64_t *base,
                          struct fit_stats *stats);

/* Height: the least capacity at which every item fits, with a proved lower bound. Anytime. */

enum height_result { HEIGHT_OPTIMAL, HEIGHT_LIMIT, HEIGHT_NONE };

struct height_answer {
    int64_t height; /* of the bases returned */
    int64_t bound;  /* no packing is lower; equal to the height when optimal */
    int64_t nodes, probes;
};

/* report: called for every better packing, and with `base` NULL for every better bound. */
struct height_watch {
    void (*report)(void *context, const int64_t *base, const struct height_answer *so_far);
    void *context;
};

/* Ignores `p->capacity`. `watch` may be NULL. `base` holds a packing after HEIGHT_OPTIMAL and HEIGHT_LIMIT.
 * HEIGHT_NONE: fixed bases contradict each other or their alignments, or no packing was found within the
 * limits (bound 0 or more). */
enum height_result height_solve(const struct fit_problem *p, const struct fit_limits *limits,
                                const struct height_watch *watch, int64_t *base,
                                struct height_answer *answer);
