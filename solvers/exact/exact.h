/* The solver `exact`: branch and bound with proof for all three questions. */
#ifndef LX_SOLVERS_EXACT_EXACT_H
#define LX_SOLVERS_EXACT_EXACT_H

#include "placement/problem.h"

extern const struct lx_solver lx_solver_exact;

#endif
