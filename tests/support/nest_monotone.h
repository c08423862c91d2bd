/* One graph planned with nests and without, by some solver and with some passes: with nests no more is moved, and the bound
 * of the plan with nests is above neither. */
#ifndef LX_TESTS_SUPPORT_NEST_MONOTONE_H
#define LX_TESTS_SUPPORT_NEST_MONOTONE_H

#include "unstable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct nest_monotone {
    int plans, nested, better, optimal; /* pairs; with nests; that move less; proved with nests */
    int worse, below, refused;
    int impossible; /* that cannot be planned at all, with nests or without */
};

/* The passes beside `tile` by number. */
enum { NEST_PASSES = 2 * 2 * 2 * 2 * LX_CLONE_COUNT * LX_COOPTIMISE_COUNT };

/* What is compared of a plan: HBM bytes, or microseconds. */
struct nest_value {
    double is, least;
};

/* `words`: which passes these are. */
void nest_monotone_passes(const struct lx_graph *g, const char *solver, struct lx_passes passes,
                          const char *words, enum lx_ask objective, struct nest_monotone *m);
void nest_monotone_pair(const struct lx_graph *g, const char *solver, int number, enum lx_ask objective,
                        struct nest_monotone *m);
void nest_monotone_say(const struct nest_monotone *m);

#endif
