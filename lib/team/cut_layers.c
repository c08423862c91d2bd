/* Borders of layers compared, and what was found for one layer taken for the next: see cut_layers.h. */
#include "team/cut_layers.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cut_repeats_find(struct cut_repeats *r)
{
    lx_status st = {0};
    size_t tensors = (size_t)r->q->g->tensor_count + 1;
    r->runs = lx_repeats(r->q->g, &r->run_count, &st);
    r->twin = malloc(tensors * sizeof *r->twin);
    r->of = malloc(tensors * sizeof *r->of);
    return r->runs && r->twin && r->of;
}

void cut_repeats_free(struct cut_repeats *r)
{
    free(r->runs);
    free(r->twin);
    free(r->of);
}

static const struct lx_repeat *run_at(const struct cut_repeats *r, int32_t o)
{
    for (int32_t i = 0; i < r->run_count; i++) {
        const struct lx_repeat *x = &r->runs[i];
        if (o >= x->first && o <= x->first + x->ops * x->times && (o - x->first) % x->ops == 0) return x;
    }
    return NULL;
}

bool cut_repeats_border(const struct cut_repeats *r, int32_t o)
{
    return run_at(r, o) != NULL;
}

bool cut_same_slots(const struct slot *a, const struct slot *b, int count)
{
    for (int k = 0; k < count; k++) {
        if (!cut_same(a[k].made, b[k].made) || !cut_same(a[k].state, b[k].state)) return false;
        if (a[k].joined != b[k].joined || a[k].apart != b[k].apart) return false;
        for (int i = 0; i < CUT_BROUGHT; i++)
            if (a[k].brought[i] != b[k].brought[i]) return false;
    }
    return true;
}

uint64_t cut_hash_slots(const struct slot *slots, int count)
{
    uint64_t h = HASH_START;
    for (int k = 0; k < count; k++) {
        h = hash_bytes(h, slots[k].made.at, sizeof slots[k].made.at);
        h = hash_bytes(h, slots[k].state.at, sizeof slots[k].state.at);
        h = (h ^ (uint64_t)(2 * slots[k].joined + slots[k].apart)) * UINT64_C(0x100000001b3);
        for (int b = 0; b < CUT_BROUGHT; b++) h = (h ^ slots[k].brought[b]) * UINT64_C(0x100000001b3);
    }
    return h ^ h >> 31;
}

/* May tensor `b` be for the layer from `o` on what `a` is for the one before it? */
static bool may_be_twins(const struct cut_repeats *r, int32_t a, int32_t b, int32_t o, int32_t ops)
{
    const struct lx_tensor *x = &r->q->g->tensors[a], *y = &r->q->g->tensors[b];
    bool alike = x->role == y->role && r->q->fixed[a] == r->q->fixed[b] &&
                 (!r->q->fixed[a] || cut_same(r->q->state[a], r->q->state[b])) &&
                 (r->readers[a] < 2) == (r->readers[b] < 2);
    for (int i = 0; i < 2; i++) alike = alike && r->flags[i][a] == r->flags[i][b];
    return alike && (r->last[a] < o ? r->last[b] == r->last[a] + ops : r->last[b] >= o + ops);
}

/* Are the ops from `o` on like those before them, and linked alike? Their tensors are then paired up. */
static bool layers_alike(struct cut_repeats *r, int32_t o, int32_t ops)
{
    const struct lx_graph *g = r->q->g;
    bool alike = true;
    memset(r->twin, 0xff, (size_t)g->tensor_count * sizeof *r->twin);
    memset(r->of, 0xff, (size_t)g->tensor_count * sizeof *r->of);
    for (int32_t k = o; alike && k < o + ops; k++) {
        const struct lx_op *then = &g->ops[k - ops], *now = &g->ops[k];
        alike = r->class[k - ops] == r->class[k] && op_operand_count(then) == op_operand_count(now);
        for (int i = 0; alike && i < op_operand_count(then); i++) {
            int32_t a = op_operand(then, i), b = op_operand(now, i);
            if (r->twin[a] < 0 && r->of[b] < 0 && may_be_twins(r, a, b, o, ops)) r->twin[a] = b, r->of[b] = a;
            alike = r->twin[a] == b;
        }
    }
    return alike;
}

/* What a tensor is called in the next layer: those that no layer touches are the same. */
static int32_t next_name(const struct cut_repeats *r, int32_t t)
{
    return r->twin[t] >= 0 ? r->twin[t] : t;
}

static bool costs_alike(const struct layer *a, const struct layer *b, struct cut_cost *more)
{
    *more = (struct cut_cost){b->all.at[0].cost.bytes - a->all.at[0].cost.bytes,
                              b->all.at[0].cost.us - a->all.at[0].cost.us};
    for (size_t h = 0; h < a->all.count; h++) {
        double us = b->all.at[h].cost.us - a->all.at[h].cost.us;
        if (b->all.at[h].cost.bytes - a->all.at[h].cost.bytes != more->bytes) return false;
        if (fabs(us - more->us) > 1e-9 * (1 + fabs(b->all.at[h].cost.us))) return false;
    }
    return true;
}

static bool borders_alike(const struct cut_repeats *r, const struct layer *a, const struct layer *b,
                          struct cut_cost *more)
{
    if (a->all.count != b->all.count || a->live != b->live || a->all.count == 0) return false;
    if (a->slots.count != b->slots.count || a->slots.count != a->all.count * (size_t)a->live) return false;
    for (int k = 0; k < a->live; k++)
        if (next_name(r, a->tensors[k]) != b->tensors[k]) return false;
    return costs_alike(a, b, more) && cut_same_slots(a->slots.at, b->slots.at, (int)a->slots.count);
}

/* What stands behind an op, as one layer before. */
static bool take(const struct cut_repeats *r, const struct layer *from, struct layer *to)
{
    *to = *from;
    to->borrowed = true;
    to->slots.at = NULL;
    to->slots.count = to->slots.room = 0;
    to->tensors = malloc(((size_t)from->live + 1) * sizeof *to->tensors);
    for (int k = 0; to->tensors && k < to->live; k++) to->tensors[k] = next_name(r, from->tensors[k]);
    for (int f = 0; f < to->first_count; f++) to->first[f] = next_name(r, from->first[f]);
    return to->tensors != NULL;
}

/* The border behind a layer that was taken: it is searched on from. */
static bool take_border(const struct layer *from, struct layer *to, struct cut_cost more)
{
    struct layer mine = *to;
    memset(&to->all, 0, sizeof to->all);
    memset(&to->firsts, 0, sizeof to->firsts);
    memset(&to->joins, 0, sizeof to->joins);
    to->borrowed = false;
    bool ok = true;
    for (size_t h = 0; ok && h < mine.all.count; h++) {
        struct hypothesis x = mine.all.at[h];
        x.cost =
            (struct cut_cost){from->all.at[h].cost.bytes + more.bytes, from->all.at[h].cost.us + more.us};
        ok = VEC_PUSH(&to->all, x);
    }
    for (size_t i = 0; ok && i < from->slots.count; i++) ok = VEC_PUSH(&to->slots, from->slots.at[i]);
    for (size_t i = 0; ok && i < mine.firsts.count; i++) ok = VEC_PUSH(&to->firsts, mine.firsts.at[i]);
    for (size_t i = 0; ok && i < mine.joins.count; i++) ok = VEC_PUSH(&to->joins, mine.joins.at[i]);
    return ok;
}

int32_t cut_repeats_go(struct cut_repeats *r, int32_t o, bool *ok)
{
    const struct lx_repeat *run = run_at(r, o);
    struct cut_cost more;
    if (!run || o < run->first + 2 * run->ops) return o;
    int32_t ops = run->ops, end = run->first + run->ops * run->times;
    for (bool known = false; *ok && o + ops <= end; o += ops) {
        if (!layers_alike(r, o, ops)) break;
        if (!known && !borders_alike(r, &r->layers[o - ops], &r->layers[o], &more)) break;
        known = true;
        for (int32_t k = 1; *ok && k <= ops; k++) *ok = take(r, &r->layers[o - ops + k], &r->layers[o + k]);
        *ok = *ok && take_border(&r->layers[o], &r->layers[o + ops], more);
    }
    return o;
}
