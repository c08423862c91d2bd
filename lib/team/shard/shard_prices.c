/* Costs of shards, with default blocks: block_bounds.c moves these by a few rows, which changes no choice.
 * Equal ops (repeated layers) share a price. */
#include "team/shard/shard_search.h"
#include "graph/op_params.h"
#include "graph/op_walks.h"

/* In place of an input number: the op itself, with the state of its result; or a join of its result. */
enum { THE_OP = -1, THE_JOIN = -2 };

/* The price of an op class and input, or one of the above, for two states. */
struct known_price {
    uint64_t who, states; /* who 0: empty */
    struct shard_price price;
};

struct shard_prices {
    const struct lx_graph *g;
    const struct lx_team_grid *grid;
    int devices;
    bool spills;
    int32_t *class;            /* per op: the first equal op */
    struct shard_least *least; /* NULL: predictions */
    struct known_price *table;
    size_t room, count;
};

static uint64_t shard_prices_hash_tensor(uint64_t h, const struct lx_tensor *t)
{
    h = hash_number(hash_number(h, t->dtype), t->rank);
    h = hash_number(h, lx_role_arrives(t->role) + 2 * lx_role_leaves(t->role));
    for (int d = 0; d < t->rank; d++) h = hash_number(h, t->shape[d]);
    return h;
}

static uint64_t shard_prices_hash_op(const struct lx_graph *g, const struct lx_op *op)
{
    uint64_t h = hash_number(hash_number(HASH_START, op->kind->id), op->input_count);
    int rank = g->tensors[op->output].rank;
    if (op->einsum) h = hash_bytes(h, op->einsum, strlen(op->einsum));
    for (int i = 0; i < op->input_count; i++) {
        const struct lx_tensor *t = &g->tensors[op->inputs[i]];
        h = shard_prices_hash_tensor(h, t);
        rank = t->rank > rank ? t->rank : rank;
    }
    if (op->params) h = op_params_hash(h, op->params);
    if (op->views) h = op_views_hash(h, op);
    for (int i = 0; i < op->window_count; i++) {
        const struct lx_window *w = &op->windows[i];
        const int64_t said[] = {w->in, w->out, w->tap, w->size, w->stride, w->dilation, w->pad, w->hole};
        for (size_t k = 0; k < sizeof said / sizeof *said; k++) h = hash_number(h, said[k]);
    }
    for (int d = 0; op->offset && d < rank; d++) h = hash_number(h, op->offset[d]);
    for (int d = 0; op->stride && d < rank; d++) h = hash_number(h, op->stride[d]);
    for (int i = op->input_count; i < op_operand_count(op); i++)
        h = shard_prices_hash_tensor(h, &g->tensors[op_operand(op, i)]);
    return h;
}

/* Finds the first op of each hash; ops with equal hashes count as equal. */
static void shard_prices_find_classes(struct shard_prices *p)
{
    size_t n = (size_t)p->g->op_count, room = 16;
    while (room < 2 * n) room *= 2;
    OWNED uint64_t *hash = mem_zeroed(room, sizeof *hash);
    OWNED int32_t *first = mem_zeroed(room, sizeof *first);
    for (size_t o = 0; o < n; o++) {
        uint64_t h = shard_prices_hash_op(p->g, &p->g->ops[o]);
        for (int i = 0; p->least && i < op_operand_count(&p->g->ops[o]); i++)
            h = hash_number(h, shard_least_loose(p->least, op_operand(&p->g->ops[o], i)));
        h |= 1;
        size_t at = (size_t)h & (room - 1);
        while (hash[at] && hash[at] != h) at = (at + 1) & (room - 1);
        if (!hash[at]) hash[at] = h, first[at] = (int32_t)o;
        p->class[o] = first[at];
    }
}

struct shard_prices *shard_prices_make(const struct lx_graph *g, const struct lx_team_grid *grid, bool spills,
                                       struct shard_least *least)
{
    struct shard_prices *p = mem_zeroed(1, sizeof *p);
    *p = (struct shard_prices){.g = g,
                               .grid = grid,
                               .devices = lx_team_device_count(grid),
                               .spills = spills,
                               .least = least,
                               .room = 1024};
    p->class = mem_zeroed((size_t)g->op_count + 1, sizeof *p->class);
    p->table = mem_zeroed(p->room, sizeof *p->table);
    shard_prices_find_classes(p);
    return p;
}

void shard_prices_free(struct shard_prices *p)
{
    mem_free(p->class);
    mem_free(p->table);
    mem_free(p);
}

const int32_t *shard_classes(const struct shard_prices *p)
{
    return p->class;
}

static struct known_price shard_prices_key_of(const struct shard_prices *p, int32_t o, int input,
                                              struct shard_state in, struct shard_state var)
{
    struct known_price k = {.who = ((uint64_t)p->class[o] + 1) << 8 | (unsigned char)input};
    for (int a = 0; a < LX_TEAM_AXES; a++)
        k.states = k.states << 16 | (uint64_t)(unsigned char)in.at[a] << 8 | (unsigned char)var.at[a];
    return k;
}

static struct known_price *shard_prices_find(struct known_price *table, size_t room,
                                             const struct known_price *k)
{
    uint64_t h = (k->states ^ k->who * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(h ^ h >> 32) & (room - 1);
    while (table[at].who && (table[at].who != k->who || table[at].states != k->states))
        at = (at + 1) & (room - 1);
    return &table[at];
}

/* Rounds times to multiples of 2^-28 us, so that their sums are exact in any order. */
static struct shard_price shard_prices_remember(struct shard_prices *p, struct known_price *k)
{
    k->price.cost.us = ldexp(round(ldexp(k->price.cost.us, 28)), -28);
    *shard_prices_find(p->table, p->room, k) = *k;
    if (2 * ++p->count <= p->room) return k->price;
    struct known_price *larger = mem_zeroed(2 * p->room, sizeof *larger);
    for (size_t i = 0; i < p->room; i++)
        if (p->table[i].who) *shard_prices_find(larger, 2 * p->room, &p->table[i]) = p->table[i];
    mem_free(p->table);
    p->table = larger;
    p->room *= 2;
    return k->price;
}

/* The default block of a device in `what`, a dimension or variable that axes shard. */
static struct lx_team_range shard_prices_block(const struct shard_prices *p, const int shard[LX_TEAM_AXES],
                                               int what, int64_t extent, int m)
{
    struct lx_team_box b = lx_team_default_partition(lx_team_blocks(p->grid, shard, what),
                                                     lx_team_block(p->grid, shard, what, m), 1, &extent, 0);
    return (struct lx_team_range){b.offset[0], b.offset[0] + b.size[0]};
}

static struct lx_team_box shard_prices_own(const struct shard_prices *p, const struct lx_tensor *t,
                                           struct shard_state s, int m)
{
    struct lx_team_box b = lx_team_box_of(t->rank, t->shape);
    for (int a = 0; a < p->grid->axes; a++) {
        int dim = s.at[a];
        if (dim < 0) continue; /* partial sums cover the whole tensor */
        struct lx_team_range r = shard_prices_block(p, s.at, dim, t->shape[dim], m);
        b.offset[dim] = r.begin;
        b.size[dim] = r.end - r.begin;
    }
    return b;
}

static struct lx_team_space shard_prices_space(const struct shard_prices *p, const struct lx_op *op,
                                               const struct op_index *x, struct shard_state var, int m)
{
    struct lx_team_space s = {0};
    for (int a = 0; a < p->grid->axes; a++) {
        int v = var.at[a];
        if (v < 0 || team_loop_of(&s, v) >= 0) continue;
        int dim = op_index_dim(x, x->output, v);
        int64_t extent = dim >= 0 ? p->g->tensors[op->output].shape[dim] : x->extent[v];
        struct lx_team_range r = shard_prices_block(p, var.at, v, extent, m);
        s.range[s.loops] = dim >= 0 ? team_range_of_block(x, v, r) : r;
        s.var[s.loops++] = v;
    }
    return s;
}

/* Time on the links: a gather along axes, an all-to-all, or a swap with neighbours. */
static double shard_prices_bring_us(const struct shard_prices *p, struct shard_state in,
                                    struct shard_state need, double bytes)
{
    unsigned axes = 0, cut = 0;
    bool gathers = true;
    double n = 1;
    for (int a = 0; a < p->grid->axes; a++) {
        if (in.at[a] >= 0) cut |= 1u << a;
        if (in.at[a] < 0 || in.at[a] == need.at[a]) continue;
        axes |= 1u << a;
        n *= p->grid->size[a];
        gathers = gathers && need.at[a] < 0;
    }
    const struct lx_device *d = &p->g->device;
    if (n < 2) return team_swap_us(d, p->grid, cut, bytes, true);
    if (gathers) return team_gather_us(d, p->grid, axes, bytes * n / (n - 1));
    return team_swap_us(d, p->grid, axes, bytes, false);
}

static struct shard_price shard_prices_read(const struct shard_prices *p, int32_t o, int i,
                                            struct shard_state in, struct shard_state var)
{
    const struct lx_op *op = &p->g->ops[o];
    const struct lx_tensor *t = &p->g->tensors[op->inputs[i]];
    struct shard_price price = {.brings = 2166136261u};
    struct op_index x;
    int64_t most = 0;
    op_index_of(p->g, op, &x);
    for (int m = 0; m < p->devices; m++) {
        struct lx_team_space space = shard_prices_space(p, op, &x, var, m);
        struct lx_team_box own = shard_prices_own(p, t, in, m), need = team_need_box(p->g, op, &x, i, &space);
        int64_t bytes = team_missing_bytes(t, &need, &own);
        price.cost.bytes += bytes;
        most = max_i64(most, bytes);
        uint32_t h = price.brings;
        for (int d = 0; d < need.rank; d++) {
            h = (h ^ (uint32_t)need.offset[d]) * 16777619u;
            h = (h ^ (uint32_t)need.size[d]) * 16777619u;
        }
        price.brings = h;
    }
    if (price.cost.bytes == 0) return (struct shard_price){0};
    price.cost.us = shard_prices_bring_us(p, in, shard_need_of(&x, op, i, var), (double)most);
    price.brings |= 1;
    return price;
}

struct shard_price shard_price_read(struct shard_prices *p, int32_t o, int i, struct shard_state in,
                                    struct shard_state var)
{
    struct known_price k = shard_prices_key_of(p, o, i, in, var);
    const struct known_price *known = shard_prices_find(p->table, p->room, &k);
    if (known->who) return known->price;
    if (p->least)
        k.price.brings = shard_least_read(p->least, o, i, in, var, &k.price.cost.bytes);
    else
        k.price = shard_prices_read(p, o, i, in, var);
    return shard_prices_remember(p, &k);
}

struct shard_cost shard_price_bring(struct shard_prices *p, int32_t o, int i, struct shard_state in,
                                    struct shard_state var, uint32_t brought[SHARD_BROUGHT])
{
    struct shard_price price = shard_price_read(p, o, i, in, var);
    struct shard_cost more = {0, 0};
    if (!price.brings) return more;
    if (p->least) {
        brought[0] =
            shard_least_both(p->least, p->g->ops[o].inputs[i], brought[0], price.brings, &more.bytes);
        return more;
    }
    for (int b = 0; b < SHARD_BROUGHT; b++)
        if (brought[b] == price.brings) return more;
    memmove(brought + 1, brought, (SHARD_BROUGHT - 1) * sizeof *brought);
    brought[0] = price.brings;
    return price.cost;
}

/* Combines the partial sums of n devices: rings move the fewest bytes, trees have the fewest rounds. */
static struct shard_cost shard_prices_join(const struct shard_prices *p, int32_t o, struct shard_state made,
                                           struct shard_state joined)
{
    const struct lx_tensor *t = &p->g->tensors[p->g->ops[o].output];
    int64_t n = 1, rounds = 2, most = 0, all = 0;
    unsigned axes = 0;
    for (int a = 0; a < p->grid->axes; a++) {
        if (made.at[a] > LX_TEAM_PARTIAL) continue;
        n *= p->grid->size[a];
        axes |= 1u << a;
        if (joined.at[a] >= 0) rounds = 1;
    }
    if (n == 1) return (struct shard_cost){0, 0};
    for (int m = 0; m < p->devices; m++) {
        struct lx_team_box part = shard_prices_own(p, t, made, m);
        int64_t bytes = team_bytes(t, &part);
        most = max_i64(most, bytes);
        all += bytes;
    }
    return (struct shard_cost){rounds * (n - 1) * (all / n),
                               team_combine_us(&p->g->device, p->grid, axes, (double)most, rounds == 1)};
}

/* HBM bytes of an operand: all of an input or output; with `spills`, the excess of other tensors over all
 * scratchpads. */
static double shard_prices_crossing(const struct shard_prices *p, const struct lx_tensor *t,
                                    const struct lx_team_box *box, bool through)
{
    const struct lx_device *d = &p->g->device;
    double bytes = (double)team_bytes(t, box);
    if (!through) bytes -= (double)lx_device_usable(d) * (double)d->cores;
    return through || (p->spills && bytes > 0) ? bytes : 0;
}

/* Time of the busiest device: multiply-adds, or HBM bytes. */
static double shard_prices_own_us(const struct shard_prices *p, const struct lx_op *op,
                                  const struct op_index *x, struct shard_state var)
{
    const struct lx_device *d = &p->g->device;
    double worst = 0;
    for (int m = 0; m < p->devices; m++) {
        struct lx_team_space space = shard_prices_space(p, op, x, var, m);
        double steps = 1, bytes = 0;
        if (lx_team_space_empty(&space)) continue;
        for (int v = 0; x->known && v < x->var_count; v++) {
            int l = team_loop_of(&space, v);
            if (op_index_follows(x, v)) continue;
            steps *= l < 0 ? (double)x->extent[v] : (double)(space.range[l].end - space.range[l].begin);
        }
        for (int i = 0; i < op->input_count; i++) {
            const struct lx_tensor *t = &p->g->tensors[op->inputs[i]];
            struct lx_team_box need = team_need_box(p->g, op, x, i, &space);
            bytes += shard_prices_crossing(p, t, &need, lx_role_arrives(t->role));
        }
        struct lx_team_box out = team_result_box(p->g, op, x, &space);
        for (int i = op->input_count; i < op_operand_count(op); i++) {
            const struct lx_tensor *t = &p->g->tensors[op_operand(op, i)];
            bytes += shard_prices_crossing(p, t, &out, lx_role_leaves(t->role));
        }
        double compute = 2 * steps / (d->peak_gflop_per_s * 1e3 * (double)d->cores);
        double move = bytes / (d->hbm_gb_per_s * 1e3);
        worst = fmax(worst, fmax(compute, move));
    }
    return worst;
}

struct shard_cost shard_price_op(struct shard_prices *p, int32_t o, const struct shard_way *way)
{
    struct known_price k = shard_prices_key_of(p, o, THE_OP, way->out, way->var);
    const struct known_price *known = shard_prices_find(p->table, p->room, &k);
    if (known->who) return known->price.cost;
    if (p->least) return k.price.cost;
    struct op_index x;
    op_index_of(p->g, &p->g->ops[o], &x);
    k.price.cost.us = shard_prices_own_us(p, &p->g->ops[o], &x, way->var);
    return shard_prices_remember(p, &k).cost;
}

struct shard_cost shard_price_join(struct shard_prices *p, int32_t o, struct shard_state made,
                                   struct shard_state joined)
{
    struct known_price k = shard_prices_key_of(p, o, THE_JOIN, made, joined);
    const struct known_price *known = shard_prices_find(p->table, p->room, &k);
    if (known->who) return known->price.cost;
    if (p->least)
        k.price.cost.bytes = shard_least_join(p->least, o, made, joined);
    else
        k.price.cost = shard_prices_join(p, o, made, joined);
    return shard_prices_remember(p, &k).cost;
}
