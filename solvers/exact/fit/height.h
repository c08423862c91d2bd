/* Height: the least capacity at which every item fits, with a proved lower bound. Anytime. */
#ifndef LX_SOLVERS_EXACT_FIT_HEIGHT_H
#define LX_SOLVERS_EXACT_FIT_HEIGHT_H

#include "exact/fit/fit.h"

enum height_result { HEIGHT_OPTIMAL, HEIGHT_LIMIT, HEIGHT_NONE };

struct height_answer {
    int64_t height; /* of the bases returned */
    int64_t bound;  /* no packing is lower; equal to the height when optimal */
    int64_t nodes, probes;
};

/* Told of every better packing, and with `base` NULL of every better bound. */
struct height_watch {
    void (*tell)(void *context, const int64_t *base, const struct height_answer *so_far);
    void *context;
};

/* `p->capacity` is not read. `watch` may be NULL. `base` holds a packing after HEIGHT_OPTIMAL and HEIGHT_LIMIT. HEIGHT_NONE: fixed
 * bases contradict each other or their alignments, or none was found within the limits (bound 0 or more). */
enum height_result height_solve(const struct fit_problem *p, const struct fit_limits *limits,
                                const struct height_watch *watch, int64_t *base,
                                struct height_answer *answer);

#endif
