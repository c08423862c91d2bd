/* Times and messages of a team's plan: step by step, per device, and per axis of the grid, from the devices'
 * plans and the team's clock (team/run/team_clock.h). Sizes: steps, devices, and up to 7 sets of axes. */
#pragma once

#include "command.h"

/* A step of the team's plan, over all devices. */
struct team_step_figures {
    const struct lx_team_plan *plan;
    int32_t step;
    int64_t messages, bytes; /* between devices: of a start bytes sent, of a combine bytes received */
    unsigned axes;           /* bits of the axes they go over */
    double from, to; /* when the first device begins it, and when the last ends it; below 0: no device does */
    double waited;   /* of the device that waits longest in it */
    int waiter;      /* that device; -1: none waits */
};

/* Messages that go over the same axes. */
struct team_link_figures {
    unsigned axes;
    int64_t messages, bytes;
    double us;   /* us of trips over these axes on the device that has most */
    int busiest; /* that one */
};

struct team_device_figures {
    const struct lx_team_plans *plans;
    int device;
    int64_t ops, hbm_bytes, sent_bytes; /* planned; sent: to others, in exchanges and combines */
    double busy, waited, links, beside; /* us; `beside`: of what its links take, while it computes */
    double us;                          /* when it is through */
    int32_t longest_step;               /* in which it waits longest; -1: it never waits */
    int late;                           /* the device that it then waits for; -1: none */
};

enum { TEAM_LINK_SETS = 1 << LX_TEAM_AXES };

struct team_figures {
    const struct lx_team_plans *plans;
    struct lx_team_clock *clock;
    struct team_step_figures *steps;
    int32_t step_count;
    struct team_device_figures *devices;
    struct team_link_figures links[TEAM_LINK_SETS];
    int link_count;
    int last, waiter; /* the last device to finish, and the one that waits longest; -1: none waits */
};

/* The plans must outlive the figures. */
void team_figures_make(const struct lx_team_plans *p, struct team_figures *out);
void team_figures_free(struct team_figures *f);

/* The op of the team's graph that op `op` of a device's plan belongs to; -1: it sends, receives or joins. */
int32_t team_op_at(const struct lx_team_plans *p, int device, int op);
/* The subject of a step: a tensor that travels, or an op. */
const char *team_step_name(const struct lx_team_plan *p, int32_t step);
/* "0", "0 and 1" */
void add_axes(unsigned axes, struct text *out);
/* "4 devices, 2 x 2" */
void add_grid(const struct lx_team_plan *p, struct text *out);
/* "1, 0": where a device stands. */
void add_coordinates(const struct lx_team_grid *grid, int device, struct text *out);

/* Shares of a cell's time, up to 1; what comes over two axes at once counts once per axis and may be more. */
struct team_span {
    double works, waits, travels;
};

/* The mark of a cell: its largest share; in doubt the rarer one, so that nothing vanishes. */
enum team_lane_mark { LANE_NOTHING, LANE_WORKS, LANE_WAITS, LANE_MARKS };

/* `cells` of [from, to) in us; zeroes them first. */
void team_lane_fill(const struct lx_team_times *t, double from, double to, int cells, struct team_span *out);
enum team_lane_mark team_lane_mark_of(const struct team_span *s);
/* 0: nothing comes over links; 1: during less than half of the cell; 2: during more. */
int team_lane_travels(const struct team_span *s);

/* A tensor of a team's plan. */
struct team_tensor_row {
    const struct lx_team_plan *plan;
    int32_t tensor;
};

/* "sharded along 1 by axis 0 and along 0 by axis 1", "replicated"; in a row without the axis. */
void add_state(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], struct text *out);
/* Bytes of the tensor that devices receive: in exchanges, and to combine it. */
int64_t team_tensor_bytes(const struct lx_team_plan *p, int32_t tensor);
