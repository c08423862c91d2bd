/* One graph with one size of scratchpad, planned in many ways: what `auto` finds with every pass that only widens the
 * choice must be no more than what any solver finds, and than with passes left out; a pass that searches must find no more
 * than is found without it; and no plan goes below what one with wider choices claims to be the least. */
#ifndef LX_TESTS_SUPPORT_MONOTONE_H
#define LX_TESTS_SUPPORT_MONOTONE_H

#include "unstable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct monotone {
    int points, plans, worse, below; /* worse: than one with fewer choices; below: a bound that should hold */
    bool print;
};

struct lx_plan *monotone_plan(const struct lx_graph *g, const char *solver, const struct lx_passes *passes);

/* `wide` has all the choices that `narrow` has. */
void monotone_compare(const struct lx_plan *wide, const struct lx_plan *narrow, const char *what,
                      struct monotone *m);

/* Pass combinations that leave choices out, by number; 0 leaves none out. */
enum { MONOTONE_PASSES = 2 * 2 * 2 * 2 * LX_CLONE_COUNT };

/* All solvers, every `step`-th combination of passes. `searches`: the passes that try whole plans, too. */
void monotone_point(const struct lx_graph *g, int step, bool searches, struct monotone *m);

#endif
