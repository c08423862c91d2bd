/* Rewrites a problem, step by step, and maps answers back. */
#include "placement/rewrite.h"

bool is_plain(const struct lx_problem *p)
{
    unsigned needs = lx_problem_needs(p);
    if (p->pool_count) return false;
    return p->objective == LX_SPILL ? (needs & ~(unsigned)(LX_CAN_LINKED_COSTS | LX_CAN_MUST)) == 0
                                    : needs == 0;
}

static void never(struct rewrite *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes that no legal answer exists, and why. */
static void never(struct rewrite *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!w->impossible) vsnprintf(w->why, sizeof w->why, format, args);
    va_end(args);
    w->impossible = true;
}

void rewrite_free(struct rewrite *w)
{
    mem_free(w->exclusive.at);
    mem_free(w->block);
    arena_free(&w->memory);
}

void rewrite_places(const struct rewrite *w, const struct part *part, const int64_t *address,
                    const int32_t *part_pool, int64_t *out, int32_t *pool)
{
    for (int32_t i = 0; i < part->problem.count; i++)
        for (int32_t m = part->block[i]; m >= 0; m = w->next[m]) {
            out[m] = address[i];
            if (pool) pool[m] = part->pool[address[i] >= 0 && part_pool ? part_pool[i] : 0];
        }
}

/* --- Blocks: each same_place group as one buffer, with the largest size, a common alignment, the union of
 * lives, the pools that all members allow, and the sum of costs. A block that fits no pool has no place.
 * --- */

ORDER(rewrite_blocks_compare_lives, struct lx_life, ORDER_UP(start) ORDER_UP(end));

static void unite_lives(struct rewrite *w, struct lx_buffer *whole, int32_t block)
{
    size_t n = 0;
    for (int32_t m = block; m >= 0; m = w->next[m]) n += (size_t)lx_life_count(&w->p->buffers[m]);
    if (n == 1) return;
    struct lx_life *all = arena_array(&w->memory, n, sizeof *all);
    n = 0;
    for (int32_t m = block; m >= 0; m = w->next[m])
        for (int32_t k = 0; k < lx_life_count(&w->p->buffers[m]); k++)
            all[n++] = lx_life_at(&w->p->buffers[m], k);
    qsort(all, n, sizeof *all, rewrite_blocks_compare_lives);
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        if (all[i].start <= all[kept].end)
            all[kept].end = max_i64(all[kept].end, all[i].end);
        else
            all[++kept] = all[i];
    }
    whole->start = all[0].start;
    whole->end = all[kept].end;
    whole->lives = kept ? all : NULL;
    whole->life_count = kept ? (int32_t)kept + 1 : 0;
}

static void make_block(struct rewrite *w, int32_t block)
{
    struct lx_buffer *whole = &w->whole[block];
    *whole = w->p->buffers[block];
    whole->alignment = 0;
    whole->spill_cost = 0;
    int64_t alignment = 1;
    for (int32_t m = block; m >= 0; m = w->next[m]) {
        const struct lx_buffer *b = &w->p->buffers[m];
        whole->size = max_i64(whole->size, b->size);
        whole->spill_cost += b->spill_cost;
        alignment = lcm_i64(alignment, lx_alignment_of(w->p, b));
        whole->must |= b->must;
        whole->alone |= b->alone;
        if (b->fixed >= 0) whole->fixed = b->fixed, whole->fixed_pool = b->fixed_pool;
        if (b->reason) whole->reason = b->reason;
    }
    if (alignment != w->p->alignment) whole->alignment = alignment;
    unite_lives(w, whole, block);
    /* The pools of a block in the order of its first member, with their costs. */
    const struct lx_buffer *first = &w->p->buffers[block];
    int32_t n = lx_choice_count(w->p, first), kept = 0;
    int32_t *pools = arena_array(&w->memory, (size_t)n, sizeof *pools);
    int64_t *costs = arena_array(&w->memory, (size_t)n, sizeof *costs), any = 0;
    for (int32_t k = 0; k < n; k++) {
        int32_t pool = lx_choice_at(first, k);
        bool allowed = true;
        for (int32_t m = block; m >= 0 && allowed; m = w->next[m]) {
            const struct lx_buffer *b = &w->p->buffers[m];
            allowed = lx_allows_pool(b, pool) && (b->fixed < 0 || b->fixed_pool == pool);
        }
        if (!allowed) continue;
        /* Is there room in the pool for the block, at its pin if it has one? */
        int64_t capacity = lx_pool_capacity(w->p, pool), at = max_i64(whole->fixed, 0);
        if (capacity != LX_NO_LIMIT && (whole->size > capacity || at > capacity - whole->size)) continue;
        for (int32_t m = block; m >= 0; m = w->next[m]) costs[kept] += lx_on_cost(&w->p->buffers[m], pool);
        any |= costs[kept];
        pools[kept++] = pool;
    }
    whole->pools = pools;
    whole->on_costs = any ? costs : NULL;
    whole->pool_count = kept;
    w->has_place[block] = !whole->reason && whole->pool_count > 0 &&
                          (whole->fixed < 0 || whole->fixed % alignment == 0) && alignment < INT64_MAX;
}

/* Fixes blocks that are on or off chip in every legal answer: barred and homeless blocks are off, musts are
 * on (for fit or height all but barred and staging ones), and groups, staging pairs and forbidden linked
 * costs imply more. A contradiction proves that no legal answer exists. */

enum { MOST_ROUNDS = 64 }; /* stopping early is no error: fewer blocks are fixed */

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

/* Literals that hold when a member's state is `wanted`: how many hold, fail or are open. */
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

/* A forbidden linked cost is a clause: if all but one of its conditions hold, the last must fail. */
static void fix_by_clause(struct rewrite *w, const struct lx_linked_cost *c, bool *changed)
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
    for (int32_t i = 0; i < b->linked_cost_count && !w->impossible; i++)
        if (b->linked_costs[i].cost == LX_FORBIDDEN) fix_by_clause(w, &b->linked_costs[i], &changed);
    return changed && !w->impossible;
}

static void fix_states(struct rewrite *w)
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

/* Linked costs by blocks, shortened: impossible ones are dropped, certain ones go into the constant, the
 * others keep their open conditions, each block once. */

/* The conditions of the current linked cost that name a block. */
enum { ALL_ON = 1, ALL_OFF = 2, ANY_ON = 4, ANY_OFF = 8 };

struct shortening {
    struct rewrite *w;
    unsigned char *named;       /* per block: conditions that name it */
    struct lx_linked_cost *out; /* the linked cost being made */
    bool dead, any_holds;
};

/* Copies the open members of a list of conditions. */
static void rewrite_shorten_group(struct shortening *s, const struct lx_group *from, unsigned as,
                                  struct lx_group *to)
{
    int32_t *at = arena_array(&s->w->memory, (size_t)from->count, sizeof *at);
    for (int32_t k = 0; k < from->count; k++) {
        int32_t block = s->w->block[from->at[k]];
        int state = s->w->state[block]; /* if decided */
        if (state == IS_OPEN && s->named[block] & ALL_ON && as > ALL_OFF) state = IS_ON;
        if (state == IS_OPEN && s->named[block] & ALL_OFF && as > ALL_OFF) state = IS_OFF;
        int known = state == IS_OPEN ? 0 : (state == IS_ON) == (as == ALL_ON || as == ANY_ON) ? 1 : -1;
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

static void shorten_linked(struct rewrite *w, struct lx_linked_cost **linked, int32_t *count)
{
    const struct lx_bonds *b = &w->p->bonds;
    struct shortening s = {.w = w, .named = arena_array(&w->memory, (size_t)w->p->count, 1)};
    *linked = arena_array(&w->memory, (size_t)b->linked_cost_count, sizeof **linked);
    for (int32_t i = 0; i < b->linked_cost_count; i++) {
        const struct lx_linked_cost *c = &b->linked_costs[i];
        if (w->p->objective != LX_SPILL && c->cost != LX_FORBIDDEN) continue;
        s.out = &(*linked)[*count];
        *s.out = (struct lx_linked_cost){.cost = c->cost};
        s.dead = s.any_holds = false;
        rewrite_shorten_group(&s, &c->all_on, ALL_ON, &s.out->all_on);
        rewrite_shorten_group(&s, &c->all_off, ALL_OFF, &s.out->all_off);
        rewrite_shorten_group(&s, &c->any_on, ANY_ON, &s.out->any_on);
        rewrite_shorten_group(&s, &c->any_off, ANY_OFF, &s.out->any_off);
        const struct lx_group *groups[] = {&c->all_on, &c->all_off, &c->any_on, &c->any_off};
        for (int g = 0; g < 4; g++)
            for (int32_t k = 0; k < groups[g]->count; k++) s.named[s.w->block[groups[g]->at[k]]] = 0;
        bool has_any = c->any_on.count + c->any_off.count > 0;
        if (s.any_holds) s.out->any_on.count = s.out->any_off.count = 0;
        bool any_open = s.out->any_on.count + s.out->any_off.count > 0;
        if (s.dead || (has_any && !s.any_holds && !any_open)) continue;
        if (any_open || s.out->all_on.count + s.out->all_off.count > 0)
            (*count)++;
        else if (c->cost == LX_FORBIDDEN)
            never(w, "a forbidden charge comes about whatever is placed");
        else
            w->constant += c->cost;
    }
}

void rewrite_make(struct rewrite *w, const struct lx_problem *p)
{
    struct lx_linked_cost *linked = NULL;
    int32_t count = 0;
    size_t n = (size_t)p->count;
    *w = (struct rewrite){.p = p, .block = blocks_of(p)};
    exclusive_sorted(p, &w->exclusive);
    w->next = arena_array(&w->memory, n, sizeof *w->next);
    w->state = arena_array(&w->memory, n, sizeof *w->state);
    w->whole = arena_array(&w->memory, n, sizeof *w->whole);
    w->has_place = arena_array(&w->memory, n, sizeof *w->has_place);
    block_chains(w->block, p->count, w->next);
    for (int32_t i = 0; i < p->count; i++)
        if (w->block[i] == i) make_block(w, i);
    fix_states(w);
    if (w->impossible) return;
    shorten_linked(w, &linked, &count);
    if (!w->impossible) make_parts(w, linked, count);
}
