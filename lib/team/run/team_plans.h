/* A team's plan with the plan of each device. */
#ifndef LX_TEAM_RUN_TEAM_PLANS_H
#define LX_TEAM_RUN_TEAM_PLANS_H

#include "plan/plan.h"
#include "team/team.h"

struct lx_team_plans {
    struct lx_team_plan *team;       /* its own */
    struct lx_team_device **devices; /* the graph of each */
    const struct lx_plan *
        *plans; /* NULL: nothing to do; one plan for all that it fits, see lx_team_plan_of */
    bool alike; /* everything is replicated: all share the first device's */
    bool hasty; /* while they are made: there is time for no more than some plan of each */
};

/* The plans of a team as `how` asks. For least time several teams are planned as long as there is time, and
 * the devices' plans decide: the result of the search, by prices with and without nests, the shards that
 * exchange the fewest bytes, and none. With too little time nothing is sharded. NULL: `st` is set. */
struct lx_team_plans *lx_team_plans_choose(const struct lx_graph *g, const struct lx_team_options *how,
                                           const struct lx_plan_options *plan, lx_status *st);
/* A sentence for a team that is `unsharded`. */
const char *lx_team_unsharded_words(void);

/* Plans every device's graph, unless a plan of another one fits. `team` is taken over, also where this
 * fails (NULL: `st` is set). */
struct lx_team_plans *lx_team_plans_make(struct lx_team_plan *team, const struct lx_plan_options *how,
                                         lx_status *st);
void lx_team_plans_free(struct lx_team_plans *p);
/* The device's plan with its own offsets of slices, which a shared plan may have otherwise: to be freed. */
const struct lx_plan *lx_team_plan_of(const struct lx_team_plans *p, int device, lx_status *st);
/* Is the team's plan right, and each device's, and do the messages fit each other? False: `st` says why not
 * (LX_E_NO). */
bool lx_team_plans_check(const struct lx_team_plans *p, lx_status *st);

/* The file of a team's plan: malloc'ed text; and back. A file whose team's plan is not right is refused
 * with LX_E_NO. */
char *lx_team_plans_to_json(const struct lx_team_plans *p, size_t *length);
struct lx_team_plans *lx_team_plans_parse(const char *file, const char *text, size_t length, lx_status *st);
bool lx_is_team_plan(const char *text, size_t length);

/* Microseconds that no plan of the team's graph on its grid goes below. `bound_bytes` is known by now, or
 * nothing must be exchanged. */
double lx_team_bound_us(const struct lx_team_plan *p);
/* The same with its shards: the multiply-adds of the device that has most of them. */
double lx_team_shards_bound_us(const struct lx_team_plan *p);
/* The same where every device does everything. */
double lx_team_replicated_bound_us(const struct lx_graph *g);

/* A prediction for a team of some size, from plans alone; nothing is executed. */
struct lx_team_point {
    struct lx_team_grid grid;
    int devices, shapes; /* shapes: plans that differ between devices */
    double us, bound_us; /* until the last device is done; no plan with such inputs goes below the bound */
    double waited_us;    /* of the device that waits most */
    int64_t bytes;       /* received in all exchanges, and to combine */
    int64_t bound_bytes; /* no plan on this grid with such inputs takes less */
    int64_t hbm_bytes;   /* of the device with most */
    bool unsharded;      /* for want of time: see lx_team_unsharded_words */
};

/* `how` as for lx_team_make. Where it has no grid, the best of a row and of all grids of two axes with as
 * many devices: the search ranks them, and of the best two the plans of the devices decide. */
bool lx_team_predict(const struct lx_graph *g, const struct lx_team_options *how,
                     const struct lx_plan_options *plan, struct lx_team_point *out, lx_status *st);

/* Private to the stage. A plan of a device's graph, op by op as the team's plan has it. */
struct lx_plan *plan_of_device(const struct lx_graph *does, const struct lx_plan_options *how, lx_status *st);
/* The two parts of lx_team_plans_make: the graphs, and their plans. *late (may be NULL): both would take
 * longer than `how` has time, and the first part may have ended early; the second one goes on with it. */
struct lx_team_plans *team_plans_begin(struct lx_team_plan *team, const struct lx_plan_options *how,
                                       bool *late, lx_status *st);
struct lx_team_plans *team_plans_finish(struct lx_team_plans *begun, const struct lx_plan_options *how,
                                        lx_status *st);
/* With room for the devices; takes the team over. */
struct lx_team_plans *team_plans_new(struct lx_team_plan *team);
/* Makes the graph of a device. */
bool team_plans_add_device(struct lx_team_plans *p, int device, lx_status *st);
/* Does a plan fit a graph of the same shape: are its slices at the same places of sticks? */
bool team_fits_twin(const struct lx_plan *plan, const struct lx_graph *does);
/* Does the plan of device `of` fit the device? */
bool team_plans_fits(const struct lx_team_plans *p, int device, int of);
/* The first device whose plan fits the device; itself: none before. */
int team_plans_twin(const struct lx_team_plans *p, int device);
double team_plans_us(const struct lx_team_plans *p);

/* Bytes that are received in all exchanges, and to combine. */
int64_t team_moved(const struct lx_team_plan *p);
/* Was everything replicated for want of time? It moves nothing then, which says nothing. */
bool team_was_left(const struct lx_team_plans *p);

#endif
