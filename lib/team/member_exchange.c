/* What travels between members, in the graph of one of them.
 *
 * A send hands over tensors of the member, each to one or more others; a receive brings a tensor, of which
 * each part comes from another member. Both work on HBM: what is on chip and to be sent is sliced off into
 * HBM, and what has arrived is read from there.
 *
 * Partial results are combined on the devices. Every member is in charge of a share of the output: it gets that
 * share of everyone's part, accumulates them in the order of the members, in the tensor's own type, and sends
 * the result to all. So every member has the same bits, on every transport. */
#include "team/member_maker.h"
#include "base/fail.h"

#include <stdlib.h>

static bool note(struct maker *k, int operand, int peer, int tag, int32_t t, const struct lx_team_box *at)
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

/* A box for each member, of which an empty one is not sent; equal ones are one input. */
static bool send_boxes(struct maker *k, int32_t t, int tag, const struct lx_team_box *give)
{
    int32_t inputs[LX_MAX_INPUTS], local[LX_TEAM_MEMBERS];
    int count = 0;
    for (int m = 0; m < k->p->members; m++) { /* slices first: messages belong to the op that comes next */
        local[m] = -1;
        if (m == k->member || lx_team_box_empty(&give[m])) continue;
        local[m] = maker_fetch(k, -1, t, -1, &give[m]);
        if (local[m] < 0) return false;
    }
    for (int m = 0; m < k->p->members; m++) {
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
        if (!note(k, i, m, tag, t, &all)) return false;
    }
    return count == 0 || add_send(k, t, inputs, count);
}

bool maker_start(struct maker *k, int32_t e)
{
    const struct lx_team_exchange *x = &k->p->exchanges[e];
    struct lx_team_box own = lx_team_own(k->p, x->tensor, k->member);
    struct lx_team_box *give = calloc((size_t)k->p->members, sizeof *give);
    if (!give) return status_no_memory(k->st);
    for (int m = 0; m < k->p->members; m++)
        give[m] = lx_team_serves(&k->p->grid, &k->p->tensors[x->tensor], k->member, m)
                      ? lx_team_box_meet(&own, &x->box[m])
                      : (struct lx_team_box){.rank = 1};
    bool ok = send_boxes(k, x->tensor, lx_team_tag_exchange(k->p, e), give);
    free(give);
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
    for (int m = 0; m < k->p->members; m++) {
        struct lx_team_box theirs = lx_team_own(k->p, t, m), at = lx_team_box_meet(&theirs, part);
        if (m == k->member || lx_team_box_empty(&at) ||
            !lx_team_serves(&k->p->grid, &k->p->tensors[t], m, k->member))
            continue;
        for (int d = 0; d < at.rank; d++) at.offset[d] -= part->offset[d];
        if (!note(k, -1, m, lx_team_tag_exchange(k->p, e), t, &at)) return false;
    }
    int32_t to = add_receive(k, maker_name(k, k->p->graph->tensors[t].name, side), t, part);
    if (to < 0) return false;
    return VEC_PUSH(&k->arrived[e], (struct holding){to, *part}) ? true : status_no_memory(k->st);
}

/* What lies around the own part of the box arrives dimension by dimension: on its two sides along the first, then along
 * the next beside what is owned along the first, and so on; corners come with the former. */
bool maker_wait(struct maker *k, int32_t e)
{
    static const char *const sides[LX_TEAM_PARTS] = {"left", "own", "right"};
    const struct lx_team_exchange *x = &k->p->exchanges[e];
    const struct lx_tensor *t = &k->p->graph->tensors[x->tensor];
    struct lx_team_box own = lx_team_own(k->p, x->tensor, k->member), rest = x->box[k->member];
    bool ok = true;
    for (int d = 0; ok && d < t->rank && !lx_team_box_empty(&rest); d++) {
        if (!k->p->tensors[x->tensor].bound[d]) continue;
        struct lx_team_box parts[LX_TEAM_PARTS];
        int64_t own_view[LX_MAX_RANK];
        struct lx_team_array a = lx_team_array_of_box(t->rank, t->shape, d, &own);
        a = lx_team_repartition(&a, &rest, own_view);
        lx_team_parts_of(&a, parts);
        for (int i = 0; ok && i < LX_TEAM_PARTS; i++)
            if (i != LX_TEAM_OWN) ok = receive_part(k, e, sides[i], &parts[i]);
        rest = parts[LX_TEAM_OWN];
    }
    return ok;
}

static bool has_part(const struct lx_team_op *how, int member)
{
    return !lx_team_space_empty(&how->space[member]);
}

/* One of the other members' parts of this member's share, added to what there is. */
static int32_t accumulate(struct maker *k, int32_t o, int32_t sum, int32_t part,
                          const struct lx_team_box *share)
{
    const struct lx_op *op = &k->p->graph->ops[o];
    const char *name = maker_name(k, op->name, "sum");
    bool picks = op->kind->traits & LX_POINTWISE; /* the largest or the smallest */
    if (sum < 0) return part;
    int32_t to = maker_tensor(k, name, op->output, LX_INTERMEDIATE, share);
    struct lx_op add = {.name = name,
                        .kind = picks ? op->kind : lx_kind_at(LX_KIND_ADD),
                        .input_count = 2,
                        .inputs = (int32_t[]){sum, part},
                        .output = to};
    return to >= 0 && maker_op(k, &add) ? to : -1;
}

/* Has that member parts of the same sums as this one? */
static bool adds_here(const struct maker *k, int32_t o, int m)
{
    struct op_index x;
    op_index_of(k->p->graph, &k->p->graph->ops[o], &x);
    return team_adds_with(&k->p->grid, &x, k->p->ops[o].var, k->member, m);
}

/* This member's share of the result: everyone's parts in the order of the members. */
static bool sum_share(struct maker *k, int32_t o, const struct lx_team_box *share, int32_t *sum)
{
    const struct lx_op *op = &k->p->graph->ops[o];
    struct lx_team_box all = from_zero(share);
    *sum = -1;
    for (int m = 0; m < k->p->members; m++) {
        int32_t part;
        if (!adds_here(k, o, m) || !has_part(&k->p->ops[o], m)) continue;
        if (m == k->member)
            part = maker_fetch(k, -1, op->output, -1, share);
        else if (!note(k, -1, m, lx_team_tag_combine(k->p, o, 0), op->output, &all))
            return false;
        else
            part = add_receive(k, maker_name(k, op->name, "from"), op->output, share);
        if (part < 0) return false;
        *sum = accumulate(k, o, *sum, part, share);
        if (*sum < 0) return false;
    }
    return true;
}

/* Shares of all members become the output. */
static bool spread(struct maker *k, int32_t o, const struct lx_team_box *shares, int32_t sum)
{
    int32_t t = k->p->graph->ops[o].output;
    struct content *c = &k->contents[t];
    c->own.count = c->made.count = 0;
    for (int m = 0; m < k->p->members; m++) {
        int32_t local = sum;
        if (lx_team_box_empty(&shares[m])) continue;
        if (m != k->member) {
            struct lx_team_box all = from_zero(&shares[m]);
            if (!note(k, -1, m, lx_team_tag_combine(k->p, o, 1), t, &all)) return false;
            local = add_receive(k, maker_name(k, k->p->graph->ops[o].name, "share"), t, &shares[m]);
        }
        if (local < 0) return false;
        if (!VEC_PUSH(&c->own, (struct holding){local, shares[m]})) return status_no_memory(k->st);
    }
    return maker_join(k, t) >= 0;
}

/* The share is all that this member has of the result. */
static bool keep_share(struct maker *k, int32_t o, int32_t sum)
{
    const struct lx_op *op = &k->p->graph->ops[o];
    struct lx_team_box own = lx_team_own(k->p, op->output, k->member);
    struct content *c = &k->contents[op->output];
    c->own.count = c->made.count = 0;
    if (lx_team_box_empty(&own)) return true;
    if (!VEC_PUSH(&c->own, (struct holding){sum, own})) return status_no_memory(k->st);
    return maker_join(k, op->output) >= 0;
}

static bool combine_shares(struct maker *k, int32_t o, struct lx_team_box *shares, struct lx_team_box *give)
{
    int32_t t = k->p->graph->ops[o].output, sum = -1;
    struct content *c = &k->contents[t];
    const struct lx_team_box *mine = &shares[k->member];
    struct op_index x;
    op_index_of(k->p->graph, &k->p->graph->ops[o], &x);
    bool scatters = team_scatters(&k->p->grid, &x, k->p->ops[o].var, &k->p->tensors[t]);
    c->writer = o;
    if (has_part(&k->p->ops[o], k->member)) {
        if (!send_boxes(k, t, lx_team_tag_combine(k->p, o, 0), shares)) return false;
    } else
        c->own.count = c->made.count = 0;
    if (!lx_team_box_empty(mine) && !sum_share(k, o, mine, &sum)) return false;
    if (scatters) return keep_share(k, o, sum);
    if (!lx_team_box_empty(mine)) {
        c->own.count = c->made.count = 0;
        if (!VEC_PUSH(&c->own, (struct holding){sum, *mine})) return status_no_memory(k->st);
        for (int m = 0; m < k->p->members; m++)
            give[m] = adds_here(k, o, m) ? *mine : (struct lx_team_box){.rank = 1};
        if (!send_boxes(k, t, lx_team_tag_combine(k->p, o, 1), give)) return false;
    }
    return spread(k, o, shares, sum);
}

bool maker_combine(struct maker *k, int32_t o)
{
    struct lx_team_box *boxes = calloc(2 * (size_t)k->p->members, sizeof *boxes);
    if (!boxes) return status_no_memory(k->st);
    for (int m = 0; m < k->p->members; m++)
        boxes[m] = adds_here(k, o, m)
                       ? team_share_of(k->p->graph, &k->p->grid, k->p->tensors, k->p->ops[o].var, o, m)
                       : (struct lx_team_box){.rank = 1};
    bool ok = combine_shares(k, o, boxes, boxes + k->p->members);
    free(boxes);
    return ok;
}
