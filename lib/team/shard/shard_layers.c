/* Compares borders of layers, and copies the choices of one layer to the next: see shard_layers.h. */
#include "team/shard/shard_layers.h"

void shard_repeats_find(struct shard_repeats *r)
{
    size_t tensors = (size_t)r->q->g->tensor_count + 1;
    r->runs = lx_repeats(r->q->g, &r->run_count);
    r->twin = mem_alloc(tensors * sizeof *r->twin);
    r->of = mem_alloc(tensors * sizeof *r->of);
}

void shard_repeats_free(struct shard_repeats *r)
{
    mem_free(r->runs);
    mem_free(r->twin);
    mem_free(r->of);
}

static const struct lx_repeat *shard_layers_run_at(const struct shard_repeats *r, int32_t o)
{
    for (int32_t i = 0; i < r->run_count; i++) {
        const struct lx_repeat *x = &r->runs[i];
        if (o >= x->first && o <= x->first + x->ops * x->times && (o - x->first) % x->ops == 0) return x;
    }
    return NULL;
}

bool shard_repeats_border(const struct shard_repeats *r, int32_t o)
{
    return shard_layers_run_at(r, o) != NULL;
}

/* Whether tensor `b` of the layer from `o` on can be the counterpart of `a` in the layer before. */
static bool shard_layers_may_be_twins(const struct shard_repeats *r, int32_t a, int32_t b, int32_t o,
                                      int32_t ops)
{
    const struct lx_tensor *x = &r->q->g->tensors[a], *y = &r->q->g->tensors[b];
    const struct shard_uses *u = r->uses;
    bool alike = x->role == y->role && r->q->fixed[a] == r->q->fixed[b] &&
                 (!r->q->fixed[a] || shard_same(r->q->state[a], r->q->state[b])) &&
                 (tensor_ops_count(&u->reads, a) < 2) == (tensor_ops_count(&u->reads, b) < 2) &&
                 u->partial[a] == u->partial[b] && u->changed[a] == u->changed[b];
    return alike && (u->last[a] < o ? u->last[b] == u->last[a] + ops : u->last[b] >= o + ops);
}

/* Whether the ops from `o` on equal the layer before, with equal links. Pairs their tensors. */
static bool shard_layers_alike(struct shard_repeats *r, int32_t o, int32_t ops)
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
            if (r->twin[a] < 0 && r->of[b] < 0 && shard_layers_may_be_twins(r, a, b, o, ops))
                r->twin[a] = b, r->of[b] = a;
            alike = r->twin[a] == b;
        }
    }
    return alike;
}

/* The tensor's counterpart in the next layer; a tensor outside layers is its own. */
static int32_t shard_layers_next(const struct shard_repeats *r, int32_t t)
{
    return r->twin[t] >= 0 ? r->twin[t] : t;
}

static bool shard_layers_same_slots(const struct layer *a, const struct layer *b)
{
    return a->all.count == b->all.count && a->slots.count == b->slots.count &&
           (a->slots.count == 0 ||
            memcmp(a->slots.at, b->slots.at, a->slots.count * sizeof *a->slots.at) == 0);
}

/* The cost growth of choice `h` before op `o` over the last layer. */
static struct shard_cost shard_layers_growth(const struct shard_repeats *r, int32_t o, int32_t ops, size_t h)
{
    struct shard_cost is = r->layers[o].all.at[h].cost, was = r->layers[o - ops].all.at[h].cost;
    return (struct shard_cost){is.bytes - was.bytes, is.us - was.us};
}

/* Whether each choice before op `o` has grown as much as its ancestor one layer before. *all_same: all have
 * grown alike, so no later decision changes. */
static bool shard_layers_straight(const struct shard_repeats *r, int32_t o, int32_t ops, bool *all_same)
{
    struct shard_cost first = shard_layers_growth(r, o, ops, 0);
    *all_same = true;
    for (size_t h = 0; h < r->layers[o].all.count; h++) {
        int32_t parent = (int32_t)h;
        for (int32_t k = o; k > o - ops; k--) parent = r->layers[k].all.at[parent].parent;
        struct shard_cost grown = shard_layers_growth(r, o, ops, h),
                          was = shard_layers_growth(r, o, ops, (size_t)parent);
        if (grown.bytes != was.bytes || grown.us != was.us) return false;
        *all_same = *all_same && grown.bytes == first.bytes && grown.us == first.us;
    }
    return true;
}

/* The extrapolated cost of choice `h` before op `o`, `reach` layers later. */
static struct shard_cost shard_layers_on_line(const struct shard_repeats *r, int32_t o, int32_t ops, size_t h,
                                              int32_t reach)
{
    struct shard_cost is = r->layers[o].all.at[h].cost, grown = shard_layers_growth(r, o, ops, h);
    return (struct shard_cost){is.bytes + reach * grown.bytes, is.us + reach * grown.us};
}

/* After skipped layers, the layer before op `o` was searched: whether no choice is cheaper than
 * extrapolated. */
static bool shard_layers_lines_hold(const struct shard_repeats *r, int32_t o, int32_t ops)
{
    const struct layer *a = &r->layers[r->from], *b = &r->layers[o];
    if (!shard_layers_same_slots(a, b)) return false;
    for (size_t h = 0; h < b->all.count; h++)
        if (shard_cheaper(r->q, b->all.at[h].cost,
                          shard_layers_on_line(r, r->from, ops, h, (o - r->from) / ops)))
            return false;
    return true;
}

/* Copies the choices behind an op from one layer before. */
static void shard_layers_take(const struct shard_repeats *r, const struct layer *from, struct layer *to)
{
    *to = *from;
    to->borrowed = true;
    to->slots.at = NULL;
    to->slots.count = to->slots.room = 0;
    to->tensors = mem_alloc(((size_t)from->live + 1) * sizeof *to->tensors);
    for (int k = 0; k < to->live; k++) to->tensors[k] = shard_layers_next(r, from->tensors[k]);
    for (int f = 0; f < to->first_count; f++) to->first[f] = shard_layers_next(r, from->first[f]);
}

#define SHARD_LAYERS_COPY(to, from)                                                                          \
    do {                                                                                                     \
        (to)->at = NULL;                                                                                     \
        (to)->count = (to)->room = 0;                                                                        \
        for (size_t n = 0; n < (from)->count; n++) VEC_PUSH(to, (from)->at[n]);                              \
    } while (0)

/* Skips `reach` layers from `o` on. The border behind them is the one at `o` plus `reach` times its
 * growth. */
static void shard_layers_pass(struct shard_repeats *r, int32_t o, int32_t ops, int32_t reach)
{
    for (int32_t n = 0; n < reach; n++) {
        int32_t at = o + n * ops;
        shard_layers_alike(r, at, ops);
        for (int32_t k = 1; k <= ops; k++) shard_layers_take(r, &r->layers[at - ops + k], &r->layers[at + k]);
    }
    struct layer *to = &r->layers[o + ops * reach], mine = *to;
    to->borrowed = false;
    SHARD_LAYERS_COPY(&to->all, &mine.all);
    SHARD_LAYERS_COPY(&to->slots, &r->layers[o].slots);
    SHARD_LAYERS_COPY(&to->outcomes, &mine.outcomes);
    SHARD_LAYERS_COPY(&to->firsts, &mine.firsts);
    SHARD_LAYERS_COPY(&to->joins, &mine.joins);
    for (size_t h = 0; h < to->all.count; h++) to->all.at[h].cost = shard_layers_on_line(r, o, ops, h, reach);
}

/* The number of layers from `o` on that equal the one before and can be skipped. */
static int32_t shard_layers_passable(struct shard_repeats *r, int32_t o, const struct lx_repeat *run,
                                     bool *for_good)
{
    int32_t ops = run->ops, end = run->first + ops * run->times, n = 0;
    if (o < run->first + 2 * ops || o == r->from || o + ops > end || !shard_layers_alike(r, o, ops)) return 0;
    const struct layer *a = &r->layers[o - ops];
    if (a->live != r->layers[o].live || a->all.count == 0 || a->slots.count != a->all.count * (size_t)a->live)
        return 0;
    for (int k = 0; k < a->live; k++)
        if (shard_layers_next(r, a->tensors[k]) != r->layers[o].tensors[k]) return 0;
    if (!shard_layers_same_slots(a, &r->layers[o])) return 0;
    if (!shard_layers_straight(r, o, ops, for_good)) return 0;
    while (o + (n + 1) * ops <= end && shard_layers_alike(r, o + n * ops, ops)) n++;
    return n;
}

/* Skips the layers again, including the searched check layer; or half as many, or none. */
static int32_t shard_layers_check(struct shard_repeats *r, int32_t o, int32_t ops)
{
    bool hold = shard_layers_lines_hold(r, o, ops);
    for (int32_t k = r->from + 1; k <= o; k++) shard_layer_free(&r->layers[k]);
    r->reach = hold ? r->reach + 1 : r->reach / 2;
    r->check_at = hold || r->reach == 0 ? -1 : r->from + (r->reach + 1) * ops;
    if (r->reach > 0) shard_layers_pass(r, r->from, ops, r->reach);
    return r->from + r->reach * ops;
}

int32_t shard_repeats_go(struct shard_repeats *r, int32_t o)
{
    const struct lx_repeat *run = shard_layers_run_at(r, o);
    bool for_good = false;
    if (!run) return o;
    if (o == r->check_at) return shard_layers_check(r, o, run->ops);
    /* One layer is searched to check the others, and one behind it, because readers in the next layer count.
     * A bound must hold although choices were merged: choices merged in one layer are merged in the next if
     * all grow alike. */
    int32_t n = r->check_at < 0 ? shard_layers_passable(r, o, run, &for_good) : 0;
    int32_t reach = for_good ? n : r->q->least ? 0 : n - 2;
    if (reach < 1) return o;
    r->from = o;
    r->reach = reach;
    r->check_at = for_good ? -1 : o + (reach + 1) * run->ops;
    shard_layers_pass(r, o, run->ops, reach);
    return o + reach * run->ops;
}
