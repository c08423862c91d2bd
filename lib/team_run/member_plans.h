/* A team's plan with the plan of each member. */
#ifndef LX_TEAM_RUN_MEMBER_PLANS_H
#define LX_TEAM_RUN_MEMBER_PLANS_H

#include "plan/plan.h"
#include "team/team.h"

struct lx_team_plans {
    struct lx_team_plan *team;       /* its own */
    struct lx_team_member **members; /* what each does */
    struct lx_plan **plans;          /* NULL where that is nothing */
};

/* Plans every member's graph. `team` is taken over, also where this fails (NULL: `st` is set). */
struct lx_team_plans *lx_team_plans_make(struct lx_team_plan *team, const struct lx_plan_options *how,
                                         lx_status *st);
void lx_team_plans_free(struct lx_team_plans *p);

#endif
