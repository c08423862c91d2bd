/* Items that always find a place: out of the search, and in again at its end. */
#ifndef LX_SOLVERS_EXACT_FIT_FIT_PEEL_H
#define LX_SOLVERS_EXACT_FIT_FIT_PEEL_H

#include "exact/fit/fit_core.h"

/* Reorders the items: those to search for, whose number is returned, then the others; each of these finds a base
 * beside all before it. */
int32_t fit_peel(struct fit_loose *at, int32_t count);

/* Bases (in bytes) of the peeled items when all others have theirs. False: memory is out. */
void fit_place_peeled(const struct fit_scaled *s, int64_t *base);

#endif
