/* Plug-ins that come with the program and are loaded at their first use, so that it needs libc and ncurses
 * alone: `ilp`, as GLPK is GPL, and `mpi`, which takes some twenty libraries. */
#pragma once

#include "base/base.h"

struct lx_answer;
struct lx_problem;
struct lx_run;
struct lx_transport;
struct ranks;

/* What lxplan_mpi.so exports, by this name. */
struct mpi_plugin {
    const char *version; /* of the program that it was built with */
    const struct lx_transport *transport;
    const struct ranks *ranks;
};
extern const struct mpi_plugin lxplan_mpi;

/* How to get one that is not there. */
#define PLUGIN_REMEDY "install the package lxplan-%s, or build lxplan where %s is found"

/* Finds `ilp`, or drops it from the list of solvers. */
void own_plugins_begin(void);
/* The solve of the program's row `ilp`. */
bool own_plugins_ilp(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer);
/* The ranks of mpirun; NULL with `st`. */
const struct ranks *own_plugins_ranks(lx_status *st);
