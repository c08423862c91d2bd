#include "support/random_v2.h"

bool v2_chance(struct rng *r, int percent)
{
    return rng_below(r, 100) < (uint64_t)percent;
}

int32_t v2_any(struct rng *r, const struct v2_problem *v)
{
    return (int32_t)rng_below(r, (uint64_t)v->p.count);
}

static void v2_life(struct rng *r, struct v2_problem *v, int32_t i, int64_t ticks, bool gaps)
{
    struct lx_buffer *b = &v->b[i];
    int64_t at = rng_between(r, 0, ticks - 1);
    int32_t n = gaps && v2_chance(r, 50) ? 2 : 1;
    for (int32_t k = 0; k < n; k++) {
        int64_t end = at + rng_between(r, 1, 3);
        v->lives[i][k] = (struct lx_life){at, end};
        at = end + rng_between(r, 0, 2);
    }
    b->start = v->lives[i][0].start;
    b->end = v->lives[i][n - 1].end;
    b->lives = n > 1 ? v->lives[i] : NULL;
    b->life_count = n > 1 ? n : 0;
    v->uses[i][0] = b->start;
    v->uses[i][1] = b->end - 1;
    b->uses = v->uses[i];
    b->use_count = b->end - b->start > 1 ? 2 : 1;
    b->first_use_is_read = v2_chance(r, 20);
}

static void v2_pools(struct rng *r, struct v2_problem *v, int64_t most, bool reserved)
{
    int32_t n = v2_chance(r, 45) ? (int32_t)rng_between(r, 2, V2_POOLS) : 1;
    static const char *const names[] = {"lx", "sram", "l0"};
    v->p.pools = v->pool;
    v->p.pool_count = n;
    for (int32_t k = 0; k < n; k++) {
        struct lx_pool *q = &v->pool[k];
        bool open = v->p.objective == LX_HEIGHT && v2_chance(r, 60);
        q->name = names[k];
        q->capacity = open ? LX_NO_LIMIT : rng_between(r, 2, most);
        q->reserved = v->reserved[k];
        for (int i = 0; reserved && i < 2 && v2_chance(r, 50); i++) {
            int64_t from = rng_between(r, 0, open ? 3 : q->capacity - 1);
            int64_t to = open ? from + 1 : rng_between(r, from + 1, q->capacity);
            bool always = v2_chance(r, 40);
            int64_t start = rng_between(r, 0, 4);
            v->reserved[k][q->reserved_count++] = (struct lx_reserved){
                from, to, always ? INT64_MIN : start, always ? INT64_MAX : start + rng_between(r, 1, 3)};
        }
        if (!open) v->p.capacity += q->capacity;
    }
}

static void v2_choice(struct rng *r, struct v2_problem *v, int32_t i, bool on_costs)
{
    struct lx_buffer *b = &v->b[i];
    int32_t n = v->p.pool_count, first = (int32_t)rng_below(r, (uint64_t)n);
    if (v2_chance(r, 50)) {
        b->pool_count = (int32_t)rng_between(r, 1, n);
        for (int32_t k = 0; k < b->pool_count; k++) v->pools[i][k] = (first + k) % n;
        b->pools = v->pools[i];
    }
    if (!on_costs || v2_chance(r, 40)) return;
    if (!b->pools) b->pool_count = n;
    for (int32_t k = 0; k < b->pool_count; k++) v->costs[i][k] = rng_between(r, 0, 4);
    b->on_costs = v->costs[i];
}

static void v2_pin(struct rng *r, struct v2_problem *v, int32_t i)
{
    struct lx_buffer *b = &v->b[i];
    int32_t pool = b->pools ? b->pools[0] : (int32_t)rng_below(r, (uint64_t)v->p.pool_count);
    int64_t capacity = v->pool[pool].capacity == LX_NO_LIMIT ? 6 : v->pool[pool].capacity;
    int64_t step = b->alignment ? b->alignment : v->p.alignment;
    if (b->size > capacity) return;
    b->fixed = rng_between(r, 0, (capacity - b->size) / step) * step;
    b->fixed_pool = pool;
    b->alone = v2_chance(r, 30);
}

static void v2_edges(struct rng *r, struct v2_problem *v)
{
    for (int32_t c = 0; c < v->p.count; c++)
        for (int32_t k = 0; k < v->p.count; k++) {
            struct lx_buffer *child = &v->b[c];
            const struct lx_buffer *parent = &v->b[k];
            if (c == k || child->first_use_is_read || parent->end != child->start + 1 ||
                child->size > parent->size || lx_read_count(parent) == 0 || v2_chance(r, 30))
                continue;
            v->parents[c][child->parent_count++] = k;
            v->in_edge[c] = v->in_edge[k] = true;
        }
}

/* Pairs of different buffers. */
static int32_t v2_pairs(struct rng *r, struct v2_problem *v, struct lx_pair *out)
{
    int32_t n = 0;
    for (int64_t k = rng_between(r, 1, 3); k > 0 && n < V2_LIST && v->p.count > 1; k--) {
        int32_t a = v2_any(r, v), b = v2_any(r, v);
        if (a != b) out[n++] = (struct lx_pair){a, b};
    }
    return n;
}

static void v2_group(struct rng *r, struct v2_problem *v, int32_t *at, struct lx_group *g, bool edges)
{
    int32_t n = 0;
    for (int64_t tries = rng_between(r, 2, 4); tries > 0 && n < 3; tries--) {
        int32_t i = v2_any(r, v);
        bool again = v->is_staging[i] || (!edges && (v->in_edge[i] || v->in_group[i]));
        for (int32_t k = 0; k < n; k++) again |= at[k] == i;
        if (!again) at[n++] = i;
    }
    *g = (struct lx_group){at, n};
}

static void v2_staging(struct rng *r, struct v2_problem *v)
{
    struct lx_bonds *bonds = &v->p.bonds;
    for (int64_t tries = rng_between(r, 1, 2); tries > 0 && v->p.count > 1; tries--) {
        int32_t a = v2_any(r, v), b = v2_any(r, v);
        bool owns = false;
        for (int32_t k = 0; k < bonds->staging_count; k++) owns |= v->staging[k].b == a;
        if (a == b || owns || v->is_staging[a] || v->is_staging[b] || v->in_edge[a]) continue;
        v->staging[bonds->staging_count++] = (struct lx_pair){a, b};
        v->is_staging[a] = true;
        v->b[a].spill_cost = 0;
        v->b[a].must = false;
    }
    bonds->staging = v->staging;
}

static void v2_charges(struct rng *r, struct v2_problem *v)
{
    struct lx_bonds *bonds = &v->p.bonds;
    for (int64_t k = rng_between(r, 1, 4); k > 0; k--) {
        struct lx_linked_cost *c = &v->linked[bonds->linked_cost_count];
        struct lx_group *groups[] = {&c->all_on, &c->all_off, &c->any_on, &c->any_off};
        int32_t members = 0;
        *c = (struct lx_linked_cost){.cost = v2_chance(r, 25) ? LX_FORBIDDEN : rng_between(r, 0, 9)};
        for (int g = 0; g < 4; g++) {
            int32_t *at = v->linked_at[bonds->linked_cost_count].at[g], n = 0;
            for (; n < 3 && v2_chance(r, 35); n++) at[n] = v2_any(r, v);
            *groups[g] = (struct lx_group){at, n};
            members += n;
        }
        bool both = false;
        for (int32_t a = 0; a < c->all_on.count; a++)
            for (int32_t b = 0; b < c->all_off.count; b++) both |= c->all_on.at[a] == c->all_off.at[b];
        if (members && !both) bonds->linked_cost_count++;
    }
    bonds->linked_costs = v->linked;
}

static void v2_bonds(struct rng *r, struct v2_problem *v, int percent)
{
    struct lx_bonds *b = &v->p.bonds;
    if (v2_chance(r, percent)) b->apart_count = v2_pairs(r, v, v->apart);
    if (v2_chance(r, percent)) b->exclusive_count = v2_pairs(r, v, v->exclusive);
    b->apart = v->apart;
    b->exclusive = v->exclusive;
    if (v2_chance(r, percent)) v2_staging(r, v);
    if (v2_chance(r, percent)) {
        v2_group(r, v, v->same_at[0], &v->same_place[0], false);
        b->same_place = v->same_place;
        b->same_place_count = v->same_place[0].count > 1;
    }
    if (v2_chance(r, percent)) {
        v2_group(r, v, v->together_at[0], &v->together[0], true);
        v2_group(r, v, v->together_at[1], &v->together[1], true);
        b->together = v->together;
        b->together_count = v->together[0].count < 2 ? 0 : v->together[1].count < 2 ? 1 : 2;
    }
    if (v2_chance(r, percent + 20)) v2_charges(r, v);
    for (int64_t k = v2_chance(r, percent) ? rng_between(r, 1, 4) : 0; k > 0 && v->p.count > 1; k--) {
        int32_t x = v2_any(r, v), y = v2_any(r, v);
        if (x != y) v->reuse[b->reuse_count++] = (struct lx_reuse){x, y, rng_between(r, 0, 9)};
    }
    b->reuse = v->reuse;
}

void random_v2(struct v2_problem *v, struct rng *r, int32_t most)
{
    memset(v, 0, sizeof *v);
    static const int mixes[] = {0, 10, 25, 50};
    int percent = mixes[rng_below(r, 4)];
    uint64_t question = rng_below(r, 5);
    v->p.objective = question == 0 ? LX_FIT : question == 1 ? LX_HEIGHT : LX_SPILL;
    v->p.count = (int32_t)rng_between(r, 1, most);
    v->p.alignment = v2_chance(r, 20) ? 2 : 1;
    v->p.buffers = v->b;
    bool gaps = v2_chance(r, percent), pins = v2_chance(r, percent), on = v2_chance(r, percent + 20);
    bool barred = v2_chance(r, 20), must = v2_chance(r, 30), aligned = v2_chance(r, 15);
    v2_pools(r, v, 7, v2_chance(r, percent));
    for (int32_t i = 0; i < v->p.count; i++) {
        struct lx_buffer *b = &v->b[i];
        snprintf(v->name[i], sizeof v->name[i], "b%d", (int)i);
        b->name = v->name[i];
        b->parents = v->parents[i];
        b->fixed = -1;
        b->size = v2_chance(r, 6) ? 0 : rng_between(r, 1, 4);
        b->spill_cost = rng_between(r, 0, 12);
        b->alignment = aligned && v2_chance(r, 40) ? v->p.alignment * rng_between(r, 2, 3) : 0;
        v2_life(r, v, i, 6, gaps);
        v2_choice(r, v, i, on);
        if (pins && v2_chance(r, 30)) v2_pin(r, v, i);
        if (barred && v2_chance(r, 20)) b->reason = "barred by the test";
        if (must && !b->reason && v2_chance(r, 25)) b->must = true;
    }
    if (v2_chance(r, 40)) v2_edges(r, v);
    v2_bonds(r, v, percent);
}
