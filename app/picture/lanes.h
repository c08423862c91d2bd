/* Lives packed into lanes, for the strip of spilled buffers below a drawing. */
#ifndef LX_APP_PICTURE_LANES_H
#define LX_APP_PICTURE_LANES_H

#include "lxplan.h"

enum { MOST_LANES = 10, MOST_SPILLED = 300 };

/* The spilled buffers in lanes: the costliest first, each in the first lane where its life finds room. */
struct lanes {
    int32_t buffer[MOST_SPILLED];
    int lane[MOST_SPILLED];
    int32_t drawn, left_over;
    int used;
};

void assign_lanes(const struct lx_plan *p, const int32_t *spilled, int32_t count, struct lanes *l);

#endif
