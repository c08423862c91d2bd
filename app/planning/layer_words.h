/* Repeated layers of a graph, in words. */
#ifndef LX_APP_PLANNING_LAYER_WORDS_H
#define LX_APP_PLANNING_LAYER_WORDS_H

#include "unstable.h"
#include "base/text.h"

/* "x32 of 94 ops: norm to add; x4 of 12 ops: .."; nothing where nothing is repeated. */
void add_layers(const struct lx_graph *g, struct text *out);

#endif
