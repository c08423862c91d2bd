/* Fast packings: by first fit (fit_heuristic.c) and from the ground up (skyline.c). */
#ifndef LX_SOLVERS_EXACT_FIT_FIT_HEURISTIC_H
#define LX_SOLVERS_EXACT_FIT_FIT_HEURISTIC_H

#include "exact/fit/fit_core.h"

/* Packs the part into `base` by up to `passes` orders, until no item is more than `enough` units above its
 * highest base. `*excess` is the least that was reached (the packing fits if it is not positive); an item
 * that collides with its fixed base counts as far too high. `*steps` grows by the items placed.
 * False: memory is out. */
void fit_first_fit(const struct fit_part *part, int passes, fit_unit enough, bool (*stop)(void *context),
                   void *context, fit_unit *base, fit_unit *excess, int64_t *steps);

/* How a heuristic is run. */
struct fit_heuristic_run {
    fit_unit enough; /* it ends when no item is more than that above its highest base */
    bool (*stop)(void *context);
    void *context;
    int64_t *steps; /* grows by the items placed */
};

/* Several styles of packing from the ground up, as above. `*excess` is FIT_FAR where it cannot: the part has
 * fixed items. A stop is heard after the first packing. False: memory is out. */
void fit_skyline(const struct fit_part *part, const struct fit_heuristic_run *run, fit_unit *base,
                 fit_unit *excess);

#endif
