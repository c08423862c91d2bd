/* Plans from a choice that nearly packs: the large items exactly, the small ones into the gaps. */
#ifndef LX_SOLVERS_EXACT_LEVELS_H
#define LX_SOLVERS_EXACT_LEVELS_H

#include "exact/ask_fit.h"

/* Tries to place the kept items, and what else finds room then; the best value of `tries` ways, whose
 * plan is in `address`. FIT_NO in `*large`: some of the large items cannot be packed, `core` has those.
 * Only for models without handovers. INT64_MAX when memory is out. */
int64_t levels_plan(struct packer *k, const bool *kept, int tries, int64_t aim, int64_t *address, bool *core,
                    enum fit_result *large);

#endif
