/* Solvers that misbehave, each in its own way; compiled into a program for tests only. */
#ifndef LX_TESTS_ROGUE_ROGUE_H
#define LX_TESTS_ROGUE_ROGUE_H

#include "placement/problem.h"

extern const struct lx_solver rogue_crash, rogue_exit, rogue_hang, rogue_memory, rogue_glutton, rogue_liar,
    rogue_boast, rogue_denier, rogue_late, rogue_noise, rogue_wait, rogue_deaf, rogue_dice;

#endif
