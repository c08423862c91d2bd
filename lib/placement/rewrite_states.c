/* What is on or off chip in every legal answer: barred and homeless blocks are off, those that must be placed are on
 * (where fit or height is asked: all but the barred and the staging ones), and groups, staging pairs and forbidden
 * charges hand that on. A contradiction proves that no legal answer exists. */
#include "placement/rewrite.h"

enum { MOST_ROUNDS = 64 }; /* fewer than it may take is no error: less is fixed */

static void rewrite_states_fix(struct rewrite *w, int32_t i, int state, bool *changed)
{
    int32_t block = w->block[i];
    if (w->state[block] == state) return;
    if (w->state[block] != IS_OPEN)
        never(w, "buffer %s would have to be on chip and off it", w->p->buffers[i].name);
    w->state[block] = (signed char)state;
    *changed = true;
}

static int rewrite_states_state_of(const struct rewrite *w, int32_t i)
{
    return w->state[w->block[i]];
}

/* Of literals that hold when a member's state is `wanted`: how many hold, fail and are open; different open ones
 * count once only if there is but one. */
struct tally {
    int32_t holds, fails, open, last; /* last: an open member */
    int last_state;
    bool several;
};

static void count_literals(const struct rewrite *w, const struct lx_group *g, int wanted, struct tally *t)
{
    for (int32_t k = 0; k < g->count; k++) {
        int state = rewrite_states_state_of(w, g->at[k]);
        if (state != IS_OPEN) {
            t->holds += state == wanted;
            t->fails += state != wanted;
            continue;
        }
        t->several |= t->open > 0 && (w->block[t->last] != w->block[g->at[k]] || t->last_state != wanted);
        t->last = g->at[k];
        t->last_state = wanted;
        t->open++;
    }
}

static void fix_all(struct rewrite *w, const struct lx_group *g, int state, bool *changed)
{
    for (int32_t k = 0; k < g->count; k++)
        if (rewrite_states_state_of(w, g->at[k]) == IS_OPEN) rewrite_states_fix(w, g->at[k], state, changed);
}

/* A forbidden charge is a clause: if all but one of its conditions hold, the last must fail. */
static void fix_by_clause(struct rewrite *w, const struct lx_charge *c, bool *changed)
{
    struct tally all = {0}, any = {0};
    count_literals(w, &c->all_on, IS_ON, &all);
    count_literals(w, &c->all_off, IS_OFF, &all);
    count_literals(w, &c->any_on, IS_ON, &any);
    count_literals(w, &c->any_off, IS_OFF, &any);
    bool has_any = c->any_on.count + c->any_off.count > 0, any_holds = !has_any || any.holds > 0;
    if (all.fails || (has_any && !any.holds && !any.open)) return;
    if (all.open == 0 && any_holds)
        never(w, "a forbidden charge comes about whatever is placed");
    else if (all.open == 0) {
        fix_all(w, &c->any_on, IS_OFF, changed);
        fix_all(w, &c->any_off, IS_ON, changed);
    } else if (any_holds && !all.several)
        rewrite_states_fix(w, all.last, -all.last_state, changed);
}

static bool hand_on(struct rewrite *w)
{
    const struct lx_bonds *b = &w->p->bonds;
    bool changed = false;
    for (int32_t i = 0; i < b->together_count; i++) {
        int known = IS_OPEN;
        for (int32_t k = 0; k < b->together[i].count && known == IS_OPEN; k++)
            known = rewrite_states_state_of(w, b->together[i].at[k]);
        for (int32_t k = 0; k < b->together[i].count && known != IS_OPEN; k++)
            rewrite_states_fix(w, b->together[i].at[k], known, &changed);
    }
    for (int32_t i = 0; i < b->staging_count; i++) {
        if (rewrite_states_state_of(w, b->staging[i].a) != IS_OPEN)
            rewrite_states_fix(w, b->staging[i].b, -rewrite_states_state_of(w, b->staging[i].a), &changed);
        if (rewrite_states_state_of(w, b->staging[i].b) != IS_OPEN)
            rewrite_states_fix(w, b->staging[i].a, -rewrite_states_state_of(w, b->staging[i].b), &changed);
    }
    for (int32_t i = 0; i < b->charge_count && !w->impossible; i++)
        if (b->charges[i].cost == LX_FORBIDDEN) fix_by_clause(w, &b->charges[i], &changed);
    return changed && !w->impossible;
}

void fix_states(struct rewrite *w)
{
    const struct lx_problem *p = w->p;
    bool *is_staging = arena_array(&w->memory, (size_t)p->count, sizeof *is_staging), ignored;
    for (int32_t i = 0; i < p->bonds.staging_count; i++) is_staging[p->bonds.staging[i].a] = true;
    for (int32_t i = 0; i < p->count; i++)
        if (w->block[i] == i && !w->has_place[i]) w->state[i] = IS_OFF;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        bool all = p->objective != LX_SPILL && !b->reason && !is_staging[i];
        if (!b->must && !all) continue;
        if (rewrite_states_state_of(w, i) == IS_OFF)
            never(w, "buffer %s must be placed, but fits nowhere", b->name);
        rewrite_states_fix(w, i, IS_ON, &ignored);
    }
    for (int round = 0; round < MOST_ROUNDS && !w->impossible && hand_on(w);) round++;
}
