/* A team's plan with the plan of each device. */
#pragma once

#include "base/arena.h"
#include "plan/plan.h"
#include "team/team.h"

struct lx_team_plans {
    struct lx_team_plan *team;       /* owned */
    struct lx_team_device **devices; /* the graph of each device */
    const struct lx_plan **plans;    /* NULL: no work; devices may share a plan, see lx_team_plan_of */
    bool alike;                      /* everything is replicated: all share the first device's graph */
    bool quick;                      /* while planning: time for only a quick plan of each device */
    const void *ready;               /* by make_ready of the team's options, in `memory`; NULL: not made */
    struct arena memory;
};

/* The plans of a team for `how`. To minimize time, several teams are planned while there is time, and the
 * devices' plans decide: the search with prices with and without nests, the shards with the fewest bytes,
 * and none. With too little time the graph is replicated. NULL: see `st`. */
struct lx_team_plans *lx_team_plans_choose(const struct lx_graph *g, const struct lx_team_options *how,
                                           const struct lx_plan_options *plan, lx_status *st);
/* A sentence about a team that is `unsharded`. */
const char *lx_team_unsharded_words(void);

/* Plans every device's graph, unless another device's plan fits. Takes `team` over, even on failure (NULL:
 * see `st`). */
struct lx_team_plans *lx_team_plans_make(struct lx_team_plan *team, const struct lx_plan_options *how,
                                         lx_status *st);
void lx_team_plans_free(struct lx_team_plans *p);
FREED_AT(team_plans_free_at, struct lx_team_plans *, lx_team_plans_free)
/* The device's plan with its own slice offsets, which a shared plan may lack. The caller frees it. */
const struct lx_plan *lx_team_plan_of(const struct lx_team_plans *p, int device, lx_status *st);
/* Checks the team's plan, each device's plan, and that sends and receives match. False: `st` gives the
 * reason (LX_E_NO). */
bool lx_team_plans_check(const struct lx_team_plans *p, lx_status *st);

/* Writes a team's plan as text from malloc; and reads it. A file with an incorrect team plan is rejected
 * with LX_E_NO. */
char *lx_team_plans_to_json(const struct lx_team_plans *p, size_t *length);
struct lx_team_plans *lx_team_plans_parse(const char *file, const char *text, size_t length, lx_status *st);
bool lx_is_team_plan(const char *text, size_t length);

/* A lower bound on time in microseconds for the team's graph and grid. `bound_bytes` must be known, or
 * nothing must be exchanged. */
double lx_team_bound_us(const struct lx_team_plan *p);
/* The bound for the team's shards: multiply-adds of the busiest device. */
double lx_team_shards_bound_us(const struct lx_team_plan *p);
/* The bound if every device does everything. */
double lx_team_replicated_bound_us(const struct lx_graph *g);

/* A prediction for a team, from plans alone. */
struct lx_team_point {
    struct lx_team_grid grid;
    int devices, shapes; /* shapes: distinct device plans */
    double us, bound_us; /* time until the last device ends; lower bound for these inputs */
    double waited_us;    /* of the device that waits longest */
    int64_t bytes;       /* received in all exchanges and combines */
    int64_t bound_bytes; /* lower bound for this grid and these inputs */
    int64_t hbm_bytes;   /* largest of all devices */
    bool unsharded;      /* out of time: see lx_team_unsharded_words */
};

/* `how` as for lx_team_make. Without a grid, the best of a row and all two-axis grids with as many devices
 * is chosen: the search ranks them, and device plans decide between the best two. */
bool lx_team_predict(const struct lx_graph *g, const struct lx_team_options *how,
                     const struct lx_plan_options *plan, struct lx_team_point *out, lx_status *st);

/* Private to the stage. Plans a device's graph in the op order of the team's plan. */
struct lx_plan *plan_of_device(const struct lx_graph *does, const struct lx_plan_options *how, lx_status *st);
/* The two parts of lx_team_plans_make: graphs, then plans. *late (may be NULL) is set if both would exceed
 * the time limit; then the first part may be incomplete, and the second completes it. */
struct lx_team_plans *team_plans_begin(struct lx_team_plan *team, const struct lx_plan_options *how,
                                       bool *late, lx_status *st);
struct lx_team_plans *team_plans_finish(struct lx_team_plans *begun, const struct lx_plan_options *how,
                                        lx_status *st);
/* Allocates the devices' lists; takes `team` over. */
struct lx_team_plans *team_plans_new(struct lx_team_plan *team);
/* Makes the graph of a device. */
bool team_plans_add_device(struct lx_team_plans *p, int device, lx_status *st);
/* Whether a plan fits a graph of the same shape: slices at the same positions in sticks. */
bool team_fits_twin(const struct lx_plan *plan, const struct lx_graph *does);
/* Whether the plan of device `of` fits the device. */
bool team_plans_fits(const struct lx_team_plans *p, int device, int of);
/* The first device whose plan fits; the device itself if there is none before. */
int team_plans_twin(const struct lx_team_plans *p, int device);
double team_plans_us(const struct lx_team_plans *p);

/* Bytes received in all exchanges and combines. */
int64_t team_moved(const struct lx_team_plan *p);
/* Whether everything was replicated for lack of time; its zero bytes are then no result of a search. */
bool team_was_left(const struct lx_team_plans *p);
