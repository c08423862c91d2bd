/* Shard search over a whole graph: op by op, with every choice so far that can still matter.
 *
 * A choice matters by the states of live tensors and by the parts of them already exchanged; of choices with
 * equal states the cheapest is kept. The outcomes of an op are found once for all choices with equal operand
 * states (shard_outcomes.c). The best choices continue (shard_beam.c), so the answer is optimal unless some
 * were dropped. Ties go to the choice found first, so the answer is deterministic.
 *
 * It does not use network/beam.h, for three reasons. All layers stay in memory: repeated ones are skipped by
 * extrapolation, checked by a search far ahead, and restored if the check fails (shard_layers.c). A bound
 * drops nothing: choices beyond the width are merged into one that is as good as each (shard_bound.c). And
 * choices are in the order of finding, not of cost: reader costs are computed only if there are too many
 * choices. */
#include "team/shard/shard_layers.h"

/* For a bound: after this many outcomes the width shrinks, so that it ends within seconds. */
enum { MANY_OUTCOMES = 20000000, FEWER = 64 };

struct searcher {
    const struct shard_question *q;
    struct shard_prices *prices;
    struct layer *layers; /* one more than ops */
    struct shard_uses uses;
    bool *settled; /* per tensor: its state is in the answer */
    struct shard_slots slots;
    struct shard_repeats repeats;
    struct shard_operands at; /* the current op */
    struct shard_index index, group_index;
    struct shard_outlook *outlooks;
    size_t most;
    int64_t outcomes; /* outcomes tried */
    bool dropped, beyond;
};

/* The outcomes of choices with equal operand states. */
struct group {
    size_t begin, end;
};

/* The current op: slots of its old places; per live tensor behind it, its slot before it, or `live` plus its
 * place; groups of its choices. */
struct expansion {
    struct layer *from, *to;
    int stands[LX_MAX_OPERANDS];
    int *kept;
    int32_t *row; /* of the current choice */
    VEC(struct group) groups;
    VEC(int32_t) keys;
};

static void shard_search_note_uses(struct shard_uses *u, const struct lx_graph *g)
{
    size_t tensors = (size_t)g->tensor_count + 1;
    u->last = mem_zeroed(tensors, sizeof *u->last);
    u->writer = mem_zeroed(tensors, sizeof *u->writer);
    u->partial = mem_zeroed(tensors, sizeof *u->partial);
    u->changed = mem_zeroed(tensors, sizeof *u->changed);
    tensor_ops_make(&u->reads, g, false);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        for (int i = 0; i < op_operand_count(op); i++) u->last[op_operand(op, i)] = o;
        for (int i = op->input_count; i < op_operand_count(op); i++)
            u->changed[op_operand(op, i)] |= op_keeps_rest(op);
    }
    shard_find_partial(g, NULL, u->partial);
}

static void shard_search_note_writer(struct searcher *s, int32_t o)
{
    const struct lx_op *op = &s->q->g->ops[o];
    for (int i = op->input_count; i < op_operand_count(op); i++) s->uses.writer[op_operand(op, i)] = o;
}

static int shard_search_find_tensor(const int32_t *tensors, int count, int32_t t)
{
    for (int k = 0; k < count; k++)
        if (tensors[k] == t) return k;
    return -1;
}

/* Numbers the places of the op's operands: live tensors, then new ones. */
static void shard_search_place(struct searcher *s, struct expansion *e)
{
    struct shard_operands *p = &s->at;
    const struct lx_op *op = &s->q->g->ops[p->o];
    p->count = e->to->first_count = 0;
    for (int old = 1; old >= 0; old--) {
        for (int i = 0; i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            int stands = shard_search_find_tensor(e->from->tensors, e->from->live, t);
            if ((stands >= 0) != old) continue;
            p->at[i] = shard_search_find_tensor(p->tensor, p->count, t);
            if (p->at[i] < 0) p->tensor[p->at[i] = p->count++] = t;
            if (old) e->stands[p->at[i]] = stands;
        }
        if (old) p->old = p->count;
    }
    for (int i = p->old; i < p->count; i++) e->to->first[e->to->first_count++] = p->tensor[i];
}

/* Lists the tensors live after the op, in order of first touch. */
static void shard_search_list_live(struct searcher *s, struct expansion *e)
{
    const struct shard_operands *p = &s->at;
    size_t most = (size_t)(e->from->live + p->count) + 1;
    e->kept = mem_zeroed(most, sizeof *e->kept);
    e->row = mem_zeroed(most, sizeof *e->row);
    e->to->tensors = mem_zeroed(most, sizeof *e->to->tensors);
    for (int k = 0; k < e->from->live + e->to->first_count; k++) {
        int32_t t = k < e->from->live ? e->from->tensors[k] : e->to->first[k - e->from->live];
        int place = shard_search_find_tensor(p->tensor, p->count, t);
        if (s->uses.last[t] <= p->o) continue;
        e->kept[e->to->live] = place < 0 ? k : e->from->live + place;
        e->to->tensors[e->to->live++] = t;
    }
}

/* Adds a choice behind the op, unless an equal one costs no more. */
static void shard_search_keep(struct searcher *s, struct layer *to, const int32_t *row, struct hypothesis h)
{
    size_t live = (size_t)to->live;
    if (s->q->least && h.cost.bytes >= s->q->below) {
        s->beyond = true;
        return;
    }
    int32_t *place = shard_index_find(&s->index, to->slots.at, to->all.count, live, row);
    if (*place >= 0) {
        struct hypothesis *old = &to->all.at[*place];
        if (shard_cheaper(s->q, h.cost, old->cost)) *old = h;
        return;
    }
    *place = (int32_t)to->all.count;
    VEC_PUSH(&to->all, h);
    for (size_t k = 0; k < live; k++) VEC_PUSH(&to->slots, row[k]);
}

/* The outcomes for the operand states of choice `h`. */
static const struct group *shard_search_group_of(struct searcher *s, struct expansion *e, size_t h)
{
    int32_t key[LX_MAX_OPERANDS];
    const struct shard_operands *p = &s->at;
    for (int i = 0; i < p->old; i++)
        key[i] = e->from->slots.at[h * (size_t)e->from->live + (size_t)e->stands[i]];
    int32_t *place = shard_index_find(&s->group_index, e->keys.at, e->groups.count, (size_t)p->old, key);
    if (*place >= 0) return &e->groups.at[*place];
    *place = (int32_t)e->groups.count;
    struct group g = {.begin = e->to->outcomes.count};
    for (int i = 0; i < p->old; i++) VEC_PUSH(&e->keys, key[i]);
    shard_outcomes_add(&s->at, &s->slots, key, e->to);
    g.end = e->to->outcomes.count;
    VEC_PUSH(&e->groups, g);
    return &e->groups.at[e->groups.count - 1];
}

static bool shard_search_expand(struct searcher *s, struct layer *from, struct layer *to)
{
    struct shard_operands *p = &s->at;
    const struct lx_op *op = &s->q->g->ops[p->o];
    struct expansion e = {.from = from, .to = to};
    op_index_of(s->q->g, op, &p->x);
    shard_search_place(s, &e);
    to->operand_count = op_operand_count(op);
    p->after.count = 0;
    shard_index_clear(&s->index);
    shard_index_clear(&s->group_index);
    shard_search_list_live(s, &e);
    shard_ways_of(s->q->g, &s->q->grid, p->o, s->uses.partial, &p->ways);
    bool ok = true;
    for (size_t h = 0; ok && h < from->all.count; h++) {
        ok = !cancel_requested();
        if (ok) {
            const struct group *g = shard_search_group_of(s, &e, h);
            const struct shard_cost cost = e.from->all.at[h].cost;
            const int32_t *stood = e.from->slots.at + h * (size_t)e.from->live;
            s->outcomes += (int64_t)(g->end - g->begin);
            for (size_t n = g->begin; n < g->end; n++) {
                const struct outcome *x = &e.to->outcomes.at[n];
                const int32_t *after = s->at.after.at + n * (size_t)s->at.count;
                for (int k = 0; k < e.to->live; k++)
                    e.row[k] = e.kept[k] < e.from->live ? stood[e.kept[k]] : after[e.kept[k] - e.from->live];
                const struct shard_cost sum = shard_cost_sum(cost, x->cost);
                shard_search_keep(s, e.to, e.row, (struct hypothesis){sum, (int32_t)h, (int32_t)n});
            }
        }
    }
    shard_search_note_writer(s, p->o);
    mem_free(e.kept);
    mem_free(e.row);
    VEC_FREE(&e.groups);
    VEC_FREE(&e.keys);
    if (!shard_repeats_border(&s->repeats, p->o)) VEC_FREE(&from->slots);
    const struct shard_merger merger = {.q = s->q,
                                        .o = p->o,
                                        .uses = &s->uses,
                                        .slots = &s->slots,
                                        .index = &s->index,
                                        .l = to,
                                        .most = s->outcomes < MANY_OUTCOMES ? s->most : s->most / FEWER};
    if (ok && s->q->least) return shard_merge(&merger, &s->dropped);
    const struct shard_beam beam = {s->q, s->prices, p->o, &s->uses, &s->slots, s->most, &s->outlooks};
    return ok && shard_drop(&beam, to, &s->dropped);
}

/* The last state of a tensor is final: joined, or as made. */
static void shard_search_settle(struct searcher *s, struct shard_answer *out, int32_t t,
                                struct shard_state state)
{
    if (s->settled[t] || s->q->fixed[t]) return;
    s->settled[t] = true;
    out->tensors[t] = state;
}

static void shard_search_settle_op(struct searcher *s, struct shard_answer *out, int32_t o, size_t n)
{
    const struct layer *l = &s->layers[o + 1];
    const struct lx_op *op = &s->q->g->ops[o];
    for (int i = 0; i < l->operand_count; i++) {
        struct shard_state joined = l->joins.at[n * (size_t)l->operand_count + (size_t)i];
        if (joined.at[0] != SHARD_NOT_JOINED) shard_search_settle(s, out, op_operand(op, i), joined);
    }
    for (int i = op->input_count; i < op_operand_count(op); i++)
        shard_search_settle(s, out, op_operand(op, i), out->ways[o].out);
    for (int f = 0; f < l->first_count; f++)
        shard_search_settle(s, out, l->first[f], l->firsts.at[n * (size_t)l->first_count + (size_t)f]);
}

static bool shard_search_run(struct searcher *s, struct shard_answer *out)
{
    const int32_t ops = s->q->g->op_count;
    VEC_PUSH(&s->layers[0].all, ((struct hypothesis){{0, 0}, -1, -1}));
    for (int32_t t = 0; t < s->q->g->tensor_count; t++)
        out->tensors[t] = s->q->fixed[t] ? s->q->state[t] : shard_replicated;
    for (; s->at.o < ops; s->at.o++, out->searched++) {
        int32_t from = s->at.o;
        s->at.o = shard_repeats_go(&s->repeats, from);
        for (int32_t o = s->at.o < from ? 0 : from; o < s->at.o; o++) shard_search_note_writer(s, o);
        if (s->at.o == ops) break;
        if (!shard_search_expand(s, &s->layers[s->at.o], &s->layers[s->at.o + 1])) return false;
        if (s->layers[s->at.o + 1].all.count == 0) return out->stuck = s->at.o, false;
    }
    /* Trace back from the best choice at the end. */
    const struct lx_graph *g = s->q->g;
    const struct layer *end = &s->layers[g->op_count];
    size_t best = 0;
    for (size_t h = 1; h < end->all.count; h++)
        if (shard_cheaper(s->q, end->all.at[h].cost, end->all.at[best].cost)) best = h;
    out->cost = end->all.at[best].cost;
    for (int32_t o = g->op_count; o-- > 0;) {
        const struct layer *l = &s->layers[o + 1];
        const struct hypothesis *h = &l->all.at[best];
        shard_ways_of(g, &s->q->grid, o, s->uses.partial, &s->at.ways);
        out->ways[o] = s->at.ways.at[l->outcomes.at[h->outcome].way];
        shard_search_settle_op(s, out, o, (size_t)h->outcome);
        best = (size_t)h->parent;
    }
    return true;
}

static void shard_search_free(struct searcher *s)
{
    for (int32_t l = s->q->g->op_count; l >= 0; l--) shard_layer_free(&s->layers[l]);
    shard_repeats_free(&s->repeats);
    shard_slots_free(&s->slots);
    VEC_FREE(&s->at.ways);
    VEC_FREE(&s->at.after);
    mem_free(s->at.index.table);
    mem_free(s->index.table);
    mem_free(s->group_index.table);
    mem_free(s->layers);
    mem_free(s->outlooks);
    tensor_ops_free(&s->uses.reads);
    mem_free(s->uses.last);
    mem_free(s->uses.writer);
    mem_free(s->uses.partial);
    mem_free(s->uses.changed);
    mem_free(s->settled);
}

bool shard_search_along(const struct shard_question *q, struct shard_prices *prices, enum shard_along along,
                        size_t most, struct shard_answer *out, bool *dropped)
{
    size_t tensors = (size_t)q->g->tensor_count + 1;
    out->stuck = -1;
    out->searched = 0;
    SCOPED(shard_search_free)
    struct searcher s = {.q = q,
                         .prices = prices,
                         .most = most,
                         .layers = mem_zeroed((size_t)q->g->op_count + 1, sizeof *s.layers),
                         .settled = mem_zeroed(tensors, sizeof *s.settled),
                         .at = {.q = q, .prices = prices, .along = along}};
    s.at.uses = &s.uses;
    s.repeats = (struct shard_repeats){.q = q,
                                       .layers = s.layers,
                                       .class = shard_classes(prices),
                                       .uses = &s.uses,
                                       .from = -1,
                                       .check_at = -1};
    shard_search_note_uses(&s.uses, q->g);
    shard_repeats_find(&s.repeats);
    bool ok = shard_search_run(&s, out);
    *dropped = s.dropped;
    out->beyond = s.beyond;
    return ok;
}
