/* What binds items to one another while cost is asked for: charges, atomic groups, must-place, as a sum
 * that follows each item that comes or goes. A link counts the items that keep it from being paid
 * (`unmet`) and those of its "any" lists that are met (`hits`), so that a change of one item costs as
 * many steps as it has roles. Energies are costs scaled so that all of them add up to about 2^50; what
 * must not happen has an energy too, larger than anything that its members could save, so that a search
 * may pass through such states: `broken` counts them, and an answer is legal only without any. Invariant:
 * `on` is the set of items that are placed; `value`, `energy` and `broken` are the sums that follow from
 * it. Buffers that are no items are off for good. */
#ifndef LX_SOLVERS_COMMON_LINKS_H
#define LX_SOLVERS_COMMON_LINKS_H

#include "common/items.h"

struct link {
    int64_t cost;   /* paid when it is triggered; 0 for what must not happen */
    int64_t weight; /* the same as energy */
    int32_t
        unmet; /* members of all_on that are off and of all_off that are on; of a group: members that are on */
    int32_t hits;    /* members of any_on that are on and of any_off that are off */
    int32_t members; /* of a group; 0: a charge */
    bool has_any, forbidden;
};

/* What the item does to a link when it is placed; the reverse when it leaves. */
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
    int32_t *member; /* items by link, for those who want all of one */
    int32_t *member_first;
    int64_t
        *fee; /* per item: energy of being off less that of being on; where nothing is linked at least 1 */
    bool *on;
    int64_t value, energy;
    int32_t broken;
    bool any; /* there are links, or items that cost more on chip than off */
};

/* Links matter where cost is asked for; fees are areas otherwise. */
void links_make(struct links *l, const struct items *it);
void links_free(struct links *l);
/* Takes the placed items of `base` as those that are on. */
void links_load(struct links *l, const int64_t *base);
void links_flip(struct links *l, int32_t item);
/* By how much the energy rises when the item comes or goes, its own fee included. */
int64_t links_rise(struct links *l, int32_t item);

/* Whether it may be better off chip though there is room. */
static inline bool links_may_shun(const struct links *l, int32_t item)
{
    return l->any && (l->first[item] < l->first[item + 1] || l->fee[item] <= 0);
}

/* Takes off chip what must not be there and what does not pay. Loads `base`. */
void links_trim(struct links *l, int64_t *base);
/* The cost of a placement's items and links; `*broken`: what must not happen in it. Loads `base`. */
int64_t links_cost(struct links *l, const int64_t *base, int32_t *broken);

#endif
