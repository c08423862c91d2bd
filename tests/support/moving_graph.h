/* Graphs that fill the scratchpads to the last stick while buffers of many sizes come and go: one or two end, others of
 * the same bytes begin. Some are graph inputs that are read twice, some are made and read, some take a place over. */
#ifndef LX_TESTS_SUPPORT_MOVING_GRAPH_H
#define LX_TESTS_SUPPORT_MOVING_GRAPH_H

#include "base/rng.h"
#include "graph/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOVING_ALIVE = 64 };

struct moving_buffer {
    int32_t tensor;
    int64_t rows;
};

struct moving_graph {
    struct graph_builder b;
    struct rng *r;
    int64_t cores;
    struct moving_buffer alive[MOVING_ALIVE];
    int count, ops, tensors;
    bool ok;
    lx_status *st;
};

/* `sticks` of room on each core, `events` ends. */
const struct lx_graph *moving_graph(struct rng *r, int64_t cores, int64_t sticks, int events, lx_status *st);

#endif
