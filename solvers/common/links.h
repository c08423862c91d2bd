/* Links between items where cost is asked for: linked costs, atomic groups, must-place.
 *
 * A link counts the members that keep it from being paid (`unmet`) and the met members of its "any" lists
 * (`hits`), so changing an item takes one step per role. Energies are costs scaled to add up to about 2^50. A
 * forbidden link has an energy above all that its members could save, so that a search may pass through
 * illegal states: `broken` counts them, and an answer is legal only without any. Invariant: `on` is the set
 * of placed items; `value`, `energy` and `broken` are the sums that follow from it. Buffers that are no items
 * are always off. */
#pragma once

#include "common/items.h"

struct link {
    int64_t cost;    /* paid when triggered; 0 for a forbidden link */
    int64_t weight;  /* the cost as energy */
    int32_t unmet;   /* all_on members that are off and all_off members that are on; group: members on */
    int32_t hits;    /* any_on members that are on and any_off members that are off */
    int32_t members; /* of a group; 0 for a linked cost */
    bool has_any, forbidden;
};

/* What an item changes in a link when it is placed; the reverse when it leaves. */
struct role {
    int32_t link;
    int8_t unmet, hits;
};

struct links {
    const struct items *it;
    struct link *link;
    int32_t count;
    struct role *role;
    int32_t *first;  /* count of items + 1 offsets into `role` */
    int32_t *member; /* items by link */
    int32_t *member_first;
    int64_t *fee; /* per item: energy off chip less energy on chip; at least 1 if nothing is linked */
    bool *on;
    int64_t value, energy;
    int32_t broken;
    bool any; /* there are links, or items that cost more on chip than off */
    struct arena memory;
};

/* Makes links for objective spill; otherwise only fees, which are areas. The caller frees `memory`. */
void links_make(struct links *l, const struct items *it);
/* Sets `on` to the placed items of `base`. */
void links_load(struct links *l, const int64_t *base);
/* Places or removes the item; returns the rise in the links' energy. */
int64_t links_flip(struct links *l, int32_t item);
/* The rise in energy if the item came or went, including its fee. */
int64_t links_rise(struct links *l, int32_t item);

/* May the item be better off chip though there is room? */
static inline bool links_may_shun(const struct links *l, int32_t item)
{
    return l->any && (l->first[item] < l->first[item + 1] || l->fee[item] <= 0);
}

/* Takes off chip items that break a rule or do not pay. Loads `base`. */
void links_trim(struct links *l, int64_t *base);
/* The cost of a placement's items and links; `*broken` counts broken rules. Loads `base`. */
int64_t links_cost(struct links *l, const int64_t *base, int32_t *broken);
