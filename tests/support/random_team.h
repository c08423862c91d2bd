/* Random graphs for teams: chains of slices, shifts, sums, products and insertions on odd shapes. */
#ifndef LX_TESTS_SUPPORT_RANDOM_TEAM_H
#define LX_TESTS_SUPPORT_RANDOM_TEAM_H

#include "base/rng.h"
#include "base/text.h"

/* What a pattern may add up: nothing, so that a team has one device's bits; products; means over rows as well, whose
 * sums a team may cut. */
enum random_sums { NO_SUMS, PRODUCTS, MEANS };

char *random_team_pattern(struct rng *r, enum random_sums sums, const char *dtype);

#endif
