/* Divisions of the ops in and around nests that agree: what one op makes the next reads where it is, and
 * what is held fits each core. The ops are taken in order of time, and of each prefix the best few ways
 * to divide it are kept: least by what the held parts exceed a scratchpad, then by predicted time, with
 * the copies over the ring where two ops see a tensor in two ways. A guess, as rough as the greedy solver
 * is quick: who asks plans with it. Bodies of some dozen ops. */
#ifndef LX_NESTS_NEST_DIVIDE_H
#define LX_NESTS_NEST_DIVIDE_H

#include "nests/nest_menus.h"
#include "stays/draft.h"

/* The ops of [first, last], of which nests are whole. `x`: a draft with the nests and holds. `divided`:
 * per op of the divided graph; those of the run are set, and live as long as the menus. */
bool nest_divide(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus,
                 const struct lx_division **divided, lx_status *st);

#endif
