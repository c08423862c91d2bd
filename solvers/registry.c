/* The only list of solvers. To add one: a const struct lx_solver in its own file, a line in solvers.h and a
 * line here. Compiled twice: for the program, whose `ilp` is a plug-in, and for the library. */
#include "solvers.h"
#include "base/base.h"

enum { MOST = 24 }; /* with plug-ins and the terminating NULL */

static const struct lx_solver *solvers[MOST] = {
    &lx_solver_greedy,                                          /* in the order that help lists them: */
    &lx_solver_firstfit, &lx_solver_bestfit, &lx_solver_anneal, /* heuristics, searches, */
#ifdef LXPLAN_WITH_ILP
    &lx_solver_ilp,
#endif
    &lx_solver_exact,    &lx_solver_auto, /* and the default */
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

void lx_solver_drop(const char *name)
{
    int n = 0;
    while (solvers[n] && strcmp(solvers[n]->name, name) != 0) n++;
    for (; solvers[n]; n++) solvers[n] = solvers[n + 1];
}

bool lx_solver_add(const struct lx_solver *s)
{
    int n = 0;
    while (solvers[n]) n++;
    if (n + 1 >= MOST || lx_solver_find(s->name)) return false;
    solvers[n] = s;
    return true;
}
