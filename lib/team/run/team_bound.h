/* A time that no plan of the team's graph on its grid goes below. */
#ifndef LX_TEAM_RUN_TEAM_BOUND_H
#define LX_TEAM_RUN_TEAM_BOUND_H

#include "team/team.h"

/* `bound_bytes` is known by now, or nothing must be exchanged. */
double lx_team_bound_us(const struct lx_team_plan *p);
/* One that no plans of devices go below with the cuts that it has: the multiply-adds of the device that has most of them. */
double lx_team_shards_bound_us(const struct lx_team_plan *p);
/* One that none goes below in which every device does everything. */
double lx_team_replicated_bound_us(const struct lx_graph *g);

#endif
