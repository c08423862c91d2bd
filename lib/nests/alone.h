/* HBM bytes that no plan goes below, with nests or without. Private to the stage. */
#ifndef LX_NESTS_ALONE_H
#define LX_NESTS_ALONE_H

#include "stays/draft.h"

struct alone_asks {
    int64_t room;   /* bytes of all scratchpads together */
    bool any_order; /* ops may change places */
};

/* The sum, over all tensors, of the least that any nests and hold levels let each cost if it were alone
 * on chip. `x`: a draft without nests, in the order of the graph. */
int64_t alone_traffic(const struct draft *x, const struct alone_asks *asks);
/* The same where all has room and ops may change places: what must cross once. */
int64_t crossing_traffic(const struct draft *x);
/* Could a plan with nests move less than every one without? Only if some nest cuts a tensor that two of
 * its ops access, or one of them twice: else a plan without them has all whole stays that it has, and
 * what it has as a tile for one access moves as much off chip. */
bool nests_help(const struct draft *x, bool any_order);

#endif
