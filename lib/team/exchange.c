/* Chooses the boxes of tensors that are exchanged.
 *
 * A read of a sharded tensor needs a box on each device. If every device owns its box, nothing is sent.
 * Otherwise the read joins an exchange of the tensor's present contents: the box becomes the hull of both.
 * For overlapping boxes that moves fewer bytes than two exchanges, for others a few more in half as many
 * messages. Boxes stay separate only if the gap between them costs more than another message. A write of the
 * tensor makes earlier exchanges stale. */
#include "team/team_file.h"
#include "base/slot.h"

/* MESSAGE_BYTES: fixed cost of a message in bytes, about a microsecond of a link of 4 GB/s. */
enum { MESSAGE_BYTES = 4096, MOST_COUNTED = 64 };

struct open_exchange {
    struct lx_team_exchange made;
    struct lx_team_box *box;
    bool off;      /* some read needs corners: elements beyond the own block along two dimensions */
    bool far;      /* some read is a copy over a long distance */
    int32_t older; /* another exchange of the same contents, or -1 */
};

struct exchange_pass {
    struct team_draft *d;
    VEC(struct open_exchange) all;
    int32_t *latest;          /* per tensor: the newest exchange of its present contents, or -1 */
    int32_t *writer;          /* per tensor: its last writer, or -1 */
    struct lx_team_box *need; /* per device: box of the current read */
    struct lx_team_box *hull;
    bool off; /* the current read needs corners */
    bool far; /* the current read is a shift that copies, on some device */
};

static int64_t exchange_missing(const struct team_draft *d, int32_t t, const struct lx_team_box *box)
{
    int64_t bytes = 0;
    for (int m = 0; m < d->devices; m++) {
        struct lx_team_box own = team_own_box(&d->grid, &d->g->tensors[t], &d->tensors[t], m);
        bytes += team_missing_bytes(&d->g->tensors[t], &box[m], &own);
    }
    return bytes;
}

/* Number of messages that bring the devices their boxes. */
static int64_t exchange_messages(const struct team_draft *d, int32_t t, const struct lx_team_box *box)
{
    const struct lx_team_exchange x = {.tensor = t, .box = box};
    int64_t n = 0;
    for (int to = 0; to < d->devices; to++)
        for (int from = 0; from < d->devices && !lx_team_box_empty(&box[to]); from++) {
            struct lx_team_box part = lx_team_sent(&d->grid, &d->g->tensors[t], &d->tensors[t], &x, from, to);
            n += from != to && !lx_team_box_empty(&part);
        }
    return n;
}

/* Finds an exchange of the same contents that the read may join, and leaves the hull in p->hull. Joining
 * saves one message per device. For long-distance copies most of a hull may be unused, so messages are
 * counted. */
static int32_t exchange_find_partner(struct exchange_pass *p, int32_t t, int64_t bytes)
{
    const struct team_draft *d = p->d;
    if (d->how->plain) return -1;
    for (int32_t e = p->latest[t]; e >= 0; e = p->all.at[e].older) {
        const struct open_exchange *x = &p->all.at[e];
        int64_t saved = d->devices;
        for (int m = 0; m < d->devices; m++) p->hull[m] = lx_team_box_hull(&x->box[m], &p->need[m]);
        int64_t more = exchange_missing(d, t, p->hull) - x->made.bytes - bytes;
        if (more <= 0) return e;
        if (d->devices <= MOST_COUNTED && (x->far || p->far)) {
            int64_t n = exchange_messages(d, t, x->box) + exchange_messages(d, t, p->need) -
                        exchange_messages(d, t, p->hull);
            saved = max_i64(0, min_i64(n, saved));
        }
        if (more <= MESSAGE_BYTES * saved) return e;
    }
    return -1;
}

/* Adds a read of tensor `t` by op `op` to an exchange; returns the exchange's number. */
static int32_t exchange_serve(struct exchange_pass *p, int32_t t, int32_t op, int64_t bytes)
{
    struct team_draft *d = p->d;
    size_t devices = (size_t)d->devices;
    int32_t e = exchange_find_partner(p, t, bytes);
    if (e >= 0) {
        memcpy(p->all.at[e].box, p->hull, devices * sizeof *p->hull);
    } else {
        struct open_exchange x = {.older = p->latest[t]};
        x.made.tensor = t;
        x.made.after = p->writer[t];
        x.made.first_reader = op;
        x.box = arena_copy_array(d->memory, p->need, devices, sizeof *p->need);
        VEC_PUSH(&p->all, x);
        p->latest[t] = e = (int32_t)p->all.count - 1;
    }
    p->all.at[e].off |= p->off;
    p->all.at[e].far |= p->far;
    struct lx_team_exchange *made = &p->all.at[e].made;
    made->bytes = exchange_missing(d, t, p->all.at[e].box);
    made->separate_bytes += bytes;
    made->reads++;
    return e;
}

/* The exchange that brings input `i` of an op; -1: every device owns what it reads. */
static int32_t exchange_read(struct exchange_pass *p, int32_t o, const struct op_index *x, int i)
{
    struct team_draft *d = p->d;
    const struct lx_op *op = &d->g->ops[o];
    int32_t t = op->inputs[i];
    if (lx_team_is_replicated(&d->tensors[t]) || team_reads_partial(op, d->ops[o].var, i)) return -1;
    bool owned = true;
    p->off = p->far = false;
    for (int m = 0; m < d->devices; m++) {
        struct lx_team_box own = team_own_box(&d->grid, &d->g->tensors[t], &d->tensors[t], m);
        struct lx_team_box need = team_need_box(d->g, op, x, i, &d->ops[o].space[m]);
        struct lx_team_box result = team_result_box(d->g, op, x, &d->ops[o].space[m]);
        owned = owned && lx_team_box_within(&need, &own);
        p->off |= team_beside(&need, &own) > 1;
        p->far |= team_is_shift(op) && !lx_team_box_empty(&need) &&
                  team_shift_copies(&d->g->tensors[t], &result, &need);
        p->need[m] = need;
    }
    return owned ? -1 : exchange_serve(p, t, o, exchange_missing(d, t, p->need));
}

void team_count_exchange(const struct lx_graph *g, const struct lx_team_grid *grid,
                         const struct lx_team_tensor *tensors, struct arena *memory,
                         struct lx_team_exchange *e)
{
    const struct lx_tensor *t = &g->tensors[e->tensor];
    const struct lx_team_tensor *how = &tensors[e->tensor];
    int devices = lx_team_device_count(grid);
    int64_t *sent = arena_array(memory, (size_t)devices, sizeof *sent);
    int64_t *received = arena_array(memory, (size_t)devices, sizeof *received);
    struct lx_team_box all = lx_team_box_of(t->rank, t->shape);
    bool halo = true, gather = true;
    e->bytes = 0;
    for (int to = 0; to < devices; to++) {
        const struct lx_team_box *box = &e->box[to];
        if (lx_team_box_empty(box)) continue;
        struct lx_team_box mine = team_own_box(grid, t, how, to), held = lx_team_box_meet(&mine, box);
        gather = gather && lx_team_box_equal(box, &all);
        halo = halo && !lx_team_box_empty(&held);
        for (int from = 0; from < devices; from++) {
            struct lx_team_box part = lx_team_sent(grid, t, how, e, from, to);
            if (from == to || lx_team_box_empty(&part)) continue;
            int64_t bytes = team_bytes(t, &part);
            sent[from] += bytes;
            received[to] += bytes;
            for (int a = 0; a < grid->axes; a++) /* neighbours along every axis */
                halo = halo && abs(lx_team_coordinate(grid, from, a) - lx_team_coordinate(grid, to, a)) <= 1;
        }
        e->bytes += received[to];
    }
    e->pattern = gather ? LX_TEAM_GATHER : halo ? LX_TEAM_HALO : LX_TEAM_RESHAPE;
    e->sent = sent;
    e->received = received;
}

/* Drops the corners of a halo if no read needs them. */
static void exchange_count(struct team_draft *d, struct lx_team_exchange *e, bool off)
{
    team_count_exchange(d->g, &d->grid, d->tensors, d->memory, e);
    int64_t all = e->bytes;
    e->sides = e->pattern == LX_TEAM_HALO && !off && !d->how->plain;
    if (!e->sides) return;
    team_count_exchange(d->g, &d->grid, d->tensors, d->memory, e);
    e->sides = e->bytes < all;
}

static void exchange_run(struct exchange_pass *p)
{
    struct team_draft *d = p->d;
    for (int32_t o = 0; o < d->g->op_count; o++) {
        const struct lx_op *op = &d->g->ops[o];
        struct op_index x;
        slot_end_abandoned();
        op_index_of(d->g, op, &x);
        int32_t *exchange = arena_array(d->memory, (size_t)op->input_count, sizeof *exchange);
        for (int i = 0; i < op->input_count; i++) exchange[i] = exchange_read(p, o, &x, i);
        d->ops[o].exchange = exchange;
        for (int r = op->input_count; r < op_operand_count(op); r++) {
            p->latest[op_operand(op, r)] = -1;
            p->writer[op_operand(op, r)] = o;
        }
    }
    d->exchange_count = (int32_t)p->all.count;
    d->exchanges = arena_array(d->memory, p->all.count, sizeof *d->exchanges);
    for (int32_t e = 0; e < d->exchange_count; e++) {
        d->exchanges[e] = p->all.at[e].made;
        d->exchanges[e].box = p->all.at[e].box;
        exchange_count(d, &d->exchanges[e], p->all.at[e].off);
    }
}

void team_add_exchanges(struct team_draft *d)
{
    size_t tensors = (size_t)d->g->tensor_count, devices = (size_t)d->devices;
    struct exchange_pass p = {.d = d,
                              .latest = mem_alloc((tensors + 1) * sizeof *p.latest),
                              .writer = mem_alloc((tensors + 1) * sizeof *p.writer),
                              .need = mem_alloc(devices * sizeof *p.need),
                              .hull = mem_alloc(devices * sizeof *p.hull)};
    for (size_t t = 0; t < tensors; t++) p.latest[t] = p.writer[t] = -1;
    exchange_run(&p);
    VEC_FREE(&p.all);
    mem_free(p.latest);
    mem_free(p.writer);
    mem_free(p.need);
    mem_free(p.hull);
}
