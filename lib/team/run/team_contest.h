/* What decides between teams, and the time that they are planned in. Private to the stage. */
#ifndef LX_TEAM_RUN_TEAM_CONTEST_H
#define LX_TEAM_RUN_TEAM_CONTEST_H

#include "team/run/device_plans.h"

/* Bytes that are received in all exchanges, and to combine. */
int64_t team_moved(const struct lx_team_plan *p);
/* By what is asked for first, of equals by the other; the earlier one of those that are equal in both. */
bool team_better(bool by_time, double us, int64_t bytes, double than_us, int64_t than_bytes);
/* Was everything left whole for want of time? It moves nothing then, which says nothing. */
bool team_was_left(const struct lx_team_plans *p);
/* Of two plans the better one; the other is freed. By bytes any is better than one that was left. */
struct lx_team_plans *team_best_of(struct lx_team_plans *a, struct lx_team_plans *b, bool by_time);

/* Seconds for the search for cuts, of those that are left; 0: there is no deadline. Every device is planned
 * after it, and by bytes, where what arrives is cut, all may have a plan of their own. */
double team_search_seconds(const struct lx_team_options *how);

#endif
