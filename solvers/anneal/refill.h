/* The third neighbourhood: a piece of the placement is cleared and filled again. An item that is off chip
 * asks for a band of addresses during its life. The items there leave; they and a few others that are off
 * chip go back one by one in an order drawn from a few kinds (by size, by worth, by cost, by area, each with
 * some noise), into the first, the last or the tightest gap. It costs a few passes over the conflicts of a
 * dozen items, and unlike an ejection it finds room by moving several items at once. Only items of a window
 * [from, to) of the order of starts are drawn, so that a long list is refilled piece by piece, in the cache,
 * with as much effort per item as a short one. Items that reach into the window may move too. Invariants:
 * `spot` is a legal placement after every step; `energy`, `spilled` and the links are the sums that follow
 * from it; `off` is the set of items of the window that are off chip. */
#pragma once

#include "anneal/decode.h"

enum { REFILL_MOST = 48 };

struct spot {
    int64_t base, top; /* off chip: NOT_PLACED twice, which conflicts with nothing */
};

/* A conflicting item and its place. */
struct neighbour {
    struct spot spot;
    int32_t item;
};

struct refiller {
    const struct items *it;
    const int64_t *fee;   /* energy of an item off chip */
    const int64_t *worth; /* cost per price of its bytes and ticks */
    struct links *links;  /* NULL: none; otherwise the refiller's own, which it updates */
    struct spot *spot;
    int32_t from, to;
    struct item_set off;       /* of the window */
    struct neighbour *scratch; /* room for twice the items */
    int32_t *near;             /* the conflicts of the items, each list in its own order */
    int64_t room;              /* units of the scratchpad */
    int64_t energy, spilled;
    int32_t off_all;           /* items off chip in all windows */
    struct item_set stale;     /* changed since the last save */
    int64_t looks;             /* neighbours visited in all */
    int32_t list[REFILL_MOST]; /* items that leave and return in this step */
    struct spot was[REFILL_MOST];
    int32_t count;
    struct arena memory;
};

/* The caller frees `memory`. */
void refiller_make(struct refiller *f, const struct items *it, struct links *links, const int64_t *worth);
void refiller_load(struct refiller *f, const int64_t *base);
void refiller_window(struct refiller *f, int32_t from, int32_t to);
/* Updates the array that was loaded; no other code may have written to it. */
void refiller_save(struct refiller *f, int64_t *base);

/* Returns to the placement of that array, undoing all changes since the last save. */
void refiller_restore(struct refiller *f, const int64_t *base);

/* One step, undone if the energy rises by more than `allowance`. False: no item of the window is off chip. */
bool refiller_step(struct refiller *f, struct rng *rng, int64_t allowance);
