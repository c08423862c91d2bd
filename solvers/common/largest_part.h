/* How large the parts are that a placement problem falls into. */
#ifndef LX_SOLVERS_COMMON_LARGEST_PART_H
#define LX_SOLVERS_COMMON_LARGEST_PART_H

#include "placement/problem.h"

/* The most buffers that are joined by lives in a common pool or by bonds: what a search has to look at
 * together. O(pools * n + n log n) and the length of the bonds. The count of all where memory is out. */
int32_t largest_part(const struct lx_problem *p);

#endif
