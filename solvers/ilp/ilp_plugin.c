/* ilp as a plug-in: for those who use the library, in which GLPK may not be. */
#include "solver.h"
#include "solvers.h"

LX_SOLVER_PLUGIN(&lx_solver_ilp);
