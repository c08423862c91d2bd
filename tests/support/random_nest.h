/* Random nests that are legal: contractions of every shape, and moves.
 *
 * Loops of all types in any order, each operand with its dimensions in an order of its own, with gaps or a
 * stride of 2 inside now and then. Inputs may also stand still along a loop (a broadcast), or walk two loops
 * at one stride (sliding windows): reading an element twice is as good as any. The output never does. */
#ifndef LX_TESTS_SUPPORT_RANDOM_NEST_H
#define LX_TESTS_SUPPORT_RANDOM_NEST_H

#include "unstable.h"
#include "base/rng.h"

enum random_main { ANY_MAIN, ONLY_CONTRACTIONS };

struct lx_loops random_nest(struct rng *r, enum random_main which);

/* What a user may fix before the passes: one loop of each matrix type, and loops to share. True: some may be
 * fixed, so that the nest need not be in a valid order yet. */
bool choose_some(struct rng *r, struct lx_loops *l);

#endif
