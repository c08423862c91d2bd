/* The data model of what binds buffers to one another: every number is that of a buffer, and no bond
 * contradicts itself. Each rule costs the length of its lists. */
#include "placement/valid.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>

enum { IS_CHILD = 1, IS_PARENT = 2, IS_STAGING = 4, IN_GROUP = 8, LISTED = 16 };

struct bonds_check {
    const struct lx_problem *p;
    lx_status *st;
    unsigned char *flags; /* per buffer */
    int32_t *block;
};

static const struct lx_buffer *valid_bonds_buffer_at(const struct bonds_check *c, int32_t i)
{
    return &c->p->buffers[i];
}

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
            return buffer_error(valid_bonds_buffer_at(c, pairs[i].a), c->st, LX_E_MODEL,
                                "%s: buffer %s is paired with itself", word,
                                valid_bonds_buffer_at(c, pairs[i].a)->name);
    }
    return true;
}

/* At least two different buffers, each once; marks them. */
static bool valid_group(const struct bonds_check *c, const char *word, const struct lx_group *g)
{
    bool ok = known_all(c, word, g);
    if (ok && g->count < 2) ok = status_set(c->st, LX_E_MODEL, "%s: a group of fewer than two", word);
    for (int32_t k = 0; ok && k < g->count; k++) {
        if (c->flags[g->at[k]] & LISTED)
            ok = buffer_error(valid_bonds_buffer_at(c, g->at[k]), c->st, LX_E_MODEL,
                              "%s: buffer %s is in a group twice", word,
                              valid_bonds_buffer_at(c, g->at[k])->name);
        c->flags[g->at[k]] |= LISTED | IN_GROUP;
    }
    for (int32_t k = 0; ok && k < g->count; k++) c->flags[g->at[k]] &= (unsigned char)~LISTED;
    return ok;
}

static bool pins_agree(const struct bonds_check *c, const struct lx_buffer *a, const struct lx_buffer *b)
{
    if (a->fixed < 0 || b->fixed < 0 || (a->fixed == b->fixed && a->fixed_pool == b->fixed_pool)) return true;
    return buffer_error(b, c->st, LX_E_MODEL, "same_place: buffers %s and %s have different pins", a->name,
                        b->name);
}

static bool valid_block(const struct bonds_check *c, const int32_t *members, int32_t count)
{
    int32_t pinned = -1;
    for (int32_t k = 0; k < count; k++) {
        const struct lx_buffer *b = valid_bonds_buffer_at(c, members[k]);
        if (c->flags[members[k]] & (IS_CHILD | IS_PARENT))
            return buffer_error(b, c->st, LX_E_MODEL,
                                "same_place: buffer %s has in-place edges; leave one of the two out",
                                b->name);
        if (pinned >= 0 && !pins_agree(c, valid_bonds_buffer_at(c, pinned), b)) return false;
        if (b->fixed >= 0) pinned = members[k];
    }
    /* Some pool suits all members of the block, which are the buffers with this root. */
    for (int32_t pool = 0; pool < lx_pool_count(c->p); pool++) {
        bool all = true;
        for (int32_t k = 0; k < count && all; k++) {
            const struct lx_buffer *b = valid_bonds_buffer_at(c, members[k]);
            all = lx_allows_pool(b, pool) && (b->fixed < 0 || b->fixed_pool == pool);
        }
        if (all) return true;
    }
    const struct lx_buffer *b = valid_bonds_buffer_at(c, members[0]);
    return buffer_error(b, c->st, LX_E_MODEL, "same_place: buffer %s and its group have no pool in common",
                        b->name);
}

static int valid_bonds_compare_members(const void *a, const void *b)
{
    const int32_t *x = a, *y = b; /* block, buffer */
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* The blocks one after the other: members sorted by block. */
static bool valid_blocks(const struct bonds_check *c)
{
    int32_t n = 0;
    int32_t(*pair)[2] = mem_alloc(((size_t)c->p->count + 1) * sizeof *pair);
    int32_t *members = mem_alloc(((size_t)c->p->count + 1) * sizeof *members);
    bool ok = true;
    for (int32_t i = 0; ok && i < c->p->count; i++) {
        pair[n][0] = c->block[i];
        pair[n++][1] = i;
    }
    if (ok && n) qsort(pair, (size_t)n, sizeof *pair, valid_bonds_compare_members);
    for (int32_t i = 0; ok && i < n;) {
        int32_t count = 0, block = pair[i][0];
        for (; i < n && pair[i][0] == block; i++) members[count++] = pair[i][1];
        if (count > 1) ok = valid_block(c, members, count);
    }
    mem_free(pair);
    mem_free(members);
    return ok;
}

static bool valid_same_place(struct bonds_check *c)
{
    const struct lx_bonds *b = &c->p->bonds;
    for (int32_t i = 0; i < b->same_place_count; i++)
        if (!valid_group(c, "same_place", &b->same_place[i])) return false;
    if (b->same_place_count == 0) return true;
    c->block = blocks_of(c->p);
    return valid_blocks(c);
}

static bool valid_apart(const struct bonds_check *c)
{
    const struct lx_bonds *b = &c->p->bonds;
    if (!valid_pairs(c, "apart", b->apart, b->apart_count)) return false;
    for (int32_t i = 0; c->block && i < b->apart_count; i++)
        if (c->block[b->apart[i].a] == c->block[b->apart[i].b])
            return buffer_error(valid_bonds_buffer_at(c, b->apart[i].a), c->st, LX_E_MODEL,
                                "apart: buffers %s and %s are to have the same place",
                                valid_bonds_buffer_at(c, b->apart[i].a)->name,
                                valid_bonds_buffer_at(c, b->apart[i].b)->name);
    return true;
}

static bool valid_staging(const struct bonds_check *c)
{
    const struct lx_bonds *b = &c->p->bonds;
    if (!valid_pairs(c, "staging", b->staging, b->staging_count)) return false;
    for (int32_t i = 0; i < b->staging_count; i++) {
        if (c->flags[b->staging[i].a] & IS_STAGING)
            return buffer_error(valid_bonds_buffer_at(c, b->staging[i].a), c->st, LX_E_MODEL,
                                "staging: buffer %s stands in for two others",
                                valid_bonds_buffer_at(c, b->staging[i].a)->name);
        c->flags[b->staging[i].a] |= IS_STAGING;
    }
    for (int32_t i = 0; i < b->staging_count; i++) {
        const struct lx_buffer *s = valid_bonds_buffer_at(c, b->staging[i].a);
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

/* A member of a linked cost that has one: where the linked cost is, as far as a problem knows. */
static const struct lx_buffer *valid_bonds_first_of(const struct bonds_check *c,
                                                    const struct lx_group *const groups[4])
{
    int k = 0;
    while (groups[k]->count == 0) k++;
    return valid_bonds_buffer_at(c, groups[k]->at[0]);
}

static bool valid_charge(const struct bonds_check *c, const struct lx_charge *x, int64_t *sum)
{
    const struct lx_group *groups[] = {&x->all_on, &x->all_off, &x->any_on, &x->any_off};
    int32_t members = 0;
    for (int k = 0; k < 4; k++) {
        if (!known_all(c, "charge", groups[k])) return false;
        members += groups[k]->count;
    }
    if (members == 0) return status_set(c->st, LX_E_MODEL, "charge: it has no condition");
    const struct lx_buffer *first = valid_bonds_first_of(c, groups);
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
        return buffer_error(valid_bonds_buffer_at(c, both), c->st, LX_E_MODEL,
                            "charge: buffer %s would have to be on and off",
                            valid_bonds_buffer_at(c, both)->name);
    if (x->cost != LX_FORBIDDEN && (!add_i64(*sum, x->cost, sum) || *sum > LX_INT_MAX))
        return buffer_error(first, c->st, LX_E_RANGE,
                            "charge: the costs up to here (on buffer %s) add up beyond 2^53", first->name);
    return true;
}

static bool valid_reuse(const struct bonds_check *c, const struct lx_reuse *r, int64_t *sum)
{
    if (!valid_bonds_known(c, "reuse", r->a) || !valid_bonds_known(c, "reuse", r->b)) return false;
    if (r->a == r->b || r->cost < 0 || r->cost > LX_INT_MAX)
        return buffer_error(valid_bonds_buffer_at(c, r->a), c->st, LX_E_MODEL,
                            r->a == r->b ? "reuse: buffer %s is paired with itself"
                                         : "reuse: the cost of buffer %s is negative or impossible",
                            valid_bonds_buffer_at(c, r->a)->name);
    if (!add_i64(*sum, r->cost, sum) || *sum > LX_INT_MAX)
        return buffer_error(valid_bonds_buffer_at(c, r->a), c->st, LX_E_RANGE,
                            "reuse: the costs up to here (of buffer %s) add up beyond 2^53",
                            valid_bonds_buffer_at(c, r->a)->name);
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
    if (!valid_same_place(c) || !valid_apart(c) ||
        !valid_pairs(c, "exclusive", b->exclusive, b->exclusive_count) || !valid_staging(c))
        return false;
    for (int32_t i = 0; i < b->charge_count; i++)
        if (!valid_charge(c, &b->charges[i], &sum)) return false;
    for (int32_t i = 0; i < b->reuse_count; i++)
        if (!valid_reuse(c, &b->reuse[i], &sum)) return false;
    return true;
}

bool valid_bonds(const struct lx_problem *p, int64_t costs, lx_status *st)
{
    const struct lx_bonds *b = &p->bonds;
    if (!(b->apart_count | b->exclusive_count | b->staging_count | b->same_place_count | b->together_count |
          b->charge_count | b->reuse_count))
        return true;
    struct bonds_check c = {.p = p, .st = st, .flags = mem_zeroed((size_t)p->count + 1, 1)};
    bool ok = valid_all(&c, costs);
    mem_free(c.flags);
    mem_free(c.block);
    return ok;
}
