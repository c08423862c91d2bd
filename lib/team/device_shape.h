/* The shape of what a device does: a number that is the same for graphs that differ in nothing but offsets of slices. Private
 * to the stage. */
#ifndef LX_TEAM_DEVICE_SHAPE_H
#define LX_TEAM_DEVICE_SHAPE_H

#include "graph/graph.h"

/* Zeros before the first record. */
struct device_shape {
    int64_t unit;
    uint64_t shape;
    uint64_t likely; /* of where in sticks slices begin, along their last dimension */
};

/* For a record_taker; the text is terminated. */
void device_shape_take(void *shape, const struct lx_graph *g, const char *record, size_t length);

#endif
