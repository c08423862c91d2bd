/* Repeated layers of a planned graph, in words. */
#ifndef LX_APP_PLANNING_LAYER_WORDS_H
#define LX_APP_PLANNING_LAYER_WORDS_H

#include "unstable.h"
#include "base/text.h"

/* "x32 of 94 ops, planned once: norm to add; x4 of 12 ops, planned in 2 ways: .."; nothing where nothing is repeated. Planned once
 * are layers of which all have the same layouts, divisions and nests. */
void add_layers(const struct lx_plan *p, struct text *out);

#endif
