/* Runs a team plan: devices over a transport, and one device for comparison. */
#include "team/run/team_run.h"
#include "team/run/team_device.h"
#include "device/reference/reference.h"

enum { TIMEOUT_MS = 5000 };

struct team_context {
    const struct lx_team_plan *p;
    const struct lx_team_run_options *how;
    struct lx_team_result *result; /* only device 0 accesses it */
    void **whole;                  /* per tensor; from device 0 */
};

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

static bool team_run_device(struct lx_link *link, void *context, lx_status *st)
{
    struct team_context *c = context;
    size_t devices = (size_t)c->p->devices;
    struct team_device m = {.p = c->p,
                            .how = c->how,
                            .link = link,
                            .in = mem_zeroed(devices, sizeof *m.in),
                            .out = mem_zeroed(devices, sizeof *m.out),
                            .outputs = mem_zeroed((size_t)c->p->graph->tensor_count + 1, sizeof *m.outputs),
                            .whole = mem_zeroed((size_t)c->p->graph->tensor_count + 1, sizeof *m.whole),
                            .pool = pool_create(1)};
    bool ok = !team_misbehave(&m, LX_TEAM_AT_AGREEMENT, st) && team_device_agree(&m, st) &&
              team_device_run(&m, st) && !team_misbehave(&m, LX_TEAM_AT_OUTPUTS, st) &&
              team_gather_outputs(&m, st) && !team_misbehave(&m, LX_TEAM_AT_ACCOUNTS, st) &&
              team_gather_accounts(&m, c->result->devices, st) && !team_misbehave(&m, LX_TEAM_AT_END, st);
    if (ok && link->device == 0) c->result->compared = true;
    for (size_t i = 0; i < m.sent.count; i++) m.link->transport->cancel(m.link, m.sent.at[i]);
    VEC_FREE(&m.sent);
    for (size_t i = 0; i < m.kept.count; i++) mem_free(m.kept.at[i].what.data);
    VEC_FREE(&m.kept);
    team_messages_clear(&m);
    mem_free(m.in);
    mem_free(m.out);
    for (int32_t t = 0; t < m.p->graph->tensor_count; t++) mem_free(m.outputs[t]);
    mem_free(m.outputs);
    pool_destroy(m.pool);
    lx_plan_free(m.own_plan);
    lx_team_device_free(m.own_does);
    /* After the last allocation, because running out of memory frees them. */
    if (link->device == 0)
        c->whole = m.whole;
    else
        mem_free(m.whole);
    return ok;
}

static void team_run_judge(struct lx_team_result *r)
{
    r->bad_device = -1;
    for (int m = r->device_count - 1; m >= 0; m--) {
        lx_counters_add(&r->total.planned, &r->devices[m].planned);
        lx_counters_add(&r->total.counted, &r->devices[m].counted);
        r->total.ops += r->devices[m].ops;
        r->total.device_ops += r->devices[m].device_ops;
        r->total.faults += r->devices[m].faults;
        r->total.verified_ops += r->devices[m].verified_ops;
        r->total.wrong_ops += r->devices[m].wrong_ops;
        r->total.unequal_ops += r->devices[m].unequal_ops;
        r->total.messages += r->devices[m].messages;
        r->total.bytes += r->devices[m].bytes;
        r->total.combine_bytes += r->devices[m].combine_bytes;
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
    int timeout = how->timeout_ms > 0 ? how->timeout_ms : TIMEOUT_MS;
    bool ok = t->run(t, plan->devices, timeout, team_run_device, &c, st);
    if (ok && result->compared) ok = team_compare(plan, how, c.whole, result, st);
    if (ok && result->compared) team_run_judge(result);
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
