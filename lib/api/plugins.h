/* Solvers from shared objects; see solver.h. */
#pragma once

#include "placement/problem.h"

/* Loads each of `paths` (':' between them) and passes its solvers to `add`, which may refuse with `st`. Files
 * stay loaded: plans refer to their solvers. */
bool lx_plugins_load(const char *paths, bool (*add)(void *context, const struct lx_solver *s, lx_status *st),
                     void *context, lx_status *st);
/* One file, whose path may have a ':'. */
bool lx_plugin_load(const char *path, bool (*add)(void *context, const struct lx_solver *s, lx_status *st),
                    void *context, lx_status *st);
