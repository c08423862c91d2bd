/* Ejection moves; see eject.h. */
#include "anneal/decode.h"
#include "anneal/eject.h"

enum { CANDIDATES = 4, REFILLS = 3, LEAVE_ONE_IN = 4 };

static void eject_put_off(struct ejector *e, int32_t i)
{
    struct sharing s = e->share[i];
    if (s.parent != NO_ITEM) e->share[s.parent].child = NO_ITEM;
    if (s.child != NO_ITEM) e->share[s.child].parent = NO_ITEM;
    e->share[i] = (struct sharing){NO_ITEM, NO_ITEM};
    e->base[i] = NOT_PLACED;
    item_set_add(&e->off, i);
    item_set_add(&e->stale, i);
    e->spilled += e->it->item[i].cost;
    e->energy += e->weight[i] + (e->links ? links_flip(e->links, i) : 0);
}

static void eject_put_on(struct ejector *e, int32_t i, int64_t at)
{
    e->base[i] = at;
    item_set_remove(&e->off, i);
    item_set_add(&e->stale, i);
    e->spilled -= e->it->item[i].cost;
    e->energy += (e->links ? links_flip(e->links, i) : 0) - e->weight[i];
}

static void put_lowest(struct ejector *e, int32_t i)
{
    if (e->links && links_rise(e->links, i) > 0) return;
    int64_t at = lowest_fit(e->it, i, e->base, e->share, e->scratch, NULL);
    e->looks += 8 * (int64_t)(e->it->first[i + 1] - e->it->first[i]);
    if (at >= 0) eject_put_on(e, i, at);
}

static bool eject_in_the_way(const struct ejector *e, int32_t other, int64_t at, int64_t size)
{
    return e->base[other] >= 0 && e->base[other] < at + size && at < e->base[other] + e->it->item[other].size;
}

/* Candidate addresses: either end, and in place of, on top of or below a neighbour. */
static int candidates(const struct ejector *e, int32_t i, struct rng *rng, int64_t *at)
{
    const struct item *b = &e->it->item[i];
    if (b->fixed >= 0) {
        at[0] = b->fixed;
        return 1;
    }
    uint32_t degree = (uint32_t)(e->it->first[i + 1] - e->it->first[i]);
    at[0] = anneal_pick(rng, 2) ? 0 : b->last;
    if (degree == 0) return 1;
    int32_t other = e->it->near[e->it->first[i] + anneal_pick(rng, degree)];
    if (e->base[other] < 0) return 1;
    int64_t below = e->base[other] - b->size;
    int64_t wish[CANDIDATES - 1] = {align_up(b->align, e->base[other]),
                                    align_up(b->align, e->base[other] + e->it->item[other].size),
                                    below / b->align * b->align};
    int count = 1;
    for (int k = 0; k < CANDIDATES - 1; k++)
        if (wish[k] >= 0 && wish[k] <= b->last && (k < 2 || below >= 0)) at[count++] = wish[k];
    return count;
}

/* The exact rise with links: flips the items in the way one after the other, then back. */
static int64_t rise_with_links(struct ejector *e, const struct ejection *plan)
{
    struct links *l = e->links;
    int32_t i = plan->item, count = 0;
    int64_t rise = plan->rise + links_flip(l, i);
    for (size_t k = e->it->first[i]; plan->at >= 0 && k < e->it->first[i + 1]; k++)
        if (eject_in_the_way(e, e->it->near[k], plan->at, e->it->item[i].size)) {
            e->ejected[count++] = e->it->near[k];
            rise += links_flip(l, e->it->near[k]);
        }
    for (int32_t k = 0; k < count; k++) links_flip(l, e->ejected[k]);
    links_flip(l, i);
    return rise;
}

bool ejector_plan(struct ejector *e, struct rng *rng, struct ejection *plan)
{
    if (e->links && anneal_pick(rng, LEAVE_ONE_IN) == 0) {
        /* Plans to evict a random item, if it is placed and linked. */
        int32_t leaver = (int32_t)anneal_pick(rng, (uint32_t)e->it->count);
        if (e->base[leaver] >= 0 && links_may_shun(e->links, leaver)) {
            *plan = (struct ejection){leaver, NOT_PLACED, e->weight[leaver]};
            plan->rise = rise_with_links(e, plan);
            e->looks++;
            return true;
        }
    }
    if (e->off.count == 0) return false;
    int32_t i = e->off.at[anneal_pick(rng, (uint32_t)e->off.count)];
    int64_t at[CANDIDATES], rise[CANDIDATES], size = e->it->item[i].size;
    int count = candidates(e, i, rng, at);
    for (int c = 0; c < count; c++) rise[c] = -e->weight[i];
    for (size_t k = e->it->first[i]; k < e->it->first[i + 1]; k++) {
        int32_t other = e->it->near[k];
        for (int c = 0; c < count; c++)
            if (eject_in_the_way(e, other, at[c], size)) rise[c] += e->weight[other];
    }
    e->looks += count * (int64_t)(e->it->first[i + 1] - e->it->first[i]);
    int best = 0;
    for (int c = 1; c < count; c++)
        if (rise[c] < rise[best]) best = c;
    *plan = (struct ejection){i, at[best], rise[best]};
    if (e->links) plan->rise = rise_with_links(e, plan);
    return true;
}

void ejector_apply(struct ejector *e, struct rng *rng, const struct ejection *plan)
{
    int32_t i = plan->item, count = 0;
    if (plan->at < 0) {
        eject_put_off(e, i);
        return;
    }
    for (size_t k = e->it->first[i]; k < e->it->first[i + 1]; k++)
        if (eject_in_the_way(e, e->it->near[k], plan->at, e->it->item[i].size))
            e->ejected[count++] = e->it->near[k];
    for (int32_t k = 0; k < count; k++) eject_put_off(e, e->ejected[k]);
    eject_put_on(e, i, plan->at);
    /* The most expensive ejected item chooses first. */
    for (int32_t k = 1; k < count; k++) {
        int32_t item = e->ejected[k], at = k;
        for (; at > 0 && e->weight[e->ejected[at - 1]] < e->weight[item]; at--)
            e->ejected[at] = e->ejected[at - 1];
        e->ejected[at] = item;
    }
    for (int32_t k = 0; k < count; k++) put_lowest(e, e->ejected[k]);
    for (int k = 0; k < REFILLS && count > 0 && e->off.count > 0; k++)
        put_lowest(e, e->off.at[anneal_pick(rng, (uint32_t)e->off.count)]);
}

void ejector_load(struct ejector *e, const int64_t *base)
{
    const struct items *it = e->it;
    item_set_clear(&e->off);
    item_set_clear(&e->stale);
    e->energy = e->spilled = 0;
    if (e->links) {
        links_load(e->links, base);
        e->energy = e->links->energy;
    }
    for (int32_t i = 0; i < it->count; i++) {
        e->base[i] = base[i];
        e->share[i] = (struct sharing){NO_ITEM, NO_ITEM};
        if (base[i] >= 0) continue;
        item_set_add(&e->off, i);
        e->energy += e->weight[i];
        e->spilled += it->item[i].cost;
    }
    for (int32_t k = 0; k < it->edge_count; k++) {
        struct edge g = it->edge[k];
        if (base[g.parent] < 0 || base[g.parent] != base[g.child]) continue;
        if (e->share[g.parent].child != NO_ITEM || e->share[g.child].parent != NO_ITEM) continue;
        e->share[g.parent].child = g.child;
        e->share[g.child].parent = g.parent;
    }
}

void ejector_save(struct ejector *e, int64_t *base)
{
    for (int32_t k = 0; k < e->stale.count; k++) base[e->stale.at[k]] = e->base[e->stale.at[k]];
    item_set_clear(&e->stale);
}

void ejector_make(struct ejector *e, const struct items *it, struct links *links)
{
    size_t n = (size_t)it->count + 1;
    *e = (struct ejector){.it = it, .weight = links->fee, .links = links->any ? links : NULL};
    e->base = arena_array(&e->memory, n, sizeof *e->base);
    e->share = arena_array(&e->memory, n, sizeof *e->share);
    e->scratch = arena_array(&e->memory, n, sizeof *e->scratch);
    e->ejected = arena_array(&e->memory, n, sizeof *e->ejected);
    item_set_make(&e->off, &e->memory, it->count);
    item_set_make(&e->stale, &e->memory, it->count);
}
