/* Plans that keep all small items in a strip of their own. */
#ifndef LX_SOLVERS_EXACT_STRIP_H
#define LX_SOLVERS_EXACT_STRIP_H

#include "exact/search.h"

/* Improves `address` and `*best` of the model `m` within `steps`. Does nothing where small items are few.
 * False when memory is out. */
void strip_plans(struct model *m, struct budget *budget, const struct search_tuning *tuning, int64_t steps,
                 int64_t *address, int64_t *best, struct search_stats *stats);

#endif
