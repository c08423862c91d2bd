#include "support/v2_oracle.h"

static bool oracle_meet(const struct lx_buffer *a, const struct lx_buffer *b)
{
    for (int32_t i = 0; i < (a->life_count ? a->life_count : 1); i++)
        for (int32_t k = 0; k < (b->life_count ? b->life_count : 1); k++) {
            int64_t s = a->life_count ? a->lives[i].start : a->start,
                    e = a->life_count ? a->lives[i].end : a->end;
            int64_t t = b->life_count ? b->lives[k].start : b->start,
                    f = b->life_count ? b->lives[k].end : b->end;
            if (s < f && t < e) return true;
        }
    return false;
}

static bool oracle_exclusive(const struct lx_problem *p, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < p->bonds.exclusive_count; i++) {
        struct lx_pair x = p->bonds.exclusive[i];
        if ((x.a == a && x.b == b) || (x.a == b && x.b == a)) return true;
    }
    return false;
}

void oracle_blocks(struct oracle *o)
{
    const struct lx_problem *p = o->p;
    for (int32_t i = 0; i < p->count; i++) o->block[i] = i;
    for (int32_t round = 0; round < p->count; round++)
        for (int32_t g = 0; g < p->bonds.same_place_count; g++)
            for (int32_t k = 0; k < p->bonds.same_place[g].count; k++)
                for (int32_t m = 0; m < p->bonds.same_place[g].count; m++) {
                    int32_t *x = &o->block[p->bonds.same_place[g].at[k]];
                    int32_t y = o->block[p->bonds.same_place[g].at[m]];
                    if (y < *x) *x = y;
                }
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = 0; k < p->count; k++)
            if (o->block[i] == o->block[k] && p->buffers[k].size > o->bytes[i])
                o->bytes[i] = p->buffers[k].size;
}

void oracle_relations(struct oracle *o)
{
    const struct lx_problem *p = o->p;
    for (int32_t a = 0; a < p->count; a++)
        for (int32_t b = 0; b < p->count; b++)
            for (int32_t x = 0; x < p->count && o->block[a] != o->block[b]; x++)
                for (int32_t y = 0; y < p->count; y++)
                    if (o->block[x] == o->block[a] && o->block[y] == o->block[b] &&
                        oracle_meet(&p->buffers[x], &p->buffers[y]) && !oracle_exclusive(p, x, y))
                        o->alive_together[a][b] = true;
    for (int32_t c = 0; c < p->count; c++)
        for (int32_t k = 0; k < p->buffers[c].parent_count; k++)
            o->edge[c][p->buffers[c].parents[k]] = o->edge[p->buffers[c].parents[k]][c] = true;
    for (int32_t i = 0; i < p->bonds.apart_count; i++)
        for (int32_t a = 0; a < p->count; a++)
            for (int32_t b = 0; b < p->count; b++)
                if (o->block[a] == o->block[p->bonds.apart[i].a] &&
                    o->block[b] == o->block[p->bonds.apart[i].b])
                    o->apart[a][b] = o->apart[b][a] = true;
    for (int32_t i = 0; i < p->bonds.staging_count; i++) o->is_staging[p->bonds.staging[i].a] = true;
}

static bool oracle_on(const struct oracle *o, int32_t i)
{
    return o->address[i] >= 0;
}

static bool oracle_share(const struct oracle *o, int32_t a, int32_t b)
{
    return oracle_on(o, a) && oracle_on(o, b) && o->pool[a] == o->pool[b] && o->bytes[a] > 0 &&
           o->bytes[b] > 0 && o->address[a] < o->address[b] + o->bytes[b] &&
           o->address[b] < o->address[a] + o->bytes[a];
}

bool oracle_pairs_legal(const struct oracle *o, int32_t i)
{
    for (int32_t k = 0; k < i; k++) {
        if (o->block[k] == o->block[i]) {
            if (oracle_on(o, i) != oracle_on(o, k) ||
                (oracle_on(o, i) && (o->pool[i] != o->pool[k] || o->address[i] != o->address[k])))
                return false;
            continue;
        }
        if (!oracle_share(o, i, k)) continue;
        if (o->apart[i][k]) return false;
        for (int32_t m = 0; m < o->p->count; m++)
            if (o->p->buffers[m].alone && (o->block[m] == o->block[i] || o->block[m] == o->block[k]))
                return false;
        if (o->alive_together[i][k] && !(o->edge[i][k] && o->address[i] == o->address[k])) return false;
    }
    return true;
}

bool oracle_reserved(const struct oracle *o, int32_t i)
{
    const struct lx_pool *q = &o->p->pools[o->pool[i]];
    for (int32_t r = 0; o->p->pool_count && r < q->reserved_count; r++) {
        const struct lx_reserved *x = &q->reserved[r];
        struct lx_buffer during = {.start = x->start, .end = x->end};
        if (o->address[i] >= x->to || x->from >= o->address[i] + o->bytes[i]) continue;
        for (int32_t m = 0; m < o->p->count; m++)
            if (o->block[m] == o->block[i] && oracle_meet(&o->p->buffers[m], &during) && o->bytes[i] > 0)
                return true;
    }
    return false;
}

static int64_t oracle_capacity(const struct oracle *o, int32_t pool)
{
    if (o->p->pool_count) return o->p->pools[pool].capacity;
    return o->p->objective == LX_HEIGHT ? LX_NO_LIMIT : o->p->capacity;
}

int64_t oracle_here(const struct oracle *o, int32_t i)
{
    const struct lx_buffer *b = &o->p->buffers[i];
    if (!oracle_on(o, i)) return b->spill_cost;
    for (int32_t k = 0; b->on_costs && k < b->pool_count; k++)
        if ((b->pools ? b->pools[k] : k) == o->pool[i]) return b->on_costs[k];
    return 0;
}

static bool oracle_triggered(const struct oracle *o, const struct lx_linked_cost *c)
{
    bool any = c->any_on.count == 0 && c->any_off.count == 0;
    for (int32_t k = 0; k < c->all_on.count; k++)
        if (!oracle_on(o, c->all_on.at[k])) return false;
    for (int32_t k = 0; k < c->all_off.count; k++)
        if (oracle_on(o, c->all_off.at[k])) return false;
    for (int32_t k = 0; k < c->any_on.count; k++) any |= oracle_on(o, c->any_on.at[k]);
    for (int32_t k = 0; k < c->any_off.count; k++) any |= !oracle_on(o, c->any_off.at[k]);
    return any;
}

bool oracle_bonds_legal(const struct oracle *o, int64_t *cost)
{
    const struct lx_bonds *b = &o->p->bonds;
    for (int32_t g = 0; g < b->together_count; g++)
        for (int32_t k = 1; k < b->together[g].count; k++)
            if (oracle_on(o, b->together[g].at[k]) != oracle_on(o, b->together[g].at[0])) return false;
    for (int32_t i = 0; i < b->staging_count; i++)
        if (oracle_on(o, b->staging[i].a) == oracle_on(o, b->staging[i].b)) return false;
    for (int32_t i = 0; i < b->linked_cost_count; i++) {
        if (!oracle_triggered(o, &b->linked_costs[i])) continue;
        if (b->linked_costs[i].cost == LX_FORBIDDEN) return false;
        *cost += b->linked_costs[i].cost;
    }
    for (int32_t i = 0; i < b->reuse_count; i++) {
        int32_t x = b->reuse[i].a, y = b->reuse[i].b;
        if (o->block[x] != o->block[y] && oracle_share(o, x, y) && !o->alive_together[x][y])
            *cost += b->reuse[i].cost;
    }
    return true;
}

int64_t oracle_height(const struct oracle *o, int32_t n)
{
    int64_t top[ORACLE_POOLS] = {0}, sum = 0;
    for (int32_t k = 0; k < o->p->pool_count; k++)
        for (int32_t r = 0; r < o->p->pools[k].reserved_count; r++)
            if (o->p->pools[k].reserved[r].to > top[k]) top[k] = o->p->pools[k].reserved[r].to;
    for (int32_t i = 0; i < n; i++)
        if (oracle_on(o, i) && o->address[i] + o->bytes[i] > top[o->pool[i]])
            top[o->pool[i]] = o->address[i] + o->bytes[i];
    for (int k = 0; k < ORACLE_POOLS; k++) sum += top[k];
    return sum;
}

static void oracle_take(struct oracle *o, int64_t cost)
{
    if (!oracle_bonds_legal(o, &cost)) return;
    int64_t value = o->p->objective == LX_HEIGHT ? oracle_height(o, o->p->count)
                    : o->p->objective == LX_FIT  ? 0
                                                 : cost;
    if (o->found && value >= o->best) return;
    o->found = true;
    o->best = value;
    memcpy(o->best_address, o->address, sizeof o->address);
    memcpy(o->best_pool, o->pool, sizeof o->pool);
}

/* Nothing that is still to be decided makes it better than this. */
static bool oracle_hopeless(const struct oracle *o, int32_t decided, int64_t cost)
{
    if (!o->found) return false;
    if (o->p->objective == LX_FIT) return true;
    return (o->p->objective == LX_HEIGHT ? oracle_height(o, decided) : cost) >= o->best;
}

static void oracle_next(struct oracle *o, int32_t i, int64_t cost)
{
    if (o->most_tries && o->tries >= o->most_tries) return;
    o->tries++;
    cost += oracle_here(o, i);
    if (!oracle_hopeless(o, i + 1, cost) && oracle_pairs_legal(o, i)) oracle_decide(o, i + 1, cost);
}

bool oracle_allows(const struct lx_buffer *b, int32_t pool)
{
    bool is_one = !b->pools;
    for (int32_t k = 0; b->pools && k < b->pool_count; k++) is_one |= b->pools[k] == pool;
    return is_one && (b->fixed < 0 || b->fixed_pool == pool);
}

void oracle_decide(struct oracle *o, int32_t i, int64_t cost)
{
    const struct lx_problem *p = o->p;
    if (i == p->count) {
        oracle_take(o, cost);
        return;
    }
    const struct lx_buffer *b = &p->buffers[i];
    int64_t step = b->alignment ? b->alignment : p->alignment;
    for (int32_t pool = 0; pool < (p->pool_count ? p->pool_count : 1) && !b->reason; pool++) {
        if (!oracle_allows(b, pool)) continue;
        int64_t capacity = oracle_capacity(o, pool), last = capacity == LX_NO_LIMIT ? o->open : capacity;
        for (int64_t at = 0; at + o->bytes[i] <= last; at += step) {
            if (b->fixed >= 0 && at != b->fixed) continue;
            o->address[i] = at;
            o->pool[i] = pool;
            if (!oracle_reserved(o, i)) oracle_next(o, i, cost);
        }
    }
    o->address[i] = -1;
    o->pool[i] = 0;
    bool placed = b->must || (p->objective != LX_SPILL && !b->reason && !o->is_staging[i]);
    if (!placed) oracle_next(o, i, cost);
}

/* May it be where it is, by itself? */
static bool oracle_place_legal(const struct oracle *o, int32_t i)
{
    const struct lx_problem *p = o->p;
    const struct lx_buffer *b = &p->buffers[i];
    int64_t step = b->alignment ? b->alignment : p->alignment, at = o->address[i];
    if (!oracle_on(o, i)) return !b->must && (p->objective == LX_SPILL || b->reason || o->is_staging[i]);
    if (b->reason || o->pool[i] < 0 || o->pool[i] >= (p->pool_count ? p->pool_count : 1)) return false;
    int64_t capacity = oracle_capacity(o, o->pool[i]);
    return oracle_allows(b, o->pool[i]) && at % step == 0 && (b->fixed < 0 || b->fixed == at) &&
           (capacity == LX_NO_LIMIT || at <= capacity - o->bytes[i]) && !oracle_reserved(o, i);
}

bool oracle_judges(struct oracle *o, const struct lx_problem *p, const int32_t *pool, const int64_t *address,
                   int64_t *value)
{
    memset(o, 0, sizeof *o);
    o->p = p;
    oracle_blocks(o);
    oracle_relations(o);
    int64_t cost = 0;
    for (int32_t i = 0; i < p->count; i++) {
        o->address[i] = address[i];
        o->pool[i] = address[i] >= 0 ? pool[i] : 0;
        if (!oracle_place_legal(o, i) || !oracle_pairs_legal(o, i)) return false;
        cost += oracle_here(o, i);
    }
    if (!oracle_bonds_legal(o, &cost)) return false;
    *value = p->objective == LX_HEIGHT ? oracle_height(o, p->count) : p->objective == LX_FIT ? 0 : cost;
    return true;
}

bool oracle_solve(struct oracle *o, const struct lx_problem *p, int64_t most_tries)
{
    memset(o, 0, sizeof *o);
    o->p = p;
    o->most_tries = most_tries;
    oracle_blocks(o);
    oracle_relations(o);
    o->open = 40;
    for (int32_t i = 0; i < p->count; i++)
        o->open +=
            p->buffers[i].size + 2 * (p->buffers[i].alignment ? p->buffers[i].alignment : p->alignment);
    oracle_decide(o, 0, 0);
    return !most_tries || o->tries < most_tries;
}
