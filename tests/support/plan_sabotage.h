/* Further ways to damage a plan file: HBM, launches, bundles, figures and claims; and the table of all. Some changes do no
 * harm (a buffer moved to free bytes is as good as before): check and run find out. */
#ifndef LX_TESTS_SUPPORT_PLAN_SABOTAGE_H
#define LX_TESTS_SUPPORT_PLAN_SABOTAGE_H

#include "support/plan_damage.h"

enum { SUMS_OTHERWISE = 2 };

struct sabotage {
    const char *name;
    damage_act *act;
    /* 1: if it is refused, the device must say so too: what is executed breaks a rule. SUMS_OTHERWISE: what is summed in another
     * order is right as well, and rounded to something else. */
    int runs_wrong;
};

enum { SABOTAGES = 85 };
extern const struct sabotage sabotages[SABOTAGES];

struct damage damage_of(cJSON *plan, struct rng *r);

#endif
