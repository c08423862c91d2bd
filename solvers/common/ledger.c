/* Keeps the account of an answer; see ledger.h. */
#include "common/ledger.h"

/* Walks the entries twice: first to count, then to fill in. */
struct writing {
    struct ledger *l;
    size_t *count; /* entries per buffer; NULL in the second walk */
    size_t *next;  /* in the second walk: where a buffer's next entry goes */
};

static void ledger_write_group(struct writing *w, const struct lx_group *g, bool in_all, bool when_on)
{
    for (int32_t k = 0; k < g->count; k++) {
        if (w->count) {
            w->count[g->at[k]]++;
            continue;
        }
        struct ledger_charge *c = &w->l->linked[w->l->linked_cost_count];
        w->l->entry[w->next[g->at[k]]++] = (struct ledger_entry){w->l->linked_cost_count, in_all, when_on};
        if (in_all)
            c->failing += when_on; /* starts all off */
        else {
            c->any += !when_on;
            c->has_any = true;
        }
    }
}

static void ledger_write_charge(struct writing *w, const struct lx_linked_cost *c)
{
    if (!w->count) w->l->linked[w->l->linked_cost_count] = (struct ledger_charge){.cost = c->cost};
    ledger_write_group(w, &c->all_on, true, true);
    ledger_write_group(w, &c->all_off, true, false);
    ledger_write_group(w, &c->any_on, false, true);
    ledger_write_group(w, &c->any_off, false, false);
    w->l->linked_cost_count++;
}

static void write_all(struct writing *w, bool all_must)
{
    const struct lx_problem *p = w->l->p;
    w->l->linked_cost_count = 0;
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].must || (all_must && !p->buffers[i].reason))
            ledger_write_charge(w, &(struct lx_linked_cost){.cost = LX_FORBIDDEN, .all_off = {&i, 1}});
    for (int32_t i = 0; i < p->bonds.together_count; i++)
        for (int32_t k = 0; k < p->bonds.together[i].count; k++) {
            int32_t one = p->bonds.together[i].at[k],
                    other = p->bonds.together[i].at[(k + 1) % p->bonds.together[i].count];
            if (one != other)
                ledger_write_charge(w, &(struct lx_linked_cost){.cost = LX_FORBIDDEN,
                                                                .all_on = {&one, 1},
                                                                .all_off = {&other, 1}});
        }
    for (int32_t i = 0; i < p->bonds.staging_count; i++) {
        int32_t both[2] = {p->bonds.staging[i].a, p->bonds.staging[i].b};
        ledger_write_charge(w, &(struct lx_linked_cost){.cost = LX_FORBIDDEN, .all_on = {both, 2}});
        ledger_write_charge(w, &(struct lx_linked_cost){.cost = LX_FORBIDDEN, .all_off = {both, 2}});
    }
    for (int32_t i = 0; i < p->bonds.linked_cost_count; i++)
        ledger_write_charge(w, &p->bonds.linked_costs[i]);
}

static void account(struct ledger *l, const struct ledger_charge *c, int sign)
{
    if (!(c->failing == 0 && (!c->has_any || c->any > 0))) return;
    if (c->cost == LX_FORBIDDEN)
        l->broken += sign;
    else
        l->cost += sign * c->cost;
}

void ledger_init(struct ledger *l, const struct lx_problem *p, bool all_must)
{
    size_t n = (size_t)p->count;
    *l = (struct ledger){.p = p};
    l->on = arena_array(&l->memory, n + 1, sizeof *l->on);
    l->here = arena_array(&l->memory, n + 1, sizeof *l->here);
    l->first = arena_array(&l->memory, n + 2, sizeof *l->first);
    write_all(&(struct writing){.l = l, .count = l->first + 1}, all_must);
    for (size_t i = 0; i < n; i++) l->first[i + 1] += l->first[i];
    size_t *next = arena_copy_array(&l->memory, l->first, n, sizeof *next);
    l->entry = arena_array(&l->memory, l->first[n] + 1, sizeof *l->entry);
    l->linked = arena_array(&l->memory, (size_t)l->linked_cost_count + 1, sizeof *l->linked);
    write_all(&(struct writing){.l = l, .next = next}, all_must);
    for (int32_t i = 0; i < p->count; i++) l->cost += p->buffers[i].spill_cost;
    for (int32_t i = 0; i < l->linked_cost_count; i++) account(l, &l->linked[i], 1);
}

void ledger_set(struct ledger *l, int32_t i, bool on, int64_t here)
{
    int64_t spill = l->p->buffers[i].spill_cost;
    l->cost += on ? here - spill : spill - l->here[i];
    l->here[i] = here;
    l->on[i] = on;
    for (size_t k = l->first[i]; k < l->first[i + 1]; k++) {
        const struct ledger_entry *e = &l->entry[k];
        struct ledger_charge *c = &l->linked[e->linked];
        int holds = e->when_on == on ? 1 : -1;
        account(l, c, -1);
        if (e->in_all)
            c->failing -= holds;
        else
            c->any += holds;
        account(l, c, 1);
    }
}

/* Union-find with signs over groups and staging pairs. */

struct signs {
    int32_t *up;
    bool *flip; /* its sign is opposite to the node above */
};

static int32_t units_find_root(const struct signs *s, int32_t i, bool *flip)
{
    *flip = false;
    for (; s->up[i] != i; i = s->up[i]) *flip ^= s->flip[i];
    return i;
}

/* Joins two trees: the larger root goes below the smaller, directly, which keeps paths short. */
static void tie(struct signs *s, int32_t a, int32_t b, bool opposed)
{
    bool flip_a, flip_b;
    int32_t x = units_find_root(s, a, &flip_a), y = units_find_root(s, b, &flip_b);
    if (x == y) return;
    bool flip = flip_a ^ flip_b ^ opposed;
    int32_t above = x < y ? x : y, below = x < y ? y : x;
    s->up[below] = above;
    s->flip[below] = flip;
}

/* Owners are on in state 1: a staging buffer is `against`, whichever sign it has. */
static void units_list_members(struct units *u, const struct lx_problem *p, const struct signs *s,
                               bool *turned)
{
    for (int32_t i = 0; i < p->bonds.staging_count; i++) {
        int32_t a = p->bonds.staging[i].a;
        turned[s->up[a]] = !s->flip[a];
    }
    for (int32_t i = 0; i < p->count; i++)
        if (s->up[i] == i) u->of[i] = u->count++;
    for (int32_t i = 0; i < p->count; i++) {
        u->of[i] = u->of[s->up[i]];
        u->first[u->of[i] + 1]++;
    }
    for (int32_t k = 0; k < u->count; k++) u->first[k + 1] += u->first[k];
    for (int32_t i = p->count; i-- > 0;) {
        int32_t at = --u->first[u->of[i] + 1];
        u->member[at] = i;
        u->against[at] = s->flip[i] ^ turned[s->up[i]];
    }
    for (int32_t k = 0; k < u->count; k++) u->first[k] = u->first[k + 1];
    u->first[u->count] = p->count;
}

void units_make(struct units *u, const struct lx_problem *p)
{
    size_t n = (size_t)p->count + 2;
    struct signs s;
    *u = (struct units){0};
    u->first = arena_array(&u->memory, n, sizeof *u->first);
    u->member = arena_array(&u->memory, n, sizeof *u->member);
    u->against = arena_array(&u->memory, n, sizeof *u->against);
    u->of = arena_array(&u->memory, n, sizeof *u->of);
    s.up = arena_array(&u->memory, n, sizeof *s.up);
    s.flip = arena_array(&u->memory, n, sizeof *s.flip);
    bool *turned = arena_array(&u->memory, n, sizeof *turned);
    for (int32_t i = 0; i < p->count; i++) s.up[i] = i;
    for (int32_t i = 0; i < p->bonds.together_count; i++)
        for (int32_t k = 1; k < p->bonds.together[i].count; k++)
            tie(&s, p->bonds.together[i].at[0], p->bonds.together[i].at[k], false);
    for (int32_t i = 0; i < p->bonds.staging_count; i++)
        tie(&s, p->bonds.staging[i].b, p->bonds.staging[i].a, true);
    for (int32_t i = 0; i < p->count; i++) {
        bool flip;
        int32_t root = units_find_root(&s, i, &flip);
        if (root == i) continue;
        s.up[i] = root; /* lower numbers are flat already */
        s.flip[i] = flip;
    }
    units_list_members(u, p, &s, turned);
}
