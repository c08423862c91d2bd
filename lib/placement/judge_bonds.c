/* The checker's rules about groups and pairs, and the linked costs. Each list costs its own length; a
 * reuse pair that shares bytes also the lives of its two blocks. */
#include "placement/judge.h"
#include "placement/valid.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>

static const char *judge_bonds_name_of(const struct judge *j, int32_t i)
{
    return j->p->buffers[i].name;
}

static bool same_as(struct judge *j, int32_t a, int32_t b)
{
    if (judge_is_placed(j, a) != judge_is_placed(j, b))
        return broken(j, LX_RULE_SAME_PLACE,
                      "buffers %s and %s are to have the same place, but %s is off chip",
                      judge_bonds_name_of(j, a), judge_bonds_name_of(j, b),
                      judge_bonds_name_of(j, judge_is_placed(j, a) ? b : a));
    if (judge_is_placed(j, a) && (judge_pool(j, a) != judge_pool(j, b) || j->address[a] != j->address[b]))
        return broken(j, LX_RULE_SAME_PLACE,
                      "buffers %s at %lld and %s at %lld are to have the same place, pool and address",
                      judge_bonds_name_of(j, a), (long long)j->address[a], judge_bonds_name_of(j, b),
                      (long long)j->address[b]);
    return true;
}

bool judge_same_place(struct judge *j)
{
    const struct lx_bonds *b = &j->p->bonds;
    for (int32_t g = 0; g < b->same_place_count; g++)
        for (int32_t k = 1; k < b->same_place[g].count; k++)
            if (!same_as(j, b->same_place[g].at[0], b->same_place[g].at[k])) return false;
    return true;
}

static bool judge_together(struct judge *j, const struct lx_group *g)
{
    for (int32_t k = 1; k < g->count; k++)
        if (judge_is_placed(j, g->at[k]) != judge_is_placed(j, g->at[0]))
            return broken(j, LX_RULE_TOGETHER, "buffers %s and %s go together, but only %s is placed",
                          judge_bonds_name_of(j, g->at[0]), judge_bonds_name_of(j, g->at[k]),
                          judge_bonds_name_of(j, g->at[judge_is_placed(j, g->at[0]) ? 0 : k]));
    return true;
}

static bool judge_staging(struct judge *j, const struct lx_pair *s)
{
    if (judge_is_placed(j, s->a) != judge_is_placed(j, s->b)) return true;
    return broken(j, LX_RULE_STAGING, "staging buffer %s is %s, and so is %s, in place of which it stands",
                  judge_bonds_name_of(j, s->a), judge_is_placed(j, s->a) ? "placed" : "off chip",
                  judge_bonds_name_of(j, s->b));
}

bool judge_bonds(struct judge *j)
{
    const struct lx_bonds *b = &j->p->bonds;
    for (int32_t i = 0; i < b->together_count; i++)
        if (!judge_together(j, &b->together[i])) return false;
    for (int32_t i = 0; i < b->staging_count; i++)
        if (!judge_staging(j, &b->staging[i])) return false;
    for (int32_t i = 0; i < b->apart_count; i++)
        if (share_a_byte(j, b->apart[i].a, b->apart[i].b))
            return broken(j, LX_RULE_APART, "buffers %s and %s share bytes, but are to be kept apart",
                          judge_bonds_name_of(j, b->apart[i].a), judge_bonds_name_of(j, b->apart[i].b));
    return true;
}

static bool all_are(const struct judge *j, const struct lx_group *g, bool placed)
{
    for (int32_t k = 0; k < g->count; k++)
        if (judge_is_placed(j, g->at[k]) != placed) return false;
    return true;
}

/* The members of each block in a chain, for lives of whole blocks. */
struct chains {
    int32_t *next; /* the next member of the same block, or -1 */
};

/* The rule of alive together, of two blocks. */
static bool alive_together(const struct judge *j, const struct chains *c, const struct exclusive_pairs *e,
                           int32_t a, int32_t b)
{
    for (int32_t x = judge_block(j, a); x >= 0; x = c->next[x])
        for (int32_t y = judge_block(j, b); y >= 0; y = c->next[y])
            if (lx_lives_meet(&j->p->buffers[x], &j->p->buffers[y]) && !exclusive_has(e, x, y)) return true;
    return false;
}

static void add_reuse(struct judge *j, int64_t *cost)
{
    const struct lx_bonds *b = &j->p->bonds;
    struct chains chains;
    struct exclusive_pairs exclusive = {0};
    chains.next = mem_alloc(((size_t)j->p->count + 1) * sizeof *chains.next);
    for (int32_t i = j->p->count; i-- > 0;) chains.next[i] = -1;
    for (int32_t i = j->p->count; j->block && i-- > 0;)
        if (j->block[i] != i) {
            chains.next[i] = chains.next[j->block[i]];
            chains.next[j->block[i]] = i;
        }
    exclusive_sorted(j->p, &exclusive);
    for (int32_t i = 0; i < b->reuse_count; i++) {
        const struct lx_reuse *r = &b->reuse[i];
        if (judge_block(j, r->a) != judge_block(j, r->b) && share_a_byte(j, r->a, r->b) &&
            !alive_together(j, &chains, &exclusive, r->a, r->b))
            *cost += r->cost;
    }
    mem_free(chains.next);
    mem_free(exclusive.at);
}

bool judge_linked(struct judge *j, int64_t *cost)
{
    const struct lx_bonds *b = &j->p->bonds;
    for (int32_t i = 0; i < b->charge_count; i++) {
        if (!all_are(j, &b->charges[i].all_on, true) || !all_are(j, &b->charges[i].all_off, false)) continue;
        if ((b->charges[i].any_on.count != 0 || b->charges[i].any_off.count != 0) &&
            all_are(j, &b->charges[i].any_on, false) && all_are(j, &b->charges[i].any_off, true))
            continue;
        if (b->charges[i].cost == LX_FORBIDDEN) {
            const struct lx_charge *c = &j->p->bonds.charges[i];
            const struct lx_group *g = c->all_on.count    ? &c->all_on
                                       : c->all_off.count ? &c->all_off
                                       : c->any_on.count  ? &c->any_on
                                                          : &c->any_off;
            return broken(j, LX_RULE_FORBIDDEN,
                          "charge %d (of buffer %s and others) is forbidden, but comes about", (int)i,
                          judge_bonds_name_of(j, g->at[0]));
        }
        *cost += b->charges[i].cost;
    }
    if (!(b->reuse_count == 0)) add_reuse(j, cost);
    return true;
}
