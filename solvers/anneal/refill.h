/* The third neighbourhood: a piece of the placement is cleared and filled again. An item that is off chip
 * asks for a band of addresses during its life. What stands there leaves, and all of them, with a few
 * others that are off chip, go back one after the other in an order drawn from a few kinds (by size, by
 * worth, by cost, by area, each with some noise), into the first, the last or the tightest gap. It costs
 * a few passes over the conflicts of a dozen items, and unlike an ejection it finds room by moving
 * several items at once. Only items of a window [from, to) of the order of starts are drawn, so that a
 * long list is worked on piece by piece, in the cache, with as much effort per item as a short one. What
 * reaches into the window may move as well. Invariants: `spot` is a legal placement after every step;
 * `energy`, `spilled` and the links are the sums that follow from it; `off` is the set of items of the
 * window that are off chip. */
#ifndef LX_SOLVERS_ANNEAL_REFILL_H
#define LX_SOLVERS_ANNEAL_REFILL_H

#include "anneal/decode.h"

enum { REFILL_MOST = 48 };

struct spot {
    int64_t base, top; /* off chip: NOT_PLACED twice, which is in nobody's way */
};

/* One that conflicts, and where it is. */
struct neighbour {
    struct spot spot;
    int32_t item;
};

struct refiller {
    const struct items *it;
    const int64_t *fee;   /* energy of an item off chip */
    const int64_t *worth; /* cost for the price of its bytes and ticks */
    struct links *links;  /* NULL: none; otherwise its own, which it keeps up to date */
    struct spot *spot;
    int32_t from, to;
    struct item_set off;       /* of the window */
    struct neighbour *scratch; /* twice as many as there are items */
    int32_t *near;             /* the conflicts of the items, each list in an order of its own */
    int64_t room;              /* units of the scratchpad */
    int64_t energy, spilled;
    int32_t off_all;           /* items off chip, of all windows */
    struct item_set stale;     /* changed since the last save */
    int64_t looks;             /* neighbours looked at, ever */
    int32_t list[REFILL_MOST]; /* of the step: what leaves and comes */
    struct spot was[REFILL_MOST];
    int32_t count;
    struct arena memory;
};

/* The caller frees `memory`. */
void refiller_make(struct refiller *f, const struct items *it, struct links *links, const int64_t *worth);
void refiller_load(struct refiller *f, const int64_t *base);
void refiller_window(struct refiller *f, int32_t from, int32_t to);
/* Brings the array that was loaded up to date; nobody else may have written to it. */
void refiller_save(struct refiller *f, int64_t *base);

/* Takes back what changed since the last save to that array. */
void refiller_restore(struct refiller *f, const int64_t *base);

/* One step, taken back if the energy rises by more than allowed. False when nothing of the window is off
 * chip. */
bool refiller_step(struct refiller *f, struct rng *rng, int64_t allowance);

#endif
