/* ilp as a plug-in, for users of the library, which does not link GLPK. */
#include "solver.h"
#include "solvers.h"

LX_SOLVER_PLUGIN(&lx_solver_ilp);
