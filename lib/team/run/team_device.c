/* Runs one device, from its inputs to its outputs. */
#include "team/run/team_device.h"
#include "device/reference/reference.h"

static const struct lx_team_place *team_device_place_of(const struct team_device *m, int32_t local)
{
    for (int32_t i = 0; i < m->does->place_count; i++)
        if (m->does->places[i].local == local) return &m->does->places[i];
    return NULL;
}

/* Fills the device's part of an input, with the same numbers as on one device. */
static void team_device_input(void *context, int32_t local, void *items)
{
    struct team_device *m = context;
    const struct lx_team_place *x = team_device_place_of(m, local);
    const struct lx_tensor *t = &m->does->graph->tensors[local];
    struct lx_team_box whole = lx_team_box_of(t->rank, t->shape);
    memset(items, 0, (size_t)team_items_bytes(t->dtype, &whole));
    if (!x || x->tensor < 0) return;
    t = &m->p->graph->tensors[x->tensor];
    whole = lx_team_box_of(t->rank, t->shape);
    OWNED void *all = mem_alloc((size_t)team_items_bytes(t->dtype, &whole) + 1);
    data_fill(m->p->graph, x->tensor, m->how->seed, m->pool, all, lx_team_box_elements(&whole));
    team_items_take(all, t->shape, &x->box, t->dtype, items);
}

static void team_device_output(void *context, int32_t local, const void *items)
{
    struct team_device *m = context;
    const struct lx_team_place *x = team_device_place_of(m, local);
    if (!x || x->tensor < 0) return;
    size_t bytes = (size_t)team_items_bytes(m->p->graph->tensors[x->tensor].dtype, &x->box);
    void *copy = mem_alloc(bytes + 1);
    memcpy(copy, items, bytes);
    mem_free(m->outputs[x->tensor]);
    m->outputs[x->tensor] = copy;
}

/* Detects frozen devices during compute, too. */
static bool team_device_stop(void *context)
{
    struct team_device *m = context;
    int frozen = m->link->transport->frozen ? m->link->transport->frozen(m->link) : -1;
    if (frozen >= 0 && m->st.code == LX_OK)
        status_set(&m->st, LX_E_NO, "device %d: device %d is stopped and did not go on within %d ms",
                   m->link->device, frozen, m->link->timeout_ms);
    return m->st.code != LX_OK || (m->how->stop && m->how->stop(m->how->context));
}

static const char *const phase_words[LX_TEAM_PHASES] = {"before an op", "before it agreed",
                                                        "before its outputs were gathered",
                                                        "before its account was", "at the end"};

bool team_misbehave(struct team_device *m, enum lx_team_phase phase, lx_status *st)
{
    const struct lx_team_fault *f = &m->how->fault;
    bool hangs = f->kind == LX_TEAM_HANGS, dies = f->kind == LX_TEAM_DIES;
    if (f->device != m->link->device || f->phase != phase || !(hangs || dies)) return false;
    if (phase == LX_TEAM_AT_OP && f->step != m->tick) return false;
    if (f->die) f->die();
    if (hangs) {
        int ms = 3 * m->link->timeout_ms;
        struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
        nanosleep(&t, NULL);
    }
    status_set(st, LX_E_NO, "device %d ended %s", m->link->device, phase_words[phase]);
    return true;
}

static bool team_device_tick(struct team_device *m, struct lx_execution *d, lx_status *st)
{
    m->tick = lx_device_next(d);
    if (team_misbehave(m, LX_TEAM_AT_OP, st)) return false;
    if (!lx_device_tick(d, st)) {
        if (st && m->st.code != LX_OK) *st = m->st;
        return false;
    }
    if (m->how->progress && m->link->device == 0)
        m->how->progress(m->how->context, m->tick + 1, m->plan->layouts->graph->op_count);
    return true;
}

static void team_device_take_account(struct team_device *m, const struct lx_run_result *r)
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
    if (r->fault_count > 0)
        snprintf(a->why, sizeof a->why, "%s", r->faults[0].text);
    else if (r->wrong_ops > 0)
        snprintf(a->why, sizeof a->why, "%d ops with wrong results", (int)r->wrong_ops);
    else if (r->unequal)
        snprintf(a->why, sizeof a->why, "%s", r->unequal);
}

bool team_device_run(struct team_device *m, lx_status *st)
{
    m->account.ok = true;
    if (!m->plan) return true;
    struct lx_device_options how = {.verify =
                                        m->how->verify == LX_VERIFY_FULL ? LX_VERIFY_OPS : m->how->verify,
                                    .stop = team_device_stop,
                                    .input = team_device_input,
                                    .output = team_device_output,
                                    .host_op = team_host_op,
                                    .context = m};
    struct lx_execution *d = lx_device_begin(m->plan, &how, st);
    bool ok = d != NULL;
    while (ok && lx_device_next(d) < m->plan->layouts->graph->op_count) ok = team_device_tick(m, d, st);
    struct lx_run_result *r = ok ? lx_device_end(d, st) : NULL;
    if (!ok) lx_device_abandon(d);
    if (!r) return false;
    team_device_take_account(m, r);
    lx_run_result_free(r);
    if (m->st.code != LX_OK) return st ? *st = m->st, false : false;
    while (ok && m->sent.count > 0) ok = m->link->transport->wait(m->link, m->sent.at[--m->sent.count], st);
    return ok;
}
