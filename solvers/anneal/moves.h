/* The neighbourhood of the annealing: which change is tried next. */
#ifndef LX_SOLVERS_ANNEAL_MOVES_H
#define LX_SOLVERS_ANNEAL_MOVES_H

#include "anneal/decode.h"
#include "base/rng.h"

/* Shares of the kinds of moves, in 1024ths, from the option table. */
struct move_mix {
    uint32_t off;      /* start from an item that does not fit, rather than from any */
    uint32_t critical; /* walk down what such an item rests on, and turn two of those round */
    uint32_t merge;    /* take over or give up a parent's slot, where there are edges */
    uint32_t far;      /* put the item anywhere in the order (otherwise: beside a conflicting one) */
    uint32_t swap;     /* exchange two conflicting items (otherwise: move one of them) */
    uint32_t turn;     /* shut or open items that are linked, where there are such */
};

/* Tries one change: decodes it into `d`, leaving the trail for an undo. */
void try_move(struct decoder *d, const struct move_mix *mix, struct rng *rng);

#endif
