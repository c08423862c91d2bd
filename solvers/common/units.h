/* Units: buffers whose being on chip or off hangs together. A group that goes together is on or off as a whole, and a
 * staging buffer is on when what it stands in for is off; so each such set has two states. In state 1 its members
 * with the first sign are on, in state 0 those with the other. */
#ifndef LX_SOLVERS_COMMON_UNITS_H
#define LX_SOLVERS_COMMON_UNITS_H

#include "placement/problem.h"

struct units {
    int32_t count;
    int32_t *first;  /* count + 1: members of a unit */
    int32_t *member; /* buffers, by number */
    bool *against;   /* parallel to `member`: on in state 0 */
    int32_t *of;     /* per buffer: its unit */
};

/* False: memory is out. Signs that contradict each other give a unit that no answer satisfies. */
void units_make(struct units *u, const struct lx_problem *p);
void units_free(struct units *u);

#endif
