/* Sends and receives in the graph of one device.
 *
 * A send takes tensors, or boxes in them, each to one or more devices; each box of a received tensor comes
 * from one device. Both work on HBM. A halo arrives as sides around the own block, so the block can be used
 * earlier. Any other box arrives as one tensor. Its own part is a message of the device to itself, over no
 * link: devices with equal part sizes then have the same graph and are planned once.
 *
 * Partial sums are combined on the devices. Each device has a share of the output. It receives all partial
 * sums of that share as one tensor, reduces it in device order, and sends the result to all. So all devices
 * have the same bits, on every transport. */
#include "team/device_maker.h"

static const struct lx_team_box nothing = {.rank = 1};

/* Records a message of the next op. */
static void device_exchange_note(struct maker *k, int operand, int peer, int tag, int32_t t,
                                 const struct lx_team_box *at)
{
    VEC_PUSH(&k->messages, ((struct lx_team_message){.op = (int32_t)k->b.ops.count,
                                                     .operand = operand,
                                                     .peer = peer,
                                                     .tag = tag,
                                                     .at = *at,
                                                     .bytes = team_bytes(&k->p->graph->tensors[t], at)}));
}

/* `box` in coordinates of `within`. */
static struct lx_team_box device_exchange_local(const struct lx_team_box *box,
                                                const struct lx_team_box *within)
{
    struct lx_team_box b = *box;
    for (int d = 0; d < b.rank; d++) b.offset[d] -= within->offset[d];
    return b;
}

/* Adds the send op of the recorded messages. */
static void device_exchange_add_send(struct maker *k, int32_t t, const int32_t *inputs, int count)
{
    static const int64_t one = 1;
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    const char *name = maker_name(k, x->name, "sent");
    if (k->failed) return;
    int32_t done = builder_tensor(&k->b, name, LX_INTERMEDIATE, x->dtype, 1, &one, 0, k->st);
    struct lx_op op = builder_plain(name, LX_KIND_SEND, count, inputs, done);
    k->failed = done < 0;
    maker_op(k, &op);
}

/* Sends each box as a tensor of its own; equal boxes are one input. */
static void device_exchange_send_slices(struct maker *k, int32_t t, int tag, const struct lx_team_box *give)
{
    int32_t inputs[LX_MAX_INPUTS], local[LX_TEAM_DEVICES];
    int count = 0;
    for (int m = 0; m < k->p->devices; m++) /* slices first: messages belong to the next op */
        local[m] = lx_team_box_empty(&give[m]) ? -1 : maker_fetch(k, -1, t, -1, &give[m]);
    for (int m = 0; m < k->p->devices; m++) {
        if (local[m] < 0) continue;
        int i = 0;
        while (i < count && inputs[i] != local[m]) i++;
        if (i == LX_MAX_INPUTS) {
            device_exchange_add_send(k, t, inputs, count);
            i = count = 0;
        }
        inputs[i] = local[m];
        count = i == count ? count + 1 : count;
        struct lx_team_box all = device_exchange_local(&give[m], &give[m]);
        device_exchange_note(k, i, m, tag, t, &all);
    }
    if (count > 0) device_exchange_add_send(k, t, inputs, count);
}

/* Sends each device its box `give`, if not empty, from the box `held`. If the boxes cover most of `held`,
 * they are sent as parts of one tensor. */
static void device_exchange_send(struct maker *k, int32_t t, int tag, const struct lx_team_box *held,
                                 const struct lx_team_box *give)
{
    int64_t elements = 0;
    for (int m = 0; m < k->p->devices; m++) {
        bool again = false;
        for (int other = 0; other < m && !again; other++) again = lx_team_box_equal(&give[other], &give[m]);
        if (!again) elements += lx_team_box_elements(&give[m]);
    }
    if (2 * elements < lx_team_box_elements(held)) {
        device_exchange_send_slices(k, t, tag, give);
        return;
    }
    bool any = false;
    for (int m = 0; m < k->p->devices; m++) any |= !lx_team_box_empty(&give[m]);
    if (!any) return;
    int32_t local = maker_fetch(k, -1, t, -1, held);
    for (int m = 0; m < k->p->devices; m++) {
        struct lx_team_box at = device_exchange_local(&give[m], held);
        if (!lx_team_box_empty(&at)) device_exchange_note(k, 0, m, tag, t, &at);
    }
    device_exchange_add_send(k, t, &local, 1);
}

void maker_start(struct maker *k, int32_t e)
{
    const struct lx_team_exchange *x = &k->p->exchanges[e];
    struct lx_team_box own = lx_team_own(k->p, x->tensor, k->device);
    OWNED struct lx_team_box *give = mem_zeroed((size_t)k->p->devices, sizeof *give);
    for (int m = 0; m < k->p->devices; m++) {
        give[m] = lx_team_sent(&k->p->grid, &k->p->graph->tensors[x->tensor], &k->p->tensors[x->tensor], x,
                               k->device, m);
        if (m == k->device && x->pattern == LX_TEAM_HALO) give[m] = nothing; /* the own part stays in place */
    }
    device_exchange_send(k, x->tensor, lx_team_tag_exchange(k->p, e), &own, give);
}

static void device_exchange_add_receive(struct maker *k, const char *name, int32_t to)
{
    struct lx_op op = builder_plain(name, LX_KIND_RECEIVE, 0, NULL, to);
    maker_op(k, &op);
}

/* Receives a part of the exchange's box from all its owners. */
static void device_exchange_receive(struct maker *k, int32_t e, const char *side,
                                    const struct lx_team_box *part)
{
    int32_t t = k->p->exchanges[e].tensor;
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    if (lx_team_box_empty(part)) return;
    for (int m = 0; m < k->p->devices; m++) {
        struct lx_team_box theirs =
            lx_team_sent(&k->p->grid, x, &k->p->tensors[t], &k->p->exchanges[e], m, k->device);
        if (lx_team_box_empty(&theirs)) continue;
        struct lx_team_box met = lx_team_box_meet(&theirs, part), at = device_exchange_local(&met, part);
        if (!lx_team_box_empty(&at)) device_exchange_note(k, -1, m, lx_team_tag_exchange(k->p, e), t, &at);
    }
    const char *name = maker_name(k, x->name, side);
    int32_t to = maker_tensor(k, name, t, LX_INTERMEDIATE, part);
    device_exchange_add_receive(k, name, to);
    VEC_PUSH(&k->arrived[e], ((struct holding){to, *part}));
}

/* Sides of a halo arrive dimension by dimension: both along the first, then along the next beside the own
 * block along the first, and so on. Corners come with the earlier dimensions. */
void maker_wait(struct maker *k, int32_t e)
{
    static const char *const sides[LX_TEAM_PARTS] = {"left", "own", "right"};
    const struct lx_team_exchange *x = &k->p->exchanges[e];
    const struct lx_tensor *t = &k->p->graph->tensors[x->tensor];
    struct lx_team_box own = lx_team_own(k->p, x->tensor, k->device), rest = x->box[k->device];
    if (x->pattern != LX_TEAM_HALO) {
        device_exchange_receive(k, e, "box", &rest);
        return;
    }
    for (int d = 0; d < t->rank && !lx_team_box_empty(&rest); d++) {
        if (!k->p->tensors[x->tensor].bound[d]) continue;
        struct lx_team_box parts[LX_TEAM_PARTS];
        int64_t own_view[LX_MAX_RANK];
        struct lx_team_array a = lx_team_array_of_box(t->rank, t->shape, d, &own);
        a = lx_team_repartition(&a, &rest, own_view);
        lx_team_parts_of(&a, parts);
        for (int i = 0; i < LX_TEAM_PARTS; i++) {
            struct lx_team_box beside = own; /* the own block, moved along this dimension: no corners */
            if (i == LX_TEAM_OWN) continue;
            beside.offset[d] = parts[i].offset[d];
            beside.size[d] = parts[i].size[d];
            if (x->sides) parts[i] = lx_team_box_meet(&parts[i], &beside);
            device_exchange_receive(k, e, sides[i], &parts[i]);
        }
        rest = parts[LX_TEAM_OWN];
    }
}

/* The reduced share of this device. The partial sums are stacked along an extra dimension, in device
 * order. */
static int32_t device_exchange_sum(struct maker *k, int32_t o, const struct lx_team_box *shares, bool is_all)
{
    static const char letters[] = "abcdefgh";
    const struct lx_op *op = &k->p->graph->ops[o];
    const struct lx_tensor *t = &k->p->graph->tensors[op->output];
    const struct lx_team_box *share = &shares[k->device];
    const char *name = maker_name(k, op->name, "sum");
    struct lx_team_box at = {.rank = t->rank + 1, .size = {1}};
    for (int d = 0; d < t->rank; d++) at.size[d + 1] = share->size[d];
    struct op_index x;
    op_index_of(k->p->graph, op, &x);
    for (int m = 0; m < k->p->devices; m++) {
        if (!team_adds_with(&k->p->grid, &x, k->p->ops[o].var, k->device, m) ||
            lx_team_space_empty(&k->p->ops[o].space[m]))
            continue;
        device_exchange_note(k, -1, m, lx_team_tag_combine(k->p, o, 0), op->output, &at);
        at.offset[0]++;
    }
    at.size[0] = at.offset[0];
    const char *all = maker_name(k, op->name, "terms");
    if (k->failed) return -1;
    int32_t terms = builder_tensor(&k->b, all, LX_INTERMEDIATE, t->dtype, at.rank, at.size, 0, k->st);
    k->failed = terms < 0;
    device_exchange_add_receive(k, all, terms);
    int32_t sum =
        is_all ? maker_named(k, op->output) : maker_tensor(k, name, op->output, LX_INTERMEDIATE, share);
    struct lx_op add = builder_plain(name, team_picks(op) ? op->kind->id : LX_KIND_SUM, 1, &terms, sum);
    add.einsum = arena_format(k->b.memory, "z%.*s->%.*s", t->rank, letters, t->rank, letters);
    maker_op(k, &add);
    return sum;
}

/* Sends and receives the reduced shares; together they are the output. */
static void device_exchange_spread(struct maker *k, int32_t o, const struct lx_team_box *shares)
{
    int32_t t = k->p->graph->ops[o].output;
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    if (lx_team_box_empty(&own)) return;
    for (int m = 0; m < k->p->devices; m++) {
        struct lx_team_box at = device_exchange_local(&shares[m], &own);
        if (!lx_team_box_empty(&shares[m]))
            device_exchange_note(k, -1, m, lx_team_tag_combine(k->p, o, 1), t, &at);
    }
    const char *name = maker_name(k, k->p->graph->ops[o].name, "all");
    int32_t to = maker_receives(k, t) ? maker_named(k, t) : maker_tensor(k, name, t, LX_INTERMEDIATE, &own);
    device_exchange_add_receive(k, name, to);
    maker_hold(k, t, to, &own);
    maker_join(k, t);
}

void maker_combine(struct maker *k, int32_t o)
{
    const struct lx_team_plan *p = k->p;
    const struct lx_team_op *how = &p->ops[o];
    int32_t t = p->graph->ops[o].output;
    struct content *c = &k->contents[t];
    struct lx_team_box *shares = mem_zeroed(2 * (size_t)p->devices, sizeof *shares),
                       *give = shares + p->devices;
    const struct lx_team_box *mine = &shares[k->device];
    struct op_index x;
    op_index_of(p->graph, &p->graph->ops[o], &x);
    bool scatters = team_scatters(&p->grid, &x, how->var, &p->tensors[t]);
    for (int m = 0; m < p->devices; m++)
        shares[m] = team_adds_with(&p->grid, &x, how->var, k->device, m)
                        ? team_share_of(p->graph, &p->grid, p->tensors, how->var, o, m)
                        : nothing;
    c->writer = o;
    if (!lx_team_space_empty(&how->space[k->device])) {
        struct lx_team_box part = team_result_box(p->graph, &p->graph->ops[o], &x, &how->space[k->device]);
        device_exchange_send(k, t, lx_team_tag_combine(p, o, 0), &part, shares);
    }
    c->own.count = c->made.count = 0;
    if (!lx_team_box_empty(mine)) {
        int32_t sum = device_exchange_sum(k, o, shares, scatters && maker_receives(k, t));
        maker_hold(k, t, sum, mine);
        for (int m = 0; m < p->devices; m++)
            give[m] = team_adds_with(&p->grid, &x, how->var, k->device, m) ? *mine : nothing;
        if (scatters)
            maker_join(k, t);
        else
            device_exchange_send(k, t, lx_team_tag_combine(p, o, 1), mine, give);
    }
    if (!scatters) device_exchange_spread(k, o, shares);
    mem_free(shares);
}
