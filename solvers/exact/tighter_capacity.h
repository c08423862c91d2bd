/* Plans from the relaxation at a slightly smaller capacity. */
#ifndef LX_SOLVERS_EXACT_TIGHTER_CAPACITY_H
#define LX_SOLVERS_EXACT_TIGHTER_CAPACITY_H

#include "exact/search.h"

/* Improves `address` and `*best`, both of the model `m`, within `steps`. False when memory is out. */
void slack_plans(const struct model *m, struct budget *budget, const struct search_tuning *tuning,
                 int64_t steps, int64_t *address, int64_t *best, struct search_stats *stats);

#endif
