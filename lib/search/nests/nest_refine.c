/* Single changes to the nests of the best plan, each planned, until none helps. */
#include "search/nests/nest_edits.h"
#include "search/time.h"
#include "layout/op_index.h"

struct refining {
    struct search *search;
    struct nest_menus *menus;
    struct arena memory;
    struct nest_set base; /* set of the best attempt */
    int64_t *tries;
    bool better;
};

static bool nest_refine_is_over(const struct refining *r)
{
    return *r->tries <= 0 || !nest_set_has_news(r->menus) || search_is_over(r->search);
}

static const struct lx_layouts *layouts_of(const struct refining *r)
{
    return r->search->best.draft.layouts;
}

/* Tries one change; if it helps, the next ones start from it. */
static void nest_refine_try_set(struct refining *r, const struct nest_set *s)
{
    if (nest_refine_is_over(r)) return;
    int64_t before = r->menus->spent;
    bool better = nest_set_try(r->search, s);
    *r->tries -= r->menus->spent - before;
    if (!better) return;
    r->better = true;
    nest_set_of(&r->search->best.draft, r->menus, &r->memory, &r->base);
}

static void try_nest(struct refining *r, int32_t nest, const struct lx_nest *by, bool forget)
{
    struct nest_set s;
    lx_status st = {0};
    if (nest_refine_is_over(r) || !nest_valid(layouts_of(r), by, &st)) return;
    nest_set_replace(layouts_of(r), &r->base, nest, by, &r->memory, &s);
    if (forget) {
        s.holds = arena_copy_array(&r->memory, s.holds, (size_t)s.hold_count, sizeof *s.holds);
        for (int32_t i = 0; i < s.nest_count; i++)
            if (s.nests[i].first == by->first) nest_set_forget_holds(&s, i);
    }
    nest_refine_try_set(r, &s);
}

/* Tries other tile counts of each level: the next divisors. */
static void change_counts(struct refining *r, int32_t n)
{
    struct lx_nest to = r->base.nests[n];
    struct op_index x;
    enum { NEAR = 3 };
    op_index_of(layouts_of(r)->graph, &layouts_of(r)->graph->ops[to.first], &x);
    for (int l = 0; l < to.level_count; l++) {
        int64_t old = to.tiles[l], extent = x.extent[to.var[0][l]];
        for (int by = -1; by <= 1; by += 2) {
            int steps = 0;
            for (int64_t t = old + by; t >= 2 && t <= extent && steps < NEAR && !nest_refine_is_over(r);
                 t += by) {
                to.tiles[l] = t;
                if (extent % t == 0) try_nest(r, n, &to, false), steps++;
            }
        }
        to.tiles[l] = old;
    }
}

/* Tries other ends, even inside other nests. */
static void change_ends(struct refining *r, int32_t n)
{
    enum { FAR = 4 };
    struct lx_nest old = r->base.nests[n], to;
    for (int32_t by = -FAR; by <= FAR; by++) {
        if (by && old.last + by > old.first &&
            nest_over(layouts_of(r), &old, old.first, old.last + by, &r->memory, &to))
            try_nest(r, n, &to, false);
        if (n >= r->base.nest_count || r->base.nests[n].first != old.first) return;
        if (by && old.first + by < old.last &&
            nest_over(layouts_of(r), &old, old.first + by, old.last, &r->memory, &to))
            try_nest(r, n, &to, false);
        if (n >= r->base.nest_count) return;
        old = r->base.nests[n];
    }
}

/* Tries a level less, two levels swapped, a level more. */
static void change_levels(struct refining *r, int32_t n)
{
    struct lx_nest old = r->base.nests[n], to;
    struct op_index x;
    static const int64_t counts[] = {2, 4, 16, 64};
    for (int l = 0; l < old.level_count && old.level_count > 1; l++) {
        nest_shallower(&old, l, &r->memory, &to);
        try_nest(r, n, &to, true);
        if (l == 0) continue;
        nest_swapped(&old, l - 1, l, &r->memory, &to);
        try_nest(r, n, &to, true);
    }
    op_index_of(layouts_of(r)->graph, &layouts_of(r)->graph->ops[old.first], &x);
    for (int v = 0; v < x.var_count && !nest_refine_is_over(r); v++)
        for (int at = 0; at <= old.level_count; at++)
            for (int k = 0; k < 4 && !nest_refine_is_over(r); k++)
                if (nest_deeper(layouts_of(r), &old, at, v, counts[k], &r->memory, &to))
                    try_nest(r, n, &to, true);
}

static void drop_nest(struct refining *r, int32_t n)
{
    struct nest_set s;
    nest_set_drop(&r->base, n, &r->memory, &s);
    nest_refine_try_set(r, &s);
}

/* The first op after `after` that accesses a tensor; -1: none. */
static int32_t next_access(const struct draft *x, int32_t tensor, int32_t after)
{
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++)
        if (x->access_op[x->tensor_access[k]] > after) return x->access_op[x->tensor_access[k]];
    return -1;
}

/* Tries to hold a tensor whole: as one stay with the ops before and after the nest, or cut from either. */
static void hold_whole(struct refining *r, int32_t tensor, int32_t nest)
{
    const struct draft *x = &r->search->best.draft;
    struct lx_nest at = r->base.nests[nest];
    struct nest_set s;
    int32_t before[2], first = x->access_op[x->tensor_access[x->tensor_at[tensor]]];
    int32_t in = next_access(x, tensor, at.first - 1);
    int32_t behind = next_access(x, tensor, at.last);
    nest_set_hold(&r->base, (struct hold){tensor, nest, 0}, &r->memory, &s);
    for (int sides = 0; sides < 4; sides++) {
        int count = 0;
        if (((sides & 1) && first >= at.first) || ((sides & 2) && behind < 0)) continue;
        if (sides & 1) before[count++] = in;
        if (sides & 2) before[count++] = behind;
        struct nest_set t = s;
        t.cuts = arena_array(&r->memory, (size_t)(s.cut_count + count), sizeof *t.cuts);
        for (int32_t i = 0; i < s.cut_count; i++) t.cuts[i] = s.cuts[i];
        for (int k = 0; k < count; k++) t.cuts[t.cut_count++] = (struct cut){tensor, before[k]};
        qsort(t.cuts, (size_t)t.cut_count, sizeof *t.cuts, cut_compare);
        nest_refine_try_set(r, &t);
    }
}

static void change_holds(struct refining *r, int32_t n)
{
    for (int32_t t = 0; t < r->search->best.draft.graph->tensor_count && !nest_refine_is_over(r); t++) {
        if (n >= r->base.nest_count) return;
        struct nest_tensor in = nest_tensor_of(layouts_of(r), &r->base.nests[n], t);
        if (!in.accessed) continue;
        struct nest_set whole = r->base; /* whole in all nests that access it */
        int nests = 0;
        for (int32_t k = 0; k < whole.nest_count; k++)
            if (nest_tensor_of(layouts_of(r), &whole.nests[k], t).accessed) {
                nest_set_hold(&whole, (struct hold){t, k, 0}, &r->memory, &whole);
                nests++;
            }
        if (nests > 1) nest_refine_try_set(r, &whole);
        hold_whole(r, t, n);
        for (int l = 1;
             n < r->base.nest_count && l <= r->base.nests[n].level_count && !nest_refine_is_over(r); l++) {
            if (!(in.indexed & level_bit(l - 1))) continue;
            struct nest_set s;
            nest_set_hold(&r->base, (struct hold){t, n, l}, &r->memory, &s);
            nest_refine_try_set(r, &s);
        }
    }
}

/* Applies each change to each nest, repeatedly while one helps. */
static void nest_refine(struct search *search, struct nest_menus *menus, int64_t *tries,
                        void (*const *changes)(struct refining *, int32_t), size_t count)
{
    struct refining r = {.search = search, .menus = menus, .tries = tries, .better = true};
    nest_set_of(&search->best.draft, menus, &r.memory, &r.base);
    menus->news_at = menus->spent;
    while (r.better && !nest_refine_is_over(&r)) {
        r.better = false;
        for (size_t k = 0; k < count; k++)
            for (int32_t n = 0; n < r.base.nest_count && !nest_refine_is_over(&r); n++) changes[k](&r, n);
    }
    arena_free(&r.memory);
}

void nest_set_refine(struct search *search, struct nest_menus *menus, int64_t *tries)
{
    static void (*const changes[])(struct refining *, int32_t) = {change_ends, change_holds, change_counts,
                                                                  change_levels, drop_nest};
    /* If the bytes cannot be less, skip the first two changes: the others may lower iterations. */
    size_t first = nests_suffice(search) ? 2 : 0;
    nest_refine(search, menus, tries, changes + first, sizeof changes / sizeof *changes - first);
}

void nest_set_refine_holds(struct search *search, struct nest_menus *menus, int64_t *tries)
{
    static void (*const changes[])(struct refining *, int32_t) = {change_holds};
    nest_refine(search, menus, tries, changes, 1);
}

/* The search divides ops as if all operands were on chip, so that divisions agree; this divides them again
 * with the time of HBM operands. */
void nest_set_quicken(struct search *search, struct nest_menus *menus)
{
    struct arena memory = {0};
    struct nest_set s;
    struct attempt next;
    if (menus->by_memory || asks_time(search) || search_is_over(search)) return;
    nest_set_of(&search->best.draft, menus, &memory, &s);
    menus->by_memory = true;
    s.changed = EVERY_NEST;
    s.limit = (struct limit){search->best.us, search->best.hbm_bytes};
    nest_set_plan(search, &s, true, &next);
    menus->by_memory = false;
    arena_free(&memory);
    if (!next.memory) return;
    bool better = next.hbm_bytes < search->best.hbm_bytes;
    if (next.hbm_bytes == search->best.hbm_bytes)
        better = draft_times(&next.draft, next.answer.address, NULL).end_to_end_us <
                 draft_times(&search->best.draft, search->best.answer.address, NULL).end_to_end_us;
    if (better)
        replace_best(search, &next);
    else
        attempt_free(&next);
}
