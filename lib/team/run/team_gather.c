/* Outputs and accounts on their way to device 0. */
#include "team/run/team_device.h"
#include "team/run/team_wire.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Items of what a device has of a tensor; zeros, where it has none of its own. */
static bool put_own(struct team_device *m, int32_t t, struct lx_message *to, lx_status *st)
{
    struct lx_team_box own = lx_team_own(m->p, t, m->link->device);
    int64_t bytes = wire_items_bytes(m->p->graph->tensors[t].dtype, &own);
    if (!team_message_room(to, bytes, st)) return false;
    if (bytes > 0 && m->outputs[t]) memcpy(to->data, m->outputs[t], (size_t)bytes);
    return true;
}

/* Has a device something of the tensor that device 0 has not, and is the first who has it? */
static bool owns_apart(const struct team_device *m, int32_t t, int device)
{
    return !lx_team_is_replicated(&m->p->tensors[t]) &&
           lx_team_serves(&m->p->grid, &m->p->tensors[t], device, 0);
}

static bool gather_tensor(struct team_device *m, int32_t t, void **whole, lx_status *st)
{
    const struct lx_tensor *x = &m->p->graph->tensors[t];
    struct lx_team_box all = lx_team_box_of(x->rank, x->shape);
    int me = m->link->device;
    bool cut = owns_apart(m, t, me), ok = true;
    if (me == 0) {
        *whole = mem_zeroed(1, (size_t)wire_items_bytes(x->dtype, &all) + 1);
        ok = put_own(m, t, &m->in[0], st);
    } else if (cut)
        ok = put_own(m, t, &m->out[0], st);
    for (int i = 1; ok && me == 0 && i < m->p->devices; i++) {
        struct lx_team_box part = lx_team_own(m->p, t, i);
        if (!owns_apart(m, t, i)) continue;
        ok = team_message_room(&m->in[i], wire_items_bytes(x->dtype, &part), st);
    }
    ok = ok && team_swap(m, lx_team_tag_output(m->p, t), st);
    for (int i = 0; ok && me == 0 && i < m->p->devices; i++) {
        struct lx_team_box part = lx_team_own(m->p, t, i);
        if (m->in[i].bytes > 0) wire_put(*whole, x->shape, &part, x->dtype, m->in[i].data);
    }
    team_messages_clear(m);
    return ok;
}

bool team_gather_outputs(struct team_device *m, void **whole, lx_status *st)
{
    const struct lx_graph *g = m->p->graph;
    bool ok = true;
    for (int32_t t = 0; ok && t < g->tensor_count; t++)
        if (lx_role_leaves(g->tensors[t].role)) ok = gather_tensor(m, t, &whole[t], st);
    return ok;
}

bool team_gather_accounts(struct team_device *m, struct lx_team_account *accounts, lx_status *st)
{
    int me = m->link->device;
    int64_t bytes = (int64_t)sizeof *accounts;
    bool ok = true;
    if (me != 0) {
        ok = team_message_room(&m->out[0], bytes, st);
        if (ok) memcpy(m->out[0].data, &m->account, (size_t)bytes);
    }
    for (int i = 1; ok && me == 0 && i < m->p->devices; i++) ok = team_message_room(&m->in[i], bytes, st);
    ok = ok && team_swap(m, lx_team_tag_output(m->p, m->p->graph->tensor_count), st);
    for (int i = 0; ok && me == 0 && i < m->p->devices; i++) {
        accounts[i] = m->account;
        if (i > 0) memcpy(&accounts[i], m->in[i].data, (size_t)bytes);
    }
    team_messages_clear(m);
    return ok;
}
