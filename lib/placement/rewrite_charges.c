/* Charges by blocks, without what is decided: a charge that cannot come about is gone, one that always does is in
 * the constant, and of the others only the conditions that are open remain, each block once. */
#include "placement/rewrite.h"

/* Which conditions of the charge in hand name a block. */
enum { ALL_ON = 1, ALL_OFF = 2, ANY_ON = 4, ANY_OFF = 8 };

struct shortening {
    struct rewrite *w;
    unsigned char *named;  /* per block */
    struct lx_charge *out; /* the charge being made */
    bool dead, any_holds;
};

static int decided(const struct shortening *s, int32_t block, unsigned as)
{
    int state = s->w->state[block];
    if (state == IS_OPEN && s->named[block] & ALL_ON && as > ALL_OFF) state = IS_ON;
    if (state == IS_OPEN && s->named[block] & ALL_OFF && as > ALL_OFF) state = IS_OFF;
    if (state == IS_OPEN) return 0;
    return (state == IS_ON) == (as == ALL_ON || as == ANY_ON) ? 1 : -1;
}

/* Takes over the open members of a list of conditions. */
static void rewrite_charges_shorten(struct shortening *s, const struct lx_group *from, unsigned as,
                                    struct lx_group *to)
{
    int32_t *at = arena_array(&s->w->memory, (size_t)from->count, sizeof *at);
    for (int32_t k = 0; k < from->count; k++) {
        int32_t block = s->w->block[from->at[k]];
        int known = decided(s, block, as);
        if (as <= ALL_OFF)
            s->dead |= known < 0 || (s->named[block] & (ALL_ON | ALL_OFF) & ~as);
        else
            s->any_holds |= known > 0 || (s->named[block] & (ANY_ON | ANY_OFF) & ~as);
        if (known || s->named[block] & as) continue;
        s->named[block] |= (unsigned char)as;
        at[to->count++] = block;
    }
    to->at = at;
}

/* What is left of a charge: true where it has to be kept. */
static bool rewrite_charges_is_open(struct shortening *s, const struct lx_charge *c)
{
    struct lx_charge *o = s->out;
    bool has_any = c->any_on.count + c->any_off.count > 0;
    if (s->any_holds) o->any_on.count = o->any_off.count = 0;
    bool any_open = o->any_on.count + o->any_off.count > 0;
    if (s->dead || (has_any && !s->any_holds && !any_open)) return false;
    if (any_open || o->all_on.count + o->all_off.count > 0) return true;
    if (c->cost == LX_FORBIDDEN)
        never(s->w, "a forbidden charge comes about whatever is placed");
    else
        s->w->constant += c->cost;
    return false;
}

void shorten_charges(struct rewrite *w, struct lx_charge **charges, int32_t *count)
{
    const struct lx_bonds *b = &w->p->bonds;
    struct shortening s = {.w = w, .named = arena_array(&w->memory, (size_t)w->p->count, 1)};
    *charges = arena_array(&w->memory, (size_t)b->charge_count, sizeof **charges);
    for (int32_t i = 0; i < b->charge_count; i++) {
        const struct lx_charge *c = &b->charges[i];
        if (w->p->objective != LX_SPILL && c->cost != LX_FORBIDDEN) continue;
        s.out = &(*charges)[*count];
        *s.out = (struct lx_charge){.cost = c->cost};
        s.dead = s.any_holds = false;
        rewrite_charges_shorten(&s, &c->all_on, ALL_ON, &s.out->all_on);
        rewrite_charges_shorten(&s, &c->all_off, ALL_OFF, &s.out->all_off);
        rewrite_charges_shorten(&s, &c->any_on, ANY_ON, &s.out->any_on);
        rewrite_charges_shorten(&s, &c->any_off, ANY_OFF, &s.out->any_off);
        const struct lx_group *groups[] = {&c->all_on, &c->all_off, &c->any_on, &c->any_off};
        for (int g = 0; g < 4; g++)
            for (int32_t k = 0; k < groups[g]->count; k++) s.named[s.w->block[groups[g]->at[k]]] = 0;
        if (rewrite_charges_is_open(&s, c)) (*count)++;
    }
}
