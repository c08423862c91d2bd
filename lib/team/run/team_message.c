/* Messages: a send takes elements from the device's HBM, a receive puts them there. A send does not wait;
 * pending sends are awaited when the device is done. Each message ends with a checksum, because no op checks
 * messages on their way. The checksum is not counted as exchanged bytes. */
#include "team/run/team_device.h"
#include "device/memory/dtypes.h"

int64_t team_items_bytes(enum lx_dtype dtype, const struct lx_team_box *box)
{
    return lx_team_box_elements(box) * number_types[dtype].item;
}

/* Copies rows along the last dimension. One of both sides is NULL. */
static void team_items_copy(const int64_t *shape, const struct lx_team_box *box, int64_t item,
                            const char *items_from, char *row_to, char *items_to, const char *row_from)
{
    int64_t index[LX_MAX_RANK] = {0}, at = 0, run = box->rank ? box->size[box->rank - 1] : 1;
    for (int d = 0; d < box->rank; d++) at = at * shape[d] + box->offset[d];
    if (lx_team_box_empty(box)) return;
    for (int64_t done = 0;; done += run) {
        int64_t step = box->rank > 0 ? shape[box->rank - 1] : 1;
        int d = box->rank - 2;
        if (row_to) memcpy(row_to + done * item, items_from + at * item, (size_t)(run * item));
        if (items_to) memcpy(items_to + at * item, row_from + done * item, (size_t)(run * item));
        for (; d >= 0; d--) {
            at += step;
            if (++index[d] < box->size[d]) break;
            at -= step * box->size[d];
            index[d] = 0;
            step *= shape[d];
        }
        if (d < 0) return;
    }
}

void team_items_take(const void *items, const int64_t *shape, const struct lx_team_box *box,
                     enum lx_dtype dtype, void *row)
{
    team_items_copy(shape, box, number_types[dtype].item, items, row, NULL, NULL);
}

static void team_items_put(void *items, const int64_t *shape, const struct lx_team_box *box,
                           enum lx_dtype dtype, const void *row)
{
    team_items_copy(shape, box, number_types[dtype].item, NULL, NULL, items, row);
}

void team_message_room(struct lx_message *one, int64_t bytes)
{
    mem_free(one->data);
    *one = (struct lx_message){bytes ? mem_zeroed(1, (size_t)bytes) : NULL, (size_t)bytes};
}

void team_messages_clear(struct team_device *m)
{
    for (int i = 0; i < m->p->devices; i++) {
        team_message_room(&m->in[i], 0);
        team_message_room(&m->out[i], 0);
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

enum { CHECKSUM = 8 };

/* Little-endian. */
static void team_message_checksum(const void *data, int64_t bytes, unsigned char out[CHECKSUM])
{
    uint64_t h = hash_bytes(HASH_START, data, (size_t)bytes);
    for (int i = 0; i < CHECKSUM; i++) out[i] = (unsigned char)(h >> 8 * i);
}

static bool team_message_spoils(struct team_device *m, enum lx_team_fault_kind kind)
{
    const struct lx_team_fault *f = &m->how->fault;
    if (f->kind != kind || f->device != m->link->device || m->tick < f->step || m->spoilt) return false;
    m->spoilt = true;
    return true;
}

/* Packs a box of a tensor and its checksum; 4-bit elements go two to a byte. */
static void team_message_load(struct team_device *m, const struct lx_team_message *x, const void *items)
{
    const struct lx_tensor *t = team_message_tensor_of(m, x);
    struct lx_message *out = &m->out[x->peer];
    bool combines = x->tag > m->p->exchange_count, to_self = x->peer == m->link->device;
    OWNED void *row = mem_alloc((size_t)team_items_bytes(t->dtype, &x->at) + 1);
    team_message_room(out, x->bytes + CHECKSUM);
    unsigned char *at = out->data;
    team_items_take(items, t->shape, &x->at, t->dtype, row);
    items_to_memory(&number_types[t->dtype], row, lx_team_box_elements(&x->at), at, 0);
    if (!to_self) {
        m->account.messages += !combines;
        *(combines ? &m->account.combine_bytes : &m->account.bytes) += x->bytes;
    }
    if (!to_self && team_message_spoils(m, LX_TEAM_WRONG_BYTE)) at[0] ^= 0x40;
    team_message_checksum(at, x->bytes, at + x->bytes);
    if (!to_self && team_message_spoils(m, LX_TEAM_WRONG_WIRE)) at[0] ^= 0x40;
    if (!to_self && team_message_spoils(m, LX_TEAM_WRONG_SIZE)) out->bytes--;
}

static bool team_message_unload(struct team_device *m, const struct lx_team_message *x, void *items,
                                lx_status *st)
{
    const struct lx_tensor *t = team_message_tensor_of(m, x);
    unsigned char sum[CHECKSUM];
    const unsigned char *at = m->in[x->peer].data;
    if (at) team_message_checksum(at, x->bytes, sum);
    if (!at || memcmp(sum, at + x->bytes, CHECKSUM) != 0)
        return status_set(st, LX_E_NO, "device %d: %.200s does not arrive as device %d has sent it",
                          m->link->device, t->name, x->peer);
    OWNED void *row = mem_alloc((size_t)team_items_bytes(t->dtype, &x->at) + 1);
    items_from_memory(&number_types[t->dtype], at, 0, lx_team_box_elements(&x->at), row);
    team_items_put(items, t->shape, &x->at, t->dtype, row);
    return true;
}

static bool team_message_send(struct team_device *m, const struct lx_team_message *x, int32_t n,
                              const void *const *inputs, lx_status *st)
{
    struct lx_message *own = &m->out[m->link->device];
    for (int32_t i = 0; i < n; i++) team_message_load(m, &x[i], inputs[x[i].operand]);
    if (own->bytes > 0) { /* a message to itself is kept */
        VEC_PUSH(&m->kept, ((struct kept_message){x->tag, *own}));
        *own = (struct lx_message){0};
    }
    struct lx_flight *f = n > 0 ? m->link->transport->start(m->link, x->tag, m->out, m->in, st) : NULL;
    if (f) VEC_PUSH(&m->sent, f);
    for (int i = 0; i < m->p->devices; i++) team_message_room(&m->out[i], 0);
    return n == 0 || f;
}

static bool team_message_receive(struct team_device *m, const struct lx_team_message *x, int32_t n,
                                 void *output, lx_status *st)
{
    for (int32_t i = 0; i < n; i++)
        if (x[i].peer != m->link->device) team_message_room(&m->in[x[i].peer], x[i].bytes + CHECKSUM);
    bool ok = n == 0 || team_swap(m, x->tag, st);
    for (size_t i = 0; ok && n > 0 && i < m->kept.count; i++) {
        if (m->kept.at[i].tag != x->tag) continue;
        m->in[m->link->device] = m->kept.at[i].what;
        m->kept.at[i] = m->kept.at[--m->kept.count];
        break;
    }
    for (int32_t i = 0; ok && i < n; i++) ok = team_message_unload(m, &x[i], output, st);
    team_messages_clear(m);
    return ok;
}

/* Messages of an op are consecutive. */
bool team_host_op(void *context, int32_t op, const void *const *inputs, void *output, lx_status *st)
{
    struct team_device *m = context;
    int32_t first = 0, n = 0;
    while (first < m->does->message_count && m->does->messages[first].op != op) first++;
    while (first + n < m->does->message_count && m->does->messages[first + n].op == op) n++;
    const struct lx_team_message *x = m->does->messages + first;
    bool sends = m->does->graph->ops[op].kind->id == LX_KIND_SEND;
    return sends ? team_message_send(m, x, n, inputs, st) : team_message_receive(m, x, n, output, st);
}

/* Elements of a tensor's own block; zeros if the device has none. */
static void team_gather_own(struct team_device *m, int32_t t, struct lx_message *to)
{
    struct lx_team_box own = lx_team_own(m->p, t, m->link->device);
    int64_t bytes = team_items_bytes(m->p->graph->tensors[t].dtype, &own);
    team_message_room(to, bytes);
    if (bytes > 0 && m->outputs[t]) memcpy(to->data, m->outputs[t], (size_t)bytes);
}

/* Whether the device is the first owner of a part that device 0 lacks. */
static bool team_gather_owns(const struct team_device *m, int32_t t, int device)
{
    return !lx_team_is_replicated(&m->p->tensors[t]) &&
           lx_team_serves(&m->p->grid, &m->p->tensors[t], device, 0);
}

static bool team_gather_tensor(struct team_device *m, int32_t t, void **whole, lx_status *st)
{
    const struct lx_tensor *x = &m->p->graph->tensors[t];
    struct lx_team_box all = lx_team_box_of(x->rank, x->shape);
    int me = m->link->device, others = me == 0 ? m->p->devices : 0;
    if (me == 0) {
        *whole = mem_zeroed(1, (size_t)team_items_bytes(x->dtype, &all) + 1);
        team_gather_own(m, t, &m->in[0]);
    } else if (team_gather_owns(m, t, me))
        team_gather_own(m, t, &m->out[0]);
    for (int i = 1; i < others; i++) {
        struct lx_team_box part = lx_team_own(m->p, t, i);
        if (team_gather_owns(m, t, i)) team_message_room(&m->in[i], team_items_bytes(x->dtype, &part));
    }
    bool ok = team_swap(m, lx_team_tag_output(m->p, t), st);
    for (int i = 0; ok && i < others; i++) {
        struct lx_team_box part = lx_team_own(m->p, t, i);
        if (m->in[i].bytes > 0) team_items_put(*whole, x->shape, &part, x->dtype, m->in[i].data);
    }
    team_messages_clear(m);
    return ok;
}

bool team_gather_outputs(struct team_device *m, lx_status *st)
{
    const struct lx_graph *g = m->p->graph;
    bool ok = true;
    for (int32_t t = 0; ok && t < g->tensor_count; t++)
        if (lx_role_leaves(g->tensors[t].role)) ok = team_gather_tensor(m, t, &m->whole[t], st);
    return ok;
}

bool team_gather_accounts(struct team_device *m, struct lx_team_account *accounts, lx_status *st)
{
    int me = m->link->device, others = me == 0 ? m->p->devices : 0;
    int64_t bytes = (int64_t)sizeof *accounts;
    if (me != 0) {
        team_message_room(&m->out[0], bytes);
        memcpy(m->out[0].data, &m->account, (size_t)bytes);
    }
    for (int i = 1; i < others; i++) team_message_room(&m->in[i], bytes);
    bool ok = team_swap(m, lx_team_tag_output(m->p, m->p->graph->tensor_count), st);
    for (int i = 0; ok && i < others; i++) {
        accounts[i] = m->account;
        if (i > 0) memcpy(&accounts[i], m->in[i].data, (size_t)bytes);
    }
    team_messages_clear(m);
    return ok;
}
