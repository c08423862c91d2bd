/* What a device is to do, and what it did. */
#include "team/run/team_device.h"

#include <stdio.h>

struct lx_counters team_planned_counters(const struct lx_plan *plan)
{
    struct lx_counters c = {0};
    for (int32_t o = 0; plan && o < plan->layouts->graph->op_count; o++) {
        const struct lx_op_traffic *t = &plan->traffic[o];
        c.hbm_read += t->hbm_read;
        c.hbm_written += t->hbm_written;
        c.lx_read += t->lx_read;
        c.lx_written += t->lx_written;
        c.ring += t->ring;
        c.reduce_ring += t->reduce_ring;
    }
    return c;
}

struct lx_team_account lx_team_planned(const struct lx_team_plans *plans, int device)
{
    const struct lx_plan *plan = plans->plans[device];
    const struct lx_team_device *does = plans->devices[device];
    struct lx_team_account a = {.ok = true, .planned = team_planned_counters(plan)};
    if (plan) a.ops = plan->layouts->graph->op_count;
    for (int32_t i = 0; i < does->message_count; i++) {
        const struct lx_team_message *x = &does->messages[i];
        bool combines = x->tag > plans->team->exchange_count;
        if (x->operand < 0 || x->peer == device) continue;
        a.messages += !combines;
        *(combines ? &a.combine_bytes : &a.bytes) += x->bytes;
    }
    return a;
}

static void team_account_say(struct lx_team_account *a, const struct lx_run_result *r)
{
    if (r->fault_count > 0)
        snprintf(a->why, sizeof a->why, "%s", r->faults[0].text);
    else if (r->wrong_ops > 0)
        snprintf(a->why, sizeof a->why, "%d ops with wrong results", (int)r->wrong_ops);
    else if (r->unequal)
        snprintf(a->why, sizeof a->why, "%s", r->unequal);
}

void team_take_account(struct team_device *m, const struct lx_run_result *r)
{
    struct lx_team_account *a = &m->account;
    a->ops = r->op_count;
    a->counted = r->total;
    a->planned = team_planned_counters(m->plan);
    for (int32_t o = 0; o < r->op_count; o++) {
        a->device_ops += !(m->plan->layouts->graph->ops[o].kind->traits & LX_EXTERN);
        a->verified_ops += r->ops[o].verified;
    }
    a->height_bytes = r->height_bytes;
    a->faults = r->fault_count;
    a->wrong_ops = r->wrong_ops;
    a->unequal_ops = r->unequal_ops;
    a->ok = r->ok;
    team_account_say(a, r);
}
