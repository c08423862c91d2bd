/* Linked costs; see links.h. */
#include "common/links.h"

/* How often a link is paid: a linked cost once when it is triggered, a group for each member on the smaller
 * side. */
static int64_t level(const struct link *k)
{
    if (k->members) return min_i64(k->unmet, k->members - k->unmet);
    return k->unmet == 0 && (!k->has_any || k->hits > 0);
}

int64_t links_flip(struct links *l, int32_t item)
{
    int sign = l->on[item] ? -1 : 1;
    int64_t energy = l->energy;
    l->on[item] = !l->on[item];
    for (int32_t r = l->first[item]; r < l->first[item + 1]; r++) {
        struct link *k = &l->link[l->role[r].link];
        int64_t before = level(k);
        k->unmet += sign * l->role[r].unmet;
        k->hits += sign * l->role[r].hits;
        int64_t after = level(k);
        if (before == after) continue;
        l->value += (after - before) * k->cost;
        l->energy += (after - before) * k->weight;
        if (k->forbidden) l->broken += (after > 0) - (before > 0);
    }
    return l->energy - energy;
}

int64_t links_rise(struct links *l, int32_t item)
{
    int64_t own = l->on[item] ? l->fee[item] : -l->fee[item];
    if (l->first[item] == l->first[item + 1]) return own;
    int64_t rise = links_flip(l, item);
    links_flip(l, item);
    return rise + own;
}

void links_load(struct links *l, const int64_t *base)
{
    if (!l->any) return;
    for (int32_t i = 0; i < l->it->count; i++)
        if (l->on[i] != (base[i] >= 0)) links_flip(l, i);
}

int64_t links_cost(struct links *l, const int64_t *base, int32_t *broken)
{
    links_load(l, base);
    *broken = l->broken;
    return items_spill(l->it, base) + l->value;
}

/* Mends a broken link by taking members off chip: a group as a whole, of others the cheapest member. A link
 * that is broken because too few are on chip stays so. */
static bool mend(struct links *l, int64_t *base, int32_t link)
{
    const struct link *k = &l->link[link];
    if (!k->forbidden || level(k) == 0) return false;
    if (k->members) {
        for (int32_t m = l->member_first[link]; m < l->member_first[link + 1]; m++)
            if (l->on[l->member[m]]) {
                base[l->member[m]] = NOT_PLACED;
                links_flip(l, l->member[m]);
            }
        return true;
    }
    /* The member on chip whose leaving costs least. */
    int32_t item = NO_ITEM;
    int64_t least = 0;
    for (int32_t j = l->member_first[link]; j < l->member_first[link + 1]; j++) {
        int32_t i = l->member[j];
        if (!l->on[i]) continue;
        int64_t rise = links_rise(l, i);
        if (item != NO_ITEM && rise >= least) continue;
        item = i;
        least = rise;
    }
    if (item == NO_ITEM) return false;
    int64_t rise = links_flip(l, item);
    bool helps = level(k) == 0 || rise < 0;
    if (helps)
        base[item] = NOT_PLACED;
    else
        links_flip(l, item);
    return helps;
}

void links_trim(struct links *l, int64_t *base)
{
    if (!l->any) return;
    links_load(l, base);
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t k = 0; l->broken && k < l->count; k++) changed |= mend(l, base, k);
        for (int32_t i = 0; i < l->it->count; i++)
            if (l->on[i] && links_may_shun(l, i) && links_rise(l, i) < 0) {
                base[i] = NOT_PLACED;
                links_flip(l, i);
                changed = true;
            }
    }
}

/* Gives the members of a group a role in the link; the first walk, without `next_role`, only counts them. */
struct filling {
    struct links *l;
    const int32_t *of_buffer;
    int32_t *next_role, *next_member;
};

static void links_add_group(const struct filling *f, const struct lx_group *group, struct role role)
{
    struct links *l = f->l;
    for (int32_t m = 0; m < group->count; m++) {
        int32_t i = f->of_buffer[group->at[m]];
        if (i == NO_ITEM) continue;
        if (!f->next_role) {
            l->first[i + 1]++;
            l->member_first[role.link + 1]++;
            continue;
        }
        l->role[f->next_role[i]++] = role;
        l->member[f->next_member[role.link]++] = i;
    }
}

static void links_add_groups(const struct filling *f)
{
    const struct lx_problem *p = f->l->it->problem;
    const struct lx_bonds *b = &p->bonds;
    int32_t link = 0;
    for (int32_t k = 0; k < b->linked_cost_count; k++, link++) {
        const struct lx_linked_cost *c = &b->linked_costs[k];
        links_add_group(f, &c->all_on, (struct role){link, -1, 0});
        links_add_group(f, &c->all_off, (struct role){link, 1, 0});
        links_add_group(f, &c->any_on, (struct role){link, 0, 1});
        links_add_group(f, &c->any_off, (struct role){link, 0, -1});
    }
    for (int32_t k = 0; k < b->together_count; k++, link++)
        links_add_group(f, &b->together[k], (struct role){link, 1, 0});
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].must) links_add_group(f, &(struct lx_group){&i, 1}, (struct role){link++, 1, 0});
}

static void list_roles(struct links *l, const int32_t *of_buffer)
{
    struct filling f = {.l = l, .of_buffer = of_buffer};
    int32_t n = l->it->count;
    links_add_groups(&f);
    for (int32_t i = 0; i < n; i++) l->first[i + 1] += l->first[i];
    for (int32_t k = 0; k < l->count; k++) l->member_first[k + 1] += l->member_first[k];
    size_t roles = (size_t)l->first[n];
    l->role = arena_array(&l->memory, roles + 1, sizeof *l->role);
    l->member = arena_array(&l->memory, roles + 1, sizeof *l->member);
    f.next_role = arena_copy_array(&l->memory, l->first, (size_t)n, sizeof *f.next_role);
    f.next_member = arena_copy_array(&l->memory, l->member_first, (size_t)l->count, sizeof *f.next_member);
    links_add_groups(&f);
}

/* Sets up the links with everything off chip. */
static void fill_links(struct links *l)
{
    const struct lx_problem *p = l->it->problem;
    const struct lx_bonds *b = &p->bonds;
    struct link *k = l->link;
    for (int32_t i = 0; i < b->linked_cost_count; i++) {
        const struct lx_linked_cost *c = &b->linked_costs[i];
        bool forbidden = c->cost == LX_FORBIDDEN;
        *k++ = (struct link){.cost = forbidden ? 0 : c->cost,
                             .unmet = c->all_on.count,
                             .hits = c->any_off.count,
                             .has_any = c->any_on.count + c->any_off.count > 0,
                             .forbidden = forbidden};
    }
    for (int32_t i = 0; i < b->together_count; i++)
        *k++ = (struct link){.members = b->together[i].count, .forbidden = true};
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].must) *k++ = (struct link){.forbidden = true};
}

static int64_t links_scaled(int64_t cost, int up, int down)
{
    return cost * (INT64_C(1) << up) / (INT64_C(1) << down);
}

/* The weight of an item off chip: its cost; for fit and height its area. */
static int64_t links_weight_of(const struct items *it, const struct item *b)
{
    int64_t area;
    if (it->problem->objective == LX_SPILL) return b->cost;
    return mul_i64(b->size, b->end - b->start, &area) ? min_i64(area, (int64_t)1 << 50) : (int64_t)1 << 50;
}

/* All energies together are about 2^50, so that shares of small weights are not rounded away. */
static void scale_energies(struct links *l)
{
    const struct items *it = l->it;
    double total = 1;
    for (int32_t i = 0; i < it->count; i++) {
        double weight = (double)links_weight_of(it, &it->item[i]);
        total += weight < 0 ? -weight : weight;
    }
    for (int32_t k = 0; k < l->count; k++) total += (double)l->link[k].cost;
    int up = 0, down = 0;
    for (; total < 0x1p49 && up < 40; total *= 2) up++;
    for (; total > 0x1p52; total /= 2) down++;
    for (int32_t i = 0; i < it->count; i++) {
        int64_t fee = links_scaled(links_weight_of(it, &it->item[i]), up, down);
        l->fee[i] = l->any ? fee : max_i64(fee, 1);
    }
    for (int32_t k = 0; k < l->count; k++) l->link[k].weight = links_scaled(l->link[k].cost, up, down);
}

/* A forbidden link weighs more than one member with all its linked costs, as far as the sum allows. */
static void weigh_forbidden(struct links *l)
{
    int64_t levels = 1;
    for (int32_t k = 0; k < l->count; k++) levels += 1 + l->link[k].members / 2;
    for (int32_t k = 0; k < l->count; k++) {
        if (!l->link[k].forbidden) continue;
        int64_t most = 1;
        for (int32_t m = l->member_first[k]; m < l->member_first[k + 1]; m++) {
            int32_t i = l->member[m];
            int64_t sum = l->fee[i] < 0 ? -l->fee[i] : l->fee[i];
            for (int32_t r = l->first[i]; r < l->first[i + 1]; r++)
                if (!l->link[l->role[r].link].forbidden) sum += l->link[l->role[r].link].weight;
            most = max_i64(most, sum);
        }
        l->link[k].weight = min_i64(most + most / 4 + 1, (INT64_C(1) << 60) / levels);
    }
}

void links_make(struct links *l, const struct items *it)
{
    const struct lx_problem *p = it->problem;
    size_t n = (size_t)it->count + 1;
    *l = (struct links){.it = it};
    if (p->objective == LX_SPILL) {
        int32_t count = p->bonds.linked_cost_count + p->bonds.together_count;
        for (int32_t i = 0; i < p->count; i++) count += p->buffers[i].must;
        l->count = count;
    }
    l->link = arena_array(&l->memory, (size_t)l->count + 1, sizeof *l->link);
    l->first = arena_array(&l->memory, n + 1, sizeof *l->first);
    l->member_first = arena_array(&l->memory, (size_t)l->count + 2, sizeof *l->member_first);
    l->fee = arena_array(&l->memory, n, sizeof *l->fee);
    l->on = arena_array(&l->memory, n, sizeof *l->on);
    int32_t *of_buffer = arena_array(&l->memory, (size_t)p->count + 1, sizeof *of_buffer);
    l->any = l->count > 0;
    for (int32_t i = 0; p->objective == LX_SPILL && i < it->count; i++) l->any |= it->item[i].cost < 0;
    for (int32_t i = 0; i < p->count; i++) of_buffer[i] = NO_ITEM;
    for (int32_t i = 0; i < it->count; i++) of_buffer[it->item[i].buffer] = i;

    if (l->count) {
        fill_links(l);
        list_roles(l, of_buffer);
    }
    scale_energies(l);
    weigh_forbidden(l);
    for (int32_t k = 0; k < l->count; k++) {
        int64_t paid = level(&l->link[k]);
        l->value += paid * l->link[k].cost;
        l->energy += paid * l->link[k].weight;
        l->broken += l->link[k].forbidden && paid > 0;
    }
}
