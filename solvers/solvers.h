/* Declares the built-in solvers; registry.c lists them. */
#ifndef LX_SOLVERS_SOLVERS_H
#define LX_SOLVERS_SOLVERS_H

#include "placement/problem.h"

extern const struct lx_solver lx_solver_greedy;
extern const struct lx_solver lx_solver_firstfit;
extern const struct lx_solver lx_solver_bestfit;
extern const struct lx_solver lx_solver_anneal;
extern const struct lx_solver lx_solver_ilp;
extern const struct lx_solver lx_solver_exact;
extern const struct lx_solver lx_solver_auto;

#endif
