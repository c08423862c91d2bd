/* What travels between devices, in the graph of one of them.
 *
 * A send hands over tensors of the device, or parts of them, each to one or more devices; a receive brings a tensor, of
 * which each part comes from one device. Both work on HBM: what is on chip and to be sent is stored or sliced off into
 * HBM, and what has arrived is read from there. A halo arrives in parts around what is owned, which can be computed
 * with before. Any other box arrives as one tensor, the own part of it by a message of the device to itself, which no
 * link carries: so devices with parts of the same sizes do the same, wherever they stand, and are planned once.
 *
 * Partial results are combined on the devices. Every device is in charge of a share of the output: it gets that
 * share of everyone's part in one tensor, reduces that in the order of the devices, and sends
 * the result to all. So every device has the same bits, on every transport. */
#include "team/device_maker.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>

static bool device_exchange_note(struct maker *k, int operand, int peer, int tag, int32_t t,
                                 const struct lx_team_box *at)
{
    struct lx_team_message m = {.op = (int32_t)k->b.ops.count, /* that is added next */
                                .operand = operand,
                                .peer = peer,
                                .tag = tag,
                                .at = *at,
                                .bytes = team_bytes(&k->p->graph->tensors[t], at)};
    return VEC_PUSH(&k->messages, m) ? true : status_no_memory(k->st);
}

static struct lx_team_box from_zero(const struct lx_team_box *box)
{
    struct lx_team_box b = *box;
    for (int d = 0; d < b.rank; d++) b.offset[d] = 0;
    return b;
}

/* The op that sends what has been noted since. */
static bool add_send(struct maker *k, int32_t t, const int32_t *inputs, int count)
{
    static const int64_t one = 1;
    const struct lx_tensor *x = &k->p->graph->tensors[t];
    const char *name = maker_name(k, x->name, "sent");
    int32_t done = name ? builder_tensor(&k->b, name, LX_INTERMEDIATE, x->dtype, 1, &one, 0, k->st) : -1;
    struct lx_op op = {.name = name,
                       .kind = lx_kind_at(LX_KIND_SEND),
                       .input_count = count,
                       .inputs = inputs,
                       .output = done};
    return name && done < 0 ? false : maker_op(k, &op);
}

/* Are the boxes so much of what the device holds that it may as well be read as a whole? */
static bool sends_most(const struct maker *k, const struct lx_team_box *held, const struct lx_team_box *give)
{
    int64_t elements = 0;
    for (int m = 0; m < k->p->devices; m++) {
        bool again = false;
        for (int other = 0; other < m && !again; other++) again = lx_team_box_equal(&give[other], &give[m]);
        if (!again) elements += lx_team_box_elements(&give[m]);
    }
    return 2 * elements >= lx_team_box_elements(held);
}

/* All that is sent is part of one tensor. */
static bool send_parts(struct maker *k, int32_t t, int tag, const struct lx_team_box *held,
                       const struct lx_team_box *give)
{
    int32_t local = maker_fetch(k, -1, t, -1, held);
    if (local < 0) return false;
    for (int m = 0; m < k->p->devices; m++) {
        struct lx_team_box at = give[m];
        if (lx_team_box_empty(&at)) continue;
        for (int d = 0; d < at.rank; d++) at.offset[d] -= held->offset[d];
        if (!device_exchange_note(k, 0, m, tag, t, &at)) return false;
    }
    return add_send(k, t, &local, 1);
}

/* Each box is a tensor of its own; equal ones are one input. */
static bool send_slices(struct maker *k, int32_t t, int tag, const struct lx_team_box *give)
{
    int32_t inputs[LX_MAX_INPUTS], local[LX_TEAM_DEVICES];
    int count = 0;
    for (int m = 0; m < k->p->devices; m++) { /* slices first: messages belong to the op that comes next */
        local[m] = -1;
        if (lx_team_box_empty(&give[m])) continue;
        local[m] = maker_fetch(k, -1, t, -1, &give[m]);
        if (local[m] < 0) return false;
    }
    for (int m = 0; m < k->p->devices; m++) {
        if (local[m] < 0) continue;
        int i = 0;
        while (i < count && inputs[i] != local[m]) i++;
        if (i == LX_MAX_INPUTS) {
            if (!add_send(k, t, inputs, count)) return false;
            i = count = 0;
        }
        inputs[i] = local[m];
        count = i == count ? count + 1 : count;
        struct lx_team_box all = from_zero(&give[m]);
        if (!device_exchange_note(k, i, m, tag, t, &all)) return false;
    }
    return count == 0 || add_send(k, t, inputs, count);
}

/* A box for each device, of which an empty one is not sent, of what this one holds. */
static bool send_boxes(struct maker *k, int32_t t, int tag, const struct lx_team_box *held,
                       const struct lx_team_box *give)
{
    bool any = false;
    for (int m = 0; m < k->p->devices; m++) any |= !lx_team_box_empty(&give[m]);
    if (!any) return true;
    return sends_most(k, held, give) ? send_parts(k, t, tag, held, give) : send_slices(k, t, tag, give);
}

/* A halo leaves what is owned where it is. */
static bool in_parts(const struct lx_team_exchange *x)
{
    return x->pattern == LX_TEAM_HALO;
}

bool maker_start(struct maker *k, int32_t e)
{
    const struct lx_team_exchange *x = &k->p->exchanges[e];
    struct lx_team_box own = lx_team_own(k->p, x->tensor, k->device);
    struct lx_team_box *give = mem_zeroed((size_t)k->p->devices, sizeof *give);
    if (!give) return status_no_memory(k->st);
    for (int m = 0; m < k->p->devices; m++) {
        give[m] = lx_team_sent(&k->p->grid, &k->p->graph->tensors[x->tensor], &k->p->tensors[x->tensor], x,
                               k->device, m);
        if (m == k->device && in_parts(x)) give[m] = (struct lx_team_box){.rank = 1};
    }
    bool ok = send_boxes(k, x->tensor, lx_team_tag_exchange(k->p, e), &own, give);
    mem_free(give);
    return ok;
}

static int32_t add_receive(struct maker *k, const char *name, int32_t t, const struct lx_team_box *box)
{
    int32_t to = maker_tensor(k, name, t, LX_INTERMEDIATE, box);
    struct lx_op op = {.name = name, .kind = lx_kind_at(LX_KIND_RECEIVE), .output = to};
    return to >= 0 && maker_op(k, &op) ? to : -1;
}

/* A part of the exchange's box: from everyone who owns some of it. */
static bool receive_part(struct maker *k, int32_t e, const char *side, const struct lx_team_box *part)
{
    int32_t t = k->p->exchanges[e].tensor;
    if (lx_team_box_empty(part)) return true;
    for (int m = 0; m < k->p->devices; m++) {
        struct lx_team_box theirs = lx_team_sent(&k->p->grid, &k->p->graph->tensors[t], &k->p->tensors[t],
                                                 &k->p->exchanges[e], m, k->device);
        if (lx_team_box_empty(&theirs)) continue;
        struct lx_team_box at = lx_team_box_meet(&theirs, part);
        if (lx_team_box_empty(&at)) continue;
        for (int d = 0; d < at.rank; d++) at.offset[d] -= part->offset[d];
        if (!device_exchange_note(k, -1, m, lx_team_tag_exchange(k->p, e), t, &at)) return false;
    }
    int32_t to = add_receive(k, maker_name(k, k->p->graph->tensors[t].name, side), t, part);
    if (to < 0) return false;
    return VEC_PUSH(&k->arrived[e], (struct holding){to, *part}) ? true : status_no_memory(k->st);
}

/* Of what lies beside the own part along a dimension, what lies beside it along no other. */
static struct lx_team_box without_corners(const struct lx_team_box *part, const struct lx_team_box *own,
                                          int dim)
{
    struct lx_team_box beside = *own;
    beside.offset[dim] = part->offset[dim];
    beside.size[dim] = part->size[dim];
    return lx_team_box_meet(part, &beside);
}

/* What lies around the own part of a halo's box arrives dimension by dimension: on its two sides along the first, then along
 * the next beside what is owned along the first, and so on; corners come with the former. */
bool maker_wait(struct maker *k, int32_t e)
{
    static const char *const sides[LX_TEAM_PARTS] = {"left", "own", "right"};
    const struct lx_team_exchange *x = &k->p->exchanges[e];
    const struct lx_tensor *t = &k->p->graph->tensors[x->tensor];
    struct lx_team_box own = lx_team_own(k->p, x->tensor, k->device), rest = x->box[k->device];
    bool ok = true;
    if (!in_parts(x)) return receive_part(k, e, "box", &rest);
    for (int d = 0; ok && d < t->rank && !lx_team_box_empty(&rest); d++) {
        if (!k->p->tensors[x->tensor].bound[d]) continue;
        struct lx_team_box parts[LX_TEAM_PARTS];
        int64_t own_view[LX_MAX_RANK];
        struct lx_team_array a = lx_team_array_of_box(t->rank, t->shape, d, &own);
        a = lx_team_repartition(&a, &rest, own_view);
        lx_team_parts_of(&a, parts);
        for (int i = 0; ok && i < LX_TEAM_PARTS; i++) {
            if (i == LX_TEAM_OWN) continue;
            if (x->sides) parts[i] = without_corners(&parts[i], &own, d);
            ok = receive_part(k, e, sides[i], &parts[i]);
        }
        rest = parts[LX_TEAM_OWN];
    }
    return ok;
}

static bool device_exchange_has_part(const struct lx_team_op *how, int device)
{
    return !lx_team_space_empty(&how->space[device]);
}

/* Has that device parts of the same sums as this one? */
static bool adds_here(const struct maker *k, int32_t o, int m)
{
    struct op_index x;
    op_index_of(k->p->graph, &k->p->graph->ops[o], &x);
    return team_adds_with(&k->p->grid, &x, k->p->ops[o].var, k->device, m);
}

/* "zabc->abc" */
static const char *reduction_of(struct maker *k, int rank)
{
    static const char letters[] = "abcdefgh";
    return arena_format(k->b.memory, "z%.*s->%.*s", rank, letters, rank, letters);
}

/* Parts of the share, one behind the other in a tensor with a dimension more; -1: `st` is set, or there are none. */
static int32_t receive_terms(struct maker *k, int32_t o, const struct lx_team_box *share)
{
    const struct lx_op *op = &k->p->graph->ops[o];
    const struct lx_tensor *t = &k->p->graph->tensors[op->output];
    struct lx_team_box at = {.rank = t->rank + 1, .size = {1}};
    for (int d = 0; d < t->rank; d++) at.size[d + 1] = share->size[d];
    for (int m = 0; m < k->p->devices; m++) {
        if (!adds_here(k, o, m) || !device_exchange_has_part(&k->p->ops[o], m)) continue;
        if (!device_exchange_note(k, -1, m, lx_team_tag_combine(k->p, o, 0), op->output, &at)) return -1;
        at.offset[0]++;
    }
    const char *name = maker_name(k, op->name, "terms");
    at.size[0] = at.offset[0];
    int32_t to = name ? builder_tensor(&k->b, name, LX_INTERMEDIATE, t->dtype, at.rank, at.size, 0, k->st)
                      : (status_no_memory(k->st), -1);
    struct lx_op receive = {.name = name, .kind = lx_kind_at(LX_KIND_RECEIVE), .output = to};
    return to >= 0 && maker_op(k, &receive) ? to : -1;
}

/* This device's share of the result: everyone's parts in the order of the devices. */
static bool sum_share(struct maker *k, int32_t o, const struct lx_team_box *share, bool is_all, int32_t *sum)
{
    const struct lx_op *op = &k->p->graph->ops[o];
    const char *name = maker_name(k, op->name, "sum");
    int32_t terms = receive_terms(k, o, share);
    *sum = terms < 0 ? -1
           : is_all  ? maker_named(k, op->output)
                     : maker_tensor(k, name, op->output, LX_INTERMEDIATE, share);
    struct lx_op add = {.name = name,
                        .kind = team_picks(op) ? op->kind : lx_kind_at(LX_KIND_SUM),
                        .einsum = reduction_of(k, share->rank),
                        .input_count = 1,
                        .inputs = &terms,
                        .output = *sum};
    return *sum >= 0 && (add.einsum ? maker_op(k, &add) : status_no_memory(k->st));
}

/* The own block of the output is that tensor. */
static bool device_exchange_settle(struct maker *k, int32_t t, int32_t local)
{
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    struct content *c = &k->contents[t];
    c->own.count = c->made.count = 0;
    if (local < 0) return false;
    if (!VEC_PUSH(&c->own, (struct holding){local, own})) return status_no_memory(k->st);
    return maker_join(k, t) >= 0;
}

/* Shares of all devices become the output. */
static bool device_exchange_spread(struct maker *k, int32_t o, const struct lx_team_box *shares)
{
    int32_t t = k->p->graph->ops[o].output;
    struct lx_team_box own = lx_team_own(k->p, t, k->device);
    if (lx_team_box_empty(&own)) return true;
    for (int m = 0; m < k->p->devices; m++) {
        struct lx_team_box at = shares[m];
        if (lx_team_box_empty(&at)) continue;
        for (int d = 0; d < at.rank; d++) at.offset[d] -= own.offset[d];
        if (!device_exchange_note(k, -1, m, lx_team_tag_combine(k->p, o, 1), t, &at)) return false;
    }
    const char *name = maker_name(k, k->p->graph->ops[o].name, "all");
    int32_t to = maker_receives(k, t) ? maker_named(k, t) : maker_tensor(k, name, t, LX_INTERMEDIATE, &own);
    struct lx_op receive = {.name = name, .kind = lx_kind_at(LX_KIND_RECEIVE), .output = to};
    return to >= 0 && maker_op(k, &receive) && device_exchange_settle(k, t, to);
}

static bool combine_shares(struct maker *k, int32_t o, struct lx_team_box *shares, struct lx_team_box *give)
{
    int32_t t = k->p->graph->ops[o].output, sum = -1;
    struct content *c = &k->contents[t];
    const struct lx_team_box *mine = &shares[k->device];
    struct op_index x;
    op_index_of(k->p->graph, &k->p->graph->ops[o], &x);
    bool scatters = team_scatters(&k->p->grid, &x, k->p->ops[o].var, &k->p->tensors[t]), ok = true;
    c->writer = o;
    if (device_exchange_has_part(&k->p->ops[o], k->device)) {
        struct lx_team_box part =
            team_result_box(k->p->graph, &k->p->graph->ops[o], &x, &k->p->ops[o].space[k->device]);
        ok = send_boxes(k, t, lx_team_tag_combine(k->p, o, 0), &part, shares);
    }
    c->own.count = c->made.count = 0;
    if (!ok || lx_team_box_empty(mine)) return ok && (scatters || device_exchange_spread(k, o, shares));
    if (!sum_share(k, o, mine, scatters && maker_receives(k, t), &sum)) return false;
    if (scatters) return device_exchange_settle(k, t, sum);
    if (!VEC_PUSH(&c->own, (struct holding){sum, *mine})) return status_no_memory(k->st);
    for (int m = 0; m < k->p->devices; m++)
        give[m] = adds_here(k, o, m) ? *mine : (struct lx_team_box){.rank = 1};
    return send_boxes(k, t, lx_team_tag_combine(k->p, o, 1), mine, give) &&
           device_exchange_spread(k, o, shares);
}

bool maker_combine(struct maker *k, int32_t o)
{
    struct lx_team_box *boxes = mem_zeroed(2 * (size_t)k->p->devices, sizeof *boxes);
    if (!boxes) return status_no_memory(k->st);
    for (int m = 0; m < k->p->devices; m++)
        boxes[m] = adds_here(k, o, m)
                       ? team_share_of(k->p->graph, &k->p->grid, k->p->tensors, k->p->ops[o].var, o, m)
                       : (struct lx_team_box){.rank = 1};
    bool ok = combine_shares(k, o, boxes, boxes + k->p->devices);
    mem_free(boxes);
    return ok;
}
