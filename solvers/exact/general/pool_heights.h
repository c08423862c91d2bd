/* Height: everything placed, the sum of the pools' heights least. */
#ifndef LX_SOLVERS_EXACT_GENERAL_POOL_HEIGHTS_H
#define LX_SOLVERS_EXACT_GENERAL_POOL_HEIGHTS_H

#include "exact/general/master.h"

/* Fills `best`, and bound and status of the answer. False when memory is out. */
void solve_heights(const struct blocks *b, struct budget *budget, uint64_t seed, struct layout *best,
                   struct lx_answer *answer);

#endif
