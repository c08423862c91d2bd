/* Combining partial results, made of two exchanges: every member gets everyone's share of some elements and
 * accumulates them in the order of the members, then sends the result to all. 2 (P - 1) / P of the tensor
 * leaves each member, and every member has the same bits, on every transport. Also: lists of messages. */
#include "team_run/team_member.h"
#include "base/fail.h"
#include "device/reference/meaning.h"

#include <stdlib.h>

bool team_messages_make(struct lx_message **list, int members, lx_status *st)
{
    *list = calloc((size_t)members, sizeof **list);
    return *list ? true : status_no_memory(st);
}

/* Replaces what the message had. */
bool team_message_room(struct lx_message *one, int64_t elements, bool fp32, lx_status *st)
{
    free(one->data);
    *one = (struct lx_message){NULL, (size_t)elements * team_element_bytes(fp32)};
    if (elements == 0) return true;
    one->data = malloc(one->bytes);
    return one->data ? true : status_no_memory(st);
}

void team_messages_clear(struct lx_message *list, int members)
{
    for (int i = 0; i < members; i++) {
        free(list[i].data);
        list[i] = (struct lx_message){0};
    }
}

void team_messages_free(struct lx_message *list, int members)
{
    if (!list) return;
    team_messages_clear(list, members);
    free(list);
}

/* The partial result as one row, and the part of it that a member accumulates. */
struct row {
    struct team_block all;
    int64_t elements;
    int members;
};

static struct lx_team_box share(const struct row *r, int member)
{
    return lx_team_default_partition(r->members, member, 1, &r->elements, 0);
}

static bool send_shares(struct team_member *m, const struct row *r, int32_t op, struct lx_message *in,
                        lx_status *st)
{
    int me = m->link->member;
    struct lx_team_box mine = share(r, me);
    for (int i = 0; i < r->members; i++) {
        struct lx_team_box theirs = share(r, i);
        if (!team_message_room(&m->out[i], i == me ? 0 : theirs.size[0], m->fp32, st) ||
            !team_message_room(&in[i], mine.size[0], m->fp32, st))
            return false;
        if (i == me)
            team_block_pack(&r->all, &mine, m->fp32, in[i].data);
        else
            team_block_pack(&r->all, &theirs, m->fp32, m->out[i].data);
        m->counts.combine_bytes += (int64_t)m->out[i].bytes;
    }
    return team_swap(m, team_tag_combine(m->p, op, 0), m->out, in, st);
}

static bool accumulate(struct team_member *m, struct row *r, const struct lx_op *op,
                       const struct lx_message *in, lx_status *st)
{
    struct lx_team_box mine = share(r, m->link->member);
    struct team_block sum = {0}, one = {0};
    const struct meaning_fold *fold = meaning_of(op->kind)->fold;
    double divisor = team_divisor(m->p->graph, op);
    bool ok = team_block_make(&sum, &mine, st) && team_block_make(&one, &mine, st);
    for (int64_t k = 0; ok && k < mine.size[0]; k++) sum.at[k] = fold->start;
    for (int i = 0; i < r->members && ok && mine.size[0] > 0; i++) {
        team_block_unpack(&one, &mine, m->fp32, in[i].data);
        for (int64_t k = 0; k < mine.size[0]; k++)
            sum.at[k] = fold->in_double((double[]){sum.at[k], one.at[k]});
    }
    for (int64_t k = 0; ok && k < mine.size[0]; k++) {
        double v = sum.at[k] / divisor;
        r->all.at[mine.offset[0] + k] = m->fp32 ? (double)(float)v : v;
    }
    team_block_free(&sum);
    team_block_free(&one);
    return ok;
}

static bool spread_sums(struct team_member *m, struct row *r, int32_t op, struct lx_message *in,
                        lx_status *st)
{
    int me = m->link->member;
    struct lx_team_box mine = share(r, me);
    for (int i = 0; i < r->members; i++) {
        struct lx_team_box theirs = share(r, i);
        if (!team_message_room(&m->out[i], i == me ? 0 : mine.size[0], m->fp32, st) ||
            !team_message_room(&in[i], i == me ? 0 : theirs.size[0], m->fp32, st))
            return false;
        if (m->out[i].bytes > 0) team_block_pack(&r->all, &mine, m->fp32, m->out[i].data);
        m->counts.combine_bytes += (int64_t)m->out[i].bytes;
    }
    if (!team_swap(m, team_tag_combine(m->p, op, 1), m->out, in, st)) return false;
    for (int i = 0; i < r->members; i++) {
        struct lx_team_box theirs = share(r, i);
        if (in[i].bytes > 0) team_block_unpack(&r->all, &theirs, m->fp32, in[i].data);
    }
    return true;
}

bool team_combine(struct team_member *m, int32_t op, lx_status *st)
{
    const struct lx_op *x = &m->p->graph->ops[op];
    struct team_block *out = &m->own[x->output];
    struct row r = {.elements = lx_team_box_elements(&out->box), .members = m->p->members};
    r.all.box = (struct lx_team_box){.rank = 1, .size = {r.elements}};
    r.all.at = out->at;
    struct lx_message *in = NULL;
    bool ok = team_messages_make(&in, r.members, st) && send_shares(m, &r, op, in, st) &&
              accumulate(m, &r, x, in, st) && spread_sums(m, &r, op, in, st);
    team_messages_free(in, r.members);
    team_messages_clear(m->out, r.members);
    return ok;
}
