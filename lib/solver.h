/* lxplan: writing a solver, inside the tree or as a plug-in.
 *
 *     #include <lxplan/solver.h>
 *     static bool solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a) { ... }
 *     static const struct lx_solver mine = {.abi = LX_SOLVER_ABI, .name = "mine", .summary = "...",
 *                                           .caps = LX_CAN_SPILL, .solve = solve};
 *     LX_SOLVER_PLUGIN(&mine);
 *
 *     cc -shared -fPIC $(pkg-config --cflags lxplan) -o mine.so mine.c
 *
 * The program loads the files in $LXPLAN_PLUGINS (paths with ':' between them), the library the files in the
 * option "plugins". problem.h has the contract. Its structs are open: a plug-in built for another
 * LX_SOLVER_ABI is refused. Every solver's answer is checked before it is returned. */
#ifndef LXPLAN_SOLVER_H
#define LXPLAN_SOLVER_H

#include "placement/problem.h"

/* The exports of a plug-in: its ABI number, and its solvers, NULL-terminated. */
#define LX_SOLVER_PLUGIN(...)                                                                                \
    __attribute__((visibility("default"))) int lx_plugin_abi(void);                                          \
    __attribute__((visibility("default"))) const struct lx_solver *const *lx_plugin_solvers(void);           \
    int lx_plugin_abi(void)                                                                                  \
    {                                                                                                        \
        return LX_SOLVER_ABI;                                                                                \
    }                                                                                                        \
    const struct lx_solver *const *lx_plugin_solvers(void)                                                   \
    {                                                                                                        \
        static const struct lx_solver *const all[] = {__VA_ARGS__, NULL};                                    \
        return all;                                                                                          \
    }                                                                                                        \
    extern int lx_plugin_ends_here

#endif
