/* Local search for the cost of reuse: blocks that are placed stay placed, addresses and pools change. */
#ifndef LX_SOLVERS_EXACT_GENERAL_REUSE_SEARCH_H
#define LX_SOLVERS_EXACT_GENERAL_REUSE_SEARCH_H

#include "exact/general/master.h"

/* Improves a known layout in place until it costs no more than `enough`, `steps` are spent, or the budget is.
 * False when memory is out; the layout is legal all the same. */
void reuse_improve(const struct blocks *b, struct budget *budget, uint64_t seed, int64_t steps,
                   int64_t enough, struct layout *best);

#endif
