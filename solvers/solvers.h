/* Declares the built-in solvers; registry.c lists them. */
#pragma once

#include "placement/problem.h"

extern const struct lx_solver lx_solver_greedy;
extern const struct lx_solver lx_solver_firstfit;
extern const struct lx_solver lx_solver_bestfit;
extern const struct lx_solver lx_solver_anneal;
extern const struct lx_solver lx_solver_ilp;
extern const struct lx_solver lx_solver_exact;
extern const struct lx_solver lx_solver_auto;
