/* A run of a team plan: devices over a transport, and one device to compare with. */
#include "team/run/team_run.h"
#include "team/run/team_device.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>

enum { TIMEOUT_MS = 5000 };

struct team_context {
    const struct lx_team_plan *p;
    const struct lx_team_run_options *how;
    struct lx_team_result *result; /* device 0 alone touches it */
    void **whole;                  /* per tensor, likewise */
};

static bool device_work(struct lx_link *link, void *context, lx_status *st)
{
    struct team_context *c = context;
    struct team_device m = {.p = c->p, .how = c->how, .link = link};
    bool ok = team_device_begin(&m, st) && !team_misbehave(&m, LX_TEAM_AT_AGREEMENT, st) &&
              team_device_agree(&m, st) && team_device_run(&m, st) &&
              !team_misbehave(&m, LX_TEAM_AT_OUTPUTS, st) && team_gather_outputs(&m, c->whole, st) &&
              !team_misbehave(&m, LX_TEAM_AT_ACCOUNTS, st) &&
              team_gather_accounts(&m, c->result->devices, st) && !team_misbehave(&m, LX_TEAM_AT_END, st);
    if (ok && link->device == 0) c->result->compared = true;
    team_device_end(&m);
    return ok;
}

static void add_account(struct lx_team_account *to, const struct lx_team_account *from)
{
    lx_counters_add(&to->planned, &from->planned);
    lx_counters_add(&to->counted, &from->counted);
    to->ops += from->ops;
    to->device_ops += from->device_ops;
    to->faults += from->faults;
    to->verified_ops += from->verified_ops;
    to->wrong_ops += from->wrong_ops;
    to->unequal_ops += from->unequal_ops;
    to->messages += from->messages;
    to->bytes += from->bytes;
    to->combine_bytes += from->combine_bytes;
}

static void judge_team(struct lx_team_result *r)
{
    r->bad_device = -1;
    for (int m = r->device_count - 1; m >= 0; m--) {
        add_account(&r->total, &r->devices[m]);
        if (!r->devices[m].ok) r->bad_device = m;
    }
    r->total.ok = r->bad_device < 0;
    r->ok = r->bad_device < 0 && !(r->exact && r->differing > 0) && !(r->worst > r->limit);
}

bool lx_team_run(const struct lx_team_plan *plan, const struct lx_team_run_options *how,
                 struct lx_team_result *result, lx_status *st)
{
    const struct lx_transport *t = how->transport ? how->transport : &lx_transport_threads;
    int32_t tensors = plan->graph->tensor_count;
    struct team_context c = {.p = plan, .how = how, .result = result};
    *result = (struct lx_team_result){.device_count = plan->devices, .bad_device = -1};
    result->devices = mem_zeroed((size_t)plan->devices, sizeof *result->devices);
    c.whole = mem_zeroed((size_t)tensors + 1, sizeof *c.whole);
    int timeout = how->timeout_ms > 0 ? how->timeout_ms : TIMEOUT_MS;
    bool ok = t->run(t, plan->devices, timeout, device_work, &c, st);
    if (ok && result->compared) ok = team_compare(plan, how, c.whole, result, st);
    if (ok && result->compared) judge_team(result);
    for (int32_t i = 0; c.whole && i < tensors; i++) mem_free(c.whole[i]);
    mem_free(c.whole);
    if (!ok) lx_team_result_free(result);
    return ok;
}

void lx_team_result_free(struct lx_team_result *r)
{
    mem_free(r->devices);
    r->devices = NULL;
    r->device_count = 0;
}
