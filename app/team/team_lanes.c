/* Intervals of the clock spread over cells. O(ops + cells) per member. */
#include "team/team_lanes.h"

#include <math.h>

struct lane_scale {
    double from, cell; /* us */
    int cells;
};

static int cell_at(const struct lane_scale *s, double us)
{
    double at = floor((us - s->from) / s->cell);
    return at < 0 ? 0 : at >= s->cells ? s->cells - 1 : (int)at;
}

static void team_lanes_spread(const struct lane_scale *s, double from, double to, enum team_lane_mark mark,
                              struct team_span *out)
{
    double end = s->from + s->cell * s->cells;
    if (!(to > from) || to <= s->from || from >= end) return;
    for (int c = cell_at(s, from); c <= cell_at(s, to); c++) {
        double begin = s->from + s->cell * c;
        double us = fmin(to, begin + s->cell) - fmax(from, begin);
        if (us > 0)
            *(mark == LANE_WORKS   ? &out[c].works
              : mark == LANE_WAITS ? &out[c].waits
                                   : &out[c].travels) += us / s->cell;
    }
}

void team_lane_fill(const struct lx_team_times *t, double from, double to, int cells, struct team_span *out)
{
    struct lane_scale s = {from, (to - from) / cells, cells};
    for (int c = 0; c < cells; c++) out[c] = (struct team_span){0};
    if (!(s.cell > 0)) return;
    for (int o = 0; o < t->ops; o++) {
        team_lanes_spread(&s, t->begin[o], t->works[o], LANE_WAITS, out);
        team_lanes_spread(&s, t->works[o], t->end[o], LANE_WORKS, out);
    }
    for (int i = 0; i < t->trip_count; i++)
        if (t->trips[i].axes) team_lanes_spread(&s, t->trips[i].begin, t->trips[i].end, LANE_MARKS, out);
}

enum team_lane_mark team_lane_mark_of(const struct team_span *s)
{
    if (s->waits > 0 && s->waits >= 0.2 * s->works) return LANE_WAITS;
    return s->works > 0 ? LANE_WORKS : LANE_NOTHING;
}

int team_lane_travels(const struct team_span *s)
{
    return s->travels <= 0 ? 0 : s->travels < 0.5 ? 1 : 2;
}
