/* The plans of a team. */
#ifndef LX_TEAM_RUN_TEAM_CHOOSE_H
#define LX_TEAM_RUN_TEAM_CHOOSE_H

#include "team/run/device_plans.h"

/* The plans of a team as `how` asks. For least time several teams are planned as long as there is time, and the devices' plans
 * decide: what the search finds, by prices with and without nests, the cuts that exchange the fewest bytes, and none. With too
 * little time nothing is cut. NULL: `st` is set. */
struct lx_team_plans *lx_team_plans_choose(const struct lx_graph *g, const struct lx_team_options *how,
                                           const struct lx_plan_options *plan, lx_status *st);
/* A copy of struct lx_team_options with its choices and their names, in one block. */
void *team_options_copy(const void *options);
/* What is to be told of a team that is `uncut`. */
const char *lx_team_unsharded_words(void);

#endif
