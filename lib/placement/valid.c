/* The data model of pools and bonds. A problem without pools has version 1: there a fixed address beyond the
 * capacity is no error; the buffer stays off chip. Bonds: every number names a buffer, and no bond
 * contradicts itself. Each rule costs the length of its lists. */
#include "placement/judge.h"
#include "base/base.h"

/* --- Pools. --- */

bool valid_pools(const struct lx_problem *p, lx_status *st)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < p->pool_count; k++) {
        const struct lx_pool *q = &p->pools[k];
        bool unlimited = q->capacity == LX_NO_LIMIT && p->objective == LX_HEIGHT;
        if (!unlimited && (q->capacity < 0 || q->capacity > LX_INT_MAX))
            return status_set(
                st, LX_E_MODEL,
                "pool %s: its capacity is missing or impossible; only where the height is asked "
                "for it may have none",
                q->name);
        for (int32_t i = 0; i < q->reserved_count; i++) {
            const struct lx_reserved *r = &q->reserved[i];
            if (r->from < 0 || r->from >= r->to || r->start >= r->end)
                return status_set(
                    st, LX_E_MODEL,
                    "pool %s: reserved bytes [%lld, %lld) are none; the end must be above the start", q->name,
                    (long long)r->from, (long long)r->to);
            if (r->to > (q->capacity == LX_NO_LIMIT ? LX_INT_MAX : q->capacity))
                return status_set(st, LX_E_MODEL,
                                  "pool %s: reserved bytes [%lld, %lld) end beyond its capacity of %lld",
                                  q->name, (long long)r->from, (long long)r->to, (long long)q->capacity);
        }
        if (!unlimited && (!add_i64(sum, q->capacity, &sum) || sum > LX_INT_MAX))
            return status_set(st, LX_E_RANGE, "pool %s: the capacities up to here add up beyond 2^53",
                              q->name);
    }
    return true;
}

static bool valid_lives(const struct lx_buffer *b, lx_status *st)
{
    if (b->life_count == 0) return true;
    if (b->lives[0].start != b->start || b->lives[b->life_count - 1].end != b->end)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: live: its intervals do not span [%lld, %lld)",
                            b->name, (long long)b->start, (long long)b->end);
    for (int32_t i = 0; i < b->life_count; i++) {
        const struct lx_life *l = &b->lives[i];
        if (l->start >= l->end)
            return buffer_error(b, st, LX_E_MODEL, "buffer %s: live: the interval [%lld, %lld) is empty",
                                b->name, (long long)l->start, (long long)l->end);
        if (i > 0 && l->start < l[-1].end)
            return buffer_error(
                b, st, LX_E_MODEL,
                "buffer %s: live: [%lld, %lld) is not behind [%lld, %lld); intervals rise and do not overlap",
                b->name, (long long)l->start, (long long)l->end, (long long)l[-1].start,
                (long long)l[-1].end);
    }
    return true;
}

static bool valid_choice(const struct lx_problem *p, const struct lx_buffer *b, lx_status *st)
{
    int32_t pools = lx_pool_count(p);
    if ((b->pools && b->pool_count == 0) || b->pool_count < 0)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: pools: it names none", b->name);
    for (int32_t k = 0; b->pools && k < b->pool_count; k++) {
        if (b->pools[k] < 0 || b->pools[k] >= pools)
            return buffer_error(b, st, LX_E_MODEL, "buffer %s: pools: there is no pool number %d", b->name,
                                (int)b->pools[k]);
        for (int32_t i = 0; i < k; i++)
            if (b->pools[i] == b->pools[k])
                return buffer_error(b, st, LX_E_MODEL, "buffer %s: pools: %d is named twice", b->name,
                                    (int)b->pools[k]);
    }
    if (b->on_costs && !b->pools && b->pool_count != pools)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: %d costs for %d pools; give one for each", b->name,
                            (int)b->pool_count, (int)pools);
    for (int32_t k = 0; b->on_costs && k < b->pool_count; k++)
        if (b->on_costs[k] < 0 || b->on_costs[k] > LX_INT_MAX)
            return buffer_error(b, st, LX_E_MODEL, "buffer %s: costs: %lld is negative or impossible",
                                b->name, (long long)b->on_costs[k]);
    return true;
}

static bool valid_pin(const struct lx_problem *p, const struct lx_buffer *b, lx_status *st)
{
    if (b->fixed < 0)
        return !b->alone || buffer_error(b, st, LX_E_MODEL, "buffer %s: alone goes with a pin", b->name);
    if (b->fixed_pool < 0 || b->fixed_pool >= lx_pool_count(p) || !lx_allows_pool(b, b->fixed_pool))
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: the pool of its pin is none of its own", b->name);
    if (p->pool_count == 0) return true;
    const struct lx_pool *q = &p->pools[b->fixed_pool];
    if (q->capacity != LX_NO_LIMIT && b->fixed > q->capacity - b->size)
        return buffer_error(
            b, st, LX_E_MODEL, "buffer %s: its pin [%lld, %lld) ends beyond pool %s of %lld bytes", b->name,
            (long long)b->fixed, (long long)(b->fixed + b->size), q->name, (long long)q->capacity);
    for (int32_t i = 0; i < q->reserved_count; i++) {
        const struct lx_reserved *r = &q->reserved[i];
        if (b->size > 0 && b->fixed < r->to && r->from < b->fixed + b->size &&
            lx_lives_meet(b, &(struct lx_buffer){.start = r->start, .end = r->end}))
            return buffer_error(
                b, st, LX_E_MODEL,
                "buffer %s: its pin [%lld, %lld) is on bytes [%lld, %lld) that are reserved during its life",
                b->name, (long long)b->fixed, (long long)(b->fixed + b->size), (long long)r->from,
                (long long)r->to);
    }
    return true;
}

bool valid_in_pools(const struct lx_problem *p, const struct lx_buffer *b, lx_status *st)
{
    if (b->must && b->reason)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: barred, and yet it must be placed", b->name);
    return valid_lives(b, st) && valid_choice(p, b, st) && valid_pin(p, b, st);
}

/* --- Bonds. --- */

enum { IS_CHILD = 1, IS_PARENT = 2, IS_STAGING = 4, IN_GROUP = 8, LISTED = 16 };

struct bonds_check {
    const struct lx_problem *p;
    lx_status *st;
    unsigned char *flags; /* per buffer */
    int32_t *block;
};

static bool valid_bonds_known(const struct bonds_check *c, const char *word, int32_t i)
{
    if (i >= 0 && i < c->p->count) return true;
    return status_set(c->st, LX_E_MODEL, "%s: there is no buffer number %d", word, (int)i);
}

static bool known_all(const struct bonds_check *c, const char *word, const struct lx_group *g)
{
    for (int32_t k = 0; k < g->count; k++)
        if (!valid_bonds_known(c, word, g->at[k])) return false;
    return true;
}

static bool valid_pairs(const struct bonds_check *c, const char *word, const struct lx_pair *pairs,
                        int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if (!valid_bonds_known(c, word, pairs[i].a) || !valid_bonds_known(c, word, pairs[i].b)) return false;
        if (pairs[i].a == pairs[i].b)
            return buffer_error(&c->p->buffers[pairs[i].a], c->st, LX_E_MODEL,
                                "%s: buffer %s is paired with itself", word, c->p->buffers[pairs[i].a].name);
    }
    return true;
}

/* Checks for at least two different buffers, each once; marks them. */
static bool valid_group(const struct bonds_check *c, const char *word, const struct lx_group *g)
{
    bool ok = known_all(c, word, g);
    if (ok && g->count < 2) ok = status_set(c->st, LX_E_MODEL, "%s: a group of fewer than two", word);
    for (int32_t k = 0; ok && k < g->count; k++) {
        if (c->flags[g->at[k]] & LISTED)
            ok = buffer_error(&c->p->buffers[g->at[k]], c->st, LX_E_MODEL,
                              "%s: buffer %s is in a group twice", word, c->p->buffers[g->at[k]].name);
        c->flags[g->at[k]] |= LISTED | IN_GROUP;
    }
    for (int32_t k = 0; ok && k < g->count; k++) c->flags[g->at[k]] &= (unsigned char)~LISTED;
    return ok;
}

static bool valid_block(const struct bonds_check *c, const int32_t *members, int32_t count)
{
    int32_t pinned = -1;
    for (int32_t k = 0; k < count; k++) {
        const struct lx_buffer *b = &c->p->buffers[members[k]];
        if (c->flags[members[k]] & (IS_CHILD | IS_PARENT))
            return buffer_error(b, c->st, LX_E_MODEL,
                                "same_place: buffer %s has in-place edges; leave one of the two out",
                                b->name);
        const struct lx_buffer *a = pinned >= 0 ? &c->p->buffers[pinned] : b;
        if (b->fixed >= 0 && (a->fixed != b->fixed || a->fixed_pool != b->fixed_pool))
            return buffer_error(b, c->st, LX_E_MODEL, "same_place: buffers %s and %s have different pins",
                                a->name, b->name);
        if (b->fixed >= 0) pinned = members[k];
    }
    /* Some pool suits all members of the block. */
    for (int32_t pool = 0; pool < lx_pool_count(c->p); pool++) {
        bool all = true;
        for (int32_t k = 0; k < count && all; k++) {
            const struct lx_buffer *b = &c->p->buffers[members[k]];
            all = lx_allows_pool(b, pool) && (b->fixed < 0 || b->fixed_pool == pool);
        }
        if (all) return true;
    }
    const struct lx_buffer *b = &c->p->buffers[members[0]];
    return buffer_error(b, c->st, LX_E_MODEL, "same_place: buffer %s and its group have no pool in common",
                        b->name);
}

/* Checks the groups of one place, and the blocks that they make. */
static bool valid_same_place(struct bonds_check *c)
{
    const struct lx_bonds *b = &c->p->bonds;
    size_t n = (size_t)c->p->count + 1;
    for (int32_t i = 0; i < b->same_place_count; i++)
        if (!valid_group(c, "same_place", &b->same_place[i])) return false;
    if (b->same_place_count == 0) return true;
    OWNED int32_t *next = mem_alloc(n * sizeof *next), *members = mem_alloc(n * sizeof *members);
    bool ok = true;
    c->block = blocks_of(c->p);
    block_chains(c->block, c->p->count, next);
    for (int32_t i = 0; ok && i < c->p->count; i++) {
        int32_t count = 0;
        for (int32_t m = i; c->block[i] == i && m >= 0; m = next[m]) members[count++] = m;
        if (count > 1) ok = valid_block(c, members, count);
    }
    return ok;
}

static bool valid_staging(const struct bonds_check *c)
{
    const struct lx_bonds *b = &c->p->bonds;
    if (!valid_pairs(c, "staging", b->staging, b->staging_count)) return false;
    for (int32_t i = 0; i < b->staging_count; i++) {
        if (c->flags[b->staging[i].a] & IS_STAGING)
            return buffer_error(&c->p->buffers[b->staging[i].a], c->st, LX_E_MODEL,
                                "staging: buffer %s stands in for two others",
                                c->p->buffers[b->staging[i].a].name);
        c->flags[b->staging[i].a] |= IS_STAGING;
    }
    for (int32_t i = 0; i < b->staging_count; i++) {
        const struct lx_buffer *s = &c->p->buffers[b->staging[i].a];
        unsigned flags = c->flags[b->staging[i].a];
        if (flags & IS_PARENT)
            return buffer_error(s, c->st, LX_E_MODEL, "parent: buffer %s is one, and a staging buffer",
                                s->name);
        const char *wrong = flags & IS_CHILD                         ? "has parents"
                            : flags & IN_GROUP                       ? "is in a group"
                            : c->flags[b->staging[i].b] & IS_STAGING ? "stands in for a staging buffer"
                            : s->spill_cost || s->must               ? "has an off cost of its own"
                                                                     : NULL;
        if (wrong) return buffer_error(s, c->st, LX_E_MODEL, "staging: buffer %s %s", s->name, wrong);
    }
    return true;
}

static bool valid_linked(const struct bonds_check *c, const struct lx_linked_cost *x, int64_t *sum)
{
    const struct lx_group *groups[] = {&x->all_on, &x->all_off, &x->any_on, &x->any_off};
    int32_t members = 0;
    for (int k = 0; k < 4; k++) {
        if (!known_all(c, "charge", groups[k])) return false;
        members += groups[k]->count;
    }
    if (members == 0) return status_set(c->st, LX_E_MODEL, "charge: it has no condition");
    int has = 0; /* list whose first member gives errors their place */
    while (groups[has]->count == 0) has++;
    const struct lx_buffer *first = &c->p->buffers[groups[has]->at[0]];
    if (x->cost != LX_FORBIDDEN && (x->cost < 0 || x->cost > LX_INT_MAX))
        return buffer_error(first, c->st, LX_E_MODEL,
                            "charge: a cost of %lld (on buffer %s) is negative or impossible",
                            (long long)x->cost, first->name);
    int32_t both = -1;
    for (int32_t k = 0; k < x->all_on.count; k++) c->flags[x->all_on.at[k]] |= LISTED;
    for (int32_t k = 0; k < x->all_off.count; k++)
        if (c->flags[x->all_off.at[k]] & LISTED) both = x->all_off.at[k];
    for (int32_t k = 0; k < x->all_on.count; k++) c->flags[x->all_on.at[k]] &= (unsigned char)~LISTED;
    if (both >= 0)
        return buffer_error(&c->p->buffers[both], c->st, LX_E_MODEL,
                            "charge: buffer %s would have to be on and off", c->p->buffers[both].name);
    if (x->cost != LX_FORBIDDEN && (!add_i64(*sum, x->cost, sum) || *sum > LX_INT_MAX))
        return buffer_error(first, c->st, LX_E_RANGE,
                            "charge: the costs up to here (on buffer %s) add up beyond 2^53", first->name);
    return true;
}

static bool valid_all(struct bonds_check *c, int64_t sum)
{
    const struct lx_bonds *b = &c->p->bonds;
    for (int32_t i = 0; i < c->p->count; i++)
        for (int32_t k = 0; k < c->p->buffers[i].parent_count; k++) {
            c->flags[i] |= IS_CHILD;
            c->flags[c->p->buffers[i].parents[k]] |= IS_PARENT;
        }
    for (int32_t i = 0; i < b->together_count; i++)
        if (!valid_group(c, "together", &b->together[i])) return false;
    if (!valid_same_place(c) || !valid_pairs(c, "apart", b->apart, b->apart_count)) return false;
    for (int32_t i = 0; c->block && i < b->apart_count; i++)
        if (c->block[b->apart[i].a] == c->block[b->apart[i].b])
            return buffer_error(&c->p->buffers[b->apart[i].a], c->st, LX_E_MODEL,
                                "apart: buffers %s and %s are to have the same place",
                                c->p->buffers[b->apart[i].a].name, c->p->buffers[b->apart[i].b].name);
    if (!valid_pairs(c, "exclusive", b->exclusive, b->exclusive_count) || !valid_staging(c)) return false;
    for (int32_t i = 0; i < b->linked_cost_count; i++)
        if (!valid_linked(c, &b->linked_costs[i], &sum)) return false;
    for (int32_t i = 0; i < b->reuse_count; i++) {
        const struct lx_reuse *r = &b->reuse[i];
        if (!valid_bonds_known(c, "reuse", r->a) || !valid_bonds_known(c, "reuse", r->b)) return false;
        const struct lx_buffer *one = &c->p->buffers[r->a];
        if (r->a == r->b || r->cost < 0 || r->cost > LX_INT_MAX)
            return buffer_error(one, c->st, LX_E_MODEL,
                                r->a == r->b ? "reuse: buffer %s is paired with itself"
                                             : "reuse: the cost of buffer %s is negative or impossible",
                                one->name);
        if (!add_i64(sum, r->cost, &sum) || sum > LX_INT_MAX)
            return buffer_error(one, c->st, LX_E_RANGE,
                                "reuse: the costs up to here (of buffer %s) add up beyond 2^53", one->name);
    }
    return true;
}

bool valid_bonds(const struct lx_problem *p, int64_t costs, lx_status *st)
{
    const struct lx_bonds *b = &p->bonds;
    if (!(b->apart_count | b->exclusive_count | b->staging_count | b->same_place_count | b->together_count |
          b->linked_cost_count | b->reuse_count))
        return true;
    struct bonds_check c = {.p = p, .st = st, .flags = mem_zeroed((size_t)p->count + 1, 1)};
    bool ok = valid_all(&c, costs);
    mem_free(c.flags);
    mem_free(c.block);
    return ok;
}
