/* Uncoupled pools become problems of their own. Two pools are coupled by a block that may be in either, and
 * by groups, staging pairs and linked costs between them; pairs about sharing bytes do not couple. Blocks
 * that are off for sure are in no part. */
#include "placement/rewrite.h"

struct parting {
    struct rewrite *w;
    bool asks_cost;
    int32_t *joined;  /* per pool: the least pool of its part */
    int32_t *index;   /* per block: its index in its part, or -1 */
    int32_t *part_of; /* per pool: its part */
    int32_t *pool_at; /* per pool: its index in its part */
    const struct lx_linked_cost *linked;
    int32_t linked_count;
};

/* A pool of the block; -1: the block is in no part. */
static int32_t home(const struct parting *t, int32_t block)
{
    return t->w->state[block] == IS_OFF ? -1 : t->w->whole[block].pools[0];
}

static int32_t rewrite_parts_part_of(const struct parting *t, int32_t block)
{
    int32_t pool = home(t, block);
    return pool < 0 ? -1 : t->part_of[pool];
}

static void couple(struct parting *t, int32_t *with, int32_t block)
{
    int32_t pool = home(t, block);
    if (pool < 0) return;
    if (*with >= 0) sets_join(t->joined, *with, pool);
    *with = pool;
}

static void couple_group(struct parting *t, const struct lx_group *g, int32_t *with)
{
    for (int32_t k = 0; k < g->count; k++) couple(t, with, t->w->block[g->at[k]]);
}

static void couple_pools(struct parting *t)
{
    const struct lx_problem *p = t->w->p;
    for (int32_t k = 0; k < lx_pool_count(p); k++) t->joined[k] = k;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &t->w->whole[i];
        if (t->w->block[i] != i || t->w->state[i] == IS_OFF) continue;
        for (int32_t k = 1; k < b->pool_count; k++) sets_join(t->joined, b->pools[0], b->pools[k]);
    }
    for (int32_t i = 0; t->asks_cost && i < p->bonds.together_count; i++)
        couple_group(t, &p->bonds.together[i], &(int32_t){-1});
    for (int32_t i = 0; t->asks_cost && i < p->bonds.staging_count; i++) {
        int32_t with = -1;
        couple(t, &with, t->w->block[p->bonds.staging[i].a]);
        couple(t, &with, t->w->block[p->bonds.staging[i].b]);
    }
    for (int32_t i = 0; i < t->linked_count; i++) {
        const struct lx_linked_cost *c = &t->linked[i];
        int32_t with = -1;
        couple_group(t, &c->all_on, &with);
        couple_group(t, &c->all_off, &with);
        couple_group(t, &c->any_on, &with);
        couple_group(t, &c->any_off, &with);
    }
}

static void make_lists(struct parting *t)
{
    struct rewrite *w = t->w;
    int32_t pools = lx_pool_count(w->p);
    for (int32_t k = 0; k < pools; k++) {
        bool first = sets_root(t->joined, k) == k;
        t->part_of[k] = first ? w->part_count++ : t->part_of[sets_root(t->joined, k)];
    }
    w->parts = arena_array(&w->memory, (size_t)w->part_count, sizeof *w->parts);
    int32_t *size = arena_array(&w->memory, (size_t)w->part_count, sizeof *size);
    for (int32_t i = 0; i < w->p->count; i++)
        if (w->block[i] == i && rewrite_parts_part_of(t, i) >= 0) size[rewrite_parts_part_of(t, i)]++;
    for (int32_t k = 0; k < w->part_count; k++) {
        struct part *part = &w->parts[k];
        part->problem.buffers = part->buffers =
            arena_array(&w->memory, (size_t)size[k], sizeof *part->buffers);
        part->problem.pools = part->pools = arena_array(&w->memory, (size_t)pools, sizeof *part->pools);
        part->block = arena_array(&w->memory, (size_t)size[k], sizeof *part->block);
        part->pool = arena_array(&w->memory, (size_t)pools, sizeof *part->pool);
    }
}

static void deal_pools(struct parting *t)
{
    struct rewrite *w = t->w;
    for (int32_t k = 0; k < lx_pool_count(w->p); k++) {
        struct part *part = &w->parts[t->part_of[k]];
        struct lx_problem *q = &part->problem;
        /* A problem of version 1 has one pool of its own. */
        struct lx_pool pool =
            w->p->pool_count ? w->p->pools[k] : (struct lx_pool){"", lx_pool_capacity(w->p, 0), NULL, 0};
        t->pool_at[k] = q->pool_count;
        part->pool[q->pool_count] = k;
        part->pools[q->pool_count++] = pool;
        q->capacity += max_i64(pool.capacity, 0);
    }
}

static void deal_blocks(struct parting *t)
{
    struct rewrite *w = t->w;
    for (int32_t i = 0; i < w->p->count; i++) {
        if (w->block[i] != i) continue;
        if (rewrite_parts_part_of(t, i) < 0) {
            if (t->asks_cost) w->constant += w->whole[i].spill_cost;
            continue;
        }
        struct part *part = &w->parts[rewrite_parts_part_of(t, i)];
        t->index[i] = part->problem.count++;
        part->block[t->index[i]] = i;
    }
    for (int32_t k = 0; k < w->part_count; k++)
        for (int32_t i = 0; i < w->parts[k].problem.count; i++) {
            struct lx_buffer *b = &w->parts[k].buffers[i];
            *b = w->whole[w->parts[k].block[i]];
            b->must = t->asks_cost && w->state[w->parts[k].block[i]] == IS_ON;
            if (b->parent_count != 0) {
                int32_t *parents = arena_array(&t->w->memory, (size_t)b->parent_count, sizeof *parents),
                        n = 0;
                for (int32_t e = 0; e < b->parent_count; e++)
                    if (rewrite_parts_part_of(t, b->parents[e]) == k) parents[n++] = t->index[b->parents[e]];
                b->parents = parents;
                b->parent_count = n;
            }
            int32_t *pools = arena_array(&t->w->memory, (size_t)b->pool_count, sizeof *pools);
            for (int32_t j = 0; j < b->pool_count; j++) pools[j] = t->pool_at[b->pools[j]];
            b->pools = pools;
            if (b->fixed >= 0) b->fixed_pool = t->pool_at[b->fixed_pool];
        }
}

/* Filters of pairs. APART_IN_TIME: no members of the two blocks are alive together. */
enum kept_pairs { ALL_PAIRS, APART_IN_TIME, BOTH_OPEN };

/* Copies the pairs within one part, in its numbers. */
static void deal_pairs(struct parting *t, const struct lx_pair *pairs, int32_t count, int32_t part,
                       enum kept_pairs keep, const struct lx_pair **out, int32_t *n)
{
    struct lx_pair *made = arena_array(&t->w->memory, (size_t)count, sizeof *made);
    for (int32_t i = 0; i < count; i++) {
        int32_t a = t->w->block[pairs[i].a], b = t->w->block[pairs[i].b];
        if (a == b || rewrite_parts_part_of(t, a) != part || rewrite_parts_part_of(t, b) != part) continue;
        if (keep == APART_IN_TIME && blocks_alive_together(t->w->p, t->w->next, &t->w->exclusive, a, b))
            continue;
        if (keep == BOTH_OPEN && (t->w->state[a] != IS_OPEN || t->w->state[b] != IS_OPEN)) continue;
        made[(*n)++] = (struct lx_pair){t->index[a], t->index[b]};
    }
    *out = made;
}

static void deal_group(struct parting *t, const struct lx_group *from, struct lx_group *to)
{
    int32_t *at = arena_array(&t->w->memory, (size_t)from->count, sizeof *at);
    for (int32_t k = 0; k < from->count; k++) at[k] = t->index[t->w->block[from->at[k]]];
    *to = (struct lx_group){at, from->count};
}

/* Copies the open groups. Groups that share a member stay separate: a solver may join them. */
static void deal_together(struct parting *t, int32_t part, struct lx_bonds *out)
{
    const struct lx_bonds *b = &t->w->p->bonds;
    struct lx_group *made = arena_array(&t->w->memory, (size_t)b->together_count, sizeof *made);
    for (int32_t i = 0; i < b->together_count; i++) {
        const struct lx_group *g = &b->together[i];
        int32_t first = t->w->block[g->at[0]], different = 0;
        for (int32_t k = 1; k < g->count; k++) different += t->w->block[g->at[k]] != first;
        if (rewrite_parts_part_of(t, first) != part || t->w->state[first] != IS_OPEN || different == 0)
            continue;
        deal_group(t, g, &made[out->together_count++]);
    }
    out->together = made;
}

static void deal_linked(struct parting *t, int32_t part, struct lx_bonds *out)
{
    struct lx_linked_cost *made = arena_array(&t->w->memory, (size_t)t->linked_count, sizeof *made);
    for (int32_t i = 0; i < t->linked_count; i++) {
        const struct lx_linked_cost *c = &t->linked[i];
        struct lx_linked_cost *to = &made[out->linked_cost_count];
        const struct lx_group *any = c->all_on.count    ? &c->all_on
                                     : c->all_off.count ? &c->all_off
                                     : c->any_on.count  ? &c->any_on
                                                        : &c->any_off;
        if (any->count == 0 || rewrite_parts_part_of(t, t->w->block[any->at[0]]) != part) continue;
        to->cost = c->cost;
        deal_group(t, &c->all_on, &to->all_on);
        deal_group(t, &c->all_off, &to->all_off);
        deal_group(t, &c->any_on, &to->any_on);
        deal_group(t, &c->any_off, &to->any_off);
        out->linked_cost_count++;
    }
    out->linked_costs = made;
}

static void rewrite_parts_deal_bonds(struct parting *t, int32_t part)
{
    const struct lx_bonds *b = &t->w->p->bonds;
    struct lx_bonds *out = &t->w->parts[part].problem.bonds;
    deal_pairs(t, b->apart, b->apart_count, part, ALL_PAIRS, &out->apart, &out->apart_count);
    deal_pairs(t, b->exclusive, b->exclusive_count, part, APART_IN_TIME, &out->exclusive,
               &out->exclusive_count);
    if (t->asks_cost) {
        deal_pairs(t, b->staging, b->staging_count, part, BOTH_OPEN, &out->staging, &out->staging_count);
        deal_together(t, part, out);
        struct lx_reuse *made = arena_array(&t->w->memory, (size_t)b->reuse_count, sizeof *made);
        for (int32_t i = 0; i < b->reuse_count; i++) {
            int32_t x = t->w->block[b->reuse[i].a], y = t->w->block[b->reuse[i].b];
            if (x == y || rewrite_parts_part_of(t, x) != part || rewrite_parts_part_of(t, y) != part ||
                b->reuse[i].cost == 0 || blocks_alive_together(t->w->p, t->w->next, &t->w->exclusive, x, y))
                continue;
            made[out->reuse_count++] = (struct lx_reuse){t->index[x], t->index[y], b->reuse[i].cost};
        }
        out->reuse = made;
        deal_linked(t, part, out);
    }
}

void make_parts(struct rewrite *w, const struct lx_linked_cost *linked, int32_t linked_count)
{
    size_t pools = (size_t)lx_pool_count(w->p);
    struct parting t = {
        .w = w, .asks_cost = w->p->objective == LX_SPILL, .linked = linked, .linked_count = linked_count};
    t.joined = arena_array(&w->memory, pools, sizeof *t.joined);
    t.part_of = arena_array(&w->memory, pools, sizeof *t.part_of);
    t.pool_at = arena_array(&w->memory, pools, sizeof *t.pool_at);
    t.index = arena_array(&w->memory, (size_t)w->p->count, sizeof *t.index);
    couple_pools(&t);
    make_lists(&t);
    deal_pools(&t);
    deal_blocks(&t);
    for (int32_t k = 0; k < w->part_count; k++) {
        struct lx_problem *q = &w->parts[k].problem;
        q->objective = w->p->objective;
        q->alignment = w->p->alignment;
        rewrite_parts_deal_bonds(&t, k);
        /* A pool alone without reserved bytes is a plain list; hard_limit keeps its capacity for the
         * height. */
        w->parts[k].hard_limit = LX_NO_LIMIT;
        if (q->pool_count != 1 || q->pools[0].reserved_count) continue;
        if (q->objective == LX_HEIGHT) w->parts[k].hard_limit = q->pools[0].capacity;
        q->pool_count = 0;
        q->pools = NULL;
        for (int32_t i = 0; i < q->count; i++) {
            w->parts[k].buffers[i].pools = NULL;
            if (!w->parts[k].buffers[i].on_costs) w->parts[k].buffers[i].pool_count = 0;
        }
    }
}
