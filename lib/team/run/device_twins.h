/* Devices that do the same, but for where in what they have whole their part begins. Private to the stage. */
#ifndef LX_TEAM_RUN_DEVICE_TWINS_H
#define LX_TEAM_RUN_DEVICE_TWINS_H

#include "plan/plan.h"

/* Does a plan of a graph of the same shape fit this one: are its slices where in their sticks those of that are? */
bool team_fits_twin(const struct lx_plan *plan, const struct lx_graph *does);
/* Are there slices of what is on chip at other offsets in it? Then where cores have what they read is another question. */
bool team_moves_on_chip(const struct lx_plan *plan, const struct lx_graph *does);
/* A plan that fits as one of `does`; NULL: `st` is set. */
struct lx_plan *team_plan_of_twin(const struct lx_plan *plan, const struct lx_graph *does, lx_status *st);

#endif
