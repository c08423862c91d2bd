/* Heights of pools. One pool with given blocks: bisection between the heaviest clique and the best packing,
 * each step a question to pool_pack.c. Blocks that may be in several pools: a tree over them, the largest
 * first, pruned by the sum of the pools' lower bounds with their blocks so far. */
#include "exact/general/master.h"
#include "exact/general/pile.h"

struct heights {
    const struct blocks *b;
    struct budget *budget;
    uint64_t seed;
    struct layout now, *best;
    int32_t *members, *flexible, flexible_count;
    int64_t *least;      /* lower bound per pool: a stack, one row per depth */
    int64_t bound, lost; /* bound of the whole; least height left undecided */
};

/* A common divisor of all heights. */
static int64_t pool_heights_step_of(const struct heights *h, int32_t pool, int32_t count)
{
    const struct room *room = &h->b->rooms[pool];
    int64_t unit = 0;
    for (int32_t r = 0; r < room->reserved_count; r++) unit = gcd_i64(unit, room->reserved[r].to);
    for (int32_t k = 0; k < count; k++) {
        const struct block *b = &h->b->at[h->members[k]];
        unit = gcd_i64(gcd_i64(unit, b->size), b->align);
        if (b->pin >= 0) unit = gcd_i64(unit, b->pin);
    }
    return max_i64(unit, 1);
}

/* The least height of the pool's blocks below `cutoff`, with addresses in `now`; INT64_MAX: none. `*proved`:
 * a lower bound. */
static int64_t least_height(struct heights *h, int32_t pool, int64_t low, int64_t cutoff, int64_t *proved)
{
    int32_t count = layout_members(&h->now, h->b->count, pool, h->members);
    int64_t most = min_i64(h->b->rooms[pool].capacity, cutoff - 1), found = INT64_MAX,
            unit = pool_heights_step_of(h, pool, count);
    int64_t *trial = mem_alloc(((size_t)h->b->count + 1) * sizeof *trial), ceiling = most;
    int64_t nodes = min_i64(200000, h->budget->limit / 8);
    *proved = low;
    for (int round = 0; low <= ceiling; round++) {
        int64_t at = round == 0 ? ceiling : round == 1 ? low : low + (ceiling - low) / 2 / unit * unit;
        enum fit_result result = FIT_LIMIT;
        if (!round || !budget_spent(h->budget)) {
            struct fit_limits limits = {.nodes = budget_nodes(h->budget, nodes, count),
                                        .seed = h->seed,
                                        .stop = budget_stopped,
                                        .context = h->budget};
            struct pool_question q = {h->b, pool, at, h->members, count, NULL, limits, 0};
            result = pack_into_pool(&q, trial);
            budget_spend_nodes(h->budget, q.nodes + 1, count);
        }
        if (result == FIT_YES) {
            int64_t end = h->b->rooms[pool].reserved_end;
            for (int32_t k = 0; k < count; k++)
                end = max_i64(end, trial[h->members[k]] + h->b->at[h->members[k]].size);
            found = end;
            for (int32_t k = 0; k < count; k++) h->now.address[h->members[k]] = trial[h->members[k]];
            ceiling = max_i64(found, h->b->rooms[pool].reserved_end) - 1;
        } else {
            low = at / unit * unit + unit;
            if (result == FIT_NO) *proved = max_i64(*proved, low);
        }
    }
    mem_free(trial);
    if (found < INT64_MAX) *proved = min_i64(*proved, found);
    return found;
}

static void pool_heights_take_leaf(struct heights *h, const int64_t *least)
{
    int64_t sum = 0, rest = 0, proved_sum = 0;
    for (int32_t pool = 0; pool < h->b->pool_count; pool++) rest += least[pool];
    for (int32_t pool = 0; pool < h->b->pool_count; pool++) {
        int64_t proved;
        rest -= least[pool];
        int64_t cutoff = h->best->known ? h->best->cost - sum - rest : INT64_MAX;
        int64_t height = least_height(h, pool, least[pool], cutoff, &proved);
        proved_sum += height == INT64_MAX ? proved : min_i64(proved, height);
        if (height == INT64_MAX) {
            if (proved < min_i64(cutoff, h->b->rooms[pool].capacity + 1))
                h->lost = min_i64(h->lost, proved_sum + rest);
            return;
        }
        sum += height;
    }
    if (proved_sum < sum) h->lost = min_i64(h->lost, proved_sum);
    if (h->best->known && sum >= h->best->cost) return;
    layout_copy(h->best, &h->now, h->b->count);
    h->best->cost = sum;
    h->best->known = true;
}

static int64_t pool_heights_need_of(struct heights *h, int32_t pool)
{
    int32_t count = layout_members(&h->now, h->b->count, pool, h->members);
    h->budget->steps += 1 + count / 8;
    int64_t least = pool_least_height(h->b, pool, h->members, count);
    if (least < INT64_MAX) least = max_i64(least, h->b->rooms[pool].reserved_end);
    return least > h->b->rooms[pool].capacity ? INT64_MAX : least;
}

static int64_t pool_heights_sum_of(const struct heights *h, const int64_t *least)
{
    int64_t sum = 0;
    for (int32_t pool = 0; pool < h->b->pool_count; pool++) {
        if (least[pool] == INT64_MAX) return INT64_MAX;
        sum += least[pool];
    }
    return sum;
}

/* Chooses pools for the flexible blocks from `depth` on. */
static void pool_heights_choose(struct heights *h, int32_t depth)
{
    size_t pools = (size_t)h->b->pool_count;
    int64_t *least = h->least + (size_t)depth * pools, *next = least + pools;
    if (pool_heights_sum_of(h, least) == INT64_MAX) return;
    if (h->best->known && pool_heights_sum_of(h, least) >= h->best->cost) return;
    if (budget_stopped(h->budget) || (budget_spent(h->budget) && h->best->known)) {
        h->lost = min_i64(h->lost, pool_heights_sum_of(h, least));
        return;
    }
    if (depth == h->flexible_count) {
        pool_heights_take_leaf(h, least);
        return;
    }
    int32_t block = h->flexible[depth];
    const struct block *k = &h->b->at[block];
    for (int32_t o = k->first_option; o < k->first_option + k->option_count; o++) {
        int32_t pool = h->b->options[o].pool;
        h->now.pool[block] = pool;
        memcpy(next, least, pools * sizeof *next);
        next[pool] = pool_heights_need_of(h, pool);
        pool_heights_choose(h, depth + 1);
    }
    h->now.pool[block] = -1;
}

/* Sets the pools of placed blocks, which are fixed; blocks with several pools become flexible. False: a
 * forbidden linked cost is triggered. */
static bool pool_heights_place_all(struct heights *h)
{
    const struct blocks *b = h->b;
    for (int32_t i = 0; i < b->count; i++) {
        bool on = (b->fixed[b->at[i].variable] == 1) == b->at[i].on_if;
        h->now.pool[i] = on ? b->options[b->at[i].first_option].pool : -1;
    }
    for (int32_t k = 0; k < b->p->bonds.linked_cost_count; k++)
        if (b->p->bonds.linked_costs[k].cost == LX_FORBIDDEN && layout_triggers(b, &h->now, k)) return false;
    for (int32_t i = 0; i < b->count; i++) {
        if (h->now.pool[i] < 0 || b->at[i].option_count < 2) continue;
        int32_t at = h->flexible_count++;
        for (; at > 0 && b->at[h->flexible[at - 1]].size < b->at[i].size; at--)
            h->flexible[at] = h->flexible[at - 1];
        h->flexible[at] = i;
        h->now.pool[i] = -1;
    }
    return true;
}

void solve_heights(const struct blocks *b, struct budget *budget, uint64_t seed, struct layout *best,
                   struct lx_answer *answer)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct heights h = {.b = b, .budget = budget, .seed = seed, .best = best, .lost = INT64_MAX};
    size_t n = (size_t)b->count + 1;
    h.members = arena_array(&memory, n, sizeof *h.members);
    h.flexible = arena_array(&memory, n, sizeof *h.flexible);
    h.least = arena_array(&memory, (n + 1) * (size_t)b->pool_count, sizeof *h.least);
    layout_open(&h.now, b->count);
    if (!pool_heights_place_all(&h))
        answer->status = LX_INFEASIBLE;
    else {
        for (int32_t pool = 0; pool < b->pool_count; pool++) h.least[pool] = pool_heights_need_of(&h, pool);
        pool_heights_choose(&h, 0);
        bool none = !best->known && h.lost == INT64_MAX;
        answer->status = none ? LX_INFEASIBLE : h.lost == INT64_MAX ? LX_FEASIBLE : LX_LIMIT;
        if (!none) answer->bound = min_i64(h.lost, best->known ? best->cost : INT64_MAX);
    }
    layout_close(&h.now);
}
