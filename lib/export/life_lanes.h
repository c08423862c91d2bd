/* The lives of a plan's buffers in lanes, so that no two of one lane meet: each in the lane that was free for longest.
 * O(n log n). Private to the stage. */
#ifndef LX_EXPORT_LIFE_LANES_H
#define LX_EXPORT_LIFE_LANES_H

#include "plan/plan.h"

struct life_lane {
    int64_t start, end;
    int32_t buffer, lane;
};

struct life_lanes {
    struct life_lane *at; /* by start */
    size_t count;
    int32_t lanes;
};

bool life_lanes_make(const struct lx_plan *p, struct life_lanes *out);
void life_lanes_free(struct life_lanes *l);

#endif
