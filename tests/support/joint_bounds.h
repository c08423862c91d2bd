/* Bounds over all divisions against real drafts: random graphs under random passes, with random divisions, cuts and
 * orders, placed by a solver. Nothing may move less than the bound; nor, with its choices fixed, than chains with only
 * these choices. */
#ifndef LX_TESTS_SUPPORT_JOINT_BOUNDS_H
#define LX_TESTS_SUPPORT_JOINT_BOUNDS_H

#include "unstable.h"
#include "search/reorder.h"
#include "cooptimise/least_traffic.h"
#include "support/random_graph.h"

#include <inttypes.h>

struct joint_bounds {
    int graphs, drafts;
    int above_all, above_fixed; /* drafts below the bound of all divisions, of their own */
    int met_fixed;              /* drafts that their own bound meets */
    bool print;
};

struct lx_passes random_passes(struct rng *r);
void try_graph(uint64_t seed, int drafts, struct joint_bounds *out);

#endif
