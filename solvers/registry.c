/* The only list of solvers. To add one: a const struct lx_solver in a file of its own, a line in
 * solvers.h and a line here. Compiled twice: for the program, and for the library without what may not be in it. */
#include "solvers.h"

#include <string.h>

static const struct lx_solver *const solvers[] = {
    &lx_solver_greedy, /* in the order in which people meet them: */
    &lx_solver_firstfit,
    &lx_solver_bestfit,
    &lx_solver_anneal, /* heuristics, searches, */
#ifdef LXPLAN_WITH_ILP
    &lx_solver_ilp,
#endif
    &lx_solver_exact,
    &lx_solver_auto, /* and what most people want */
    NULL,
};

const struct lx_solver *const *lx_solvers(void)
{
    return solvers;
}

const struct lx_solver *lx_solver_find(const char *name)
{
    for (const struct lx_solver *const *s = solvers; *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    return NULL;
}
