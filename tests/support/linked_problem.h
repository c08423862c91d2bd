/* Small problems with linked costs in one pool: charges, costs of being placed, groups, must-place; and their answers by
 * brute force over what is on chip. */
#ifndef LX_TESTS_SUPPORT_LINKED_PROBLEM_H
#define LX_TESTS_SUPPORT_LINKED_PROBLEM_H

#include "support/small_problem.h"

enum { LINKED_CHARGES = 6, LINKED_LISTS = 4, LINKED_MEMBERS = 3 };

struct linked {
    struct small small;
    struct lx_charge charge[LINKED_CHARGES];
    int32_t member[LINKED_CHARGES + 1][LINKED_LISTS][LINKED_MEMBERS];
    struct lx_group group;
    int32_t pool;
    int64_t on_cost[SMALL_MAX];
};

static inline struct lx_group linked_list(struct linked *p, struct rng *r, int charge, int list, int32_t most)
{
    int32_t *at = p->member[charge][list], count = 0, wanted = (int32_t)rng_below(r, (uint64_t)most + 1);
    for (int32_t k = 0; k < wanted; k++) {
        int32_t b = (int32_t)rng_below(r, (uint64_t)p->small.problem.count);
        bool twice = false;
        for (int other = 0; other < LINKED_LISTS; other++)
            for (int32_t m = 0; m < LINKED_MEMBERS; m++) twice |= p->member[charge][other][m] == b;
        if (!twice) at[count++] = b;
    }
    return (struct lx_group){at, count};
}

static inline void linked_random(struct linked *p, struct rng *r, int32_t n)
{
    memset(p, 0, sizeof *p);
    memset(p->member, -1, sizeof p->member);
    small_random(&p->small, r, n, LX_SPILL);
    struct lx_problem *q = &p->small.problem;
    bool forbids = small_chance(r, 40), musts = small_chance(r, 20);
    q->bonds.charges = p->charge;
    int32_t charges = (int32_t)rng_below(r, LINKED_CHARGES + 1);
    for (int32_t c = 0; c < charges; c++) {
        struct lx_charge *k = &p->charge[q->bonds.charge_count];
        k->all_on = linked_list(p, r, c, 0, 2);
        k->all_off = linked_list(p, r, c, 1, 2);
        k->any_on = linked_list(p, r, c, 2, 2);
        k->any_off = linked_list(p, r, c, 3, 3);
        if (k->all_on.count + k->all_off.count + k->any_on.count + k->any_off.count == 0) continue;
        k->cost = forbids && small_chance(r, 40) ? LX_FORBIDDEN : rng_between(r, 0, 20);
        q->bonds.charge_count++;
    }
    if (n > 2 && small_chance(r, 30)) {
        p->group = linked_list(p, r, LINKED_CHARGES, 0, 3);
        q->bonds.together = &p->group;
        q->bonds.together_count = p->group.count >= 2;
    }
    for (int32_t i = 0; i < n; i++) {
        struct lx_buffer *b = &p->small.buffer[i];
        p->on_cost[i] = small_chance(r, 30) ? rng_between(r, 0, 12) : 0;
        b->pools = &p->pool;
        b->on_costs = &p->on_cost[i];
        b->pool_count = 1;
        b->must = musts && !b->reason && small_chance(r, 20);
    }
}

static inline bool linked_all(struct lx_group g, const int64_t *address, bool on)
{
    for (int32_t k = 0; k < g.count; k++)
        if ((address[g.at[k]] >= 0) != on) return false;
    return true;
}

static inline bool linked_triggered(const struct lx_charge *c, const int64_t *address)
{
    bool any = c->any_on.count + c->any_off.count > 0;
    return linked_all(c->all_on, address, true) && linked_all(c->all_off, address, false) &&
           (!any || !linked_all(c->any_on, address, false) || !linked_all(c->any_off, address, true));
}

/* The cost by the definition; INT64_MAX: a rule about what is on chip is broken. */
static inline int64_t linked_cost(const struct lx_problem *p, const int64_t *address)
{
    int64_t cost = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (address[i] < 0 && b->must) return INT64_MAX;
        cost += address[i] < 0 ? b->spill_cost : b->on_costs ? b->on_costs[0] : 0;
    }
    for (int32_t k = 0; k < p->bonds.charge_count; k++) {
        if (!linked_triggered(&p->bonds.charges[k], address)) continue;
        if (p->bonds.charges[k].cost == LX_FORBIDDEN) return INT64_MAX;
        cost += p->bonds.charges[k].cost;
    }
    for (int32_t k = 0; k < p->bonds.together_count; k++)
        if (!linked_all(p->bonds.together[k], address, true) &&
            !linked_all(p->bonds.together[k], address, false))
            return INT64_MAX;
    return cost;
}

/* The least cost over all sets that pack; INT64_MAX: there is no answer. */
static inline int64_t linked_optimum(const struct lx_problem *p)
{
    int64_t best = INT64_MAX, on[SMALL_MAX];
    struct lx_buffer kept[SMALL_MAX];
    struct lx_problem q = {LX_FIT, p->capacity, p->alignment, p->count, kept, .pools = NULL};
    for (uint32_t set = 0; set < UINT32_C(1) << p->count; set++) {
        bool may = true;
        for (int32_t i = 0; i < p->count; i++) {
            kept[i] = p->buffers[i];
            on[i] = set >> i & 1 ? 0 : LX_OFF_CHIP;
            may &= !(set >> i & 1 && kept[i].reason);
            if (on[i] < 0) kept[i].reason = "off in this set";
        }
        if (!may) continue;
        int64_t cost = linked_cost(p, on);
        if (cost < best && brute_force(&q, p->capacity) == 0) best = cost;
    }
    return best;
}

#endif
