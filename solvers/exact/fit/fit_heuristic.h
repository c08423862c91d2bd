/* Fast packings by first fit; see fit_heuristic.c. */
#ifndef LX_SOLVERS_EXACT_FIT_FIT_HEURISTIC_H
#define LX_SOLVERS_EXACT_FIT_FIT_HEURISTIC_H

#include "exact/fit/fit_core.h"

/* Packs the part into `base` by up to `passes` orders, until no item is more than `enough` units above its
 * highest base. `*excess` is the least that was reached (the packing fits if it is not positive); an item
 * that collides with its fixed base counts as far too high. `*steps` grows by the items placed.
 * False: memory is out. */
bool fit_first_fit(const struct fit_part *part, int passes, fit_unit enough, bool (*stop)(void *context),
                   void *context, fit_unit *base, fit_unit *excess, int64_t *steps);

#endif
