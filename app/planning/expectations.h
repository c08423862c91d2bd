/* What patterns expect of solvers, held against those that there are. The library reads the names but knows no
 * solvers, so that this is the program's to do, once for every pattern that it reads. */
#ifndef LX_APP_PLANNING_EXPECTATIONS_H
#define LX_APP_PLANNING_EXPECTATIONS_H

#include "lxplan.h"

/* False: "expect" names a solver that does not exist; `st` has its place and the nearest name. */
bool expectations_known(const struct lx_graph *g, lx_status *st);

#endif
