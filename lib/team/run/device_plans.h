/* A team's plan with the plan of each device. */
#ifndef LX_TEAM_RUN_DEVICE_PLANS_H
#define LX_TEAM_RUN_DEVICE_PLANS_H

#include "plan/plan.h"
#include "team/team.h"

struct lx_team_plans {
    struct lx_team_plan *team;       /* its own */
    struct lx_team_device **devices; /* what each does */
    const struct lx_plan **plans;    /* NULL where that is nothing; one plan for all whom it fits, see
                                      * lx_team_plan_of */
    bool alike;                      /* everything is whole: all have the first one's */
    bool hasty; /* while they are made: there is time for no more than some plan of each device */
};

/* Plans every device's graph, but for those that a plan of another one fits. `team` is taken over, also where this fails
 * (NULL: `st` is set). */
struct lx_team_plans *lx_team_plans_make(struct lx_team_plan *team, const struct lx_plan_options *how,
                                         lx_status *st);
/* The two parts of it: what each device does, and the plans of that. *late (may be NULL): it would take longer than `how`
 * has time, and the first part may have ended early; the second one goes on with it, if it is asked to. */
struct lx_team_plans *team_plans_begin(struct lx_team_plan *team, const struct lx_plan_options *how,
                                       bool *late, lx_status *st);
struct lx_team_plans *team_plans_finish(struct lx_team_plans *begun, const struct lx_plan_options *how,
                                        lx_status *st);
/* The device's plan with its own offsets of slices, which the one that it shares may have otherwise: to be freed. */
const struct lx_plan *lx_team_plan_of(const struct lx_team_plans *p, int device, lx_status *st);
/* A plan of what a device does, op by op as the team's plan has it. */
struct lx_plan *plan_of_device(const struct lx_graph *does, const struct lx_plan_options *how, lx_status *st);
/* The file of a team's plan: malloc'ed text, or NULL when memory is out; and back. A file whose team's plan is not
 * right is refused with LX_E_NO. */
char *lx_team_plans_to_json(const struct lx_team_plans *p, size_t *length);
struct lx_team_plans *lx_team_plans_parse(const char *file, const char *text, size_t length, lx_status *st);
bool lx_is_team_plan(const char *text, size_t length);
/* Is the team's plan right, and each device's, and do the messages of one device fit those of the others? False: `st`
 * says why not (LX_E_NO). */
bool lx_team_plans_check(const struct lx_team_plans *p, lx_status *st);
void lx_team_plans_free(struct lx_team_plans *p);

#endif
