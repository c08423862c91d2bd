/* The plans of a team: every member's graph goes down the road of any graph. */
#include "team_run/member_plans.h"
#include "base/fail.h"

#include <stdlib.h>

static bool plan_member(struct lx_team_plans *p, int m, const struct lx_plan_options *how, lx_status *st)
{
    p->members[m] = lx_team_member_make(p->team, m, st);
    if (!p->members[m]) return false;
    if (!p->members[m]->graph) return true;
    p->plans[m] = lx_plan_make(p->members[m]->graph, how, st);
    return p->plans[m] != NULL;
}

struct lx_team_plans *lx_team_plans_make(struct lx_team_plan *team, const struct lx_plan_options *how,
                                         lx_status *st)
{
    size_t n = (size_t)team->members;
    struct lx_team_plans *p = calloc(1, sizeof *p);
    if (!p) return lx_team_free(team), status_no_memory(st), NULL;
    p->team = team;
    p->members = calloc(n, sizeof *p->members);
    p->plans = calloc(n, sizeof *p->plans);
    bool ok = p->members && p->plans ? true : status_no_memory(st);
    for (int m = 0; ok && m < team->members; m++) ok = plan_member(p, m, how, st);
    if (ok) return p;
    lx_team_plans_free(p);
    return NULL;
}

void lx_team_plans_free(struct lx_team_plans *p)
{
    if (!p) return;
    for (int m = 0; m < p->team->members; m++) {
        if (p->plans) lx_plan_free(p->plans[m]);
        if (p->members) lx_team_member_free(p->members[m]);
    }
    free(p->plans);
    free(p->members);
    lx_team_free(p->team);
    free(p);
}
