/* Solvers from shared objects; solver.h has what these are. */
#ifndef LX_API_PLUGINS_H
#define LX_API_PLUGINS_H

#include "placement/problem.h"

/* Each of `paths` (':' between them) is loaded, and each solver in it handed to `add`, which may refuse it with `st`. What was
 * loaded stays: plans name their solvers. */
bool lx_plugins_load(const char *paths, bool (*add)(void *context, const struct lx_solver *s, lx_status *st),
                     void *context, lx_status *st);

#endif
