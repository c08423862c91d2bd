/* What a team of a size would take, from plans alone: cuts, device plans, links; nothing is executed. */
#ifndef LX_TEAM_RUN_TEAM_SCALE_H
#define LX_TEAM_RUN_TEAM_SCALE_H

#include "team/run/device_plans.h"

struct lx_team_point {
    struct lx_team_grid grid;
    int devices, shapes; /* shapes: plans that differ between devices */
    double us, bound_us; /* until the last device is through; what no plan with such inputs goes below */
    double waited_us;    /* most that a device waits for others */
    int64_t bytes;       /* received in all exchanges, and to combine */
    int64_t bound_bytes; /* of which no plan on this grid takes less whose inputs lie so */
    int64_t hbm_bytes;   /* of the device with most */
    bool unsharded;      /* for want of time: see lx_team_unsharded_words */
};

/* `how` as for lx_team_make. Where it has no grid, the best of a row and of all grids of two axes with as many
 * devices: the search ranks them, and of the best two the plans of the devices decide. */
bool lx_team_predict(const struct lx_graph *g, const struct lx_team_options *how,
                     const struct lx_plan_options *plan, struct lx_team_point *out, lx_status *st);

#endif
