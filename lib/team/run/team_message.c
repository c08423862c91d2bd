/* Messages: what a send takes from the HBM of the device's device, and what a receive puts there. A send does not
 * wait for anybody; what it has sent is waited for when the device is through. No op judges what travels, so each
 * message ends with a checksum of its bytes, which are not counted among those exchanged. */
#include "team/run/team_device.h"
#include "team/run/team_wire.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool team_message_room(struct lx_message *one, int64_t bytes, lx_status *st)
{
    (void)st;
    mem_free(one->data);
    *one = (struct lx_message){NULL, (size_t)bytes};
    if (bytes == 0) return true;
    one->data = mem_zeroed(1, one->bytes);
    return true;
}

void team_messages_clear(struct team_device *m)
{
    for (int i = 0; i < m->p->devices; i++) {
        mem_free(m->in[i].data);
        mem_free(m->out[i].data);
        m->in[i] = m->out[i] = (struct lx_message){0};
    }
}

bool team_swap(struct team_device *m, int tag, lx_status *st)
{
    const struct lx_transport *t = m->link->transport;
    struct lx_flight *f = t->start(m->link, tag, m->out, m->in, st);
    return f && t->wait(m->link, f, st);
}

static const struct lx_tensor *team_message_tensor_of(const struct team_device *m,
                                                      const struct lx_team_message *x)
{
    const struct lx_op *op = &m->does->graph->ops[x->op];
    return &m->does->graph->tensors[x->operand < 0 ? op->output : op->inputs[x->operand]];
}

/* A row of items between a tensor and a message; NULL: memory is out. */
static void *team_message_row_of(const struct lx_tensor *t, const struct lx_team_message *x)
{
    return mem_alloc((size_t)wire_items_bytes(t->dtype, &x->at) + 1);
}

static void team_message_count(struct team_device *m, const struct lx_team_message *x)
{
    bool combines = x->tag > m->p->exchange_count;
    if (x->peer == m->link->device) return;
    m->account.messages += !combines;
    *(combines ? &m->account.combine_bytes : &m->account.bytes) += x->bytes;
}

enum { CHECKSUM = 8 };

/* Byte order is the wire's: lowest first. */
static void checksum_of(const void *data, int64_t bytes, unsigned char out[CHECKSUM])
{
    uint64_t h = hash_bytes(HASH_START, data, (size_t)bytes);
    for (int i = 0; i < CHECKSUM; i++) out[i] = (unsigned char)(h >> 8 * i);
}

static bool spoils(struct team_device *m, enum lx_team_fault_kind kind)
{
    const struct lx_team_fault *f = &m->how->fault;
    if (f->kind != kind || f->device != m->link->device || m->tick < f->step || m->spoilt) return false;
    m->spoilt = true;
    return true;
}

/* What the device has of it, then its checksum. */
static void seal(struct team_device *m, int64_t bytes, struct lx_message *out)
{
    unsigned char *at = out->data;
    if (out == &m->out[m->link->device]) {
        checksum_of(at, bytes, at + bytes);
        return;
    }
    if (spoils(m, LX_TEAM_WRONG_BYTE)) at[0] ^= 0x40;
    checksum_of(at, bytes, at + bytes);
    if (spoils(m, LX_TEAM_WRONG_WIRE)) at[0] ^= 0x40;
    if (spoils(m, LX_TEAM_WRONG_SIZE)) out->bytes--;
}

static bool unseal(const struct team_device *m, const struct lx_team_message *x, const char *name,
                   lx_status *st)
{
    unsigned char sum[CHECKSUM];
    const unsigned char *at = m->in[x->peer].data;
    if (at) checksum_of(at, x->bytes, sum);
    if (at && memcmp(sum, at + x->bytes, CHECKSUM) == 0) return true;
    return status_set(st, LX_E_NO, "device %d: %.200s does not arrive as device %d has sent it",
                      m->link->device, name, x->peer);
}

static bool team_message_load(struct team_device *m, const struct lx_team_message *x, const void *items,
                              lx_status *st)
{
    const struct lx_tensor *t = team_message_tensor_of(m, x);
    void *row = team_message_row_of(t, x);
    bool ok = team_message_room(&m->out[x->peer], x->bytes + CHECKSUM, st);
    if (ok) {
        wire_take(items, t->shape, &x->at, t->dtype, row);
        wire_pack(t->dtype, row, lx_team_box_elements(&x->at), m->out[x->peer].data);
        team_message_count(m, x);
        seal(m, x->bytes, &m->out[x->peer]);
    }
    mem_free(row);
    return ok;
}

static bool unload(struct team_device *m, const struct lx_team_message *x, void *items, lx_status *st)
{
    const struct lx_tensor *t = team_message_tensor_of(m, x);
    if (!unseal(m, x, t->name, st)) return false;
    void *row = team_message_row_of(t, x);
    wire_unpack(t->dtype, m->in[x->peer].data, lx_team_box_elements(&x->at), row);
    wire_put(items, t->shape, &x->at, t->dtype, row);
    mem_free(row);
    return true;
}

/* What the device sends itself goes nowhere. */
static bool keep_own(struct team_device *m, int tag)
{
    struct lx_message *own = &m->out[m->link->device];
    if (own->bytes == 0) return true;
    VEC_PUSH(&m->kept, ((struct kept_message){tag, *own}));
    *own = (struct lx_message){0};
    return true;
}

static void take_own(struct team_device *m, int tag)
{
    for (size_t i = 0; i < m->kept.count; i++) {
        if (m->kept.at[i].tag != tag) continue;
        m->in[m->link->device] = m->kept.at[i].what;
        m->kept.at[i] = m->kept.at[--m->kept.count];
        return;
    }
}

/* The messages of an op: they stand together. */
static const struct lx_team_message *team_message_first_of(const struct team_device *m, int32_t op,
                                                           int32_t *count_of)
{
    int32_t first = 0, n = 0;
    while (first < m->does->message_count && m->does->messages[first].op != op) first++;
    while (first + n < m->does->message_count && m->does->messages[first + n].op == op) n++;
    *count_of = n;
    return m->does->messages + first;
}

static bool team_message_send(struct team_device *m, const struct lx_team_message *x, int32_t n,
                              const void *const *inputs, lx_status *st)
{
    bool ok = true;
    for (int32_t i = 0; ok && i < n; i++) ok = team_message_load(m, &x[i], inputs[x[i].operand], st);
    ok = ok && (n == 0 || keep_own(m, x->tag));
    struct lx_flight *f = ok && n > 0 ? m->link->transport->start(m->link, x->tag, m->out, m->in, st) : NULL;
    if (ok && n > 0) ok = f != NULL;
    if (f) VEC_PUSH(&m->sent, f);
    for (int i = 0; i < m->p->devices; i++) team_message_room(&m->out[i], 0, st);
    return ok;
}

static bool team_message_receive(struct team_device *m, const struct lx_team_message *x, int32_t n,
                                 void *output, lx_status *st)
{
    bool ok = true;
    for (int32_t i = 0; ok && i < n; i++)
        if (x[i].peer != m->link->device)
            ok = team_message_room(&m->in[x[i].peer], x[i].bytes + CHECKSUM, st);
    ok = ok && (n == 0 || team_swap(m, x->tag, st));
    if (ok && n > 0) take_own(m, x->tag);
    for (int32_t i = 0; ok && i < n; i++) ok = unload(m, &x[i], output, st);
    team_messages_clear(m);
    return ok;
}

bool team_host_op(void *context, int32_t op, const void *const *inputs, void *output, lx_status *st)
{
    struct team_device *m = context;
    int32_t n;
    const struct lx_team_message *x = team_message_first_of(m, op, &n);
    bool sends = m->does->graph->ops[op].kind->id == LX_KIND_SEND;
    return sends ? team_message_send(m, x, n, inputs, st) : team_message_receive(m, x, n, output, st);
}
