/* A time that no plan of the team's graph on its grid goes below. */
#ifndef LX_TEAM_RUN_TEAM_BOUND_H
#define LX_TEAM_RUN_TEAM_BOUND_H

#include "team/team.h"

/* `bound_bytes` is known by now, or nothing must be exchanged. */
double lx_team_bound_us(const struct lx_team_plan *p);
/* One that no plans of members go below with the cuts that it has: the multiply-adds of the member that has most of them. */
double lx_team_cuts_bound_us(const struct lx_team_plan *p);
/* One that none goes below in which every member does everything. */
double lx_team_whole_bound_us(const struct lx_graph *g);

#endif
