/* How tensors of a team are cut, in words: per axis of the grid, whole, cut along a dimension, or in parts of sums. */
#ifndef LX_APP_TEAM_TEAM_STATES_H
#define LX_APP_TEAM_TEAM_STATES_H

#include "command.h"

/* A tensor of a team's plan. */
struct team_tensor_row {
    const struct lx_team_plan *plan;
    int32_t tensor;
};

/* "cut along 0"; of an axis that the grid has not, nothing. */
const char *team_state_word(const struct lx_team_plan *p, int32_t tensor, int axis, struct text *room);
/* "cut along 1 by axis 0 and along 0 by axis 1", "whole"; in a row nobody needs the axis. */
void add_state(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], struct text *out);
/* Bytes that members receive of it: in exchanges, and to combine it. */
int64_t team_tensor_bytes(const struct lx_team_plan *p, int32_t tensor);
/* The largest part that a member has: "8 x 32" */
void add_largest_part(const struct lx_team_plan *p, int32_t tensor, struct text *out);

#endif
