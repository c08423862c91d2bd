/* The second neighbourhood: placements themselves, changed by ejection. Where stacks are high, a move in
 * the order shifts half of them. Here addresses stay: an item that is off chip is put somewhere, those in
 * its way are ejected, and they and a few others are put into the lowest gaps. A step costs a few passes
 * over one item's conflicts. What it cannot do is to close gaps: the caller alternates it with stacking.
 * Invariant: `base` with `share` is a legal placement after every step; `off` is the set of items with
 * base NOT_PLACED; `energy` is the sum of their weights and of the links. What is linked comes only where
 * that pays, and may leave for nobody's sake. */
#ifndef LX_SOLVERS_ANNEAL_EJECT_H
#define LX_SOLVERS_ANNEAL_EJECT_H

#include "base/rng.h"
#include "common/first_answers.h"
#include "common/links.h"

struct ejector {
    const struct items *it;
    const int64_t *weight; /* of an item off chip: the fee of the links */
    struct links *links;   /* NULL: none; otherwise its own, which it keeps up to date */
    int64_t *base;
    struct sharing *share;
    struct byte_range *scratch;
    struct item_set off, stale; /* stale: changed since the last save */
    int32_t *ejected;
    int64_t energy;
    int64_t spilled; /* the cost of the items off chip, without links */
    int64_t looks;   /* neighbours looked at, ever */
    struct arena memory;
};

/* The caller frees `memory`. */
void ejector_make(struct ejector *e, const struct items *it, struct links *links);
void ejector_load(struct ejector *e, const int64_t *base);
/* Brings the array that was loaded up to date; nobody else may have written to it. */
void ejector_save(struct ejector *e, int64_t *base);

/* One change of the placement, planned but not made: where, and by how much the energy rises at most. */
struct ejection {
    int32_t item;
    int64_t at, rise; /* at: NOT_PLACED for one that leaves */
};

/* False when there is nothing to change. */
bool ejector_plan(struct ejector *e, struct rng *rng, struct ejection *plan);
void ejector_apply(struct ejector *e, struct rng *rng, const struct ejection *plan);

#endif
