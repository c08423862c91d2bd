/* Layers that a graph has several times, one behind the other: runs of ops that are alike in kinds, index
 * maps, extents and parameters, and linked alike. */
#ifndef LX_GRAPH_REPEATS_H
#define LX_GRAPH_REPEATS_H

#include "base/status.h"

#include <stdint.h>

struct lx_graph;

/* Ops first to first + ops * times - 1. */
struct lx_repeat {
    int32_t first, ops, times;
};

/* In the order of ops, none of them overlapping; malloc'ed, *count of them. NULL with `st`: memory is out. */
struct lx_repeat *lx_repeats(const struct lx_graph *g, int32_t *count);

#endif
