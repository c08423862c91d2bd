/* The row of `ilp` in the list of solvers: plain data, so that the program has it without GLPK. */
#pragma once

#include "placement/problem.h"

enum ilp_option { NODES, EFFORT, MAX_BUFFERS, MAX_ROWS, START_STEPS, CUTS, MEMORY, OPTIONS };
enum ilp_stat { STAT_ROWS, STAT_BINARIES, STAT_NODES, STAT_EFFORT, STATS };

/* What the row calls: ilp.c itself, or in the program a function that loads the plug-in first. */
#ifndef ILP_SOLVE
#define ILP_SOLVE ilp_solve
#endif
bool ILP_SOLVE(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer);
