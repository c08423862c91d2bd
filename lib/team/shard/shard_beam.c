/* Drops choices beyond the beam's width. Choices are ranked by their cost plus the least cost of the next
 * reader of each live tensor.
 *
 * Without this outlook most choices cost the same until their results are read together (the projections of
 * an attention), and matching choices were dropped. The outlook only ranks; costs stay the same. A choice
 * without any sharding is always kept: if it can be computed to the end, a narrow beam never gets stuck. */
#include "team/shard/shard_layers.h"

struct ranked {
    struct shard_cost cost;
    int32_t h;
    bool by_time;
};

/* An op that reads live tensors: slot per input (-1: not live yet), and its ways once needed. */
struct reader {
    int32_t o;
    int slot[LX_MAX_OPERANDS];
    bool has_ways;
    shard_ways ways;
};

/* Cached least cost of a reader with tensors in these slots, from these writers. */
struct shard_outlook {
    uint64_t key; /* 0: empty; equal keys count as equal entries */
    struct shard_cost cost;
};
enum { OUTLOOKS = 1 << 14 };

/* Cost of readers whose inputs the current op does not touch: equal for all choices with one parent. */
struct untouched {
    bool known;
    struct shard_cost cost;
};

struct outlook {
    const struct shard_beam *b;
    const struct layer *l;
    VEC(struct reader) readers[2]; /* the second: readers with inputs that the current op touches */
    struct untouched *untouched;   /* per choice before the op */
    struct shard_outlook *table;
};

static void shard_beam_add_reader(struct outlook *k, int32_t o)
{
    const struct lx_op *op = &k->b->q->g->ops[o], *now = &k->b->q->g->ops[k->b->o];
    struct reader r = {.o = o};
    bool touched = false;
    for (int i = 0; i < op->input_count; i++) {
        int slot = k->l->live - 1;
        while (slot >= 0 && k->l->tensors[slot] != op->inputs[i]) slot--;
        r.slot[i] = slot;
        for (int n = 0; n < op_operand_count(now); n++) touched |= op_operand(now, n) == op->inputs[i];
    }
    for (size_t i = 0; i < k->readers[touched].count; i++)
        if (k->readers[touched].at[i].o == o) return;
    VEC_PUSH(&k->readers[touched], r);
}

static struct shard_cost shard_beam_bring(const struct outlook *k, int32_t o, int i, struct shard_state in,
                                          struct shard_state var, const struct slot *slot)
{
    static const struct shard_cost nothing = {0, 0};
    struct shard_price price = shard_price_read(k->b->prices, o, i, in, var);
    if (!price.brings) return nothing;
    for (int b = 0; b < SHARD_BROUGHT; b++)
        if (slot->brought[b] == price.brings) return nothing;
    return price.cost;
}

/* Cost of reading an input: in its state, or with its best join for the way. */
static struct shard_cost shard_beam_read_cost(const struct outlook *k, int32_t o, int i,
                                              const struct shard_way *way, const struct slot *slot)
{
    const struct lx_op *op = &k->b->q->g->ops[o];
    struct shard_state joins[SHARD_JOINS];
    struct shard_cost best = {0, 0};
    if (team_reads_partial(op, way->var.at, i)) return best;
    if (slot->joined) return shard_beam_bring(k, o, i, slot->state, way->var, slot);
    int32_t t = op->inputs[i];
    int count = shard_joins_of(&k->b->q->g->tensors[t], &k->b->q->grid, slot->made, joins);
    for (int n = 0; n < count; n++) {
        struct shard_cost one =
            shard_cost_sum(shard_price_join(k->b->prices, k->b->uses->writer[t], slot->made, joins[n]),
                           shard_beam_bring(k, o, i, joins[n], way->var, slot));
        if (n == 0 || shard_cheaper(k->b->q, one, best)) best = one;
    }
    return best;
}

/* The cheapest way of a reader. */
static struct shard_cost shard_beam_reader_cost(struct outlook *k, struct reader *r, const int32_t *row)
{
    const struct shard_question *q = k->b->q;
    const struct lx_op *op = &q->g->ops[r->o];
    struct shard_cost best = {0, 0};
    bool any = false;
    if (!r->has_ways) shard_ways_of(q->g, &q->grid, r->o, k->b->uses->partial, &r->ways);
    r->has_ways = true;
    for (size_t w = 0; w < r->ways.count; w++) {
        const struct shard_way *way = &r->ways.at[w];
        bool can =
            !q->fixed[op->output] || shard_is_partial(way->out) || shard_same(q->state[op->output], way->out);
        struct shard_cost cost = shard_price_op(k->b->prices, r->o, way);
        for (int i = 0; can && i < op->input_count; i++) {
            if (r->slot[i] < 0) continue;
            const struct slot *slot = &k->b->slots->all.at[row[r->slot[i]]];
            can = !team_reads_partial(op, way->var.at, i) || shard_takes_partial(op, i, way->var, slot->made);
            if (can) cost = shard_cost_sum(cost, shard_beam_read_cost(k, r->o, i, way, slot));
        }
        if (can && (!any || shard_cheaper(q, cost, best))) best = cost, any = true;
    }
    return best;
}

static uint64_t shard_beam_mix(uint64_t key, int32_t n)
{
    key = (key ^ (uint64_t)(uint32_t)n) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static struct shard_cost shard_beam_cost_of_readers(struct outlook *k, const int32_t *row, bool touched)
{
    struct shard_cost cost = {0, 0};
    for (size_t n = 0; n < k->readers[touched].count; n++) {
        struct reader *r = &k->readers[touched].at[n];
        const struct lx_op *op = &k->b->q->g->ops[r->o];
        uint64_t key = shard_beam_mix(1, r->o);
        for (int i = 0; i < op->input_count; i++) {
            key = shard_beam_mix(key, r->slot[i] < 0 ? -1 : row[r->slot[i]]);
            if (r->slot[i] >= 0) key = shard_beam_mix(key, k->b->uses->writer[op->inputs[i]]);
        }
        key |= UINT64_C(1) << 63;
        /* newer entries replace older ones */
        struct shard_outlook *x = &k->table[(key >> 20) & (OUTLOOKS - 1)];
        if (x->key != key) *x = (struct shard_outlook){key, shard_beam_reader_cost(k, r, row)};
        cost = shard_cost_sum(cost, x->cost);
    }
    return cost;
}

static int shard_beam_by_cost(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->by_time && x->cost.us != y->cost.us) return x->cost.us < y->cost.us ? -1 : 1;
    if (x->cost.bytes != y->cost.bytes) return x->cost.bytes < y->cost.bytes ? -1 : 1;
    if (x->cost.us != y->cost.us) return x->cost.us < y->cost.us ? -1 : 1;
    return x->h < y->h ? -1 : 1;
}

static bool shard_beam_is_unsharded(const struct outlook *k, size_t h)
{
    const int32_t *row = k->l->slots.at + h * (size_t)k->l->live;
    for (int i = 0; i < k->l->live; i++)
        if (!k->b->q->fixed[k->l->tensors[i]] &&
            !shard_same(k->b->slots->all.at[row[i]].state, shard_replicated))
            return false;
    return true;
}

static bool shard_beam_rank(struct outlook *k, struct ranked *rank, bool *goes)
{
    size_t n = k->l->all.count;
    for (int i = 0; i < k->l->live; i++) {
        int32_t o = tensor_ops_after(&k->b->uses->reads, k->l->tensors[i], k->b->o);
        if (o >= 0) shard_beam_add_reader(k, o);
    }
    for (size_t h = 0; h < n; h++) {
        if (cancel_requested()) return false;
        const int32_t *row = k->l->slots.at + h * (size_t)k->l->live;
        const struct hypothesis *x = &k->l->all.at[h];
        struct untouched *u = &k->untouched[x->parent];
        if (!u->known) *u = (struct untouched){true, shard_beam_cost_of_readers(k, row, false)};
        struct shard_cost ahead = shard_cost_sum(u->cost, shard_beam_cost_of_readers(k, row, true));
        rank[h] = (struct ranked){shard_cost_sum(x->cost, ahead), (int32_t)h, k->b->q->by_time};
    }
    qsort(rank, n, sizeof *rank, shard_beam_by_cost);
    for (size_t i = 0; i < k->b->most; i++) goes[rank[i].h] = true;
    for (size_t i = k->b->most; i < n; i++)
        if (shard_beam_is_unsharded(k, (size_t)rank[i].h)) return goes[rank[i].h] = true;
    return true;
}

bool shard_drop(const struct shard_beam *b, struct layer *l, bool *dropped)
{
    size_t n = l->all.count;
    int32_t parents = 0;
    if (n <= b->most) return true;
    if (!*b->outlooks) *b->outlooks = mem_zeroed(OUTLOOKS, sizeof **b->outlooks);
    for (size_t h = 0; h < n; h++)
        if (l->all.at[h].parent >= parents) parents = l->all.at[h].parent + 1;
    struct outlook k = {
        .b = b, .l = l, .table = *b->outlooks, .untouched = mem_zeroed((size_t)parents, sizeof *k.untouched)};
    OWNED struct ranked *rank = mem_alloc(n * sizeof *rank);
    OWNED bool *goes = mem_zeroed(n, sizeof *goes);
    bool ok = shard_beam_rank(&k, rank, goes);
    if (ok) shard_layer_keep(l, goes);
    *dropped = true;
    for (int touched = 0; touched < 2; touched++) {
        for (size_t i = 0; i < k.readers[touched].count; i++) VEC_FREE(&k.readers[touched].at[i].ways);
        VEC_FREE(&k.readers[touched]);
    }
    mem_free(k.untouched);
    return ok;
}
