/* Who touches each tensor of a graph, and when. Private to the stage. */
#ifndef LX_LAYOUT_USES_H
#define LX_LAYOUT_USES_H

#include "graph/graph.h"

struct tensor_uses {
    int32_t *first, *last_use; /* per tensor: the first and last live op that touches it; -1: none */
    int32_t *readers;          /* per tensor: operands that read it */
    bool *written;             /* per tensor: by a live op */
    bool *rigid;       /* per tensor: its own layout matters, not only that a copy in another exists */
    int32_t most_live; /* tensors that are written, or read several times, and alive at once */
};

void tensor_uses_make(const struct lx_graph *g, const bool *alive, struct tensor_uses *out);
void tensor_uses_free(struct tensor_uses *u);

#endif
