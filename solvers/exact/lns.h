/* Large-neighbourhood search: parts of a plan are solved again, exactly. */
#ifndef LX_SOLVERS_EXACT_LNS_H
#define LX_SOLVERS_EXACT_LNS_H

#include "exact/search.h"

/* Improves `address` and `*best` of the model until the bound is reached, or the steps or the budget are spent. False
 * when memory is out; the plan is legal all the same. */
void lns_improve(const struct model *m, struct budget *budget, int64_t steps, int64_t *address, int64_t *best,
                 int64_t bound, struct search_stats *stats);

#endif
