/* Bounds of pass combinations on random graphs: none may be above a plan with the same passes or fewer, by whatever
 * solver, and a pass that is on may not give a worse plan. */
#ifndef LX_TESTS_SUPPORT_PASS_BOUNDS_H
#define LX_TESTS_SUPPORT_PASS_BOUNDS_H

#include "support/random_graph.h"

#include "unstable.h"

enum { PASS_EVICT = 1, PASS_REORDER = 2, PASS_MOVE = 4, PASS_BITS = 8, PASS_SOLVERS = 3 };

struct pass_plans {
    int64_t hbm[PASS_BITS][PASS_SOLVERS], bound[PASS_BITS][PASS_SOLVERS];
    int proved, plans, moves;
};

/* The first contradiction, in words; NULL: none. */
const char *pass_contradiction(const struct pass_plans *p, char *text, size_t room);
bool pass_try(uint64_t seed, struct pass_plans *out, lx_status *st);

#endif
