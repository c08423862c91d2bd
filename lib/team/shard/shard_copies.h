/* Cuts that are stated of what an op cannot make so. Private to the stage. */
#ifndef LX_TEAM_SHARD_SHARD_COPIES_H
#define LX_TEAM_SHARD_SHARD_COPIES_H

#include "team/team.h"

/* The graph, where such an op makes another tensor and a copy of it is cut as is stated; itself, where there
 * is none. NULL: memory is out (`st`). */
const struct lx_graph *team_with_copies(const struct lx_graph *g, const struct lx_team_grid *grid,
                                        lx_status *st);

#endif
