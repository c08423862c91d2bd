/* Chasing losses: a tensor that moves too much is held whole, or at another level, or its ops join one nest;
 * with the same tiles and with smaller ones, since holding needs room. */
#include "search/nests/nest_search.h"

enum { MOST_CHASED = 6 };

struct chase {
    struct search *search;
    struct nest_pool *pool;
    struct arena memory;
    struct nest_set base;
    int64_t *tries;
};

static bool nest_chase_is_over(const struct chase *c)
{
    bool enough = c->search->bound_with_nests && !asks_time(c->search) && c->pool->count > 0 &&
                  c->pool->at[0].hbm_bytes <= c->search->bound;
    return enough || *c->tries <= 0 || !nest_set_has_news(c->base.menus) || search_is_over(c->search);
}

static void nest_chase_try_set(struct chase *c, const struct nest_set *s)
{
    struct attempt next;
    if (nest_chase_is_over(c)) return;
    struct nest_set from = *s;
    int64_t before = s->menus->spent;
    from.limit = nest_pool_limit(c->pool, s);
    nest_set_plan(c->search, &from, true, &next);
    *c->tries -= s->menus->spent - before;
    if (next.memory) nest_pool_add(c->pool, &next);
}

/* Tries the set with its tile counts, and with more tiles at each level. */
static void nest_chase_try_counts(struct chase *c, const struct nest_set *from, int32_t nest)
{
    struct nest_set s = *from;
    lx_status st = {0};
    nest_chase_try_set(c, from);
    s.nests = arena_copy_array(&c->memory, from->nests, (size_t)from->nest_count, sizeof *s.nests);
    s.changed = nest;
    for (int l = 0; l < from->nests[nest].level_count; l++) {
        for (int64_t times = 2; times <= 8; times *= 2) {
            s.nests[nest].tiles[l] = from->nests[nest].tiles[l] * times;
            if (nest_valid(c->search->best.draft.layouts, &s.nests[nest], &st)) nest_chase_try_set(c, &s);
        }
        s.nests[nest].tiles[l] = from->nests[nest].tiles[l];
    }
}

/* Bytes that each tensor moves above its minimum in an attempt. */
static int64_t *losses_of(struct chase *c, const struct attempt *a)
{
    const struct draft *x = &a->draft;
    struct lx_op_traffic *ops = arena_array(&c->memory, (size_t)x->graph->op_count, sizeof *ops);
    int64_t *lost = arena_array(&c->memory, (size_t)x->graph->tensor_count, sizeof *lost);
    struct traffic t;
    traffic_list(x, a->answer.address, &c->memory, &t, ops);
    for (int32_t i = 0; i < x->access_at[x->graph->op_count]; i++) {
        const struct lx_access *y = &x->accesses[i];
        if (y->stay < 0 || a->answer.address[y->stay] < 0) lost[y->tensor] += y->bytes;
    }
    for (int32_t i = 0; i < t.transfer_count; i++)
        if (lx_through_hbm(t.transfers[i].kind))
            lost[x->stays[t.transfers[i].stay].tensor] += t.transfers[i].bytes;
    for (int32_t i = 0; i < x->graph->tensor_count; i++)
        if (x->graph->tensors[i].role != LX_INTERMEDIATE)
            lost[i] -= min_i64(lost[i], tensor_bytes(x->layouts, i));
    return lost;
}

/* Tries to hold the tensor whole in all nests that access it; in each nest at other levels. */
static void chase_holds(struct chase *c, int32_t tensor)
{
    const struct lx_layouts *l = c->search->best.draft.layouts;
    struct nest_set whole = c->base;
    int32_t any = -1, many = 0;
    for (int32_t n = 0; n < c->base.nest_count; n++) {
        struct nest_tensor in = nest_tensor_of(l, &c->base.nests[n], tensor);
        if (!in.accessed) continue;
        nest_set_hold(&whole, (struct hold){tensor, n, 0}, &c->memory, &whole);
        any = n;
        many++;
        for (int level = 1; level <= c->base.nests[n].level_count && !nest_chase_is_over(c); level++) {
            struct nest_set s;
            nest_set_hold(&c->base, (struct hold){tensor, n, level}, &c->memory, &s);
            if (in.indexed & level_bit(level - 1)) nest_chase_try_counts(c, &s, n);
        }
    }
    for (int32_t n = 0; n < c->base.nest_count && many > 1 && !nest_chase_is_over(c); n++) {
        if (!nest_tensor_of(l, &c->base.nests[n], tensor).accessed) continue;
        struct nest_set s;
        nest_set_hold(&c->base, (struct hold){tensor, n, 0}, &c->memory, &s);
        nest_chase_try_counts(c, &s, n);
    }
    if (any >= 0 && !nest_chase_is_over(c)) nest_chase_try_counts(c, &whole, any);
}

/* Extends nests that have some of the tensor's accesses to have all of them. */
static void chase_ends(struct chase *c, int32_t from, int32_t to)
{
    const struct lx_layouts *l = c->search->best.draft.layouts;
    for (int32_t n = 0; n < c->base.nest_count && !nest_chase_is_over(c); n++) {
        const struct lx_nest *nest = &c->base.nests[n];
        int32_t first = nest->first < from ? nest->first : from, last = nest->last > to ? nest->last : to;
        struct lx_nest wide;
        struct nest_set s;
        lx_status st = {0};
        if (nest->last < from || nest->first > to || (first == nest->first && last == nest->last)) continue;
        if (!nest_over(l, nest, first, last, &c->memory, &wide) || !nest_valid(l, &wide, &st)) continue;
        nest_set_replace(l, &c->base, n, &wide, &c->memory, &s);
        for (int32_t i = 0; i < s.nest_count; i++)
            if (s.nests[i].first == first) nest_chase_try_counts(c, &s, i);
    }
}

/* Chases the losses of one plan in the pool. */
static void chase_from(struct chase *c, const struct attempt *from)
{
    int64_t *lost = losses_of(c, from);
    int32_t tensors = from->draft.graph->tensor_count;
    struct {
        int32_t tensor, first, last; /* ops of its first and last access, copied: `from` may leave the pool */
    } chased[MOST_CHASED];
    int count = 0;
    nest_set_of(&from->draft, c->base.menus, &c->memory, &c->base);
    for (; count < MOST_CHASED; count++) {
        const struct draft *x = &from->draft;
        int32_t worst = -1;
        for (int32_t t = 0; t < tensors; t++)
            if (lost[t] > 0 && (worst < 0 || lost[t] > lost[worst])) worst = t;
        if (worst < 0) break;
        chased[count].tensor = worst;
        chased[count].first = x->access_op[x->tensor_access[x->tensor_at[worst]]];
        chased[count].last = x->access_op[x->tensor_access[x->tensor_at[worst + 1] - 1]];
        lost[worst] = 0;
    }
    for (int i = 0; i < count && !nest_chase_is_over(c); i++) {
        chase_ends(c, chased[i].first, chased[i].last);
        chase_holds(c, chased[i].tensor);
    }
}

void nest_pool_chase(struct search *search, struct nest_menus *menus, struct nest_pool *b, int64_t *tries)
{
    menus->news_at = menus->spent;
    for (int next = 0; *tries > 0 && next < b->width;) {
        for (next = 0; next < b->count && b->done[next];) next++;
        if (next >= b->count) break;
        struct chase c = {.search = search, .pool = b, .tries = tries, .base = {.menus = menus}};
        b->done[next] = true;
        chase_from(&c, &b->at[next]);
        arena_free(&c.memory);
        next = 0;
    }
}

/* The pool: a short sorted list. */

void nest_pool_free(struct nest_pool *b)
{
    for (int i = 0; i < b->count; i++) attempt_free(&b->at[i]);
    b->count = 0;
}

/* True if both have the same nests and bytes. */
static bool nest_pool_is_like(const struct attempt *a, const struct attempt *b)
{
    const struct decisions *one = &a->draft.how, *two = &b->draft.how;
    if (a->hbm_bytes != b->hbm_bytes || one->nest_count != two->nest_count) return false;
    for (int32_t i = 0; i < one->nest_count; i++) {
        const struct lx_nest *n = &one->nests[i], *m = &two->nests[i];
        if (n->first != m->first || n->last != m->last || n->level_count != m->level_count) return false;
        for (int l = 0; l < n->level_count; l++)
            if (n->tiles[l] != m->tiles[l] || n->var[0][l] != m->var[0][l]) return false;
    }
    return true;
}

struct limit nest_pool_limit(const struct nest_pool *b, const struct nest_set *s)
{
    return b->count == b->width ? nest_set_limit(s, &b->at[b->count - 1]) : no_limit;
}

void nest_pool_add(struct nest_pool *b, struct attempt *a)
{
    int at = b->count;
    bool there = at == b->width && !nest_set_is_better(a, &b->at[at - 1]);
    for (int i = 0; i < b->count; i++) there |= nest_pool_is_like(a, &b->at[i]);
    if (there) {
        attempt_free(a);
        return;
    }
    if (at == b->width)
        attempt_free(&b->at[--at]);
    else
        b->count++;
    for (; at > 0 && nest_set_is_better(a, &b->at[at - 1]); at--) {
        b->at[at] = b->at[at - 1];
        b->done[at] = b->done[at - 1];
    }
    b->at[at] = *a;
    b->done[at] = false;
}

bool nest_pool_take_best(struct search *search, const struct nest_pool *b, bool *better)
{
    struct attempt copy;
    *better = b->count > 0 && nest_set_is_better(&b->at[0], &search->best);
    if (!*better) return true;
    if (!attempt_copy(search, &b->at[0], &copy)) return false;
    attempt_free(&search->best);
    search->best = copy;
    return true;
}
