/* lxplan: how a solver is written, inside the tree and as a plug-in.
 *
 *     #include <lxplan/solver.h>
 *     static bool solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a) { ... }
 *     static const struct lx_solver mine = {.abi = LX_SOLVER_ABI, .name = "mine", .summary = "...", .caps = LX_CAN_SPILL,
 *                                           .solve = solve};
 *     LX_SOLVER_PLUGIN(&mine);
 *
 *     cc -shared -fPIC -I$(pkg-config --variable=stagesdir lxplan) $(pkg-config --cflags lxplan) mine.c -o mine.so
 *
 * The program loads what $LXPLAN_PLUGINS names (paths with ':' between them), the library what the option "plugins" names.
 * problem.h has the contract. Its structs are open: a plug-in that was built for another LX_SOLVER_ABI is refused. What a
 * solver answers is checked before anybody sees it, whoever wrote it. */
#ifndef LXPLAN_SOLVER_H
#define LXPLAN_SOLVER_H

#include "placement/problem.h"

/* What a plug-in has to have: its number, and its solvers, NULL-terminated. */
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
