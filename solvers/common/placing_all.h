/* The questions Fit and Height place all that may be placed: whether that breaks a bond is known
 * beforehand. */
#ifndef LX_SOLVERS_COMMON_PLACING_ALL_H
#define LX_SOLVERS_COMMON_PLACING_ALL_H

#include "placement/problem.h"

/* Are all of the group placed, or all off? */
static inline bool placing_all_agrees(const struct lx_problem *p, const struct lx_group *g, bool placed)
{
    for (int32_t k = 0; k < g->count; k++)
        if (!p->buffers[g->at[k]].reason != placed) return false;
    return true;
}

/* Where all are to be placed that may be, who is placed is known: is a clause or a group broken then? */
static inline bool placing_all_is_wrong(const struct lx_problem *p)
{
    const struct lx_bonds *b = &p->bonds;
    for (int32_t g = 0; g < b->together_count; g++)
        if (!placing_all_agrees(p, &b->together[g], true) && !placing_all_agrees(p, &b->together[g], false))
            return true;
    for (int32_t c = 0; c < b->charge_count; c++) {
        const struct lx_charge *charge = &b->charges[c];
        bool some = charge->any_on.count + charge->any_off.count == 0 ||
                    !placing_all_agrees(p, &charge->any_on, false) ||
                    !placing_all_agrees(p, &charge->any_off, true);
        if (charge->cost == LX_FORBIDDEN && some && placing_all_agrees(p, &charge->all_on, true) &&
            placing_all_agrees(p, &charge->all_off, false))
            return true;
    }
    return false;
}

/* How large the parts are that a placement problem falls into. */

/* The most buffers that are joined by lives in a common pool or by bonds: what a search has to look at
 * together. O(pools * n + n log n) and the length of the bonds. */
int32_t largest_part(const struct lx_problem *p);

#endif
