/* A member: agreement, the steps, and the way of its outputs to member 0. */
#include "team_run/team_member.h"
#include "base/fail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int team_tag_exchange(const struct lx_team_plan *p, int32_t exchange)
{
    (void)p;
    return 1 + exchange;
}

int team_tag_combine(const struct lx_team_plan *p, int32_t op, int round)
{
    return 1 + p->exchange_count + 2 * op + round;
}

int team_tag_output(const struct lx_team_plan *p, int32_t tensor)
{
    return 1 + p->exchange_count + 2 * p->graph->op_count + tensor;
}

bool team_swap(struct team_member *m, int tag, const struct lx_message *out, const struct lx_message *in,
               lx_status *st)
{
    const struct lx_transport *t = m->link->transport;
    struct lx_flight *f = t->start(m->link, tag, out, in, st);
    return f && t->wait(m->link, f, st);
}

/* What is needed last at which step: blocks are freed there, as graphs have many more than are alive. */
static void find_last(struct team_member *m)
{
    const struct lx_team_plan *p = m->p;
    for (int32_t s = 0; s < p->step_count; s++) {
        const struct lx_team_step *step = &p->steps[s];
        if (step->kind == LX_TEAM_START || step->kind == LX_TEAM_WAIT) {
            m->last_own[p->exchanges[step->exchange].tensor] = s;
            m->last_box[step->exchange] = s;
            continue;
        }
        const struct lx_op *op = &p->graph->ops[step->op];
        m->last_own[op->output] = s;
        for (int i = 0; i < op->input_count; i++) {
            int32_t e = p->ops[step->op].exchange[i];
            m->last_own[op->inputs[i]] = s;
            if (e >= 0) m->last_box[e] = s;
        }
    }
}

bool team_member_begin(struct team_member *m, lx_status *st)
{
    size_t tensors = (size_t)m->p->graph->tensor_count + 1, exchanges = (size_t)m->p->exchange_count + 1;
    m->own = calloc(tensors, sizeof *m->own);
    m->box = calloc(exchanges, sizeof *m->box);
    m->flight = calloc(exchanges, sizeof *m->flight);
    m->received = calloc(exchanges, sizeof *m->received);
    m->last_own = calloc(tensors, sizeof *m->last_own);
    m->last_box = calloc(exchanges, sizeof *m->last_box);
    if (!m->own || !m->box || !m->flight || !m->received || !m->last_own || !m->last_box ||
        !team_messages_make(&m->out, m->p->members, st))
        return status_no_memory(st);
    find_last(m);
    return true;
}

void team_member_end(struct team_member *m)
{
    for (int32_t t = 0; m->own && t < m->p->graph->tensor_count; t++) team_block_free(&m->own[t]);
    for (int32_t e = 0; e < m->p->exchange_count; e++) {
        if (m->flight && m->flight[e]) m->link->transport->cancel(m->link, m->flight[e]);
        if (m->box) team_block_free(&m->box[e]);
        if (m->received) team_messages_free(m->received[e], m->p->members);
    }
    team_messages_free(m->out, m->p->members);
    free(m->own);
    free(m->box);
    free(m->flight);
    free(m->received);
    free(m->last_own);
    free(m->last_box);
}

/* The member whose plan is not that of most; of as many, not that of member 0. */
static int odd_one(const uint64_t *hash, int members)
{
    int best = 0, most = 0;
    for (int i = 0; i < members; i++) {
        int same = 0;
        for (int k = 0; k < members; k++) same += hash[k] == hash[i];
        if (same > most) most = same, best = i;
    }
    for (int i = 0; i < members; i++)
        if (hash[i] != hash[best]) return i;
    return -1;
}

bool team_member_agree(struct team_member *m, lx_status *st)
{
    int members = m->p->members, me = m->link->member;
    const struct lx_team_fault *fault = &m->how->fault;
    uint64_t *hash = calloc((size_t)members, sizeof *hash);
    struct lx_message *out = calloc((size_t)members, sizeof *out), *in = calloc((size_t)members, sizeof *in);
    bool ok = hash && out && in ? true : status_no_memory(st);
    if (ok) {
        hash[me] = m->p->hash ^ (m->how->seed * UINT64_C(0x9e3779b97f4a7c15)) ^ (uint64_t)m->fp32;
        if (fault->kind == LX_TEAM_OTHER_PLAN && fault->member == me) hash[me] ^= 1;
        for (int i = 0; i < members; i++) {
            out[i] = (struct lx_message){&hash[me], sizeof *hash};
            in[i] = (struct lx_message){&hash[i], sizeof *hash};
        }
        ok = team_swap(m, 0, out, in, st);
        int odd = ok ? odd_one(hash, members) : -1;
        if (odd >= 0)
            ok = status_set(st, LX_E_NO,
                            "member %d: member %d runs another plan (or seed or precision) than the others: "
                            "%016" PRIx64 " instead of %016" PRIx64 "; nothing was sent",
                            me, odd, hash[odd], hash[odd == 0 ? 1 : 0]);
    }
    free(hash);
    free(out);
    free(in);
    return ok;
}

static bool need_own(struct team_member *m, int32_t t, lx_status *st)
{
    const struct lx_tensor *x = &m->p->graph->tensors[t];
    if (m->own[t].at) return true;
    struct lx_team_box own = lx_team_own(m->p, t, m->link->member);
    if (!team_block_make(&m->own[t], &own, st)) return false;
    if (x->role == LX_INPUT || x->role == LX_WEIGHT) team_block_seed(&m->own[t], x, m->how->seed, m->fp32);
    return true;
}

static bool start_exchange(struct team_member *m, int32_t e, lx_status *st)
{
    const struct lx_team_exchange *x = &m->p->exchanges[e];
    int me = m->link->member;
    if (!need_own(m, x->tensor, st) || !team_messages_make(&m->received[e], m->p->members, st)) return false;
    struct lx_team_box own = m->own[x->tensor].box;
    for (int i = 0; i < m->p->members; i++) {
        m->out[i].bytes = 0;
        if (i == me) continue;
        struct lx_team_box theirs = lx_team_own(m->p, x->tensor, i);
        struct lx_team_box give = lx_team_box_meet(&own, &x->box[i]);
        struct lx_team_box get = lx_team_box_meet(&theirs, &x->box[me]);
        if (!team_message_room(&m->out[i], lx_team_box_elements(&give), m->fp32, st) ||
            !team_message_room(&m->received[e][i], lx_team_box_elements(&get), m->fp32, st))
            return false;
        if (m->out[i].bytes == 0) continue;
        team_block_pack(&m->own[x->tensor], &give, m->fp32, m->out[i].data);
        m->counts.messages++;
        m->counts.bytes += (int64_t)m->out[i].bytes;
        const struct lx_team_fault *f = &m->how->fault;
        if (f->kind == LX_TEAM_WRONG_SIZE && f->member == me && m->step >= f->step && !m->short_message) {
            m->out[i].bytes--;
            m->short_message = true;
        }
    }
    m->flight[e] = m->link->transport->start(m->link, team_tag_exchange(m->p, e), m->out, m->received[e], st);
    team_messages_clear(m->out, m->p->members);
    return m->flight[e] != NULL;
}

/* The box is complete: what arrived, and what was there. */
static bool finish_exchange(struct team_member *m, int32_t e, lx_status *st)
{
    const struct lx_team_exchange *x = &m->p->exchanges[e];
    const struct lx_team_box *box = &x->box[m->link->member];
    struct lx_flight *f = m->flight[e];
    m->flight[e] = NULL;
    if (!m->link->transport->wait(m->link, f, st) || !team_block_make(&m->box[e], box, st)) return false;
    for (int i = 0; i < m->p->members; i++) {
        struct lx_team_box theirs = lx_team_own(m->p, x->tensor, i), part = lx_team_box_meet(&theirs, box);
        if (lx_team_box_empty(&part)) continue;
        if (i != m->link->member) {
            team_block_unpack(&m->box[e], &part, m->fp32, m->received[e][i].data);
            continue;
        }
        struct lx_message mine = {0};
        if (!team_message_room(&mine, lx_team_box_elements(&part), m->fp32, st)) return false;
        team_block_pack(&m->own[x->tensor], &part, m->fp32, mine.data);
        team_block_unpack(&m->box[e], &part, m->fp32, mine.data);
        free(mine.data);
    }
    team_messages_clear(m->received[e], m->p->members);
    return true;
}

/* The core reads what is owned, because the box has not arrived yet; all other pieces read the box. */
static bool compute(struct team_member *m, const struct lx_team_step *step, lx_status *st)
{
    const struct lx_op *op = &m->p->graph->ops[step->op];
    const struct lx_team_op *how = &m->p->ops[step->op];
    const struct team_block *in[LX_MAX_INPUTS];
    struct team_region region = {how->var, lx_team_step_range(m->p, step, m->link->member), m->fp32,
                                 how->mode == LX_TEAM_COMBINE};
    if (!need_own(m, op->output, st)) return false;
    for (int i = 0; i < op->input_count; i++) {
        int32_t e = how->exchange[i];
        if (!need_own(m, op->inputs[i], st)) return false;
        in[i] = e >= 0 && m->box[e].at ? &m->box[e] : &m->own[op->inputs[i]];
    }
    return team_eval(m->p->graph, op, in, &m->own[op->output], &region, st);
}

static bool misbehave(struct team_member *m)
{
    const struct lx_team_fault *f = &m->how->fault;
    if (f->member != m->link->member || f->step != m->step) return false;
    if (f->kind == LX_TEAM_HANGS) {
        int ms = 3 * m->link->timeout_ms;
        struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
        nanosleep(&t, NULL);
        return true;
    }
    if (f->kind == LX_TEAM_DIES && f->die) f->die();
    return f->kind == LX_TEAM_DIES;
}

static void free_dead(struct team_member *m)
{
    for (int32_t t = 0; t < m->p->graph->tensor_count; t++)
        if (m->own[t].at && m->last_own[t] <= m->step && m->p->graph->tensors[t].role != LX_OUTPUT)
            team_block_free(&m->own[t]);
    for (int32_t e = 0; e < m->p->exchange_count; e++)
        if (m->box[e].at && m->last_box[e] <= m->step) team_block_free(&m->box[e]);
}

bool team_stopped(const struct lx_team_run_options *how, lx_status *st)
{
    if (!how->stop || !how->stop(how->context)) return false;
    status_set(st, LX_E_LIMIT, "the run was stopped");
    return true;
}

bool team_member_steps(struct team_member *m, lx_status *st)
{
    for (m->step = 0; m->step < m->p->step_count; m->step++) {
        const struct lx_team_step *s = &m->p->steps[m->step];
        if (team_stopped(m->how, st)) return false;
        if (m->how->progress && m->link->member == 0)
            m->how->progress(m->how->context, m->step, m->p->step_count);
        if (misbehave(m))
            return status_set(st, LX_E_NO, "member %d ended before step %d", m->link->member, (int)m->step);
        bool ok = s->kind == LX_TEAM_START     ? start_exchange(m, s->exchange, st)
                  : s->kind == LX_TEAM_WAIT    ? finish_exchange(m, s->exchange, st)
                  : s->kind == LX_TEAM_COMPUTE ? compute(m, s, st)
                                               : team_combine(m, s->op, st);
        if (!ok) return false;
        free_dead(m);
    }
    return true;
}

bool team_member_gather(struct team_member *m, struct team_block *whole, lx_status *st)
{
    const struct lx_graph *g = m->p->graph;
    int me = m->link->member, members = m->p->members;
    struct lx_message *in = NULL;
    bool ok = team_messages_make(&in, members, st);
    for (int32_t t = 0; t < g->tensor_count && ok; t++) {
        if (g->tensors[t].role != LX_OUTPUT) continue;
        struct lx_team_box all = lx_team_box_of(g->tensors[t].rank, g->tensors[t].shape);
        bool cut = m->p->tensors[t].cut >= 0; /* a whole one is member 0's already */
        ok = need_own(m, t, st) && (me != 0 || team_block_make(&whole[t], &all, st));
        for (int i = 0; i < members && ok; i++) {
            struct lx_team_box part = lx_team_own(m->p, t, i);
            int64_t n = cut || i == 0 ? lx_team_box_elements(&part) : 0;
            if (me == 0) ok = team_message_room(&in[i], n, m->fp32, st);
            if (ok && i == me && (cut || me == 0)) {
                struct lx_message *to = me == 0 ? &in[0] : &m->out[0];
                ok = team_message_room(to, n, m->fp32, st);
                if (ok && n > 0) team_block_pack(&m->own[t], &part, m->fp32, to->data);
            }
        }
        ok = ok && team_swap(m, team_tag_output(m->p, t), m->out, in, st);
        for (int i = 0; i < members && ok && me == 0; i++) {
            struct lx_team_box part = lx_team_own(m->p, t, i);
            if (in[i].bytes > 0) team_block_unpack(&whole[t], &part, m->fp32, in[i].data);
        }
        team_messages_clear(in, members);
        team_messages_clear(m->out, members);
    }
    team_messages_free(in, members);
    return ok;
}
