/* A time that no plan of the team's graph on its grid goes below. */
#ifndef LX_TEAM_RUN_TEAM_BOUND_H
#define LX_TEAM_RUN_TEAM_BOUND_H

#include "team/team.h"

double lx_team_bound_us(const struct lx_team_plan *p);

#endif
