/* What patterns expect of solvers, held against those that there are. The library reads the names but knows no
 * solvers, so that this is the program's to do, once for every pattern that it reads. */
#ifndef LX_APP_PLANNING_EXPECTATIONS_H
#define LX_APP_PLANNING_EXPECTATIONS_H

#include "unstable.h"

/* False: "expect" names a solver that does not exist; `st` has its place and the nearest name. */
bool expectations_known(const struct lx_graph *g, lx_status *st);

/* The error that a pattern expects of a stage (expect.error). It is read from the text, since a pattern that the
 * first stage refuses has no graph to ask. */
struct expected_error {
    char stage[32], code[32];
};

bool expected_error_of(const char *file, const char *text, size_t length, struct expected_error *out);

#endif
