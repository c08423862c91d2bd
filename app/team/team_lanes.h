/* The time line of a member in cells: how much of each it computes, waits, and receives over links. */
#ifndef LX_APP_TEAM_TEAM_LANES_H
#define LX_APP_TEAM_TEAM_LANES_H

#include "command.h"

/* Shares of a cell's time, up to 1; what comes over two axes at once counts once per axis and may be more. */
struct team_span {
    double works, waits, travels;
};

/* What a cell shows: most of what is in it; in doubt what is rarer, so that nothing vanishes. */
enum team_lane_mark { LANE_NOTHING, LANE_WORKS, LANE_WAITS, LANE_MARKS };

/* `cells` of [from, to) in us; zeroes them first. */
void team_lane_fill(const struct lx_team_times *t, double from, double to, int cells, struct team_span *out);
enum team_lane_mark team_lane_mark_of(const struct team_span *s);
/* 0: nothing comes over links; 1: during less than half of the cell; 2: during more. */
int team_lane_travels(const struct team_span *s);

#endif
