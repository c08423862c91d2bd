/* Ways to damage the nests of a plan file: counts, variables, borders, levels, holds. Some do no harm. */
#ifndef LX_TESTS_SUPPORT_NEST_DAMAGE_H
#define LX_TESTS_SUPPORT_NEST_DAMAGE_H

#include "support/plan_sabotage.h"

enum { NEST_SABOTAGES = 25 };
extern const struct sabotage nest_sabotages[NEST_SABOTAGES];

#endif
