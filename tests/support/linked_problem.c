#include "support/linked_problem.h"

/* A few buffers that are not marked yet. */
static struct lx_group linked_draw(struct rng *r, int32_t n, int32_t *into, uint64_t chance, bool *used)
{
    struct lx_group g = {into, 0};
    for (int32_t i = 0; i < n; i++)
        if (!used[i] && small_chance(r, chance)) {
            into[g.count++] = i;
            used[i] = true;
        }
    return g;
}

static bool linked_cost(struct linked *l, struct rng *r, int32_t c)
{
    struct lx_linked_cost *linked = &l->linked[c];
    int32_t n = l->small.problem.count;
    bool used[SMALL_MAX] = {0};
    uint64_t all = small_chance(r, 70) ? 90 / (uint64_t)n : 0, any = small_chance(r, 50) ? 25 : 0;
    linked->cost = small_chance(r, 15) ? LX_FORBIDDEN : rng_between(r, 0, 12);
    linked->all_on = linked_draw(r, n, l->list[c][0], all, used);
    linked->all_off = linked_draw(r, n, l->list[c][1], all, used);
    linked->any_on = linked_draw(r, n, l->list[c][2], any, used);
    linked->any_off = linked_draw(r, n, l->list[c][3], any, used);
    return linked->all_on.count + linked->all_off.count + linked->any_on.count + linked->any_off.count > 0;
}

void linked_random(struct linked *l, struct rng *r, int32_t n)
{
    static const int32_t only_pool[1] = {0};
    memset(l, 0, sizeof *l);
    small_random(&l->small, r, n, LX_SPILL);
    struct lx_bonds *bonds = &l->small.problem.bonds;
    uint64_t priced = small_chance(r, 50) ? 40 : 0, must = small_chance(r, 20) ? 15 : 0;
    for (int32_t i = 0; i < n; i++) {
        struct lx_buffer *b = &l->small.buffer[i];
        b->must = !b->reason && small_chance(r, must);
        if (!small_chance(r, priced)) continue;
        l->on_cost[i] = rng_between(r, 0, 10);
        b->on_costs = &l->on_cost[i];
        b->pools = only_pool;
        b->pool_count = 1;
    }
    for (int64_t want = rng_between(r, 0, LINKED_COSTS); want > 0; want--)
        bonds->linked_cost_count += linked_cost(l, r, bonds->linked_cost_count);
    bonds->linked_costs = l->linked;
    bool used[SMALL_MAX] = {0};
    for (int64_t want = small_chance(r, 30) ? rng_between(r, 1, LINKED_GROUPS) : 0; want > 0; want--) {
        struct lx_group g = linked_draw(r, n, l->member[bonds->together_count], 30, used);
        if (g.count >= 2) l->group[bonds->together_count++] = g;
    }
    bonds->together = l->group;
}

/* How many of a group are placed. */
static int32_t linked_on(const struct lx_group *g, const int64_t *address)
{
    int32_t on = 0;
    for (int32_t k = 0; k < g->count; k++) on += address[g->at[k]] >= 0;
    return on;
}

static bool linked_triggered(const struct lx_linked_cost *c, const int64_t *address)
{
    if (linked_on(&c->all_on, address) < c->all_on.count || linked_on(&c->all_off, address) > 0) return false;
    if (c->any_on.count + c->any_off.count == 0) return true;
    return linked_on(&c->any_on, address) > 0 || linked_on(&c->any_off, address) < c->any_off.count;
}

int64_t linked_value(const struct lx_problem *p, const int64_t *address)
{
    int64_t value = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (address[i] < 0 && b->must) return INT64_MAX;
        value += address[i] < 0 ? b->spill_cost : b->on_costs ? b->on_costs[0] : 0;
    }
    for (int32_t c = 0; c < p->bonds.linked_cost_count; c++) {
        if (!linked_triggered(&p->bonds.linked_costs[c], address)) continue;
        if (p->bonds.linked_costs[c].cost == LX_FORBIDDEN) return INT64_MAX;
        value += p->bonds.linked_costs[c].cost;
    }
    for (int32_t g = 0; g < p->bonds.together_count; g++) {
        int32_t on = linked_on(&p->bonds.together[g], address);
        if (on > 0 && on < p->bonds.together[g].count) return INT64_MAX;
    }
    return value;
}

static void linked_place(struct brute *t, int32_t i)
{
    if (i == t->p->count) {
        int64_t value = linked_value(t->p, t->address);
        if (value < t->best) t->best = value;
        return;
    }
    const struct lx_buffer *b = &t->p->buffers[i];
    int64_t step = lx_alignment_of(t->p, b);
    for (int64_t at = 0; !b->reason && at + b->size <= t->limit; at += step) {
        if (b->fixed >= 0 && at != b->fixed) continue;
        if (b->size == 0 && b->fixed < 0 && at > 0) break;
        t->address[i] = at;
        bool clash = false;
        for (int32_t k = 0; k < i && !clash; k++) clash = brute_clash(t, i, k);
        if (!clash) linked_place(t, i + 1);
    }
    t->address[i] = LX_OFF_CHIP;
    if (!b->must) linked_place(t, i + 1);
}

int64_t linked_optimum(const struct lx_problem *p)
{
    struct brute t = {.p = p, .best = INT64_MAX, .limit = p->capacity};
    linked_place(&t, 0);
    return t.best;
}
