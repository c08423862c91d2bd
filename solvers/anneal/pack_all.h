/* Where everything must be placed: orders guided by what did not fit before. */
#ifndef LX_SOLVERS_ANNEAL_PACK_ALL_H
#define LX_SOLVERS_ANNEAL_PACK_ALL_H

#include "common/items.h"

/* Looks for a packing of all items, without handovers, with so many placements tried; `base` is written when one is
 * found. False when memory is out. */
void pack_all(const struct items *it, const struct lx_run *run, int64_t nodes, int64_t *base, bool *found);

#endif
