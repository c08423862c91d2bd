/* The second neighbourhood: placements themselves, changed by ejection. Where stacks are high, a move in the
 * order shifts half of them. Here addresses stay: an item that is off chip is put somewhere, those in its way
 * are ejected, and they and a few others are put into the lowest gaps. A step costs a few passes over one
 * item's conflicts. It cannot close gaps, so the caller alternates it with stacking. Invariant: `base` with
 * `share` is a legal placement after every step; `off` is the set of items with base NOT_PLACED; `energy` is
 * the sum of their weights and of the links. A linked item is placed only if that pays, and may leave even if
 * nothing needs its room. */
#pragma once

#include "base/rng.h"
#include "common/first_answers.h"

struct ejector {
    const struct items *it;
    const int64_t *weight; /* per item off chip: the fee of the links */
    struct links *links;   /* NULL: none; otherwise the ejector's own, which it updates */
    int64_t *base;
    struct sharing *share;
    struct byte_range *scratch;
    struct item_set off, stale; /* stale: changed since the last save */
    int32_t *ejected;
    int64_t energy;
    int64_t spilled; /* the cost of the items off chip, without links */
    int64_t looks;   /* neighbours visited in all */
    struct arena memory;
};

/* The caller frees `memory`. */
void ejector_make(struct ejector *e, const struct items *it, struct links *links);
void ejector_load(struct ejector *e, const int64_t *base);
/* Updates the array that was loaded; no other code may have written to it. */
void ejector_save(struct ejector *e, int64_t *base);

/* A planned change of the placement: the address, and an upper bound on the rise in energy. */
struct ejection {
    int32_t item;
    int64_t at, rise; /* at: NOT_PLACED if the item leaves */
};

/* Plans a change; false: nothing to change. */
bool ejector_plan(struct ejector *e, struct rng *rng, struct ejection *plan);
void ejector_apply(struct ejector *e, struct rng *rng, const struct ejection *plan);
